import Dispatch
import Foundation
import StorageEngine
import Synchronization

/// Work on many rows by several threads.
package enum SharedWork {
    /// The processors of this process; more than eight threads only wait for memory.
    package static let threads = max(1, min(8, ProcessInfo.processInfo.activeProcessorCount))
    /// Address space of a thread: its stack, and glibc's arena, without which each allocation takes a page.
    private static let threadBytes = 160 << 20
    /// Waking a thread for fewer rows costs more than it saves.
    private static let leastRows = 4096

    /// `threads`, or the number that fits into a limited address space; each may keep `bytes`.
    package static func threadsWithinLimit(_ threads: Int, bytes: Int = 0) -> Int {
        threads > 1
            ? AddressPressure.countWithinLimit(threads, least: 1, bytesEach: threadBytes + bytes) : threads
    }

    /// The results of `body` for each part of the rows, in order. Also uses the caller's thread.
    package static func map<Result: Sendable>(
        _ rows: Range<Int>, _ body: @Sendable (Range<Int>) -> Result
    ) -> [Result] {
        let parts = threadsWithinLimit(max(1, min(threads, rows.count / leastRows)))
        guard parts > 1 else { return [body(rows)] }
        let results = Mutex([Result?](repeating: nil, count: parts))
        each(parts) { number in
            let result = body(part(number, of: parts, rows))
            results.withLock { $0[number] = result }
        }
        return results.withLock { $0.compactMap { $0 } }
    }

    /// The part `number`, from 0, of `parts` about equal ones.
    package static func part(_ number: Int, of parts: Int, _ rows: Range<Int>) -> Range<Int> {
        func border(_ number: Int) -> Int { rows.lowerBound + rows.count * number / parts }
        return border(number)..<border(number + 1)
    }

    /// Calls `body` with each number below `count`, and returns when all are done. Also uses the caller's thread.
    package static func each(_ count: Int, _ body: @Sendable (Int) -> Void) {
        guard count > 1 else { return (0..<count).forEach(body) }
        DispatchQueue.concurrentPerform(iterations: count, execute: body)
    }
}
