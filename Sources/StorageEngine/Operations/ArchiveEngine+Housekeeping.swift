import CPlatform

/// What happens in the background, in every process that gave entries a lifetime or removed some reversibly:
/// expired entries go soon after their deadline although nobody looks them up, and what can no longer be undone is
/// given up. Ends by itself when there is nothing left to wait for.
extension ArchiveEngine {
    /// Nanoseconds between two looks; others may have brought the next deadline nearer.
    private static let longestPause: Int64 = 1_000_000_000
    private static let shortestPause: Int64 = 10_000_000

    /// Begins it if it is not running.
    func beginHousekeeping() throws(StorageError) {
        #if DEBUG
        // The thread would go by the real clock, and a test that moves time by hand does not expect it.
        guard Clock.hand == nil else { return }
        #endif
        let result: Result<Void, StorageError> = housekeeping.withLock { ticket in
            guard ticket == nil else { return .success(()) }
            return Result { () throws(StorageError) in
                ticket = try Upkeep.shared.register(after: ArchiveEngine.shortestPause) { [weak self] in
                    self?.keepHouse()
                }
            }
        }
        try result.get()
    }

    func endHousekeeping() {
        housekeeping.withLock { ticket in
            if let known = ticket { Upkeep.shared.cancel(known) }
            ticket = nil
        }
    }

    /// Nanoseconds until it is due again; `nil` when there is nothing left to do.
    private func keepHouse() -> Int64? {
        let next = index.nextDeadline
        guard next != Deadline.never || index.setAsideCount > 0 else {
            housekeeping.withLock { $0 = nil }
            return nil
        }
        // Whoever holds the lock may have been stopped, and others need this thread.
        guard acquireIfFree() else { return ArchiveEngine.shortestPause }
        forgetSetAside(most: 4096)
        release()
        let left = next == Deadline.never ? .max : next.subtractingSaturating(Clock.boot())
        if left <= 0 {
            _ = try? removeExpired()
            try? settle()
            return ArchiveEngine.shortestPause
        }
        let pause = left > ArchiveEngine.longestPause / 1000 ? ArchiveEngine.longestPause : left * 1000
        return max(ArchiveEngine.shortestPause, pause)
    }
}
