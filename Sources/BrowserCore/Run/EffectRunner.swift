import Foundation
import ServerInspection
import StorageEngine
import Synchronization

/// Runs effects off the drawing thread, in order. Long work, quick reads and work that waits have one queue each; each server has
/// separate queues. Thread-safe.
package final class EffectRunner: Sendable {
    private let performer: EffectPerformer
    private let deliver: @Sendable (Message) -> Void
    private let queues = Mutex<[String: DispatchQueue]>([:])
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

    /// Stops long work and waits at most `seconds` until all effects have ended, so that choices are stored and partial files
    /// removed.
    package func finish(within seconds: Double) {
        isEnding.store(true, ordering: .relaxed)
        let end = DispatchTime.now() + seconds
        for queue in queues.withLock({ Array($0.values) }) {
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
        queue(isQuick ? "quick" : question.waits ? "waiting" : "long", of: question.store).async { [self] in
            performer.perform(effect, isStopped: { !isQuick && self.isStopped(ticket) }, send: deliver)
            if let ticket { stopped.withLock { _ = $0.remove(ticket) } }
        }
    }

    private func queue(_ name: String, of store: String?) -> DispatchQueue {
        let name = store.flatMap { ServerAddress.isURL($0) ? "\(name) \($0)" : nil } ?? name
        return queues.withLock { queues in
            let queue = queues[name] ?? DispatchQueue(label: "vellum.browser.\(name)", qos: .userInitiated)
            queues[name] = queue
            return queue
        }
    }

    private func isStopped(_ ticket: Int?) -> Bool {
        isEnding.load(ordering: .relaxed) || stopped.withLock { $0.contains(ticket ?? 0) }
    }
}
