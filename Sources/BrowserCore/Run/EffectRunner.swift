import Dispatch
import StorageEngine
import Synchronization

/// Runs effects off the drawing thread. Safe from any thread.
///
/// Long work (sorting, filtering, marking, what changes the store) and quick reads have a queue each, so that a value is shown
/// while a million keys are sorted. Effects of one queue run in the order in which they came.
package final class EffectRunner: Sendable {
    private let performer: EffectPerformer
    private let deliver: @Sendable (Message) -> Void
    private let quick = DispatchQueue(label: "vellum.browser.quick", qos: .userInitiated)
    private let long = DispatchQueue(label: "vellum.browser.long", qos: .userInitiated)
    /// Tickets whose work is to stop, of those that are queued or under way.
    private let stopped = Mutex<Set<Int>>([])

    /// - Parameter deliver: called from any thread with what effects have to say.
    package init(
        source: any StoreSource, clock: @escaping @Sendable () -> Timestamp,
        deliver: @escaping @Sendable (Message) -> Void
    ) {
        performer = EffectPerformer(source: source, clock: clock)
        self.deliver = deliver
    }

    /// Waits for the quick work that was asked for, such as keeping what a person chose, for some seconds at most.
    package func finishQuickWork(within seconds: Double) {
        let done = DispatchSemaphore(value: 0)
        quick.async { done.signal() }
        _ = done.wait(timeout: .now() + seconds)
    }

    package func run(_ effect: Effect) {
        if case .stop(let ticket) = effect { return stopped.withLock { _ = $0.insert(ticket) } }
        guard let ticket = effect.ticket else {
            return quick.async { [self] in performer.perform(effect, isStopped: { false }, send: deliver) }
        }
        long.async { [self] in
            performer.perform(
                effect, isStopped: { self.stopped.withLock { $0.contains(ticket) } }, send: deliver)
            stopped.withLock { _ = $0.remove(ticket) }
        }
    }
}
