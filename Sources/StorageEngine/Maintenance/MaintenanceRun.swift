import CPlatform
import Synchronization

struct MaintenanceRun: ArchiveOperation {
    let engine: ArchiveEngine

    /// Pause in nanoseconds while an undo window is open, which other processes' writes may end, or while the archive is busy.
    private static let usualPause: Int64 = 1_000_000_000
    /// An archive counts as quiet if at most this number of bytes is appended in a second.
    private static let quietBytes: UInt64 = 1 << 20

    /// Runs the task. Returns the nanoseconds until the next run; `nil` ends the task.
    func run() -> Int64? {
        checkFiles()
        var pause = runMaintenanceOnce()
        // Unmaps few segments at a time, because all archives of the process share this thread.
        log.unmapReleased(most: 1)
        if log.hasReleased.load(ordering: .relaxed) { pause = ArchiveEngine.shortestPause }
        return engine.maintenance.withLock { state in
            guard pause == nil else {
                engine.maintenanceDue.store(
                    Clock.boot().addingSaturating((pause ?? 0) / 1000), ordering: .relaxed)
                return pause
            }
            // Stored before the check: every change reads `maintenanceDue` after adding work, so it or this run notices the work.
            engine.maintenanceDue.store(.max, ordering: .sequentiallyConsistent)
            guard index.nextDeadline == Deadline.never, index.tombstoneCount == 0,
                !engine.isCompactionDue.load(ordering: .relaxed)
            else {
                engine.maintenanceDue.store(Clock.boot(), ordering: .relaxed)
                return ArchiveEngine.shortestPause
            }
            return ArchiveEngine.idlePause
        }
    }

    /// Checks every five seconds whether the archive's files exist, even without other work.
    private func checkFiles() {
        let isDue = engine.maintenance.withLock { state in
            let now = cp_monotonic_time()
            guard now &- state.filesChecked >= ArchiveEngine.longestPause / 2 else { return false }
            state.filesChecked = now
            return true
        }
        if isDue { engine.closeIfRemoved() }
    }

    private func runMaintenanceOnce() -> Int64? {
        let isQuiet = sampleWriting()
        guard
            index.nextDeadline != Deadline.never || index.tombstoneCount > 0
                || SpaceBudget(engine).isSpaceWasted
                || engine.isCompactionDue.load(ordering: .relaxed)
        else { return nil }
        guard index.isReady else { return ArchiveEngine.longestPause }
        // Doesn't wait for the lock: its holder may be stopped, and other archives need this thread.
        guard let section = engine.tryAcquire() else { return recoverAfterCrashedHolder() }
        section.drainTouches()
        let before = index.appendedBytes
        let head = index.head
        // Reclaims first: pending compaction of earlier calls, and entries that the last run expired.
        let hasPendingReclaim = engine.maintenance.withLock { $0.hasPendingReclaim }
        let isReclaimed =
            section.compactPart()
            || hasPendingReclaim && section.reclaimSome { LogCleaner(engine).isReclaimingDue }
        let expired = isReclaimed ? 0 : try? expireSome(section)
        var isBusy = isReclaimed || expired ?? 0 > 0
        engine.maintenance.withLock { $0.hasPendingReclaim = isBusy }
        if !isBusy { isBusy = section.dropTombstones(most: ArchiveEngine.actionBatch) }
        if !isBusy, isQuiet { isBusy = section.reclaimWhileQuiet() }
        let own = index.appendedBytes &- before
        let hasWritten = index.head != head
        engine.maintenance.withLock { $0.appended &+= own }
        let pause = isBusy ? ArchiveEngine.shortestPause : untilNext(section, failed: expired == nil)
        // Releases the lock before waiting for the medium.
        _ = consume section
        if hasWritten { try? engine.finishChange() }
        return pause
    }

    /// Called if the lock is held, or its last holder crashed while holding it. Returns the pause until the next attempt.
    private func recoverAfterCrashedHolder() -> Int64 {
        guard index.lockOwner != 0 else { return 10_000_000 }
        do throws(StorageError) {
            _ = try engine.acquire(nanoseconds: 0)
            return ArchiveEngine.shortestPause
        } catch {
            if case .busy = error { return 10_000_000 }
            return ArchiveEngine.longestPause
        }
    }

    private func sampleWriting() -> Bool {
        let appended = index.appendedBytes
        return engine.maintenance.withLock { state in
            let now = cp_monotonic_time()
            guard now &- state.second >= MaintenanceRun.usualPause else { return state.isQuiet }
            state.isQuiet =
                state.second != 0 && appended &- min(appended, state.appended) < MaintenanceRun.quietBytes
            state.second = now
            state.appended = appended
            return state.isQuiet
        }
    }

    /// Removes expired entries, at most as many as one hold of the lock allows. Returns the number of examined entries.
    private func expireSome(_ section: borrowing ArchiveSection) throws(StorageError) -> Int {
        let next = section.index.nextDeadline
        guard next != Deadline.never, next <= Clock.boot() else { return 0 }
        let due = section.index.deadlines.due(
            at: Clock.boot(), most: ArchiveEngine.actionBatch, rows: EntryRemover.rowsAtOnce)
        guard !due.numbers.isEmpty else { return due.isDone ? 0 : 1 }
        return try section.expire(due.numbers).entries
    }

    private func untilNext(_ section: borrowing ArchiveSection, failed: Bool) -> Int64? {
        let index = section.index
        if failed { return MaintenanceRun.usualPause }
        var left = Int64.max
        if SpaceBudget(engine).isSpaceWasted {
            left = MaintenanceRun.usualPause
        } else if engine.compactionOwner.load(ordering: .relaxed) == 0 {
            // Compaction becomes pending under the lock, so no new request is lost.
            engine.isCompactionDue.store(false, ordering: .relaxed)
        }
        let now = Clock.boot()
        func wait(until moment: Int64) {
            let nanoseconds = moment.subtractingSaturating(now).multipliedReportingOverflow(by: 1000)
            left = min(left, nanoseconds.overflow ? .max : nanoseconds.partialValue)
        }
        if index.nextDeadline != Deadline.never { wait(until: index.nextDeadline) }
        for line in index.undo.lines where line.marked > 0 {
            wait(until: line.end)
            if line.endBytes != .max { left = min(left, MaintenanceRun.usualPause) }
        }
        guard left != .max else { return nil }
        return max(ArchiveEngine.shortestPause, min(left, ArchiveEngine.longestPause))
    }
}
