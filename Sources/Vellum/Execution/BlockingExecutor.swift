import Dispatch
import StorageEngine

package enum BlockingExecutor {
    package nonisolated(nonsending) static func run<Value>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await run(after: { $0(()) }) { _ in try body() }
    }

    /// Runs `body` with the result of `ask`, without returning to the caller's executor in between.
    package nonisolated(nonsending) static func run<Answer: Sendable, Value>(
        after ask: (@escaping @Sendable (Answer) -> Void) -> Void,
        _ body: @escaping @Sendable (Answer) throws -> Value
    ) async throws -> Value {
        #if DEBUG
        let hand = Clock.hand
        #endif
        let result: Carried<Result<Value, any Error>> = await withCheckedContinuation { continuation in
            ask { answer in
                DispatchQueue.global(qos: .userInitiated).async {
                    #if DEBUG
                    let result = Clock.$hand.withValue(hand) { Result { try body(answer) } }
                    #else
                    let result = Result { try body(answer) }
                    #endif
                    continuation.resume(returning: Carried(value: result))
                }
            }
        }
        return try result.value.get()
    }

    /// Blocks the thread until `ask` calls its argument, and returns the answer.
    package static func wait<Answer: Sendable>(
        _ ask: (@escaping @Sendable (Answer) -> Void) -> Void
    ) -> Answer {
        let answer = Guarded<Answer?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        ask { result in
            answer.withLock { $0 = result }
            isDone.signal()
        }
        isDone.wait()
        return answer.withLock { $0 }!
    }

    /// Only one thread uses it at a time.
    private struct Carried<Value>: @unchecked Sendable {
        let value: Value
    }
}
