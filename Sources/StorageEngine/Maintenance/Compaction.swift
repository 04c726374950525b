/// Compacts an archive completely, at a user's request.
struct Compaction: ArchiveOperation {
    let engine: ArchiveEngine

    /// Removes expired entries, reclaims segments in one pass over the log until few frames are dead, and shrinks the index.
    /// Releases the lock in between. `progress` gets the fraction done, 0 to 1; returning `false` stops the compaction.
    func compact(givingUpUndo: Bool, progress: (Double) -> Bool) throws(StorageError) {
        guard engine.kind != .log else { return try dropDeadMessages() }
        _ = try EntryRemover(engine).removeExpired()
        if givingUpUndo { try dropUndoRecords() }
        let first = index.oldestSegment
        // Segments that are created from now on aren't reclaimed.
        let last = index.head.segment
        while progress(min(1, Double(index.oldestSegment &- first) / Double(max(1, last &- first)))) {
            let section = try engine.acquireDrained()
            guard compactSlice(section, through: last) else {
                section.releaseSpareChunks()
                break
            }
            section.yieldLock()
        }
        log.unmapReleased()
    }

    private func dropUndoRecords() throws(StorageError) {
        while true {
            let section = try engine.acquireDrained()
            guard section.dropTombstones(most: ArchiveEngine.actionBatch, evenReversible: true) else {
                return
            }
            section.yieldLock()
        }
    }

    private func dropDeadMessages() throws(StorageError) {
        let section = try engine.acquireDrained()
        // After a log was emptied on a full disk, its newest segment may hold only dropped messages.
        if index.firstMessage == .none, index.entryCount == 0, index.head != .none,
            index.head.offset > SegmentHeader.bytes + SegmentLayout.reserveBytes
        {
            _ = try MessageWriter(engine).dropAllMessages(section)
        }
        section.dropDeadSegments()
    }

    /// Does as much as one hold of the lock allows. Returns `false` if no work was left.
    private func compactSlice(_ section: borrowing ArchiveSection, through last: UInt32) -> Bool {
        let isReclaimed = section.reclaimSome {
            index.oldestSegment <= last && index.segmentBytes > SpaceBudget(engine).compactSegmentBytes
        }
        return isReclaimed || index.isReady && section.vacateLastChunk()
    }
}
