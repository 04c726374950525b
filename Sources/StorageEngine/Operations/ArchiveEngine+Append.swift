import CPlatform

extension ArchiveEngine {
    /// Writes a frame at the head of the log, beginning a new segment when the present one is full. Nothing
    /// counts until ``commit(_:bytes:)``; when this throws, nothing has changed. Needs the lock.
    @inline(__always)
    func append(_ content: FrameContent, inNewSegment: Bool = false) throws(StorageError) -> Location {
        let bytes = content.frameBytes
        let place = head
        let target = segmentTarget
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
        if let newest = log.uncounted(place.segment) {
            pin = newest
        } else {
            pin = try mapNewest(place.segment)
        }
        let reserve = content.kind.reserveLeft
        if place.offset + bytes + reserve > log.fileBytes(pin) {
            try extend(pin, by: bytes + reserve, at: place.offset, target: target)
        }
        log.write(content, pin, at: place.offset)
        return place
    }

    @inline(never)
    private func mapNewest(_ segment: UInt32) throws(StorageError) -> SegmentLog.Pin {
        if let pin = try log.pinIfPresent(segment) {
            log.unpin(pin)
            if let pin = log.uncounted(segment) { return pin }
        }
        throw .corrupted(path: log.path(of: segment), offset: 0, reason: "the newest segment is gone")
    }

    /// Makes the frame at `location` part of the log.
    @inline(__always)
    func commit(_ location: Location, bytes: Int) {
        index.set64(IndexLayout.headOffset, location.advanced(by: bytes).raw)
        index.set64(
            IndexLayout.appendedBytesOffset, index.word64(IndexLayout.appendedBytesOffset) &+ UInt64(bytes))
    }

    @inline(__always)
    func nextSequence() -> UInt64 {
        let sequence = index.word64(IndexLayout.sequenceOffset) &+ 1
        index.set64(IndexLayout.sequenceOffset, sequence)
        return sequence
    }

    var segmentTarget: Int {
        SegmentLayout.targetBytes(forArchiveOf: diskLimit ?? valueBytes)
    }

    @inline(never)
    private func extend(_ pin: SegmentLog.Pin, by bytes: Int, at offset: Int, target: Int)
        throws(StorageError)
    {
        let before = log.fileBytes(pin, atLeast: offset + bytes)
        guard before < offset + bytes else { return }
        let step = SegmentLayout.stepBytes(target: target)
        let least = (offset + bytes + 4095) & ~4095
        let wanted = max(least, min(before + step, target))
        try log.extend(pin, to: wanted)
        crashPoint(.segmentExtended)
        adjust(IndexLayout.segmentBytesOffset, by: log.fileBytes(pin) - before)
    }

    @inline(never)
    private func appendToNewSegment(
        _ content: FrameContent, bytes: Int, target: Int
    ) throws(StorageError) -> Location {
        let pin = try beginSegment(bytes: bytes, target: target)
        defer { log.unpin(pin) }
        log.write(content, pin, at: SegmentHeader.bytes)
        return Location(segment: pin.segment, offset: SegmentHeader.bytes)
    }

    /// Begins a segment with room for frames of `bytes`; the pin is the caller's to let go.
    private func beginSegment(bytes: Int, target: Int) throws(StorageError) -> SegmentLog.Pin {
        let least = SegmentHeader.bytes + bytes + SegmentLayout.reserveBytes
        let size = (max(least, SegmentLayout.stepBytes(target: target)) + 4095) & ~4095
        let number = try nextSegmentNumber(forBytes: size)
        let oldest = oldestSegment == 0 ? number : oldestSegment
        do throws(StorageError) {
            try log.create(number, oldest: oldest, bytes: size)
        } catch {
            throw isGone ? .closed(name: name) : error
        }
        crashPoint(.segmentCreated)
        guard let pin = log.pin(number) else {
            throw .corrupted(
                path: log.path(of: number), offset: 0, reason: "the new segment cannot be read back")
        }
        index.setLiveFrames(ofSegment: number, 0)
        adjust(IndexLayout.segmentBytesOffset, by: size)
        if oldestSegment == 0 { index.set32(IndexLayout.oldestSegmentOffset, number) }
        noteRoom()
        return pin
    }

