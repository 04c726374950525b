import StorageEngine
import Vellum

/// A request for an object, shared by its callers. One of them stores the answer, a blocking one if possible, because its thread is
/// available.
final class Fetch: Sendable {
    typealias Answer = Result<RemoteObject?, RemoteError>

    enum Outcome: Sendable {
        case answered(Fetch, Answer)
        case finished(Result<HeldObject?, any Error>)
    }

    private struct State {
        var waiting: [(isBlocking: Bool, then: @Sendable (Outcome) -> Void)] = []
        var answer: Answer?
        var isHanded = false
        var isBegun = false
        var result: Result<HeldObject?, any Error>?
    }

    let key: String
    let ticket: CopyTracking.Ticket
    private let state = Guarded(State())

    init(_ key: String, _ ticket: CopyTracking.Ticket) {
        self.key = key
        self.ticket = ticket
    }

    /// Returns an outcome that is present, or calls `then` with a later one.
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
