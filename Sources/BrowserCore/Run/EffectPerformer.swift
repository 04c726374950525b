import StorageEngine
import StoreInspection

/// Performs one effect and sends its response. As thread-safe as the source.
package struct EffectPerformer: Sendable {
    private let sources: OpenSources
    let clock: @Sendable () -> Timestamp
    private let pause: @Sendable (Double) -> Void

    private static let reportInterval = 0.05

    /// - Parameter pause: waits for that number of seconds.
    package init(
        source: any StoreSource, clock: @escaping @Sendable () -> Timestamp,
        pause: @escaping @Sendable (Double) -> Void = { _ in }
    ) {
        sources = OpenSources(source)
        self.clock = clock
        self.pause = pause
    }

    /// - Parameter isStopped: polled by long work.
    package func perform(_ effect: Effect, isStopped: @escaping () -> Bool, send: @escaping (Message) -> Void)
    {
        guard case .question(let question) = effect else { return }
        var last = clock()
        let progress = { (share: Double) in
            let now = clock()
            if let ticket = question.ticket, abs(now.seconds(since: last)) >= EffectPerformer.reportInterval {
                last = now
                send(.progress(ticket: ticket, share))
            }
            return !isStopped()
        }
        let context = QuestionContext(
            source: sources.source(of: question.store), sources: sources, clock: clock, pause: pause,
            progress: progress, isStopped: isStopped)
        var answer = question.answer(context)
        answer.workspace = question.workspace
        send(.answer(answer))
    }
}
