extension ArchiveSection {
    /// Writes a frame at the log tail, and begins a new segment if the present one is full. The frame counts only after
    /// ``commit(_:bytes:copy:)``. If this throws, nothing has changed.
    @inline(__always)
    func append(_ content: FrameContent, inNewSegment: Bool = false) throws(StorageError) -> Location {
        let bytes = content.frameBytes
        let place = index.head
        let target = engine.segmentTarget
        if inNewSegment || place == .none || place.offset + SegmentLayout.reserveBytes >= target
            || place.offset + bytes + SegmentLayout.reserveBytes > SegmentLayout.strideBytes
        {
            do throws(StorageError) {
                return try appendToNewSegment(content, bytes: bytes, target: target)
            } catch {
                guard place != .none, content.kind.reserveLeft < SegmentLayout.reserveBytes else {
                    throw error
                }
            }
        }
        let pin: SegmentLog.Pin
        if let newest = segments.newest(place.segment) {
            pin = newest
        } else {
            pin = try mapNewest(place.segment, capacity: target)
        }
        let reserve = content.kind.reserveLeft
        var view = segments.view(pin)
        if place.offset + bytes + reserve > view.bytes {
            view = try extend(
                pin, by: bytes + reserve, at: place.offset, target: target,
                isRemoval: reserve < SegmentLayout.reserveBytes)
        }
        if !view.isFree(at: place.offset) { try requireNoFrame(behind: place, pin) }
        view.write(content, at: place.offset)
        return place
    }

    /// Handles data after the log tail: an uncommitted append is overwritten. A complete frame means that the log tail is damaged.
    @inline(never)
    private func requireNoFrame(behind place: Location, _ pin: SegmentLog.Pin) throws(StorageError) {
        if place.offset >= SegmentHeader.bytes, log.validFrame(pin, at: place.offset) == nil,
            try log.nextValidFrame(pin, after: place.offset, before: log.view(pin).bytes) == nil,
            try isInsideFrame(place, pin) == false
        {
            return
        }
        throw index.contradiction(at: IndexLayout.headOffset, "the index's log tail is before the last frame")
    }

    private func isInsideFrame(_ place: Location, _ pin: SegmentLog.Pin) throws(StorageError) -> Bool {
        var offset = SegmentHeader.bytes
        while offset < place.offset {
            if let frame = log.validFrame(pin, at: offset) {
                offset += frame.bytes
            } else {
                guard let next = try log.nextValidFrame(pin, after: offset, before: place.offset) else {
                    return false
                }
                offset = next
            }
        }
        return offset > place.offset
    }

    /// Moves the log tail past the frame. A `copy`, made by reclaiming, isn't counted as written, because that would shorten undo.
    @inline(__always) func commit(_ location: Location, bytes: Int, copy: Bool = false) {
        index.setHead(location.advanced(by: bytes))
        if !copy { index.setAppendedBytes(index.appendedBytes &+ UInt64(bytes)) }
    }

    @inline(__always) func nextSequence() -> UInt64 {
        let sequence = index.sequence &+ 1
        index.setSequence(sequence)
        return sequence
    }

    @inline(never)
    private func mapNewest(_ segment: UInt32, capacity: Int) throws(StorageError) -> SegmentLog.Pin {
        try engine.closingIfRemoved { () throws(StorageError) in
            try segments.mapNewest(segment, capacity: capacity)
        }
    }

    /// - Parameter isRemoval: whether the frame frees space. On a full disk it then needs as few bytes as possible, and uses the
    /// archive's removal reserve. A put drops undo records instead.
    @inline(never) private func extend(
        _ pin: SegmentLog.Pin, by bytes: Int, at offset: Int, target: Int, isRemoval: Bool = false
    ) throws(StorageError) -> ChangingSegment {
        // Another process may have extended the file.
        try log.updateSize(pin)
        let before = log.view(pin).bytes
        guard before < offset + bytes else { return segments.view(pin) }
        let step = SegmentLayout.stepBytes(target: target)
        let least = (offset + bytes + 4095) & ~4095
        let wanted = max(least, min(before + step, target))
        try engine.closingIfRemoved { () throws(StorageError) in
            do throws(StorageError) {
                try segments.extend(pin, to: wanted)
            } catch {
                guard isRemoval, error.isNoSpace else { throw error }
                try extendForRemoval(pin, to: least)
            }
        }
        crashPoint(.segmentExtended)
        let view = segments.view(pin)
        index.adjust(.segmentBytes, by: view.bytes - before)
        return view
    }

    private func extendForRemoval(_ pin: SegmentLog.Pin, to bytes: Int) throws(StorageError) {
        do throws(StorageError) {
            try segments.extend(pin, to: bytes)
        } catch {
            guard error.isNoSpace, index.storage.removalReserve?.release() == true else { throw error }
            try segments.extend(pin, to: bytes)
        }
    }

    @inline(never) private func appendToNewSegment(
        _ content: FrameContent, bytes: Int, target: Int
    ) throws(StorageError) -> Location {
        let pin = try beginSegment(bytes: bytes, target: target)
        defer { log.unpin(pin) }
        segments.view(pin).write(content, at: SegmentHeader.bytes)
        return Location(segment: pin.segment, offset: SegmentHeader.bytes)
    }

