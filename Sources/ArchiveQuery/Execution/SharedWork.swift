import Dispatch
import StorageEngine
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Work on many rows, done by several threads at the same time.
package enum SharedWork {
    /// As many as there are processors that this process may use; more than eight only wait for memory.
    package static let threads = max(1, min(8, ProcessInfo.processInfo.activeProcessorCount))
    /// Addresses of each thread: its stack, and glibc's arena, without which each allocation takes a page and soon all there are.
    private static let threadBytes = 160 << 20
    /// To wake a thread for fewer rows costs more than it saves.
    private static let leastRows = 4096

    /// So many threads, or as many as this process has addresses for, where these are limited; each may keep `bytes`.
    package static func bearable(_ threads: Int, bytes: Int = 0) -> Int {
        threads > 1
            ? AddressPressure.bearable(threads, least: 1, bytesEach: threadBytes + bytes) : threads
    }

    /// What `body` makes of each part of the rows, in their order. The caller's thread does its share.
    package static func map<Result: Sendable>(
        _ rows: Range<Int>, _ body: @Sendable (Range<Int>) -> Result
    ) -> [Result] {
        let parts = bearable(max(1, min(threads, rows.count / leastRows)))
        guard parts > 1 else { return [body(rows)] }
        let results = Mutex([Result?](repeating: nil, count: parts))
        each(parts) { number in
            let result = body(part(number, of: parts, rows))
            results.withLock { $0[number] = result }
        }
        return results.withLock { $0.compactMap { $0 } }
    }

    /// The part with this number, from 0 on, of as many that are about equal.
    package static func part(_ number: Int, of parts: Int, _ rows: Range<Int>) -> Range<Int> {
        func border(_ number: Int) -> Int { rows.lowerBound + rows.count * number / parts }
        return border(number)..<border(number + 1)
    }

    /// Calls `body` with each number below `count`, and returns when all are done. The caller's thread does its share.
    package static func each(_ count: Int, _ body: @Sendable (Int) -> Void) {
        guard count > 1 else { return (0..<count).forEach(body) }
        DispatchQueue.concurrentPerform(iterations: count, execute: body)
    }
}
