import Foundation
import Synchronization

/// Threads that start the same work at once.
enum Crew {
    /// - Returns: nanoseconds from the start of the first thread to the end of the last.
    static func nanoseconds(
        _ count: Int, _ body: @escaping @Sendable (_ number: Int) throws -> Void
    ) throws -> Double {
        let waiting = Atomic(count)
        let state = Mutex<(first: UInt64, last: UInt64, failure: (any Error)?)>((.max, 0, nil))
        let work: @Sendable (Int) -> Void = { number in
            waiting.subtract(1, ordering: .sequentiallyConsistent)
            while waiting.load(ordering: .sequentiallyConsistent) > 0 { usleep(100) }
            let begun = Clock.now()
            let result = Result { try body(number) }
            let ended = Clock.now()
            state.withLock {
                $0.first = min($0.first, begun)
                $0.last = max($0.last, ended)
                if case .failure(let failure) = result { $0.failure = failure }
            }
        }
        let group = DispatchGroup()
        for number in 0..<count {
            group.enter()
            Thread.detachNewThread {
                work(number)
                group.leave()
            }
        }
        group.wait()
        let (first, last, failure) = state.withLock { $0 }
        if let failure { throw failure }
        return Double(last - first)
    }
}
