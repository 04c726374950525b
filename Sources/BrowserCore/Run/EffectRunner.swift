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
        guard case .question(let question) = effect else { return }
        let ticket = question.ticket
        let isQuick = ticket == nil && !question.waits
        (isQuick ? quick : question.waits ? waiting : long).async { [self] in
            performer.perform(
                effect, isStopped: { !isQuick && self.isStopped(ticket) }, send: deliver)
            if let ticket { stopped.withLock { _ = $0.remove(ticket) } }
        }
    }

    private func isStopped(_ ticket: Int?) -> Bool {
        isEnding.load(ordering: .relaxed) || stopped.withLock { $0.contains(ticket ?? 0) }
    }
}
