/// What the background does in time, done now and to the end.
extension ArchiveEngine {
    /// Removes what has expired, goes once over the log from its oldest segment on, until hardly anything in it is dead, and
    /// makes the index as small as it can be. Others get at the archive in between. `progress` gets the share that is
    /// done, 0 to 1, and ends it by `false`.
    func compactNow(
        givingUpUndo: Bool, progress: (Double) -> Bool
    ) throws(StorageError) {
        guard kind != .log else { return try dropDeadMessages() }
        _ = try removeExpired()
        if givingUpUndo { try giveUpUndo() }
        let first = index.oldestSegment
        // What is written meanwhile is not gone over again.
        let last = index.head.segment
        while progress(Double(index.oldestSegment - first) / Double(max(1, last - first))) {
            let section = try acquire()
            section.drainTouches()
            guard section.compactSlice(through: last) else {
                section.giveBackSpareChunks()
                break
            }
            _ = consume section
            letOthersIn()
        }
        log.unmapReleased()
    }

    private func giveUpUndo() throws(StorageError) {
        while true {
            let section = try acquire()
            section.drainTouches()
            guard section.forgetSetAside(most: ArchiveEngine.actionBatch, evenReversible: true) else {
                return
            }
            _ = consume section
            letOthersIn()
        }
    }

    private func dropDeadMessages() throws(StorageError) {
        let section = try acquire()
        section.drainTouches()
        try section.dropDeadSegments()
    }

    /// Drops all messages of a log.
    func emptyLog() throws(StorageError) -> Removal {
        let section = try acquire()
        section.drainTouches()
        let removal = Removal(entries: index.entryCount, bytes: index.valueBytes)
        try section.fit(into: 0)
        try section.dropDeadSegments()
        return removal
    }
}

extension ArchiveSection {
    /// As much as one hold of the lock is for; `false` when there was nothing to do.
    fileprivate func compactSlice(through last: UInt32) -> Bool {
        let engine = engine
        let index = engine.index
        let isReclaimed = reclaimSome {
            index.oldestSegment <= last && index.segmentBytes > engine.tightSegmentBytes
        }
        return isReclaimed || index.isReady && vacateLastChunk()
    }
}

extension ArchiveEngine {
    /// What the segments take when next to nothing in them is dead: what lives, and two that aren't full.
    fileprivate var tightSegmentBytes: Int {
        let live = index.liveFrameBytes
        return live + live / 32 + 2 * segmentTarget
    }
}
