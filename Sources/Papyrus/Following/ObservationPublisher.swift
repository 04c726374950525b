#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif
import Foundation

extension Observation {
    /// A publisher with an observation for each subscriber. An error from `failure` ends it; `nil` retries after a second.
    func publisher<Failure: Error>(
        _ failure: @escaping @Sendable (any Error) -> Failure?
    ) -> AnyPublisher<Value, Failure> {
        AnyPublisher(ObservationPublisher(observe: { self.another() }, failure: failure))
    }
}

private struct ObservationPublisher<Output, Failure: Error>: Publisher {
    let observe: () -> Observation<Output>
    let failure: @Sendable (any Error) -> Failure?

    func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == Failure {
        let observation = observe()
        observation.begin()
        subscriber.receive(
            subscription: ObservationSubscription(AnySubscriber(subscriber), observation, failure))
    }
}

/// Delivers values to one subscriber, as many as it demands.
private final class ObservationSubscription<Output, Failure: Error>: Subscription, @unchecked Sendable {
    typealias Downstream = AnySubscriber<Output, Failure>

    private let observation: Observation<Output>
    private let failure: @Sendable (any Error) -> Failure?
    private let lock = NSLock()
    // Guarded by `lock`.
    private var downstream: Downstream?
    private var demand = Subscribers.Demand.none
    private var task: Task<Void, Never>?

    init(
        _ downstream: Downstream, _ observation: Observation<Output>,
        _ failure: @escaping @Sendable (any Error) -> Failure?
    ) {
        self.downstream = downstream
        self.observation = observation
        self.failure = failure
    }

    func request(_ more: Subscribers.Demand) {
        lock.withLock {
            demand += more
            guard downstream != nil, demand > .none, task == nil else { return }
            task = Task.detached { await self.run() }
        }
    }

    func cancel() {
        let (task, downstream) = lock.withLock {
            defer {
                self.task = nil
                self.downstream = nil
            }
            return (self.task, self.downstream)
        }
        task?.cancel()
        // Released outside the lock, because its `deinit` may call this object.
        withExtendedLifetime(downstream) {}
    }

    private func run() async {
        while isWanted() {
            do {
                guard let value = try await observation.next()?.value else { return }
                deliver(value)
            } catch {
                guard let failure = failure(error) else {
                    try? await Task.sleep(for: .seconds(1))
                    continue
                }
                let downstream = lock.withLock {
                    defer { self.downstream = nil }
                    return self.downstream
                }
                downstream?.receive(completion: .failure(failure))
                return
            }
        }
    }

    /// Whether the subscriber demands a value. If `false`, the task ends; the next demand begins another.
    private func isWanted() -> Bool {
        lock.withLock {
            guard downstream != nil else { return false }
            if demand > .none { return true }
            task = nil
            return false
        }
    }

    private func deliver(_ value: Output) {
        let downstream = lock.withLock { () -> Downstream? in
            guard self.downstream != nil else { return nil }
            demand -= .max(1)
            return self.downstream
        }
        guard let more = downstream?.receive(value), more > .none else { return }
        lock.withLock { demand += more }
    }
}
