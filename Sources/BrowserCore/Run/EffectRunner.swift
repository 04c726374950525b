import Foundation
import StorageEngine
import Synchronization

/// Runs effects off the drawing thread, in order, on one queue each for long work, quick reads and work that waits. Safe from any thread.
package final class EffectRunner: Sendable {
    private let performer: EffectPerformer
    private let deliver: @Sendable (Message) -> Void
    private let quick = DispatchQueue(label: "vellum.browser.quick", qos: .userInitiated)
    private let long = DispatchQueue(label: "vellum.browser.long", qos: .userInitiated)
    private let waiting = DispatchQueue(label: "vellum.browser.waiting", qos: .userInitiated)
    /// Tickets of queued or running work to stop.
    private let stopped = Mutex<Set<Int>>([])
    private let isEnding = Atomic<Bool>(false)

    /// - Parameter deliver: called from any thread.
    package init(
        source: any StoreSource, clock: @escaping @Sendable () -> Timestamp,
        deliver: @escaping @Sendable (Message) -> Void
    ) {
        performer = EffectPerformer(source: source, clock: clock) { Thread.sleep(forTimeInterval: $0) }
        self.deliver = deliver
    }

    /// Stops long work and waits, for at most `seconds` of time, until all effects have ended, so that choices are stored and partial
    /// files removed.
    package func finish(within seconds: Double) {
        isEnding.store(true, ordering: .relaxed)
        let end = DispatchTime.now() + seconds
        for queue in [quick, long, waiting] {
            let done = DispatchSemaphore(value: 0)
            queue.async { done.signal() }
            _ = done.wait(timeout: end)
        }
    }

    package func run(_ effect: Effect) {
        if case .stop(let ticket) = effect { return stopped.withLock { _ = $0.insert(ticket) } }
        if case .question(let question) = effect, question.waits {
            return waiting.async { [self] in
                performer.perform(
                    effect, isStopped: { self.isEnding.load(ordering: .relaxed) }, send: deliver)
            }
        }
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
