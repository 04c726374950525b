import Dispatch
import Synchronization

/// Results of asynchronous work for synchronous code.
enum Waiting {
    static func result<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) throws -> Value
    {
        let done = DispatchSemaphore(value: 0)
        let outcome = Mutex<Result<Value, any Error>?>(nil)
        Task.detached {
            let result: Result<Value, any Error>
            do { result = .success(try await work()) } catch { result = .failure(error) }
            outcome.withLock { $0 = result }
            done.signal()
        }
        done.wait()
        guard let result = outcome.withLock({ $0 }) else { throw BenchmarkError("no result") }
        return try result.get()
    }
}
