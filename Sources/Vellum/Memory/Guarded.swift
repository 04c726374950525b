#if DEBUG
import Foundation

/// A value behind a lock: in debug builds one that the thread sanitizer understands, else the standard library's, which
/// costs half as much.
final class Guarded<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
#else
import Synchronization

typealias Guarded<Value> = Mutex<Value>
#endif
