import Foundation

/// Looks again and again whether something holds, for `seconds` on a busy machine; `false` when it never did.
///
/// Holds the thread meanwhile: for tests that aren't asynchronous.
package func holds(within seconds: Double = 60, _ condition: () throws -> Bool) rethrows -> Bool {
    let end = ContinuousClock.now + .seconds(seconds)
    while try !condition() {
        guard ContinuousClock.now < end else { return try condition() }
        usleep(5_000)
    }
    return true
}

/// The same, without holding a thread.
package func eventually(
    within seconds: Double = 60, _ condition: () async throws -> Bool
) async throws -> Bool {
    let end = ContinuousClock.now + .seconds(seconds)
    while try await !condition() {
        guard ContinuousClock.now < end else { return try await condition() }
        try await Task.sleep(for: .milliseconds(5))
    }
    return true
}
