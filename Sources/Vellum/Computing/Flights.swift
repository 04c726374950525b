import StorageEngine

/// What is computed now in this process, by key: whoever asks for the same meanwhile waits for that.
package final class Flights: Sendable {
    private let all = Guarded<[ExactText: Flight]>([:])

    /// The computation of a key, a number for the caller to wait with, and whether the caller is the one to carry it out.
    func join(_ key: String) -> (flight: Flight, ticket: Int, isNew: Bool) {
        all.withLock { all in
            if let flight = all[ExactText(key)] { return (flight, flight.ticket(), false) }
            let flight = Flight()
            all[ExactText(key)] = flight
            return (flight, flight.ticket(), true)
        }
    }

    /// How many wait for a key's computation, whoever carries it out included.
    package func waiting(for key: String) -> Int {
        all.withLock { $0[ExactText(key)]?.waiting ?? 0 }
    }

    /// The caller waits no longer. When nobody does, what is computed is told to stop, and who asks later begins anew.
    func giveUp(_ flight: Flight, _ ticket: Int, _ key: String) {
        let (body, task) = all.withLock { all in
            let (body, task) = flight.giveUp(ticket)
            if task != nil, all[ExactText(key)] === flight { all[ExactText(key)] = nil }
            return (body, task)
        }
        body?(.failure(CancellationError()))
        task?.cancel()
    }

    /// Nobody joins it from now on.
    func end(_ flight: Flight, _ key: String) {
        all.withLock { all in
            if all[ExactText(key)] === flight { all[ExactText(key)] = nil }
        }
    }
}

/// One computation, and those who wait for it. Safe from any thread.
final class Flight: Sendable {
    typealias Outcome = Result<HeldObject, any Error>

    private struct State {
        var outcome: Outcome?
        var waiting: [Int: @Sendable (Outcome) -> Void] = [:]
        var joined = 0
        /// Those who joined and didn't give up.
        var present: Set<Int> = []
        var task: Task<Void, Never>?
    }

    private let state = Guarded(State())

    fileprivate var waiting: Int { state.withLock { $0.present.count } }

    fileprivate func ticket() -> Int {
        state.withLock { state in
            state.joined += 1
            state.present.insert(state.joined)
            return state.joined
        }
    }

    /// Calls `body` once, with what comes out or when the waiting is given up.
    func wait(_ ticket: Int, _ body: @escaping @Sendable (Outcome) -> Void) {
        let outcome = state.withLock { state -> Outcome? in
            if let outcome = state.outcome { return outcome }
            guard state.present.contains(ticket) else { return .failure(CancellationError()) }
            state.waiting[ticket] = body
            return nil
        }
        if let outcome { body(outcome) }
    }

    /// Whom to tell, and the task to stop if nobody is left.
    fileprivate func giveUp(
        _ ticket: Int
    ) -> (tell: (@Sendable (Outcome) -> Void)?, stop: Task<Void, Never>?) {
        state.withLock { state in
            guard state.present.remove(ticket) != nil, state.outcome == nil else { return (nil, nil) }
            return (state.waiting.removeValue(forKey: ticket), state.present.isEmpty ? state.task : nil)
        }
    }

    /// The task that computes.
    func carriedOut(by task: Task<Void, Never>) {
        state.withLock { $0.task = task }
    }

    func finish(_ outcome: Outcome) {
        let waiting = state.withLock { state in
            guard state.outcome == nil else { return [] as [@Sendable (Outcome) -> Void] }
            state.outcome = outcome
            state.task = nil
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for body in waiting { body(outcome) }
    }
}
