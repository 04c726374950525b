import Foundation

/// Processor time in seconds that this thread, or all of the process, has taken so far, as an ordinary build would have: one that
/// is made slower says how much in `VELLUM_SLOWDOWN`. For bounds of what is computed: the clock on the wall also counts what a
/// hundred other tests do meanwhile.
package func processorSeconds(_ clock: clockid_t = CLOCK_THREAD_CPUTIME_ID) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return (Double(time.tv_sec) + Double(time.tv_nsec) / 1e9) / slowdown
}

private let slowdown = ProcessInfo.processInfo.environment["VELLUM_SLOWDOWN"].flatMap { Double($0) } ?? 1

/// Looks every 5 ms whether something holds, for `seconds` at least; `false` when it never did. Looks are counted and not time: on a
/// busy machine others may need longer to get anywhere.
///
/// Holds the thread meanwhile: for tests that aren't asynchronous.
package func holds(within seconds: Double = 60, _ condition: () throws -> Bool) rethrows -> Bool {
    for _ in 0..<Int(seconds * 200) {
        if try condition() { return true }
        usleep(5_000)
    }
    return try condition()
}

/// The same, without holding a thread: a task that waits for one may have waited longer than all of `seconds`.
package func eventually(
    within seconds: Double = 60, _ condition: () async throws -> Bool
) async throws -> Bool {
    for _ in 0..<Int(seconds * 200) {
        if try await condition() { return true }
        try await Task.sleep(for: .milliseconds(5))
    }
    return try await condition()
}
