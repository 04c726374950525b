import Dispatch
import StorageEngine
import Synchronization

/// Runs effects off the drawing thread, in order, with one queue for long work and one for quick reads. Safe from any thread.
package final class EffectRunner: Sendable {
    private let performer: EffectPerformer
    private let deliver: @Sendable (Message) -> Void
    private let quick = DispatchQueue(label: "vellum.browser.quick", qos: .userInitiated)
    private let long = DispatchQueue(label: "vellum.browser.long", qos: .userInitiated)
    /// Tickets whose work is to stop, of those that are queued or under way.
    private let stopped = Mutex<Set<Int>>([])
    private let isEnding = Atomic<Bool>(false)

    /// - Parameter deliver: called from any thread with what effects have to say.
    package init(
        source: any StoreSource, clock: @escaping @Sendable () -> Timestamp,
        deliver: @escaping @Sendable (Message) -> Void
    ) {
        performer = EffectPerformer(source: source, clock: clock)
        self.deliver = deliver
    }

    /// Stops long work where it can be stopped, and waits until all that was asked for is over, for some seconds at most: what a
    /// person chose is kept then, and half a file taken away.
    package func finish(within seconds: Double) {
        isEnding.store(true, ordering: .relaxed)
        let end = DispatchTime.now() + seconds
        for queue in [quick, long] {
            let done = DispatchSemaphore(value: 0)
            queue.async { done.signal() }
            _ = done.wait(timeout: end)
        }
    }

    package func run(_ effect: Effect) {
        if case .stop(let ticket) = effect { return stopped.withLock { _ = $0.insert(ticket) } }
        guard let ticket = effect.ticket else {
            return quick.async { [self] in performer.perform(effect, isStopped: { false }, send: deliver) }
        }
        long.async { [self] in
            performer.perform(
                effect,
                isStopped: {
                    self.isEnding.load(ordering: .relaxed) || self.stopped.withLock { $0.contains(ticket) }
                }, send: deliver)
            stopped.withLock { _ = $0.remove(ticket) }
        }
    }
}
