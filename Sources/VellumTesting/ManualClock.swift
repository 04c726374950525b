import StorageEngine

/// A clock that stands still until a test lets time pass, for lifetimes of hours in tests of milliseconds. Safe from any thread.
///
/// ```swift
/// let clock = ManualClock()
/// clock.run {
///     sessions.record(session, expiresIn: .seconds(3_600))
///     clock.advance(by: .seconds(3_601))
///     #expect(sessions.access(archiveWithKey: session.primaryKey) == nil)
/// }
/// ```
///
/// Objects that are stored outside of `run` are on the clock of the machine; so are lifetimes that are looked at there. The real
/// clock isn't stopped for anybody else: tests with clocks of their own run beside each other.
///
/// For debug builds, as tests are: in others the library has no place where a clock could be put, and `run` traps.
public final class ManualClock: Sendable {
    #if DEBUG
    private let hand = ClockHand()
    #endif

    /// A clock that shows the present time.
    public init() {}

    /// Lets time pass.
    public func advance(by duration: Duration) {
        #if DEBUG
        hand.pass(duration)
        #endif
    }

    /// Calls `body`, for which it is as late as this clock says, and for the tasks that it begins. Not for detached ones, and not for
    /// threads.
    public func run<Value>(_ body: () throws -> Value) rethrows -> Value {
        #if DEBUG
        try Clock.$hand.withValue(hand, operation: body)
        #else
        preconditionFailure(Self.advice)
        #endif
    }

    /// The same for asynchronous code.
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
