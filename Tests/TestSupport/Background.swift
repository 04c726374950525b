import Dispatch
import Foundation
import Synchronization

/// Runs a closure on a thread of its own.
package final class Background: Sendable {
    private let ended = DispatchSemaphore(value: 0)
    private let failure = Mutex<(any Error)?>(nil)

    package init(_ body: @escaping @Sendable () throws -> Void) {
        Thread.detachNewThread { [self] in
            do { try body() } catch { failure.withLock { $0 = error } }
            ended.signal()
        }
    }

    /// Waits until it ends, and throws the closure's error.
    package func wait() throws {
        ended.wait()
        if let error = failure.withLock({ $0 }) { throw error }
    }
}
