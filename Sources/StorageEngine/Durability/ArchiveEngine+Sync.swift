import CPlatform

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Bringing the log to the medium. What is promised, and why it holds: <doc:Durability>.
extension ArchiveEngine {
    /// Up to here the log is on the medium, as far as is known. A damaged index that says more is not believed.
    private var synced: Location {
        let known = index.syncedHead
        return known <= index.head ? known : .none
    }

    /// Keeps the archive's durability after a change. Every operation that changes something calls it when it has
    /// let the archive's lock go; at the level `process` it costs four relaxed loads where nothing waits to expire.
    @inline(__always)
    func settle() throws(StorageError) {
        // Both words lie beside the one that is asked next.
        if index.hasDeadlines || index.setAsideCount != 0
            || isRoomDue.load(ordering: .relaxed)
        {
            mindHouse()
        }
        if index.isEverSynced {
            try settleSlowly()
        }
    }

    @inline(never)
    private func settleSlowly() throws(StorageError) {
        switch index.durability {
        case .full: try synchronize(upTo: index.head)
        case .interval:
            // Whoever stores next hears why nothing could be synced, unless it can be by now.
            if syncing.isOverdue.load(ordering: .relaxed) { try synchronizeOverdue() }
            try beginUpkeep()
        case .process, nil: break
        }
    }

    /// Returns when everything before `target` is on the medium. Callers at the same time share a sync.
    func synchronize(upTo target: Location, patience: Int64 = ArchiveEngine.patienceNanoseconds)
        throws(StorageError)
    {
        guard synced < target else { return }
        try syncing.alone(archive: name, nanoseconds: patience) { () throws(StorageError) in
            // Whoever synced meanwhile took this along.
            guard synced < target else { return }
            try lead()
        }
    }

    /// Syncs all that is committed now. Needs to be the only one who does; needs no lock of the archive.
    private func lead() throws(StorageError) {
        let target = index.head
        let start = synced
        guard index.state != .syncFailed else {
            throw .syncFailed(path: folder.path)
        }
        var number = max(start.segment, index.oldestSegment)
        while number <= target.segment {
            // A segment that is gone needs nothing: what was live in it was synced before it went.
            if let pin = try log.pinIfPresent(number) {
                defer { log.unpin(pin) }
                // What others appended counts as synchronized as well.
                if let file = try log.fileToSynchronize(pin) {
                    try log.learnSize(pin)
                    try orStop { () throws(StorageError) in
                        try file.synchronize(mapped: log.view(pin).mapped)
                    }
                }
            }
            guard number < target.segment else { break }
            number = try log.nextSegment(after: number, upTo: target.segment)
        }
        crashPoint(.segmentsSynced)
        if start == .none {
            // Nothing of this archive was synced since its index was made: perhaps not even its folder's name.
            for above in try ArchiveOpening.foldersToFind(folder) {
                try orStop { () throws(StorageError) in try above.synchronizeNames() }
            }
        } else if start.segment != target.segment {
            try orStop { () throws(StorageError) in try folder.synchronizeNames() }
        }
        index.syncedHead = target
        crashPoint(.headSynced)
        syncing.lastSync.store(cp_monotonic_time(), ordering: .relaxed)
    }

    /// After a failed sync nobody knows what the medium has, and the next sync would succeed without having
    /// written it: nothing more may be acknowledged as if it had. `sync` asks the medium and does nothing else: that a
    /// file can't be opened or mapped just now says nothing about the medium.
    private func orStop(_ sync: () throws(StorageError) -> Void) throws(StorageError) {
        do throws(StorageError) {
            try sync()
        } catch {
            index.declareSyncFailed()
            throw .syncFailed(path: folder.path)
        }
    }

    // MARK: The level

    /// After a change of the level: what is acknowledged from now on is kept; what was before is brought along.
    func settleAll() throws(StorageError) {
        if index.durability != .process { try synchronize(upTo: index.head) }
        try settle()
    }

    // MARK: Syncing in the background

    private var intervalNanoseconds: Int64 {
        Int64(max(index.syncTenths, 1)) * 100_000_000
    }

    /// How long until the duty looks again: often enough to notice that another process shortened the interval.
    private var dutyNanoseconds: Int64 { min(intervalNanoseconds, 1_000_000_000) }

    private func beginUpkeep() throws(StorageError) {
        // Held until ``endSyncing()``: a weak reference would make every put's retains slow.
        try syncing.begin(after: dutyNanoseconds) { self.syncIfDue() }
    }

    private func syncIfDue() -> Int64? {
        guard index.durability == .interval else {
            syncing.forgetDuty()
            return nil
        }
        let idle = cp_monotonic_time() &- syncing.lastSync.load(ordering: .relaxed)
        // A thread that wakes a little early need not sleep again.
        guard idle >= intervalNanoseconds - 1_000_000 else {
            return min(dutyNanoseconds, intervalNanoseconds - idle)
        }
        // When the medium fails that stops the archive, and everyone learns of it from the index.
        do throws(StorageError) {
            // The other archives of this process need this thread.
            try synchronizeOverdue(patience: 0)
        } catch {
            if case .busy = error, !syncing.isBusy(since: ArchiveEngine.patienceNanoseconds) {
                return 20_000_000
            }
            syncing.isOverdue.store(true, ordering: .relaxed)
        }
        syncing.lastSync.store(cp_monotonic_time(), ordering: .relaxed)
        return dutyNanoseconds
    }

    /// `patience`: only where nobody has waited as long already.
    private func synchronizeOverdue(patience: Int64 = ArchiveEngine.patienceNanoseconds) throws(StorageError)
    {
        let isKnown = syncing.isBusy(since: ArchiveEngine.patienceNanoseconds)
        try synchronize(upTo: index.head, patience: isKnown ? 0 : patience)
        syncing.isOverdue.store(false, ordering: .relaxed)
    }

    /// Ends the duty, and does it for the last time.
    func endSyncing() {
        syncing.end()
        if index.durability == .interval { try? synchronize(upTo: index.head) }
    }
}
