import Dispatch
import StorageEngine

/// Where work is done that may wait for the disk or another process: a thread of the system's queue, since those of Swift's
/// concurrency must not be blocked.
enum Elsewhere {
    nonisolated(nonsending) static func run<Value>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        #if DEBUG
        let hand = Clock.hand
        #endif
        let result: Carried<Result<Value, any Error>> = await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .userInitiated).async {
                #if DEBUG
                let result = Clock.$hand.withValue(hand) { Result { try body() } }
                #else
                let result = Result { try body() }
                #endif
                continuation.resume(returning: Carried(value: result))
            }
        }
        return try result.value.get()
    }

    /// What goes to another thread and comes back: nobody else has it meanwhile.
    private struct Carried<Value>: @unchecked Sendable {
        let value: Value
    }
}
