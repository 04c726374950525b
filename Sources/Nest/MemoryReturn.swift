import Foundation
import StorageEngine

/// Gives memory that was freed back to the system, where the C library keeps it for itself. Safe from any thread.
enum MemoryReturn {
    #if os(Linux)
    private typealias Trim = @convention(c) (Int) -> CInt

    /// Of glibc; others give back what is free by themselves.
    private static let trim = dlsym(nil, "malloc_trim").map { unsafeBitCast($0, to: Trim.self) }

    private struct State {
        var isPlanned = false
        /// When it may be done next, in nanoseconds of ``NestClock``.
        var earliest: Int64 = 0
    }

    private static let state = Guarded(State())
    private static let queue = DispatchQueue(label: "nest.memory", qos: .utility)
    /// More items go together, mostly.
    private static let delay: Int64 = 500_000_000

    /// Does it some time after this call: once for all items that go until then. To look for free memory costs in proportion to all
    /// that the program has, so no more than a fiftieth of a core's time goes into it.
    static func plan() {
        guard let trim else { return }
        let wait: Int64? = state.withLock { state in
            guard !state.isPlanned else { return nil }
            state.isPlanned = true
            return max(delay, state.earliest - NestClock.now())
        }
        guard let wait else { return }
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(wait))) {
            // What goes from now on may be too late for this time.
            state.withLock { $0.isPlanned = false }
            let start = processorTime()
            _ = trim(0)
            let cost = processorTime() - start
            state.withLock { $0.earliest = NestClock.now() + 50 * cost }
        }
    }

    /// What this thread has had, in nanoseconds: on a busy machine it takes longer, and costs no more.
    private static func processorTime() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
    #else
    static func plan() {}
    #endif
}
