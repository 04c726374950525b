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
    /// that the program has, so no more than a hundredth of a core's time goes into it.
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
            let start = NestClock.now()
            _ = trim(0)
            let end = NestClock.now()
            state.withLock { $0.earliest = end + 100 * (end - start) }
        }
    }
    #else
    static func plan() {}
    #endif
}
