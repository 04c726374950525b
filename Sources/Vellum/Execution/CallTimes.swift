import Dispatch
import StorageEngine
import Synchronization

/// The kinds of calls that are timed: those that reach the store or compute an object. Hits in memory are not.
package enum TimedCall: Int, CaseIterable, Sendable {
    case access
    case record
    case delete
    case change
    case query
    case compute
}

/// Reports the duration of calls, failures included, to a listener; without one, a call reads one word.
package final class CallTimes: Sendable {
    package typealias Listener = @Sendable (TimedCall, _ nanoseconds: Int64) -> Void

    private let listeners = Guarded<[Listener]>([])
    private let hasListeners = Atomic(false)

    package func add(_ listener: @escaping Listener) {
        listeners.withLock { $0.append(listener) }
        hasListeners.store(true, ordering: .relaxed)
    }

    @inline(__always)
    func measure<Value>(_ call: TimedCall, _ body: () throws -> Value) rethrows -> Value {
        let start = begin()
        defer { end(call, start) }
        return try body()
    }

    /// Starts timing something other than a single call. `nil` without a listener.
    @inline(__always)
    func begin() -> UInt64? { hasListeners.load(ordering: .relaxed) ? CallTimes.now() : nil }

    @inline(__always)
    func end(_ call: TimedCall, _ start: UInt64?) {
        if let start { report(call, start) }
    }

    @inline(never)
    private func report(_ call: TimedCall, _ start: UInt64) {
        let nanoseconds = Int64(clamping: CallTimes.now() &- start)
        for listener in listeners.withLock({ $0 }) { listener(call, nanoseconds) }
    }

    @inline(never)
    private static func now() -> UInt64 { DispatchTime.now().uptimeNanoseconds }
}
