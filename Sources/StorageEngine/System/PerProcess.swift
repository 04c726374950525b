import CPlatform
import Synchronization

/// One value for each process: a forked child creates a new one, because the parent's may be locked or half changed. Thread-safe.
struct PerProcess<Value: AnyObject & Sendable>: ~Copyable, Sendable {
    private final class Made: Sendable {
        let value: Value
        let forks: UInt32

        init(_ value: Value, forks: UInt32) {
            self.value = value
            self.forks = forks
        }
    }

    private let make: @Sendable () -> Value
    /// The bits of a pointer to a `Made`; 0: none yet. Released in `deinit` only: another thread may use it.
    private let latest = Atomic<UInt>(0)

    init(_ make: @escaping @Sendable () -> Value) { self.make = make }

    deinit {
        let known = latest.load(ordering: .acquiring)
        guard let made = PerProcess.made(known), made.forks == cp_watch_forks() else { return }
        Unmanaged.passUnretained(made).release()
    }

    var value: Value {
        let forks = cp_watch_forks()
        let known = latest.load(ordering: .acquiring)
        if let made = PerProcess.made(known), made.forks == forks { return made.value }
        let own = Unmanaged.passRetained(Made(make(), forks: forks))
        let (isFirst, others) = latest.compareExchange(
            expected: known, desired: UInt(bitPattern: own.toOpaque()), ordering: .acquiringAndReleasing)
        guard !isFirst, let made = PerProcess.made(others) else { return own.takeUnretainedValue().value }
        own.release()
        return made.value
    }

    private static func made(_ bits: UInt) -> Made? {
        UnsafeRawPointer(bitPattern: bits).map { Unmanaged<Made>.fromOpaque($0).takeUnretainedValue() }
    }
}

package final class GuardedReference<Value: Sendable>: Sendable {
    private let guarded: Guarded<Value>

    package init(_ value: Value) { guarded = Guarded(value) }

    package func withLock<Result: Sendable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try guarded.withLock { (value) throws(Failure) in try body(&value) }
    }
}
