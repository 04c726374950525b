import StorageEngine
import Synchronization
import Vellum

/// Steps of each call around the tier's question, blocking or not; each use of the near archive retries if it was closed.
extension RemoteArchives {
    struct Change: Sendable {
        var prepared: PreparedObject
        var remote: RemoteObject
        var ticket: Coverage.Ticket
    }

    func begin(
        _ object: Object, _ lifetime: Duration?, _ memoryLifetime: Duration?, _ owner: String?
    ) throws -> Change {
        let prepared = try near.perform { try $0.prepare(object) }
        let remote = RemoteObject(
            bytes: prepared.encoded.bytes, encoding: prepared.encoded.encoding,
            lifetime: lifetime ?? self.lifetime,
            memoryLifetime: memoryLifetime, owner: owner)
        try remote.attributes().validate()
        return Change(prepared: prepared, remote: remote, ticket: coverage.begin(prepared.name))
    }

    /// Asks the tier, and notes when its answer arrives.
    func store(_ change: Change, _ then: @escaping @Sendable (Result<Void, RemoteError>) -> Void) {
        space.store(change.remote, forKey: change.prepared.name) { [coverage] answer in
            coverage.answer(change.ticket)
            then(answer)
        }
    }

    func finish(
        _ change: Change, _ answer: Result<Void, RemoteError>
    ) throws {
        let (name, ticket) = (change.prepared.name, change.ticket)
        try settle(ticket, answer)
        counts.records.add(1, ordering: .relaxed)
        change.prepared.storeProperties()
        if try keep(change.prepared, change.remote, ticket) { return }
        // What is here was replaced at the tier.
        try near.perform { try $0.delete(name) }
    }

    /// Behind the answer to a change. If the tier may have made it, nothing here is trusted any more.
    private func settle<Value>(
        _ ticket: Coverage.Ticket, _ answer: Result<Value, RemoteError>
    ) throws(RemoteError) {
        if case .failure(let error) = answer {
            if error.isUncertain { distrust(ticket) }
            _ = coverage.end(ticket, keptAs: nil)
            counts.failures.add(1, ordering: .relaxed)
            if error.isUncertain { dropUncertain(ticket.key.text) }
            throw error
        }
        distrust(ticket)
    }

    /// What memory has is trusted by those that find it, so it goes before the disk is waited for, which may fail.
    private func distrust(_ ticket: Coverage.Ticket) {
        coverage.change(by: ticket)
        leaveMemory(ticket.key.text)
    }

    private func leaveMemory(_ key: String) {
        // An archive that was closed has nothing in memory.
        try? near.core.leaveMemory(key)
    }

    /// The copy of a key that the tier may have changed. Nobody trusts it any more, so that it stays is no error of the caller's.
    private func dropUncertain(_ key: String) {
        do { try near.perform { try $0.delete(key) } } catch { near.log("drop", key, error) }
    }

    func finishDeletion(
        of key: String, _ ticket: Coverage.Ticket, _ answer: Result<Bool, RemoteError>
    ) throws -> Bool {
        try settle(ticket, answer)
        _ = coverage.end(ticket, keptAs: nil)
        try near.perform { try $0.delete(key) }
        return try answer.get()
    }

    func finishDeletion(
        ofOwner owner: String?, _ answer: Result<Int, RemoteError>
    ) throws -> Int {
        // Even if it failed, some may be deleted. What was asked before may be answered with one of them.
        coverage.changeAll()
        try near.perform { try $0.leaveMemory()() }
        if let owner {
            try near.perform { try $0.deleteAll(ofOwner: owner) }
        } else {
            try near.perform { try $0.deleteAll() }
        }
        if case .failure = answer { counts.failures.add(1, ordering: .relaxed) }
        return try answer.get()
    }

    // MARK: Changes that reach the tier later

    func keep(_ change: Change, _ behind: WriteBehind<Object>) throws {
        let (name, remote) = (change.prepared.name, change.remote)
        try wait(
            with: .init(remote: remote, kept: change.prepared.kept), for: name, change.ticket, behind
        ) {
            change.prepared.storeProperties()
            return try near.perform { try $0.keepNear(change.prepared, remote.attributes()) }
        }
    }

    func delete(_ key: String, _ behind: WriteBehind<Object>) throws -> Bool {
        var isThere = behind.write(of: key)?.remote != nil
        try wait(with: .init(), for: key, coverage.begin(key), behind) {
            if try near.perform({ try $0.archive.sequence(of: key) }) != nil { isThere = true }
            try near.perform { try $0.delete(key) }
            return nil
        }
        return isThere
    }

    /// Waits before `keep`, so the former isn't found at the tier; answers under way are outdated, later ones ignored (`fill`).
    private func wait(
        with write: WriteBehind<Object>.Write, for key: String, _ ticket: Coverage.Ticket,
        _ behind: WriteBehind<Object>, keep: () throws -> UInt64?
    ) throws {
        defer { _ = coverage.end(ticket, keptAs: nil) }
        let number = try behind.add(key, write, of: self)
        distrust(ticket)
        var sequence: UInt64?
        defer { behind.release(key, number, keptAs: sequence) }
        sequence = try keep()
    }

    /// Puts a copy into both tiers and trusts it, unless it is outdated by then.
    private func keep(
        _ prepared: PreparedObject, _ remote: RemoteObject, _ ticket: Coverage.Ticket
    ) throws -> Bool {
        // The copy here ends no later than what the server has.
        let attributes = remote.attributes(waited: ticket.age)
        let sequence: UInt64?
        do {
            sequence = try ticket.unlessOutdated {
                try near.perform { try $0.keepNear(prepared, attributes, unless: { ticket.isOutdated }) }
            }
        } catch {
            _ = coverage.end(ticket, keptAs: nil)
            throw error
        }
        if coverage.end(ticket, keptAs: sequence) { return true }
        if let sequence { try near.perform { try $0.dropNear(prepared.name, ifSequence: sequence) } }
        return false
    }

