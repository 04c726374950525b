import StorageEngine

/// A clock that stands still until the test advances it, so that lifetimes of hours can be tested in milliseconds.
/// Safe from any thread.
///
/// ```swift
/// let clock = ManualClock()
/// clock.run {
///     sessions.record(session, options: .init(expiresIn: .seconds(3_600)))
///     clock.advance(by: .seconds(3_601))
///     #expect(sessions.access(archiveWithKey: session.primaryKey) == nil)
/// }
/// ```
///
/// Only code in `run` uses this clock. Objects that are stored outside of it, and lifetimes that are read there, use
/// the real clock. Tests with different clocks can run in parallel.
///
/// Works in debug builds only, which tests use. Other builds of the library have no replaceable clock, and `run`
/// traps.
public final class ManualClock: Sendable {
    #if DEBUG
    private let hand = ClockHand()
    #endif

    /// Creates a clock that shows the current time.
    public init() {}

    /// Advances the clock.
    public func advance(by duration: Duration) {
        #if DEBUG
        hand.pass(duration)
        #endif
    }

    /// Calls `body` with this clock, which also applies to its tasks, but not to detached tasks and threads.
    public func run<Value>(_ body: () throws -> Value) rethrows -> Value {
        #if DEBUG
        try Clock.$hand.withValue(hand, operation: body)
        #else
        preconditionFailure(Self.advice)
        #endif
    }

    /// Like ``run(_:)``, for asynchronous code.
    public nonisolated(nonsending) func run<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        #if DEBUG
        try await Clock.$hand.withValue(hand, operation: body)
        #else
        preconditionFailure(Self.advice)
        #endif
    }

    #if !DEBUG
    private static let advice = "a ManualClock needs a debug build of the library, such as `swift test` makes"
    #endif
}
