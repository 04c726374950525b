import CPlatform

extension ArchiveEngine {
    /// Deletes the entry of `key`; with `sequence`, only while it is still the one that operation stored.
    func delete(_ key: UnsafeRawBufferPointer, ifSequence sequence: UInt64?) throws(StorageError)
        -> ConditionalDelete
    {
        try ArchiveEngine.validate(key: key)
        let tag = UInt32(truncatingIfNeeded: hash(key))
        try acquire()
        defer { release() }
        _ = index.takeStampAndDrain()
        guard let entry = try find(key, tag: tag) else { return .absent }
        let isSame = sequence == nil || entry.frame.sequence == sequence
        letGo(entry)
        guard isSame else { return .changed }
        try appendBare(.delete, key: key) { remove(entry.number) }
        index.add(.deletes)
        reclaim(forAppended: Frame.bytes(key: key.count, extension: 0, value: 0))
        return .deleted
    }

    /// Deletes every entry. Costs time in proportion to the index, not to the log.
    func deleteAll() throws(StorageError) -> Removal {
        try acquire()
        defer { release() }
        _ = index.takeStampAndDrain()
        let removal = Removal(entries: entryCount, bytes: valueBytes)
        guard removal.entries > 0 else { return removal }
        // In a segment of its own, so that all older ones can be dropped at once.
        try appendBare(.deleteAll, key: UnsafeRawBufferPointer(start: nil, count: 0), inNewSegment: true) {
            clearEntries()
        }
        index.add(.deletes, UInt64(removal.entries))
        dropSegments(before: head.segment)
        return removal
    }

    /// Empties the index. Needs the lock.
    func clearEntries() {
        index.beginStructureChange()
        for number in 0..<index.usedEntries {
            index.entry(number + 1)?.location = .none
        }
        crashPoint(.entriesCleared)
        for number in 0..<index.usedBuckets { index.bucket(number)?.clear() }
        for offset in [
            IndexLayout.entryHighWaterOffset, IndexLayout.freeHeadOffset, IndexLayout.recencyFirstOffset,
            IndexLayout.recencyLastOffset,
        ] {
            index.set32(offset, 0)
        }
        index.set32(IndexLayout.bucketCountOffset, IndexMemory.firstBuckets)
        for offset in [
            IndexLayout.entryCountOffset, IndexLayout.valueBytesOffset, IndexLayout.liveFrameBytesOffset,
        ] {
            index.set64(offset, 0)
        }
        for slot in 0..<UInt32(SegmentLayout.slots) { index.setLiveBytes(ofSegment: slot, 0) }
        index.endStructureChange()
    }

    /// Sets the limits in the index and evicts what no longer fits; the descriptor is the caller's.
    func applyLimits(disk: UInt64?, memory: UInt64?) throws(StorageError) {
        try acquire()
        defer { release() }
        _ = index.takeStampAndDrain()
        index.set64(IndexLayout.diskLimitOffset, disk ?? .max)
        index.set64(IndexLayout.memoryLimitOffset, memory ?? .max)
        crashPoint(.limitsSet)
        if let disk { try evict(downTo: disk) }
        reclaim(forAppended: 0)
    }
}
