import StorageEngine
import Synchronization
import Vellum

/// The steps of blocking and asynchronous calls before and after the tier's answer.
extension RemoteArchives {
    struct Change: Sendable {
        var prepared: PreparedObject
        var remote: RemoteObject
        var ticket: CopyTracking.Ticket
    }

    func begin(_ object: Object, _ options: EntryOptions) throws -> Change {
        let prepared = try near.perform { try $0.prepare(object) }
        let remote = RemoteObject(
            bytes: prepared.encoded.bytes, encoding: prepared.encoded.encoding,
            lifetime: options.lifetime ?? lifetime,
            memoryLifetime: options.memoryLifetime, owner: options.owner)
        try remote.attributes().validate()
        return Change(prepared: prepared, remote: remote, ticket: tracking.begin(prepared.name))
    }

    func store(_ change: Change, _ then: @escaping @Sendable (Result<Void, RemoteError>) -> Void) {
        space.store(change.remote, forKey: change.prepared.name) { [tracking] answer in
            tracking.answer(change.ticket)
            then(answer)
        }
    }

    func finish(_ change: Change, _ answer: Result<Void, RemoteError>) throws {
        let (name, ticket) = (change.prepared.name, change.ticket)
        try settle(ticket, answer)
        counts.records.add(1, ordering: .relaxed)
        change.prepared.storeProperties()
        if try keep(change.prepared, change.remote, ticket) { return }
        // Another client has replaced the object at the tier.
        try near.perform { try $0.delete(name) }
    }

    /// Processes the answer to a change. If the tier may have executed it, the near copy is no longer trusted.
    private func settle<Value>(
        _ ticket: CopyTracking.Ticket, _ answer: Result<Value, RemoteError>
    ) throws(RemoteError) {
        if case .failure(let error) = answer {
            if error.isUncertain { distrust(ticket) }
            _ = tracking.end(ticket, keptAs: nil)
            counts.failures.add(1, ordering: .relaxed)
            if error.isUncertain { dropUncertain(ticket.key.text) }
            throw error
        }
        distrust(ticket)
    }

    /// Objects in memory are used without a check, so they are dropped before the disk's copy, whose removal may fail.
    private func distrust(_ ticket: CopyTracking.Ticket) {
        tracking.change(by: ticket)
        leaveMemory(ticket.key.text)
    }

    private func leaveMemory(_ key: String) {
        // A closed archive has no objects in memory.
        try? near.core.leaveMemory(key)
    }

    /// Drops an untrusted copy. Only logs errors, because the copy isn't used.
    private func dropUncertain(_ key: String) {
        do { try near.perform { try $0.delete(key) } } catch { near.log("drop", key, error) }
    }

    func finishDeletion(
        of key: String, _ ticket: CopyTracking.Ticket, _ answer: Result<Bool, RemoteError>
    ) throws -> Bool {
        try settle(ticket, answer)
        _ = tracking.end(ticket, keptAs: nil)
        try near.perform { try $0.delete(key) }
        return try answer.get()
    }

    func finishDeletion(ofOwner owner: String?, _ answer: Result<Int, RemoteError>) throws -> Int {
        // A failed deletion may have deleted objects. Pending fetches may return them.
        tracking.changeAll()
        try near.perform { try $0.leaveMemory()() }
        if let owner {
            try near.perform { try $0.deleteAll(ofOwner: owner) }
        } else {
            try near.perform { try $0.deleteAll() }
        }
        if case .failure = answer { counts.failures.add(1, ordering: .relaxed) }
        return try answer.get()
    }

    // MARK: Queued changes

    func keep(_ change: Change, _ behind: WriteBehind<Object>) throws {
        let (name, remote) = (change.prepared.name, change.remote)
        try enqueue(.init(remote: remote, kept: change.prepared.kept), for: name, change.ticket, behind) {
            change.prepared.storeProperties()
            return try near.perform { try $0.keepNear(change.prepared, remote.attributes()) }
        }
    }

    func delete(_ key: String, _ behind: WriteBehind<Object>) throws -> Bool {
        var isThere = behind.write(of: key)?.remote != nil
        try enqueue(.init(), for: key, tracking.begin(key), behind) {
            if try near.perform({ try $0.archive.sequence(of: key) }) != nil { isThere = true }
            try near.perform { try $0.delete(key) }
            return nil
        }
        return isThere
    }

    /// Queues a change, then updates the near copy. Pending answers are outdated, and later ones are ignored (`fill`).
    private func enqueue(
        _ write: WriteBehind<Object>.Write, for key: String, _ ticket: CopyTracking.Ticket,
        _ behind: WriteBehind<Object>, keep: () throws -> UInt64?
    ) throws {
        defer { _ = tracking.end(ticket, keptAs: nil) }
        let number = try behind.add(key, write, of: self)
        distrust(ticket)
        var sequence: UInt64?
        defer { behind.release(key, number, keptAs: sequence) }
        sequence = try keep()
    }

