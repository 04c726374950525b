import StorageEngine
import Vellum

/// A question to the tier and its callers, one of whom finishes it, mostly one that blocks; it must not wait for a thread.
final class Fetch: Sendable {
    typealias Answer = Result<RemoteObject?, RemoteError>

    enum Outcome: Sendable {
        /// For one of them, which finishes it unless another has begun to.
        case answered(Fetch, Answer)
        /// For the others.
        case finished(Result<HeldObject?, any Error>)
    }

    private struct State {
        var waiting: [(isBlocking: Bool, then: @Sendable (Outcome) -> Void)] = []
        var answer: Answer?
        /// Whether one whose thread waits was asked to finish it.
        var isHanded = false
        var isBegun = false
        var result: Result<HeldObject?, any Error>?
    }

    let key: String
    let ticket: Coverage.Ticket
    private let state = Guarded(State())

    init(_ key: String, _ ticket: Coverage.Ticket) {
        self.key = key
        self.ticket = ticket
    }

    /// `then` is called unless there is an outcome for it already, which is returned.
    func join(_ isBlocking: Bool, _ then: @escaping @Sendable (Outcome) -> Void) -> Outcome? {
        state.withLock { state in
            if let result = state.result { return .finished(result) }
            if let answer = state.answer, isBlocking, !state.isHanded, !state.isBegun {
                state.isHanded = true
                return .answered(self, answer)
            }
            state.waiting.append((isBlocking, then))
            return nil
        }
    }

    func answer(_ answer: Answer) {
        let finisher = state.withLock { state in
            state.answer = answer
            let place = state.waiting.firstIndex(where: \.isBlocking)
            state.isHanded = place != nil
            return state.waiting.remove(at: place ?? 0)
        }
        finisher.then(.answered(self, answer))
    }

    /// Whether the caller is to finish it.
    func begin() -> Bool {
        state.withLock { state in
            defer { state.isBegun = true }
            return !state.isBegun
        }
    }

    func end(_ result: Result<HeldObject?, any Error>) {
        let waiting = state.withLock { state in
            state.result = result
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.then(.finished(result)) }
    }
}
