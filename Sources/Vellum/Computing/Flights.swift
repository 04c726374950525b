import StorageEngine
import Synchronization

/// The computations under way in this process, by key. Callers that request the same key wait for the same
/// computation.
package final class Flights: Sendable {
    private let all = Guarded<[ExactText: Flight]>([:])
    private let isAnyUnderWay = Atomic<Bool>(false)

    /// Joins or begins the computation of a key. Returns it, a ticket to wait with, and whether the caller has to
    /// run it.
    func join(_ key: String) -> (flight: Flight, ticket: Int, isNew: Bool) {
        all.withLock { all in
            if let flight = all[ExactText(key)] { return (flight, flight.ticket(), false) }
            let flight = Flight()
            all[ExactText(key)] = flight
            isAnyUnderWay.store(true, ordering: .releasing)
            return (flight, flight.ticket(), true)
        }
    }

    /// How many callers take part in a key's computation, including the one that runs it.
    package func waiting(for key: String) -> Int {
        all.withLock { $0[ExactText(key)]?.waiting ?? 0 }
    }

    /// Called when a caller stops waiting. If it was the last, the computation is cancelled, and a later request
    /// begins a new one.
    func giveUp(_ flight: Flight, _ ticket: Int, _ key: String) {
        let (body, task) = all.withLock { all in
            let (body, task) = flight.giveUp(ticket)
            if task != nil, all[ExactText(key)] === flight { all[ExactText(key)] = nil }
            return (body, task)
        }
        body?(.failure(CancellationError()))
        task?.cancel()
    }

    /// Ends the computations of these keys, or of all, for what was deleted must not come back by one that began before.
    /// Call it before the deletion. Their callers get what they compute. Waits for one that is just being stored. Costs a
    /// look at one word if there are none.
    func outdate(_ keys: some Sequence<ExactText>) { outdate { Array(keys) } }

    func outdate(_ key: String) { outdate { [ExactText(key)] } }

    func outdateAll() { outdate(nil) }

    private func outdate(_ keys: (() -> [ExactText])?) {
        guard isAnyUnderWay.load(ordering: .acquiring) else { return }
        let ended = all.withLock { all in
            let ended = (keys?() ?? Array(all.keys)).compactMap { all.removeValue(forKey: $0) }
            isAnyUnderWay.store(!all.isEmpty, ordering: .releasing)
            return ended
        }
        for flight in ended { flight.declareOutdated() }
    }

    /// Ends the computation, so that no caller joins it any more.
    func end(_ flight: Flight, _ key: String) {
        all.withLock { all in
            if all[ExactText(key)] === flight { all[ExactText(key)] = nil }
            isAnyUnderWay.store(!all.isEmpty, ordering: .releasing)
        }
    }
}

/// One computation, and its waiting callers. Safe from any thread.
final class Flight: Sendable {
    typealias Outcome = Result<HeldObject, any Error>

    private struct State {
        var outcome: Outcome?
        var waiting: [Int: @Sendable (Outcome) -> Void] = [:]
        var joined = 0
        /// The tickets of callers that joined and didn't give up.
        var present: Set<Int> = []
        var task: Task<Void, Never>?
    }

    private let state = Guarded(State())
    /// Whether its key was deleted since it began.
    private let isOutdated = Guarded(false)

    fileprivate func declareOutdated() { isOutdated.withLock { $0 = true } }

    /// Stores what was computed, unless its key was deleted since it began. A deletion waits for `store`, and so deletes
    /// that too.
    func storeUnlessOutdated(_ store: () throws -> Void) rethrows {
        try isOutdated.withLock { isOutdated throws in if !isOutdated { try store() } }
    }

    fileprivate var waiting: Int { state.withLock { $0.present.count } }

    fileprivate func ticket() -> Int {
        state.withLock { state in
            state.joined += 1
            state.present.insert(state.joined)
            return state.joined
        }
    }

    /// Calls `body` once, with the outcome or when the caller gives up.
    func wait(_ ticket: Int, _ body: @escaping @Sendable (Outcome) -> Void) {
        let outcome = state.withLock { state -> Outcome? in
            if let outcome = state.outcome { return outcome }
            guard state.present.contains(ticket) else { return .failure(CancellationError()) }
            state.waiting[ticket] = body
            return nil
        }
        if let outcome { body(outcome) }
    }

    /// The closure to call, and the task to cancel if no caller is left.
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
