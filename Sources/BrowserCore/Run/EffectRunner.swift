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

    package func run(_ effect: Effect) {
        switch effect {
        case .stop(let ticket): stopped.withLock { _ = $0.insert(ticket) }
        case .arrange(let ticket, _), .collect(let ticket, _), .collectIdle(let ticket, _, _),
            .query(let ticket, _), .export(let ticket, _, _),
            .change(let ticket, _, _, _), .undo(let ticket, _, _), .clearLog(let ticket, _):
            long.async { [self] in
                performer.perform(
                    effect, isStopped: { self.stopped.withLock { $0.contains(ticket) } }, send: deliver)
                stopped.withLock { _ = $0.remove(ticket) }
            }
        default:
            quick.async { [self] in performer.perform(effect, isStopped: { false }, send: deliver) }
        }
    }
}
