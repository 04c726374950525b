import Foundation

/// The processor time in seconds of this thread or of the whole process, divided by the slowdown of an instrumented
/// build (`VELLUM_SLOWDOWN`). For limits on computations: wall-clock time would also count a hundred other tests
/// that run at the same time.
package func processorSeconds(_ clock: clockid_t = CLOCK_THREAD_CPUTIME_ID) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return (Double(time.tv_sec) + Double(time.tv_nsec) / 1e9) / slowdown
}

private let slowdown = ProcessInfo.processInfo.environment["VELLUM_SLOWDOWN"].flatMap { Double($0) } ?? 1

/// Checks a condition every 5 ms for at least `seconds`; `false` if it never holds. It counts checks instead of
/// measuring time, because on a busy machine others may need longer.
///
/// Blocks the thread, so use it in tests that aren't asynchronous.
package func holds(within seconds: Double = 60, _ condition: () throws -> Bool) rethrows -> Bool {
    for _ in 0..<Int(seconds * 200) {
        if try condition() { return true }
        usleep(5_000)
    }
    return try condition()
}

/// The same without blocking a thread. A task that waits for a thread may already have waited longer than `seconds`.
package func eventually(
    within seconds: Double = 60, _ condition: () async throws -> Bool
) async throws -> Bool {
    for _ in 0..<Int(seconds * 200) {
        if try await condition() { return true }
        try await Task.sleep(for: .milliseconds(5))
    }
    return try await condition()
}
