/// A full disk: what is given up so that an archive can be changed all the same. The rules: OnDiskFormat, "A full disk".
extension ArchiveEngine {
    /// As ``put(_:key:tag:)``, and gives up what can be given up on a full disk.
    @inline(__always)
    func putMakingRoom(
        _ request: PutRequest, key: UnsafeRawBufferPointer, tag: UInt32
    ) throws(StorageError) -> HeldEntry {
        do throws(StorageError) {
            return try put(request, key: key, tag: tag)
        } catch {
            guard case .noSpace = error else { throw error }
            let bytes = Frame.bytes(
                key: key.count, extension: request.traits.bytes, value: request.value.count)
            return try makingRoom(for: bytes, refusal: error) { () throws(StorageError) in
                try put(request, key: key, tag: tag)
            }
        }
    }

    /// Tries `change`, which was refused for want of room, again each time that something was given up: first what could
    /// still be undone, then, in a cache or a log, the oldest segments with what lives in them. Gives up no more than
    /// `bytes` need, and two segments: a disk that others fill as fast must not cost the whole archive.
    @inline(never)
    func makingRoom<Result>(
        for bytes: Int, refusal: StorageError, _ change: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        var refusal = refusal
        var left = bytes + 2 * segmentTarget
        while left > 0 {
            let given = try giveUpSome(for: bytes)
            guard given > 0 else { throw refusal }
            left -= given
            do throws(StorageError) {
                return try change()
            } catch {
                guard case .noSpace = error else { throw error }
                refusal = error
            }
        }
        throw refusal
    }

    /// Bytes that were given back to the file system; 0: there is nothing to give up.
    private func giveUpSome(for bytes: Int) throws(StorageError) -> Int {
        let section = try acquire()
        section.drainTouches()
        let before = index.segmentBytes
        if index.setAsideCount > 0 {
            try section.giveUpRoom()
            return max(1, before - index.segmentBytes)
        }
        try section.dropDeadSegments()
        // Whatever doesn't fit even then must not cost anything (S4).
        if index.segmentBytes == before, bytes < before {
            guard try section.giveUpOldestSegment() else { return 0 }
            // Its file may have been gone already, and then the next is to go.
            return max(1, before - index.segmentBytes)
        }
        return before - index.segmentBytes
    }
}

extension ArchiveSection {
    /// Gives up the oldest segments of a cache or a log until that many bytes are free that weren't, as far as there are.
    /// Needs that pending uses are applied.
    func giveUpOldest(forBytes bytes: Int) throws(StorageError) {
        let before = index.segmentBytes
        try dropDeadSegments()
        while before - index.segmentBytes < bytes, try giveUpOldestSegment() {}
    }

    /// Removes the oldest segment with what lives in it: the only eviction that needs no room for a frame that tells of it,
    /// since nothing older is left that could come back. `false` when nothing may go: a collection loses nothing,
    /// and the newest segment stays. Needs that pending uses are applied.
    ///
    /// Its entries stay as long as its file does: a key that the index has no more, and a log that is read anew has, could
    /// be deleted by nobody. Costs a look-up for each frame of the segment, so no more a byte that is then stored than
    /// reclaiming.
    func giveUpOldestSegment() throws(StorageError) -> Bool {
        let segment = index.oldestSegment
        guard engine.kind != .collection, segment != 0, segment < index.head.segment, mayRemoveSegments()
        else {
            return false
        }
        let next = try log.nextSegment(after: segment, upTo: index.head.segment)
        // To be read when its file is gone. The log must not begin behind entries that can't be given up now.
        let pin = try log.pinIfPresent(segment)
        defer { if let pin { log.unpin(pin) } }
        if engine.kind == .log {
            try giveUpMessages(before: next) { () throws(StorageError) in
                try removeOldestSegment(next: next)
            }
        } else {
            try removeOldestSegment(next: next)
            crashPoint(.segmentGivenUp)
            giveUpEntries(of: segment, pin)
        }
        crashPoint(.segmentEmptied)
        index.setLiveFrames(ofSegment: segment, 0)
        log.releaseSegments(before: next)
        // Its room is wanted at once.
        log.unmapReleased()
        return true
    }

    /// The entries of a segment that is gone. Whoever dies meanwhile leaves some of which a repair sees that.
    private func giveUpEntries(of segment: UInt32, _ pin: SegmentLog.Pin?) {
        if let pin {
            // What can't be read of it is found below.
            _ = try? log.scan(pin, from: SegmentHeader.bytes) { (item) throws(StorageError) in
                guard case .frame(let frame, let location) = item, frame.keyBytes > 0,
                    let number = index.table.entry(
                        at: location, tag: UInt32(truncatingIfNeeded: engine.hash(frame.key)))
                else { return }
                giveUp(number, key: frame.key)
            }
        }
        // What is set aside, and what the buckets don't lead to or whose frame is damaged.
        guard index.liveFrames(ofSegment: segment) >> IndexLayout.liveCountShift != 0 else { return }
        for number in 0..<index.usedEntries {
            guard let slot = index.entry(number + 1), slot.location.segment == segment else { continue }
            if slot.isSetAside, !index.marks.unmarkIfBack(number + 1, slot) {
                forget(number + 1, slot)
            } else {
                giveUp(number + 1)
            }
        }
    }

    private func giveUp(
        _ number: UInt32, key: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
    ) {
        guard let slot = index.entry(number) else { return }
        let (tag, bytes, location) = (slot.tag, Int(slot.valueBytes), slot.location)
        remove(number)
        index.note(
            .eviction, .noSpace, tag: tag, bytes: bytes, location: location, pid: engine.pid,
            time: Clock.wall(), key: key)
        index.addLocked(.evictions)
    }

    /// The messages before a segment; they are back if it can't be removed what they are in.
    private func giveUpMessages(
        before segment: UInt32, removing: () throws(StorageError) -> Void
    ) throws(StorageError) {
        let (count, bytes) = try dropMessages(
            before: Location(segment: segment, offset: SegmentHeader.bytes), removing: removing)
        guard count > 0 else { return }
        index.addLocked(.evictions, UInt64(count))
        index.note(
            .eviction, .noSpace, tag: 0, bytes: bytes, location: .none, pid: engine.pid, time: Clock.wall())
    }
}