    /// Creates the next segment and pins it; the caller unpins it.
    private func beginSegment(bytes: Int, target: Int) throws(StorageError) -> SegmentLog.Pin {
        guard index.head != .none || index.appendedBytes == 0 && index.usedEntries == 0 else {
            throw index.contradiction(at: IndexLayout.headOffset, "the index has no log position")
        }
        let least = SegmentHeader.bytes + bytes + SegmentLayout.reserveBytes
        let size = (max(least, SegmentLayout.stepBytes(target: target)) + 4095) & ~4095
        let number = try nextSegmentNumber(forBytes: size)
        let oldest = index.oldestSegment == 0 ? number : index.oldestSegment
        try engine.closingIfRemoved { () throws(StorageError) in
            try segments.create(number, oldest: oldest, bytes: size, capacity: target)
        }
        crashPoint(.segmentCreated)
        guard let pin = log.pin(number) else {
            throw log.damage(of: number, "the new segment cannot be read back")
        }
        index.setLiveFrames(ofSegment: number, 0)
        index.adjust(.segmentBytes, by: size)
        if index.oldestSegment == 0 { index.setOldestSegment(number) }
        SpaceBudget(engine).scheduleReclaimIfNeeded()
        return pin
    }

    /// Space for consecutive frames of `bytes`, as in ``append(_:inNewSegment:)``. The caller commits them and unpins the segment.
    func spaceForFrames(bytes: Int) throws(StorageError) -> (place: Location, pin: SegmentLog.Pin) {
        let place = index.head
        let target = engine.segmentTarget
        if place == .none || place.offset + SegmentLayout.reserveBytes >= target
            || place.offset + bytes + SegmentLayout.reserveBytes > SegmentLayout.strideBytes
        {
            let pin = try beginSegment(bytes: bytes, target: target)
            return (Location(segment: pin.segment, offset: SegmentHeader.bytes), pin)
        }
        if segments.newest(place.segment) == nil { _ = try mapNewest(place.segment, capacity: target) }
        guard let pin = try log.pinIfPresent(place.segment) else {
            throw engine.closedIfRemoved(log.damage(of: place.segment, "the newest segment is missing"))
        }
        try StorageError.rethrowing(after: { log.unpin(pin) }) { () throws(StorageError) in
            if place.offset + bytes + SegmentLayout.reserveBytes > log.view(pin).bytes {
                _ = try extend(pin, by: bytes + SegmentLayout.reserveBytes, at: place.offset, target: target)
            }
            if !segments.view(pin).isFree(at: place.offset) { try requireNoFrame(behind: place, pin) }
        }
        return (place, pin)
    }

    /// The number after the newest segment's, and after all in the folder. A segment's numbers never wrap around the index's slots.
    private func nextSegmentNumber(forBytes bytes: Int) throws(StorageError) -> UInt32 {
        if let above = try log.highestSegment(above: index.head.segment) {
            throw log.damage(
                of: above,
                "the index does not list this segment of the archive; close the archive everywhere, and repair it"
            )
        }
        var number: UInt64 = 1
        if index.head != .none {
            number = UInt64(index.head.segment) + UInt64(SegmentLayout.slots(forFramesTo: index.head.offset))
        }
        let needed = UInt64(SegmentLayout.slots(forBytes: bytes))
        let slots = UInt64(SegmentLayout.slots)
        if number % slots + needed > slots { number += slots - number % slots }
        // Numbers are never reused, not even after the highest one.
        guard let last = UInt32(exactly: number + needed - 1), last < .max else {
            throw .limitReached(operation: "append to", path: engine.folder.path, limit: .segmentNumbers)
        }
        guard index.oldestSegment == 0 || last - min(last, index.oldestSegment) < SegmentLayout.slots else {
            throw .noSpace(path: engine.folder.path + " (the archive has the maximum number of segments)")
        }
        return UInt32(number)
    }

    @inline(__always) func withExtension(
        bytes: Int, _ body: (inout ExtensionWriter) throws(StorageError) -> Void
    ) throws(StorageError) {
        let result = withUnsafeTemporaryAllocation(byteCount: bytes, alignment: 8) { buffer in
            var writer = ExtensionWriter(buffer)
            return Result { () throws(StorageError) in try body(&writer) }
        }
        try result.get()
    }

    /// Appends a frame without a value, applies it and commits it. `apply` gets its location and time, by default its `created`.
    func appendBare(
        _ kind: FrameKind, key: UnsafeRawBufferPointer = .empty,
        extensionBytes: UnsafeRawBufferPointer = .empty, created: Int64? = nil, inNewSegment: Bool = false,
        apply: (_ location: Location, _ time: Int64) -> Void
    ) throws(StorageError) {
        let now = Clock.wall()
        let content = FrameContent(
            kind: kind, sequence: nextSequence(), recency: index.touches.drained, time: now,
            created: created ?? now, key: key, value: .empty, extensionBytes: extensionBytes)
        let location = try append(content, inNewSegment: inNewSegment)
        crashPoint(.bareFrameWritten)
        apply(location, now)
        crashPoint(.bareApplied)
        commit(location, bytes: content.frameBytes)
    }

    /// Whether the newest segment is longer than a new segment may be.
    var isNewestSegmentLong: Bool {
        let head = index.head
        guard head != .none, let pin = try? log.pinIfPresent(head.segment) else { return false }
        defer { log.unpin(pin) }
        return log.view(pin).bytes > SegmentLayout.slackBytes(target: engine.segmentTarget)
    }
}
