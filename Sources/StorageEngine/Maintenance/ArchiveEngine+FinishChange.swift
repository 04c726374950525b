import Synchronization

extension ArchiveEngine {
    /// Makes the last change as durable as the archive's level requires, and does the pending compaction. Called by every change
    /// after it has released the lock. At level `process` it costs four relaxed loads if no entry expires.
    @inline(__always) func finishChange() throws(StorageError) {
        // `hasDeadlines`, `tombstoneCount` and `isEverSynced` share a cache line.
        if index.hasDeadlines || index.tombstoneCount != 0 || isCompactionDue.load(ordering: .relaxed) {
            scheduleMaintenance()
        }
        if index.isEverSynced { try finishChangeSlowly() }
    }

    @inline(never) private func finishChangeSlowly() throws(StorageError) {
        switch index.durability {
        case .full: try synchronize(upTo: index.head)
        case .interval:
            // The next write retries a failed background sync, and throws its error if it fails again.
            if syncing.isOverdue.load(ordering: .relaxed) { try synchronizeOverdue() }
            try beginSyncing()
        case .process, nil: break
        }
    }

    /// Called after each change (``ArchiveEngine/finishChange()``): starts the background task, or schedules it earlier.
    @inline(never) func scheduleMaintenance() {
        if LogCleaner(self).hasPendingCompaction { LogCleaner(self).finishPendingCompaction() }
        let due = maintenanceDue.load(ordering: .relaxed)
        let next = index.nextDeadline
        let isNearer = next != Deadline.never && next < due.subtractingSaturating(1000)
        let isWanted = due == .max && (index.tombstoneCount > 0 || isCompactionDue.load(ordering: .relaxed))
        // If no thread can be started, a later change tries again.
        if isNearer || isWanted { try? startMaintenance() }
    }
}
