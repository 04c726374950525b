import StorageEngine
import Synchronization

/// Which near copies are known to be what the server has: got or stored here since the server began to tell of changes, and not
/// told of since. Safe from any thread. Copies are known by their sequences. Those of other processes, which may have died before
/// they were told, are compared with the server's once.
final class Coverage: Sendable {
    /// A question to the server, or a change there, that is under way.
    final class Ticket: Sendable {
        let key: ExactText
        private let began = ContinuousClock.now
        /// Both are set with the lock of the ``Coverage`` held. What the server told before it answered, the answer takes into
        /// account; so only then it can become older than what the server has.
        fileprivate let isAnswered = Atomic(false)
        private let outdated = Atomic(false)
        /// Held while the answer is put where others find it.
        private let keeping = Guarded(())

        /// When the cover had ended that there wasn't when it began; `nil`: there was.
        fileprivate let uncoveredSince: Int64?

        fileprivate init(_ key: ExactText, uncoveredSince: Int64?) {
            (self.key, self.uncoveredSince) = (key, uncoveredSince)
        }

        /// How long ago the request began. The server's answer is no older than that.
        var age: Duration { ContinuousClock.now - began }

        var isOutdated: Bool { outdated.load(ordering: .acquiring) }

        fileprivate func declareOutdated() {
            if isAnswered.load(ordering: .relaxed) { outdated.store(true, ordering: .releasing) }
        }

        /// Calls `keep` unless it is outdated.
        func unlessOutdated(_ keep: () throws -> UInt64?) rethrows -> UInt64? {
            try keeping.withLock { _ in try isOutdated ? nil : keep() }
        }

        fileprivate func waitUntilKept() { keeping.withLock { _ in } }
    }

    private struct State {
        var isCovered = false
        /// When the cover ended, or this process began; nanoseconds of the monotonic clock.
        var uncoveredSince = Coverage.now()
        var trusted = TrustedCopies()
        /// Those that were trusted when the cover ended.
        var formerly = TrustedCopies()
        var underWay: [ExactText: [Ticket]] = [:]
    }

    private let state = Guarded(State())

    // MARK: What the server tells

    func cover() {
        state.withLock { state in
            state.isCovered = true
            state.formerly = TrustedCopies()
        }
    }

    func uncover() {
        state.withLock { state in
            if state.isCovered {
                state.uncoveredSince = Coverage.now()
                state.formerly = state.trusted
            }
            state.isCovered = false
            state.trusted = TrustedCopies()
            outdateAll(&state)
        }
    }

    /// Returns the sequence of the copy that was trusted, which is outdated now.
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

    // MARK: What this process does

    /// Call it before the request is sent.
    func begin(_ key: String) -> Ticket {
        state.withLock { state in
            let ticket = Ticket(ExactText(key), uncoveredSince: state.isCovered ? nil : state.uncoveredSince)
            state.underWay[ticket.key, default: []].append(ticket)
            return ticket
        }
    }

    /// Call it when the answer arrives, before the server tells anything further.
    func answer(_ ticket: Ticket) {
        state.withLock { state in
            ticket.isAnswered.store(true, ordering: .relaxed)
            if !state.isCovered { ticket.declareOutdated() }
        }
    }

    /// Call it when the server has this process' change, which it doesn't tell of, before the copy. Answers here are outdated.
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

    /// Call it once the copy is where others find it (`nil`: it isn't kept). Returns whether it may stay there.
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

    /// Whether it was trusted when the cover ended, as far as is known.
    func formerlyTrusted(_ key: String, _ sequence: UInt64) -> Bool {
        state.withLock { $0.formerly.sequence(of: key) == sequence }
    }

    /// Whether any copy of this key would be trusted.
    func mayTrust(_ key: String) -> Bool { state.withLock { $0.trusted.sequence(of: key) != nil } }

    var isCovered: Bool { state.withLock { $0.isCovered } }

    /// How long it has been uncovered, for a request that failed; `nil`: it is covered, and was when the request began.
    func gap(of ticket: Ticket) -> Duration? {
        state.withLock { state in
            let since = state.isCovered ? ticket.uncoveredSince : state.uncoveredSince
            return since.map { .nanoseconds(Coverage.now() &- $0) }
        }
    }

    private static func now() -> Int64 { Archive.bootTime() &* 1000 }
}

/// Trusted copies' sequences by key hash; collisions only displace. Bounded: forgotten ones are compared with the server again.
private struct TrustedCopies {
    /// Of each of the two tables; 16 bytes an entry and more.
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
