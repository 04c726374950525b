import StorageEngine
import Synchronization

/// Tracks which near copies equal the server's objects: copies that were fetched or stored while the server reports changes, and
/// weren't reported since. Copies are identified by their sequences. Copies of other processes are compared with the server's object
/// once, because these processes may have ended before a report.
final class CopyTracking: Sendable {
    final class Ticket: Sendable {
        let key: ExactText
        private let began = ContinuousClock.now
        /// Both are set under the lock of the ``CopyTracking``. An answer includes the changes reported before it, so only later reports
        /// make it outdated.
        fileprivate let isAnswered = Atomic(false)
        private let outdated = Atomic(false)
        /// Held while the answer is stored as a near copy.
        private let keeping = Guarded(())

        /// When tracking was lost, if it was inactive at the start.
        fileprivate let untrackedSince: Int64?

        fileprivate init(_ key: ExactText, untrackedSince: Int64?) {
            (self.key, self.untrackedSince) = (key, untrackedSince)
        }

        /// Time since the start of the request, an upper bound of the answer's age.
        var age: Duration { ContinuousClock.now - began }

        var isOutdated: Bool { outdated.load(ordering: .acquiring) }

        fileprivate func declareOutdated() {
            if isAnswered.load(ordering: .relaxed) { outdated.store(true, ordering: .releasing) }
        }

        func unlessOutdated(_ keep: () throws -> UInt64?) rethrows -> UInt64? {
            try keeping.withLock { _ in try isOutdated ? nil : keep() }
        }

        fileprivate func waitUntilKept() { keeping.withLock { _ in } }
    }

    private struct State {
        var isTracked = false
        /// When tracking was lost, or this object was created; nanoseconds since boot.
        var untrackedSince = CopyTracking.now()
        var trusted = TrustedCopies()
        var formerly = TrustedCopies()
        var underWay: [ExactText: [Ticket]] = [:]
    }

    private let state = Guarded(State())

    // MARK: Reports of the server

    func start() {
        state.withLock { state in
            state.isTracked = true
            state.formerly = TrustedCopies()
        }
    }

    func stop() {
        state.withLock { state in
            if state.isTracked {
                state.untrackedSince = CopyTracking.now()
                state.formerly = state.trusted
            }
            state.isTracked = false
            state.trusted = TrustedCopies()
            outdateAll(&state)
        }
    }

    /// Returns the sequence of the copy that was trusted.
    func change(_ key: String) -> UInt64? {
        state.withLock { state in
            for ticket in state.underWay[ExactText(key)] ?? [] { ticket.declareOutdated() }
            state.formerly.remove(key)
            return state.trusted.remove(key)
        }
    }

    func changeAll() {
        state.withLock { state in
            state.trusted = TrustedCopies()
            state.formerly = TrustedCopies()
            outdateAll(&state)
        }
    }

    private func outdateAll(_ state: inout State) {
        for tickets in state.underWay.values {
            for ticket in tickets { ticket.declareOutdated() }
        }
    }

    // MARK: Requests of this process

    func begin(_ key: String) -> Ticket {
        state.withLock { state in
            let ticket = Ticket(ExactText(key), untrackedSince: state.isTracked ? nil : state.untrackedSince)
            state.underWay[ticket.key, default: []].append(ticket)
            return ticket
        }
    }

    /// Call when the answer arrives, before later reports are processed.
    func answer(_ ticket: Ticket) {
        state.withLock { state in
            ticket.isAnswered.store(true, ordering: .relaxed)
            if !state.isTracked { ticket.declareOutdated() }
        }
    }

    /// Call when the server has executed a change of this process, which it doesn't report, before the near copy is stored. Makes
    /// pending answers for the key outdated.
    func change(by ticket: Ticket) {
        let others = state.withLock { state in
            state.trusted.remove(ticket.key.text)
            state.formerly.remove(ticket.key.text)
            let others = (state.underWay[ticket.key] ?? []).filter { $0 !== ticket }
            for other in others { other.declareOutdated() }
            return others
        }
        for other in others { other.waitUntilKept() }
    }

    /// Call after the near copy is stored; `nil`: it isn't. Returns whether the copy is trusted.
    func end(_ ticket: Ticket, keptAs sequence: UInt64?) -> Bool {
        state.withLock { state in
            let present = state.underWay[ticket.key] ?? []
            let others = present.filter { $0 !== ticket }
            state.underWay[ticket.key] = others.isEmpty ? nil : others
            guard !ticket.isOutdated, let sequence, others.count < present.count else { return false }
            state.trusted.insert(ticket.key.text, sequence)
            return true
        }
    }

    func trusts(_ key: String, _ sequence: UInt64) -> Bool {
        state.withLock { $0.trusted.sequence(of: key) == sequence }
    }

    /// Whether the copy was trusted when tracking was lost, as far as is known.
    func formerlyTrusted(_ key: String, _ sequence: UInt64) -> Bool {
        state.withLock { $0.formerly.sequence(of: key) == sequence }
    }

    func mayTrust(_ key: String) -> Bool { state.withLock { $0.trusted.sequence(of: key) != nil } }

    var isTracked: Bool { state.withLock { $0.isTracked } }

    /// Time since tracking was lost, for a failed request; `nil`: tracking is active, and was when the request began.
    func gap(of ticket: Ticket) -> Duration? {
        state.withLock { state in
            let since = state.isTracked ? ticket.untrackedSince : state.untrackedSince
            return since.map { .nanoseconds(CopyTracking.now() &- $0) }
        }
    }

    private static func now() -> Int64 { Archive.bootTime() &* 1000 }
}

/// Sequences of trusted copies by the key's hash. Bounded: copies that are dropped or collide are compared with the server again.
private struct TrustedCopies {
    /// Maximum entries of each of the two tables, which take more than 16 bytes each.
    private static let most = 1 << 18

    private var recent: [Int: UInt64] = [:]
    private var former: [Int: UInt64] = [:]

    private static func hash(_ key: String) -> Int { ExactText(key).hashValue }

    mutating func sequence(of key: String) -> UInt64? {
        let hash = TrustedCopies.hash(key)
        if let sequence = recent[hash] { return sequence }
        guard let sequence = former.removeValue(forKey: hash) else { return nil }
        insert(hash, sequence)
        return sequence
    }

    mutating func insert(_ key: String, _ sequence: UInt64) { insert(TrustedCopies.hash(key), sequence) }

    private mutating func insert(_ hash: Int, _ sequence: UInt64) {
        if recent.count >= TrustedCopies.most {
            former = recent
            recent = [:]
        }
        former[hash] = nil
        recent[hash] = sequence
    }

    @discardableResult
    mutating func remove(_ key: String) -> UInt64? {
        let hash = TrustedCopies.hash(key)
        let older = former.removeValue(forKey: hash)
        return recent.removeValue(forKey: hash) ?? older
    }
}
