import CPlatform
import Synchronization

/// Admits threads to the archive's lock until the handle closes, and waits for the last one to leave.
struct LockGate: ~Copyable {
    /// Number of threads that wait for the lock or hold it; negative once closed.
    private let inside = Atomic<Int>(0)

    /// Admits the caller; `false` once closed. Balance each `true` with ``leave()``.
    @inline(__always) func enter() -> Bool {
        guard inside.add(1, ordering: .acquiring).newValue > 0 else {
            leave()
            return false
        }
        return true
    }

    @inline(__always) func leave() { inside.subtract(1, ordering: .releasing) }

    var isClosed: Bool { inside.load(ordering: .acquiring) < 0 }

    /// Closes the gate and admits the caller as the last thread, which must leave, too. Call it once.
    func closeAndEnter() { inside.add(.min + 1, ordering: .acquiringAndReleasing) }

    /// Waits until all threads that were admitted before the close have left; returns `false` after `nanoseconds`.
    func isLeft(within nanoseconds: Int64) -> Bool {
        let end = cp_monotonic_time() &+ nanoseconds
        // A refused thread is counted briefly, too.
        while inside.load(ordering: .acquiring) != .min {
            guard cp_monotonic_time() < end else { return false }
            cp_sleep(100_000)
        }
        return true
    }
}
