import CPlatform

/// Syncing the log to the medium. Guarantees, and their proof: <doc:WhatSurvives>.
extension ArchiveEngine {
    /// The location up to which the log is known to be on the medium. A damaged index that claims more is not trusted.
    private var synced: Location {
        let known = index.syncedHead
        return known <= index.head ? known : .none
    }

    /// Returns when all frames before `target` are on the medium. Concurrent callers share a sync.
    func synchronize(upTo target: Location, timeout: Int64 = ArchiveLock.timeoutNanoseconds)
        throws(StorageError)
    {
        guard synced < target else { return }
        try syncing.alone(archive: name, nanoseconds: timeout) { () throws(StorageError) in
            // Another caller's sync may have included this one.
            guard synced < target else { return }
            try lead()
        }
    }

    /// Syncs all changes committed by now. The caller must be the only one that syncs; the archive's lock isn't needed.
    private func lead() throws(StorageError) {
        let target = index.head
        let start = synced
        guard index.state != .syncFailed else { throw .syncFailed(path: folder.path) }
        var number = max(start.segment, index.oldestSegment)
        while number <= target.segment {
            // A removed segment needs no sync: its live frames were synced elsewhere before it was removed.
            if let pin = try log.pinIfPresent(number) {
                defer { log.unpin(pin) }
                // Frames that other processes appended must be synced as well.
                if let file = try log.fileToSynchronize(pin) {
                    try log.updateSize(pin)
                    try declaringFailure { () throws(StorageError) in
                        try file.synchronize(mapped: log.view(pin).mapped)
                    }
                }
            }
            guard number < target.segment else { break }
            number = try log.nextSegment(after: number, upTo: target.segment)
        }
        crashPoint(.segmentsSynced)
        if start == .none {
            // Nothing was synced since the index was created; perhaps not even the folder's name is on the medium.
            for above in try folder.foldersToFind {
                try declaringFailure { () throws(StorageError) in try above.synchronizeNames() }
            }
        } else if start.segment != target.segment {
            try declaringFailure { () throws(StorageError) in try folder.synchronizeNames() }
        }
        index.syncedHead = target
        crashPoint(.headSynced)
        syncing.lastSync.store(cp_monotonic_time(), ordering: .relaxed)
    }

    /// A failed sync leaves the medium's state unknown: no change is acknowledged any more. `sync` must fail for no other reason.
    private func declaringFailure(_ sync: () throws(StorageError) -> Void) throws(StorageError) {
        do throws(StorageError) {
            try sync()
        } catch {
            index.declareSyncFailed()
            throw .syncFailed(path: folder.path)
        }
    }

    private var intervalNanoseconds: Int64 { Int64(max(index.syncTenths, 1)) * 100_000_000 }

    /// Pause until the task runs again: short enough to notice that another process shortened the interval.
    private var taskNanoseconds: Int64 { min(intervalNanoseconds, 1_000_000_000) }

    func beginSyncing() throws(StorageError) {
        // The closure holds a strong reference until ``Syncing/end()``; a weak one would slow down the retains of every put.
        try syncing.begin(after: taskNanoseconds) { self.syncIfDue() }
    }

    private func syncIfDue() -> Int64? {
        guard index.durability == .interval else {
            syncing.forgetTask()
            return nil
        }
        let idle = cp_monotonic_time() &- syncing.lastSync.load(ordering: .relaxed)
        // A thread that wakes slightly early need not sleep again.
        guard idle >= intervalNanoseconds - 1_000_000 else {
            return min(taskNanoseconds, intervalNanoseconds - idle)
        }
        // If the medium fails, the archive stops, and every process sees that in the index.
        do throws(StorageError) {
            // Doesn't wait: other archives of this process need this thread.
            try synchronizeOverdue(timeout: 0)
        } catch {
            if case .busy = error, !syncing.isBusy(since: ArchiveLock.timeoutNanoseconds) {
                return 20_000_000
            }
            syncing.isOverdue.store(true, ordering: .relaxed)
        }
        syncing.lastSync.store(cp_monotonic_time(), ordering: .relaxed)
        return taskNanoseconds
    }

    /// Waits at most `timeout`, and not at all if another caller has already waited that long.
    func synchronizeOverdue(timeout: Int64 = ArchiveLock.timeoutNanoseconds) throws(StorageError) {
        let isKnown = syncing.isBusy(since: ArchiveLock.timeoutNanoseconds)
        try synchronize(upTo: index.head, timeout: isKnown ? 0 : timeout)
        syncing.isOverdue.store(false, ordering: .relaxed)
    }
}

extension FileDescriptor {
    /// The folders whose names lead to an archive's files: this one, the store's, and the one that contains the store.
    var foldersToFind: [FileDescriptor] {
        get throws(StorageError) {
            let store = try parentFolder()
            // This user may not open the containing folder. The creator of the store's folder could, and synced it.
            let above = try StorageError.nilIf(\.isPermissionDenied, store.parentFolder())
            return [self, store] + (above.map { [$0] } ?? [])
        }
    }
}
