import StorageEngine
import Synchronization

package final class Flights: Sendable {
    /// Computations that aren't outdated. Only the last of a key may have waiting callers; the results of all are stored.
    private let all = Guarded<[ExactText: [Flight]]>([:])
    private let isAnyUnderWay = Atomic<Bool>(false)

    /// Joins or begins the computation of a key. Returns it, a ticket to wait with, and whether the caller has to run it.
    func join(_ key: String, owner: String?) -> (flight: Flight, ticket: Int, isNew: Bool) {
        all.withLock { all in
            if let flight = all[ExactText(key)]?.last, let ticket = flight.join() {
                return (flight, ticket, false)
            }
            let flight = Flight(owner: owner)
            all[ExactText(key), default: []].append(flight)
            isAnyUnderWay.store(true, ordering: .releasing)
            return (flight, Flight.firstTicket, true)
        }
    }

    package func waiting(for key: String) -> Int { all.withLock { $0[ExactText(key)]?.last?.waiting ?? 0 } }

    /// Ends these keys' computations, whose callers still get the results. Call it before a deletion, or after
    /// recording an entry to be deleted, so that it isn't restored. Waits for one being stored. Reads one word if none
    /// runs.
    func outdate(_ keys: some Sequence<ExactText>) { outdate { _ in Array(keys) } }

    func outdate(_ key: String) { outdate { _ in [ExactText(key)] } }

    func outdate(ofOwner owner: String) {
        outdate(where: { $0.owner.map(ExactText.init) == ExactText(owner) }) { Array($0.keys) }
    }

    func outdateAll() { outdate { Array($0.keys) } }

    private func outdate(
        where isMeant: (Flight) -> Bool = { _ in true }, _ keys: ([ExactText: [Flight]]) -> [ExactText]
    ) {
        guard isAnyUnderWay.load(ordering: .acquiring) else { return }
        let ended = all.withLock { all in keys(all).flatMap { remove($0, isMeant, from: &all) } }
        for flight in ended { flight.declareOutdated() }
    }

    func end(_ flight: Flight, _ key: String) {
        all.withLock { _ = remove(ExactText(key), { $0 === flight }, from: &$0) }
    }

    private func remove(
        _ key: ExactText, _ isMeant: (Flight) -> Bool, from all: inout [ExactText: [Flight]]
    ) -> [Flight] {
        guard let present = all[key] else { return [] }
        let left = present.filter { !isMeant($0) }
        all[key] = left.isEmpty ? nil : left
        isAnyUnderWay.store(!all.isEmpty, ordering: .releasing)
        return present.filter(isMeant)
    }
}

final class Flight: Sendable {
    typealias Outcome = Result<HeldObject, any Error>

    private struct State {
        var outcome: Outcome?
        var waiting: [Int: @Sendable (Outcome) -> Void] = [:]
        var joined = Flight.firstTicket
        var present: Set<Int> = [Flight.firstTicket]
        var task: Task<Void, Never>?
        var isCancelled = false
    }

    fileprivate static let firstTicket = 1

    private let state = Guarded(State())
    let owner: String?
    private let isOutdated = Guarded(false)

    init(owner: String?) { self.owner = owner }

    fileprivate func declareOutdated() { isOutdated.withLock { $0 = true } }

    /// Stores the result; returns `nil` if its key has changed since. Deletions wait for `store`, which must not delete.
    func unlessOutdated(_ store: () throws -> HeldEntry?) rethrows -> HeldEntry? {
        try isOutdated.withLock { isOutdated throws in isOutdated ? nil : try store() }
    }

    fileprivate var waiting: Int { state.withLock { $0.present.count } }

    /// A ticket to wait with; `nil` after the computation was cancelled.
    fileprivate func join() -> Int? {
        state.withLock { state in
            guard !state.isCancelled else { return nil }
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

    /// Called when a caller stops waiting. The last one cancels the computation.
    func giveUp(_ ticket: Int) {
        let (body, task) = state.withLock { state -> ((@Sendable (Outcome) -> Void)?, Task<Void, Never>?) in
            guard state.present.remove(ticket) != nil, state.outcome == nil else { return (nil, nil) }
            state.isCancelled = state.present.isEmpty && state.task != nil
            return (state.waiting.removeValue(forKey: ticket), state.isCancelled ? state.task : nil)
        }
        body?(.failure(CancellationError()))
        task?.cancel()
    }

    func carriedOut(by task: Task<Void, Never>) { state.withLock { $0.task = task } }

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