    // MARK: Fetching

    /// Joins or begins the question for a key, unless its answer is outdated. `blocking`: a thread waits, and can finish it.
    func fetch(_ key: String, blocking: Bool, _ then: @escaping @Sendable (Fetch.Outcome) -> Void) {
        let name = ExactText(key)
        let (fetch, isNew, outcome) = fetches.withLock { fetches -> (Fetch, Bool, Fetch.Outcome?) in
            if let fetch = fetches[name], !fetch.ticket.isOutdated {
                return (fetch, false, fetch.join(blocking, then))
            }
            let fetch = Fetch(key, coverage.begin(key))
            fetches[name] = fetch
            return (fetch, true, fetch.join(blocking, then))
        }
        if let outcome { then(outcome) }
        guard isNew else {
            counts.shared.add(1, ordering: .relaxed)
            return
        }
        counts.fetches.add(1, ordering: .relaxed)
        space.fetch(key) { [coverage] answer in
            coverage.answer(fetch.ticket)
            fetch.answer(answer)
        }
    }

    /// Fills the near tiers with the answer, and tells those that wait for it. `nil` if another caller does that.
    func finish(
        _ fetch: Fetch, _ answer: Result<RemoteObject?, RemoteError>
    ) -> Result<HeldObject?, any Error>? {
        guard fetch.begin() else { return nil }
        let result = Result<HeldObject?, any Error> { try fill(fetch, answer) }
        // Unless a copy was kept for it.
        _ = coverage.end(fetch.ticket, keptAs: nil)
        fetches.withLock { fetches in
            if fetches[ExactText(fetch.key)] === fetch { fetches[ExactText(fetch.key)] = nil }
        }
        fetch.end(result)
        return result
    }

    /// What comes of an answer, or who else finishes it.
    enum Found {
        case object(Object?)
        case notYet(Fetch)
    }

    func found(_ outcome: Fetch.Outcome, _ key: String) throws -> Found {
        switch outcome {
        case .finished(let result): return .object(try object(of: result, key))
        case .answered(let fetch, let answer):
            guard let result = finish(fetch, answer) else { return .notYet(fetch) }
            return .object(try object(of: result, key))
        }
    }

    func object(of result: Result<HeldObject?, any Error>, _ key: String) throws -> Object? {
        try result.get().map { try near.core.object(of: $0, key) }
    }

    private func fill(
        _ fetch: Fetch, _ answer: Result<RemoteObject?, RemoteError>
    ) throws -> HeldObject? {
        let (key, ticket) = (fetch.key, fetch.ticket)
        if let write = behind?.write(of: key) { return write.kept }
        let remote: RemoteObject?
        switch answer {
        case .success(let found): remote = found
        case .failure(let error):
            counts.failures.add(1, ordering: .relaxed)
            return try staleCopy(fetch, insteadOf: error)
        }
        let copy = try near.perform { try $0.nearCopy(key) }
        guard let remote else {
            counts.missing.add(1, ordering: .relaxed)
            if let copy { try near.perform { try $0.dropNear(key, ifSequence: copy.sequence) } }
            return nil
        }
        let prepared = try near.perform { try $0.received(remote.bytes, remote.encoding, key) }
        do {
            if let copy, copy.bytes == remote.bytes, try hasTerms(of: remote, key) {
                counts.confirmed.add(1, ordering: .relaxed)
                // It is read into memory by the next access.
                _ = coverage.end(ticket, keptAs: copy.sequence)
                return prepared.kept
            }
            _ = try keep(prepared, remote, ticket)
        } catch {
            // It is used all the same.
            near.log("keep a copy of", key, error)
        }
        return prepared.kept
    }

    /// Whether the copy needn't be written again. One that expires is, because the times that are left differ.
    private func hasTerms(
        of remote: RemoteObject, _ key: String
    ) throws -> Bool {
        guard remote.lifetime == nil, remote.memoryLifetime == nil,
            let found = try near.perform({ try $0.archive.metadata(key) })
        else { return false }
        return found.expires == nil && found.owner == remote.owner
    }

    private func staleCopy(
        _ fetch: Fetch, insteadOf error: RemoteError
    ) throws -> HeldObject? {
        let key = fetch.key
        guard case .serveStale(let longest) = uncovered, let gap = coverage.gap(of: fetch.ticket),
            gap <= longest,
            let copy = try near.perform({ try $0.nearCopy(key) }),
            try coverage.formerlyTrusted(key, copy.sequence) || isYounger(than: longest, key)
        else { throw error }
        counts.staleHits.add(1, ordering: .relaxed)
        return try near.perform { try $0.received(copy.bytes, .unknown, key).kept }
    }

    /// Whether the copy was stored at most so long ago, by whomever.
    private func isYounger(than longest: Duration, _ key: String) throws -> Bool {
        guard let found = try near.perform({ try $0.archive.metadata(key) }) else { return false }
        return .microseconds(Timestamp.now().microseconds - found.created.microseconds) <= longest
    }
}

extension RemoteObject {
    /// - Parameter waited: how much of the lifetime is over.
    func attributes(waited: Duration = .zero) -> EntryAttributes {
        EntryAttributes(lifetime: lifetime.map { $0 - waited }, memoryLifetime: memoryLifetime, owner: owner)
    }
}