    /// Room for several frames of together `bytes`, one behind another in one segment, as ``append(_:inNewSegment:)``
    /// would find it for one. Nothing counts until ``commit(_:bytes:)``. The pin is the caller's to let go. Needs the
    /// lock.
    func roomForFrames(bytes: Int) throws(StorageError) -> (place: Location, pin: SegmentLog.Pin) {
        let place = head
        let target = segmentTarget
        if place == .none || place.offset + SegmentLayout.reserveBytes >= target
            || place.offset + bytes + SegmentLayout.reserveBytes > SegmentLayout.strideBytes
        {
            let pin = try beginSegment(bytes: bytes, target: target)
            return (Location(segment: pin.segment, offset: SegmentHeader.bytes), pin)
        }
        guard let pin = try log.pinIfPresent(place.segment) else {
            throw .corrupted(
                path: log.path(of: place.segment), offset: 0, reason: "the newest segment is gone")
        }
        if place.offset + bytes + SegmentLayout.reserveBytes > log.fileBytes(pin) {
            do throws(StorageError) {
                try extend(pin, by: bytes + SegmentLayout.reserveBytes, at: place.offset, target: target)
            } catch {
                log.unpin(pin)
                throw error
            }
        }
        return (place, pin)
    }

    /// The number after those that the newest segment takes up, such that the new one does not wrap around
    /// the address window.
    private func nextSegmentNumber(forBytes bytes: Int) throws(StorageError) -> UInt32 {
        var number: UInt32 = 1
        if head != .none {
            // As many as its file may take, the room behind its frames included.
            let strides = SegmentLayout.slots(forBytes: head.offset + SegmentLayout.reserveBytes + 4095)
            number = head.segment &+ UInt32(strides)
        }
        let needed = UInt32(SegmentLayout.slots(forBytes: bytes))
        let slot = number & SegmentLayout.slotMask
        if slot + needed > UInt32(SegmentLayout.slots) { number &+= UInt32(SegmentLayout.slots) - slot }
        let last = number &+ needed &- 1
        guard oldestSegment == 0 || last &- oldestSegment < UInt32(SegmentLayout.slots) else {
            throw .noSpace(path: folder.path + " (more segments than an archive may have)")
        }
        return number
    }

    // MARK: Frames that are made of little more than an extension

    /// Calls `body` with room for an extension of `bytes`.
    @inline(__always)
    func withExtension(
        bytes: Int, _ body: (inout ExtensionWriter) throws(StorageError) -> Void
    ) throws(StorageError) {
        let result = withUnsafeTemporaryAllocation(byteCount: bytes, alignment: 8) { buffer in
            var writer = ExtensionWriter(buffer)
            return Result { () throws(StorageError) in try body(&writer) }
        }
        try result.get()
    }

    /// Appends a frame without a value, applies what it says and commits it. `apply` gets its place and time.
    func appendBare(
        _ kind: FrameKind, key: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
        extensionBytes: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
        inNewSegment: Bool = false, apply: (_ location: Location, _ time: Int64) -> Void
    ) throws(StorageError) {
        let now = Clock.wall()
        let content = FrameContent(
            kind: kind, sequence: nextSequence(), recency: index.stampsDrained, time: now, created: now,
            key: key,
            value: UnsafeRawBufferPointer(start: nil, count: 0), extensionBytes: extensionBytes)
        let location = try append(content, inNewSegment: inNewSegment)
        crashPoint(.bareFrameWritten)
        apply(location, now)
        crashPoint(.bareApplied)
        commit(location, bytes: content.frameBytes)
    }
}
