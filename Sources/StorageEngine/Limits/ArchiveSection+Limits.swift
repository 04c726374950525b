/// Enforces the limits, and applies a changed configuration.
extension ArchiveSection {
    func fit(into limit: UInt64) throws(StorageError) {
        if engine.kind == .log {
            try MessageWriter(engine).dropMessages(self, downTo: limit)
        } else {
            try evict(downTo: limit)
        }
    }

    /// Like ``fit(into:)``. On a full disk, drops undo records, evicts in parts, at last drops segments. Requires drained touches.
    func fitEvenOnFullDisk(into limit: UInt64) throws(StorageError) {
        guard engine.kind != .log else { return try fit(into: limit) }
        let done: Void? = try StorageError.nilIf(\.isNoSpace, fit(into: limit))
        guard done == nil else { return }
        discardUndoAndShrink()
        while index.valueBytes > limit {
            do throws(StorageError) {
                try fitPartly(into: limit)
            } catch {
                guard error.isNoSpace, try dropOldestSegment() else { throw error }
            }
        }
    }

    private func fitPartly(into limit: UInt64) throws(StorageError) {
        do throws(StorageError) {
            try fit(into: limit)
        } catch {
            guard error.isNoSpace else { throw error }
            let excess = Int(index.valueBytes - min(index.valueBytes, limit))
            try evict(index.order.victims(toFree: excess, most: ArchiveSection.evictedAtOnce))
            dropDeadSegments()
        }
    }

    /// Number of entries that one frame names on a full disk, so that it fits into the reserve.
    private static let evictedAtOnce = 256

    /// Begins a new segment if the newest is too long after the limit was lowered, so that its dead bytes can be reclaimed (S3).
    func leaveLongSegment() {
        guard engine.kind != .log else {
            // As long as the log has messages, their files stay anyway.
            if index.entryCount == 0, (try? MessageWriter(engine).dropAllMessages(self)) != nil {
                dropDeadSegments()
            }
            return
        }
        guard isNewestSegmentLong else { return }
        try? appendBare(.void, inNewSegment: true) { _, _ in }
    }

    /// Applies the descriptor to the index: its last writer may have crashed before doing so. A damaged descriptor changes
    /// nothing. Evicts excess entries if `mayEvict`; otherwise the next writer or, on a full disk, the next put does.
    func followDescriptor(mayEvict: Bool = true) throws(StorageError) {
        let descriptor = try StorageError.nilIf(\.isMissingOrCorrupted, Descriptor.read(in: engine.folder))
        if let descriptor, descriptor.identity == log.identity {
            adopt(descriptor.configuration)
        }
        guard mayEvict, let limit = engine.diskLimit, index.valueBytes > limit else { return }
        index.touches.drainAll()
        _ = try StorageError.nilIf(\.isNoSpace, fitEvenOnFullDisk(into: limit))
    }
}

extension ArchiveSection {
    /// Applies a configuration to the index. A change to LRU costs a sort of all entries.
    func adopt(_ configuration: ArchiveConfiguration) {
        let before = (index.diskLimit, index.evictionPolicy)
        if before != (configuration.diskLimit, configuration.evictionPolicy) { engine.trace(.resize, tag: 0) }
        index.order.adopt(configuration.evictionPolicy)
        index.setConfiguration(configuration)
    }

    /// Drops the oldest segments of a cache or a log until this many bytes are free. Requires drained touches.
    func dropOldestSegments(forBytes bytes: Int) throws(StorageError) {
        let before = index.segmentBytes
        dropDeadSegments()
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
        let next = try nextSegmentOrLoss(after: segment)
        // Pinned early, so that the segment stays readable after its file is removed.
        let pin = try log.pinIfPresent(segment)
        defer { if let pin { log.unpin(pin) } }
        if engine.kind == .log {
            try dropMessagesOfFiles(before: next) { () throws(StorageError) in
                try removeOldestSegment(next: next)
            }
        } else {
            try removeOldestSegment(next: next)
            crashPoint(.segmentDropped)
            dropEntries(of: segment, pin)
        }
        crashPoint(.segmentEmptied)
        index.setLiveFrames(ofSegment: segment, 0)
        log.releaseSegments(before: next)
        // Unmaps at once, because the disk space is needed now.
        log.unmapReleased()
        return true
    }

    /// Removes the entries of a removed segment. After a crash in between, recovery finds the rest.
    private func dropEntries(of segment: UInt32, _ pin: SegmentLog.Pin?) {
        if let pin {
            // The loop below finds entries that can't be read here.
            _ = try? log.scan(pin) { (item) throws(StorageError) in
                guard case .frame(let frame, let location) = item, frame.keyBytes > 0,
                    let number = index.table.entry(at: location, tag: engine.hash.tag(frame.key))
                else { return }
                evictWithoutFrame(number, .noSpace, key: frame.key)
            }
        }
        // Remaining entries: tombstoned ones, those that no bucket names, and those with damaged frames.
        guard index.liveFrames(ofSegment: segment) >> IndexLayout.liveCountShift != 0 else { return }
        for number in 0..<index.usedEntries {
            guard let slot = index.entry(number + 1), slot.location.segment == segment else { continue }
            if slot.isTombstoned, !index.marks.unmarkIfRestored(number + 1, slot) {
                forget(number + 1, slot)
            } else {
                evictWithoutFrame(number + 1, .noSpace)
            }
        }
    }

    /// Drops the messages before a segment. If their files can't be removed, restores the messages.
    private func dropMessagesOfFiles(
        before segment: UInt32, removing: () throws(StorageError) -> Void
    ) throws(StorageError) {
        let (count, bytes) = try MessageWriter(engine).dropMessages(
            self, before: Location(segment: segment, offset: SegmentHeader.bytes), removing: removing)
        guard count > 0 else { return }
        index.addLocked(.evictions, UInt64(count))
        engine.publish(.eviction, .noSpace, bytes: bytes)
    }
}
