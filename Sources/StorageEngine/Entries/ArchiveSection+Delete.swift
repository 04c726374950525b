import CPlatform

extension ArchiveEngine {
    func delete(_ key: UnsafeRawBufferPointer, ifSequence sequence: UInt64?) throws(StorageError)
        -> ConditionalDelete
    {
        try ArchiveEngine.validate(key: key)
        let tag = UInt32(truncatingIfNeeded: hash(key))
        return try acquire().delete(key, tag: tag, ifSequence: sequence)
    }

    /// Deletes all entries in one step. The time under the lock grows with the index only; slow file work follows.
    func deleteAll() throws(StorageError) -> Removal { try acquire().deleteAll() }
}

extension ArchiveSection {
    fileprivate func delete(
        _ key: UnsafeRawBufferPointer, tag: UInt32, ifSequence sequence: UInt64?
    ) throws(StorageError) -> ConditionalDelete {
        drainTouches()
        guard let entry = try findToChange(key, tag: tag) else { return .absent }
        let isSame = sequence == nil || entry.frame.sequence == sequence
        let isExpired = engine.isExpired(entry)
        engine.unpin(entry)
        if entry.slot.isMemoryOnly { return try deleteMemoryOnly(key, tag: tag, ifSequence: sequence) }
        if isExpired {
            _ = try expire([entry.number])
            return .absent
        }
        guard isSame else { return .changed }
        try appendBare(.delete, key: key) { location, time in
            let bytes = Int(entry.slot.shownBytes)
            remove(entry.number)
            index.publish(
                .delete, .request, tag: tag, bytes: bytes, location: location, pid: engine.pid, time: time,
                key: key)
        }
        index.add(.deletes)
        reclaim(forAppended: Frame.bytes(key: key.count, extension: 0, value: 0))
        compactIfSparse()
        engine.scheduleReclaimIfNeeded()
        return .deleted
    }

    fileprivate func deleteAll() throws(StorageError) -> Removal {
        drainTouches()
        let removal = Removal(entries: index.entryCount, bytes: index.valueBytes)
        guard removal.entries > 0 || index.setAsideCount > 0 else { return removal }
        // In a new segment, so that all older ones can be removed at once.
        try appendBare(.deleteAll, inNewSegment: true) { location, time in
            clearEntries()
            index.publish(
                .delete, .request, tag: 0, bytes: Int(removal.bytes), location: location, pid: engine.pid,
                time: time
            )
        }
        index.add(.deletes, UInt64(removal.entries))
        engine.deferCompaction()
        return removal
    }

    func clearEntries() {
        index.beginStructureChange()
        engine.countHandled(entries: Int(index.usedEntries))
        for number in 0..<index.usedEntries {
            index.entry(number + 1)?.clear()
            index.residency.forget(number + 1)
            index.marks.set(number + 1, .none)
        }
        index.deadlines.clear()
        crashPoint(.entriesCleared)
        index.table.clear()
        index.entryHighWater = 0
        index.clearLists()
        index.setAsideCount = 0
        index.firstMessage = .none
        index.bucketCount = IndexLayout.firstBuckets
        index.entryCount = 0
        index.valueBytes = 0
        index.liveFrameBytes = 0
        index.setAsideBytes = 0
        for slot in 0..<UInt32(SegmentLayout.slots) { index.setLiveFrames(ofSegment: slot, 0) }
        index.undo.clear()
        index.endStructureChange()
    }

    /// Deletes the memory-only entries of a key, or with `sequence` only that operation's. Requires drained touches.
    func deleteMemoryOnly(
        _ key: UnsafeRawBufferPointer, tag: UInt32, ifSequence sequence: UInt64?
    ) throws(StorageError) -> ConditionalDelete {
        let numbers = engine.memoryOnlyNumbers(of: key, tag: tag)
        let meant = try engine.entries(numbers, ofSequence: sequence)
        let present = meant.filter(engine.isPresent)
        let gone = meant.filter { !engine.isPresent($0) }
        if !gone.isEmpty { _ = try removeBatch(gone, .expiry, .processEnded) }
        guard !present.isEmpty else { return sequence == nil || !gone.isEmpty ? .absent : .changed }
        // Deletes by location, because other entries have the same key.
        _ = try removeBatch(present, .delete, .request)
        reclaim(forAppended: 0)
        compactIfSparse()
        return .deleted
    }
}
