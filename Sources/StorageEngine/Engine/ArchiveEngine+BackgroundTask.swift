import CPlatform
import Synchronization

extension ArchiveEngine {
    /// State kept between two runs. Guarded by ``ArchiveEngine/maintenance``.
    struct MaintenanceState {
        var ticket: BackgroundThread.Ticket?
        /// Start of the current second on the monotonic clock, and the bytes that had been appended by then.
        var second: Int64 = 0
        var appended: UInt64 = 0
        /// When the existence of the files was last checked, on the monotonic clock.
        var filesChecked: Int64 = 0
        var isQuiet = false
        /// Whether entries have expired since reclaiming last found no work.
        var hasPendingReclaim = false
    }

    static let shortestPause: Int64 = 2_000_000

    /// Longest pause: another process may have set an earlier expiry time and ended, or the machine slept.
    static let longestPause: Int64 = 5_000_000_000

    func startMaintenance() throws(StorageError) {
        #if DEBUG
        // The thread would use the real clock, but the test controls time.
        guard Clock.hand == nil else { return }
        #endif
        try maintenance.withLock { (state) throws(StorageError) in
            maintenanceDue.store(Clock.boot(), ordering: .relaxed)
            if let ticket = state.ticket {
                return BackgroundThread.shared.hasten(ticket, to: ArchiveEngine.shortestPause)
            }
            try StorageError.rethrowing(after: { maintenanceDue.store(.max, ordering: .relaxed) }) {
                () throws(StorageError) in
                try registerMaintenance(&state, after: ArchiveEngine.shortestPause)
            }
        }
    }

    /// The closure holds a strong reference until ``stopMaintenance()``: a weak one would slow retains and releases in each put.
    private func registerMaintenance(_ state: inout MaintenanceState, after nanoseconds: Int64)
        throws(StorageError)
    {
        guard !gate.isClosed else { return }
        state.ticket = try BackgroundThread.shared.register(after: nanoseconds) { self.tasks.maintain(self) }
    }

    /// Ends the background task, and waits for its current run: it reads the mapped files, which may be truncated or replaced
    /// once the archive is closed. Call it after the ``gate`` is closed, so that the run can't take the lock.
    func stopMaintenance() {
        let ended = maintenance.withLock { state in
            defer { state.ticket = nil }
            maintenanceDue.store(.max, ordering: .relaxed)
            return state.ticket
        }
        // Outside the mutex, because the run locks it too.
        if let ended { BackgroundThread.shared.cancel(ended, within: ArchiveLock.timeoutNanoseconds) }
    }

    /// Pause until the next moment at which all idle archives of the process are polled together.
    static var idlePause: Int64 { longestPause - cp_monotonic_time() % longestPause }

    func startMaintenancePolling() {
        #if DEBUG
        guard Clock.hand == nil else { return }
        #endif
        // A log needs no maintenance: appending drops its old messages.
        guard kind != .log else { return }
        maintenance.withLock { state in
            guard state.ticket == nil else { return }
            // If no thread can be started, a later change starts the task.
            try? registerMaintenance(&state, after: ArchiveEngine.idlePause)
        }
    }
}
