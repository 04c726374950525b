import StorageEngine
import Synchronization

package final class Flights: Sendable {
    private struct UnderWay {
        var joinable: [ExactText: Flight] = [:]
        /// Computations without waiting callers, until they end: their results are still stored.
        var abandoned: [ExactText: [Flight]] = [:]

        var isEmpty: Bool { joinable.isEmpty && abandoned.isEmpty }

        mutating func removeAll(of key: ExactText, where isMeant: (Flight) -> Bool) -> [Flight] {
            var removed: [Flight] = []
            if let flight = joinable[key], isMeant(flight) {
                joinable[key] = nil
                removed.append(flight)
            }
            if let flights = abandoned[key] {
                let left = flights.filter { !isMeant($0) }
                abandoned[key] = left.isEmpty ? nil : left
                removed += flights.filter(isMeant)
            }
            return removed
        }
    }

    private let all = Guarded(UnderWay())
    private let isAnyUnderWay = Atomic<Bool>(false)

    /// Joins or begins the computation of a key. Returns it, a ticket to wait with, and whether the caller has to run it.
    func join(_ key: String, owner: String?) -> (flight: Flight, ticket: Int, isNew: Bool) {
        all.withLock { all in
            if let flight = all.joinable[ExactText(key)] { return (flight, flight.ticket(), false) }
            let flight = Flight(owner: owner)
            all.joinable[ExactText(key)] = flight
            isAnyUnderWay.store(true, ordering: .releasing)
            return (flight, flight.ticket(), true)
        }
    }

    package func waiting(for key: String) -> Int {
        all.withLock { $0.joinable[ExactText(key)]?.waiting ?? 0 }
    }

    /// Called when a caller stops waiting. The last one cancels the computation.
    func giveUp(_ flight: Flight, _ ticket: Int, _ key: String) {
        let (body, task) = all.withLock { all in
            let (body, task) = flight.giveUp(ticket)
            if task != nil, all.joinable[ExactText(key)] === flight {
                all.joinable[ExactText(key)] = nil
                all.abandoned[ExactText(key), default: []].append(flight)
            }
            return (body, task)
        }
        body?(.failure(CancellationError()))
        task?.cancel()
    }

    /// Ends these keys' computations, whose callers still get the results. Call it before a deletion, or after
    /// recording an entry to be deleted, so that it isn't restored. Waits for one being stored. Costs a look at one
    /// word if none runs.
    func outdate(_ keys: some Sequence<ExactText>) { outdate { _ in Array(keys) } }

    func outdate(_ key: String) { outdate { _ in [ExactText(key)] } }

    func outdate(ofOwner owner: String) {
        outdate(where: { $0.owner.map(ExactText.init) == ExactText(owner) }) {
            Array($0.joinable.keys) + $0.abandoned.keys
        }
    }

    func outdateAll() { outdate { Array($0.joinable.keys) + $0.abandoned.keys } }

    private func outdate(where isMeant: (Flight) -> Bool = { _ in true }, _ keys: (UnderWay) -> [ExactText]) {
        guard isAnyUnderWay.load(ordering: .acquiring) else { return }
        let ended = all.withLock { all in
            let ended = keys(all).flatMap { all.removeAll(of: $0, where: isMeant) }
            isAnyUnderWay.store(!all.isEmpty, ordering: .releasing)
            return ended
        }
        for flight in ended { flight.declareOutdated() }
    }

    func end(_ flight: Flight, _ key: String) {
        all.withLock { all in
            if all.joinable[ExactText(key)] === flight { all.joinable[ExactText(key)] = nil }
            if let abandoned = all.abandoned[ExactText(key)] {
                let left = abandoned.filter { $0 !== flight }
                all.abandoned[ExactText(key)] = left.isEmpty ? nil : left
            }
            isAnyUnderWay.store(!all.isEmpty, ordering: .releasing)
        }
    }
}

final class Flight: Sendable {
    typealias Outcome = Result<HeldObject, any Error>

    private struct State {
        var outcome: Outcome?
        var waiting: [Int: @Sendable (Outcome) -> Void] = [:]
        var joined = 0
        var present: Set<Int> = []
        var task: Task<Void, Never>?
    }

    private let state = Guarded(State())
    let owner: String?
    private let isOutdated = Guarded(false)

    init(owner: String?) { self.owner = owner }

    fileprivate func declareOutdated() { isOutdated.withLock { $0 = true } }

    /// Stores the result, or `nil` if its key changed since. Deletions wait for `store`, which must call none.
    func unlessOutdated(_ store: () throws -> HeldEntry?) rethrows -> HeldEntry? {
        try isOutdated.withLock { isOutdated throws in isOutdated ? nil : try store() }
    }

    fileprivate var waiting: Int { state.withLock { $0.present.count } }

    fileprivate func ticket() -> Int {
        state.withLock { state in
            state.joined += 1
            state.present.insert(state.joined)
            return state.joined
        }
    }

    func wait(_ ticket: Int, _ body: @escaping @Sendable (Outcome) -> Void) {
        let outcome = state.withLock { state -> Outcome? in
            if let outcome = state.outcome { return outcome }
            guard state.present.contains(ticket) else { return .failure(CancellationError()) }
            state.waiting[ticket] = body
            return nil
        }
        if let outcome { body(outcome) }
    }

    fileprivate func giveUp(
        _ ticket: Int
    ) -> (tell: (@Sendable (Outcome) -> Void)?, stop: Task<Void, Never>?) {
        state.withLock { state in
            guard state.present.remove(ticket) != nil, state.outcome == nil else { return (nil, nil) }
            return (state.waiting.removeValue(forKey: ticket), state.present.isEmpty ? state.task : nil)
        }
    }

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
