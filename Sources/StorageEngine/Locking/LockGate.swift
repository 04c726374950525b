import CPlatform
import Synchronization

/// Lets threads of this process at an archive's lock until the handle is closed, and knows whether any is still there:
/// from then on others may take the archive for nobody's, and make its lock or its index anew. Safe from any thread.
struct LockGate: ~Copyable {
    /// How many threads are at the lock or hold it; less than 0 once closed.
    private let inside = Atomic<Int>(0)

    /// `false` once it is closed. Whoever was let in leaves again.
    @inline(__always)
    func enter() -> Bool {
        guard inside.add(1, ordering: .acquiring).newValue > 0 else {
            leave()
            return false
        }
        return true
    }

    @inline(__always)
    func leave() { inside.subtract(1, ordering: .releasing) }

    var isClosed: Bool { inside.load(ordering: .acquiring) < 0 }

    /// Lets nobody in any more but the caller, who leaves again. Once.
    func closeAndEnter() { inside.add(.min + 1, ordering: .acquiringAndReleasing) }

    /// Whether all have left that had been let in before it was closed; waits that long for them.
    func isLeft(within nanoseconds: Int64) -> Bool {
        let end = cp_monotonic_time() &+ nanoseconds
        // Who is refused is in it for a moment.
        while inside.load(ordering: .acquiring) != .min {
            guard cp_monotonic_time() < end else { return false }
            cp_sleep(100_000)
        }
        return true
    }
}
