import Dispatch
import Foundation
import Synchronization

/// Work on many rows, done by several threads at the same time.
package enum SharedWork {
    /// As many as there are processors that this process may use; more than eight only wait for memory.
    package static let threads = max(1, min(8, ProcessInfo.processInfo.activeProcessorCount))
    /// To wake a thread for fewer rows costs more than it saves.
    private static let leastRows = 4096

    /// What `body` makes of each part of the rows, in their order. The caller's thread does its share.
    package static func map<Result: Sendable>(
        _ rows: Range<Int>, _ body: @Sendable (Range<Int>) -> Result
    ) -> [Result] {
        let parts = max(1, min(threads, rows.count / leastRows))
        @Sendable func part(_ number: Int) -> Range<Int> {
            rows.lowerBound + rows.count * number / parts..<rows.lowerBound + rows.count * (number + 1)
                / parts
        }
        guard parts > 1 else { return [body(rows)] }
        let results = Mutex([Result?](repeating: nil, count: parts))
        DispatchQueue.concurrentPerform(iterations: parts) { number in
            let result = body(part(number))
            results.withLock { $0[number] = result }
        }
        return results.withLock { $0.compactMap { $0 } }
    }
}