    /// Stores a copy in memory and on disk and trusts it, unless it is outdated.
    private func keep(
        _ prepared: PreparedObject, _ remote: RemoteObject, _ ticket: CopyTracking.Ticket
    ) throws -> Bool {
        // The copy expires no later than the server's object.
        let attributes = remote.attributes(waited: ticket.age)
        let sequence: UInt64?
        do {
            sequence = try ticket.unlessOutdated {
                try near.perform { try $0.keepNear(prepared, attributes, unless: { ticket.isOutdated }) }
            }
        } catch {
            _ = tracking.end(ticket, keptAs: nil)
            throw error
        }
        if tracking.end(ticket, keptAs: sequence) { return true }
        if let sequence { try near.perform { try $0.dropNear(prepared.name, ifSequence: sequence) } }
        return false
    }

    /// Joins the pending fetch of a key, unless it is outdated, or begins one.
    /// - Parameter blocking: whether the caller's thread waits, so that it can finish the fetch.
    func fetch(_ key: String, blocking: Bool, _ then: @escaping @Sendable (Fetch.Outcome) -> Void) {
        let name = ExactText(key)
        let (fetch, isNew, outcome) = fetches.withLock { fetches -> (Fetch, Bool, Fetch.Outcome?) in
            if let fetch = fetches[name], !fetch.ticket.isOutdated {
                return (fetch, false, fetch.join(blocking, then))
            }
            let fetch = Fetch(key, tracking.begin(key))
            fetches[name] = fetch
            return (fetch, true, fetch.join(blocking, then))
        }
        if let outcome { then(outcome) }
        guard isNew else {
            counts.shared.add(1, ordering: .relaxed)
            return
        }
        counts.fetches.add(1, ordering: .relaxed)
        space.fetch(key) { [tracking] answer in
            tracking.answer(fetch.ticket)
            fetch.answer(answer)
        }
    }

    /// Stores the answer as a near copy, and resumes the other callers. `nil`: another caller does that.
    func finish(
        _ fetch: Fetch, _ answer: Result<RemoteObject?, RemoteError>
    ) -> Result<HeldObject?, any Error>? {
        guard fetch.begin() else { return nil }
        let result = Result<HeldObject?, any Error> { try fill(fetch, answer) }
        // Has no effect if a copy was kept.
        _ = tracking.end(fetch.ticket, keptAs: nil)
        fetches.withLock { fetches in
            if fetches[ExactText(fetch.key)] === fetch { fetches[ExactText(fetch.key)] = nil }
        }
        fetch.end(result)
        return result
    }

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

    private func fill(_ fetch: Fetch, _ answer: Result<RemoteObject?, RemoteError>) throws -> HeldObject? {
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
                _ = tracking.end(ticket, keptAs: copy.sequence)
                return prepared.kept
            }
            _ = try keep(prepared, remote, ticket)
        } catch {
            near.log("keep a copy of", key, error)
        }
        return prepared.kept
    }

    /// Whether the copy has the object's owner and neither of them expires; expiry times can't be compared.
    private func hasTerms(of remote: RemoteObject, _ key: String) throws -> Bool {
        guard remote.lifetime == nil, remote.memoryLifetime == nil,
            let found = try near.perform({ try $0.archive.metadata(key) })
        else { return false }
        return found.expires == nil && found.owner == remote.owner
    }

    private func staleCopy(_ fetch: Fetch, insteadOf error: RemoteError) throws -> HeldObject? {
        let key = fetch.key
        guard case .serveStale(let longest) = untracked, let gap = tracking.gap(of: fetch.ticket),
            gap <= longest,
            let copy = try near.perform({ try $0.nearCopy(key) }),
            try tracking.formerlyTrusted(key, copy.sequence) || isYounger(than: longest, key)
        else { throw error }
        counts.staleHits.add(1, ordering: .relaxed)
        return try near.perform { try $0.received(copy.bytes, .unknown, key).kept }
    }

    /// Whether the copy was stored within a time, by any process.
    private func isYounger(than longest: Duration, _ key: String) throws -> Bool {
        guard let found = try near.perform({ try $0.archive.metadata(key) }) else { return false }
        return .microseconds(Timestamp.now().microseconds - found.created.microseconds) <= longest
    }
}

extension RemoteObject {
    /// - Parameter waited: the part of the lifetime that has passed.
    func attributes(waited: Duration = .zero) -> EntryAttributes {
        EntryAttributes(lifetime: lifetime.map { $0 - waited }, memoryLifetime: memoryLifetime, owner: owner)
    }
}
