/// Drops data on a full disk, so that an archive can still be changed. Rules: OnDiskFormat, "A full disk".
extension ArchiveEngine {
    /// Repeats a failed `change` after dropping undo records, then old segments, up to `bytes` and two segments.
    @inline(never)
    func makingRoom<Result>(
        for bytes: Int, refusal: StorageError, _ change: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        var refusal = refusal
        var left = bytes + 2 * segmentTarget
        while left > 0 {
            let given = try dropSome(for: bytes)
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

    /// Returns the freed bytes; 0 if nothing could be dropped.
    private func dropSome(for bytes: Int) throws(StorageError) -> Int {
        let section = try acquire()
        section.drainTouches()
        let before = index.segmentBytes
        if index.setAsideCount > 0 {
            try section.giveUpRoom()
            return max(1, before - index.segmentBytes)
        }
        try section.dropDeadSegments()
        // A value that wouldn't fit even then must not cost any entries (S4).
        if index.segmentBytes == before, bytes < before {
            guard try section.dropOldestSegment() else { return 0 }
            // The segment's file may already have been missing; then the next segment is dropped.
            return max(1, before - index.segmentBytes)
        }
        return before - index.segmentBytes
    }

    func appendMessage(_ message: UnsafeRawBufferPointer) throws(StorageError) -> UInt64 {
        do throws(StorageError) {
            return try acquire().append(message)
        } catch {
            guard case .noSpace = error else { throw error }
            let bytes = Frame.bytes(key: 0, extension: 0, value: message.count)
            return try makingRoom(for: bytes, refusal: error) { () throws(StorageError) in
                try acquire().append(message)
            }
        }
    }
}

extension ArchiveSection {
    /// Drops the oldest segments of a cache or a log until this many bytes are free. Requires drained touches.
    func dropOldestSegments(forBytes bytes: Int) throws(StorageError) {
        let before = index.segmentBytes
        try dropDeadSegments()
        while before - index.segmentBytes < bytes, try dropOldestSegment() {}
    }

    /// Removes the oldest segment with its live entries, the only eviction without a frame; `false` for a collection or the
    /// newest segment. Requires drained touches. Costs a look-up for each frame. The file is removed before the entries: a
    /// rebuild must not restore a key that the index no longer has.
    func dropOldestSegment() throws(StorageError) -> Bool {
        let segment = index.oldestSegment
        guard engine.kind != .collection, segment != 0, segment < index.head.segment, mayRemoveSegments()
        else {
            return false
        }
        let next = try self.segment(behind: segment)
        // Pinned early, so that the segment stays readable after its file is removed.
        let pin = try log.pinIfPresent(segment)
        defer { if let pin { log.unpin(pin) } }
        var isWhole = true
        if engine.kind == .log {
            try dropMessagesOfFiles(before: next) { () throws(StorageError) in
                isWhole = try removeOldestSegment(next: next)
            }
        } else {
            isWhole = try removeOldestSegment(next: next)
            crashPoint(.segmentGivenUp)
            dropEntries(of: segment, pin)
        }
        crashPoint(.segmentEmptied)
        index.setLiveFrames(ofSegment: segment, 0)
        log.releaseSegments(before: next)
        // Unmaps at once, because the disk space is needed now.
        log.unmapReleased()
        if !isWhole { noteBeginning() }
        return true
    }

    /// Removes the entries of a removed segment. After a crash in between, recovery finds the rest.
    private func dropEntries(of segment: UInt32, _ pin: SegmentLog.Pin?) {
        if let pin {
            // The loop below finds entries that can't be read here.
            _ = try? log.scan(pin) { (item) throws(StorageError) in
                guard case .frame(let frame, let location) = item, frame.keyBytes > 0,
                    let number = index.table.entry(
                        at: location, tag: UInt32(truncatingIfNeeded: engine.hash(frame.key)))
                else { return }
                giveUp(number, .noSpace, key: frame.key)
            }
        }
        // Remaining entries: tombstoned ones, those that no bucket names, and those with damaged frames.
        guard index.liveFrames(ofSegment: segment) >> IndexLayout.liveCountShift != 0 else { return }
        for number in 0..<index.usedEntries {
            guard let slot = index.entry(number + 1), slot.location.segment == segment else { continue }
            if slot.isSetAside, !index.marks.unmarkIfBack(number + 1, slot) {
                forget(number + 1, slot)
            } else {
                giveUp(number + 1, .noSpace)
            }
        }
    }

    /// Drops the messages before a segment. If their files can't be removed, restores the messages.
    private func dropMessagesOfFiles(
        before segment: UInt32, removing: () throws(StorageError) -> Void
    ) throws(StorageError) {
        let (count, bytes) = try dropMessages(
            before: Location(segment: segment, offset: SegmentHeader.bytes), removing: removing)
        guard count > 0 else { return }
        index.addLocked(.evictions, UInt64(count))
        index.publish(
            .eviction, .noSpace, tag: 0, bytes: bytes, location: .none, pid: engine.pid, time: Clock.wall())
    }
}
