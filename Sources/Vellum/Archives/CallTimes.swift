import Dispatch
import StorageEngine
import Synchronization

/// Calls that go to the store, or have something computed; what memory answers is none of them.
package enum TimedCall: Int, CaseIterable, Sendable {
    /// Looking up what memory doesn't have.
    case access
    /// Storing an object that is encoded.
    case record
    case delete
    /// The changes of a batch or a transaction, once they are known.
    case change
    case query
    /// What a program computes where there is no object.
    case compute
}

/// Who is told how long calls took, failures included: nobody in most programs, where a call costs the look at one word for that.
/// Safe from any thread.
package final class CallTimes: Sendable {
    package typealias Listener = @Sendable (TimedCall, _ nanoseconds: Int64) -> Void

    private let listeners = Guarded<[Listener]>([])
    private let isHeard = Atomic(false)

    package func tell(_ listener: @escaping Listener) {
        listeners.withLock { $0.append(listener) }
        isHeard.store(true, ordering: .relaxed)
    }

    @inline(__always)
    func measure<Value>(_ call: TimedCall, _ body: () throws -> Value) rethrows -> Value {
        let start = begin()
        defer { end(call, start) }
        return try body()
    }

    /// For what isn't one call of a function. `nil`: nobody listens.
    @inline(__always)
    func begin() -> UInt64? { isHeard.load(ordering: .relaxed) ? CallTimes.now() : nil }

    @inline(__always)
    func end(_ call: TimedCall, _ start: UInt64?) {
        if let start { tell(call, start) }
    }

    @inline(never)
    private func tell(_ call: TimedCall, _ start: UInt64) {
        let nanoseconds = Int64(clamping: CallTimes.now() &- start)
        for listener in listeners.withLock({ $0 }) { listener(call, nanoseconds) }
    }

    @inline(never)
    private static func now() -> UInt64 { DispatchTime.now().uptimeNanoseconds }
}
