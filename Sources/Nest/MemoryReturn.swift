import Foundation
import StorageEngine

/// Returns freed memory to the system where the C library would keep it.
enum MemoryReturn {
    #if os(Linux)
    private typealias Trim = @convention(c) (Int) -> CInt

    /// The function of glibc; nil elsewhere, because other C libraries return free memory automatically.
    private static let trim = dlsym(nil, "malloc_trim").map { unsafeBitCast($0, to: Trim.self) }

    private struct State {
        var isScheduled = false
        /// The earliest time of the next run, in nanoseconds of ``NestClock``.
        var earliest: Int64 = 0
    }

    private static let state = Guarded(State())
    private static let queue = DispatchQueue(label: "nest.memory", qos: .utility)
    /// Delay in nanoseconds before a run, because items usually expire in groups.
    private static let delay: Int64 = 500_000_000

    /// Schedules a run, which costs time in proportion to the whole heap: at most a fiftieth of one core.
    static func schedule() {
        guard let trim else { return }
        let wait: Int64? = state.withLock { state in
            guard !state.isScheduled else { return nil }
            state.isScheduled = true
            return max(delay, state.earliest - NestClock.now())
        }
        guard let wait else { return }
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(wait))) {
            // Memory that is freed from now on may need another run.
            state.withLock { $0.isScheduled = false }
            let start = processorTime()
            _ = trim(0)
            let cost = processorTime() - start
            state.withLock { $0.earliest = NestClock.now() + 50 * cost }
        }
    }

    /// The processor time of this thread in nanoseconds, which doesn't depend on how busy the machine is.
    private static func processorTime() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
    #else
    static func schedule() {}
    #endif
}
