#if Valkey
import StorageEngine
import ValkeyWire
import VellumRemote

/// The keys of one archive at a server. What it asks is sent by its ``ValkeyRouter``.
final class ValkeySpace: RemoteSpace {
    let listener: any RemoteListener
    /// What the archive's keys begin with.
    let prefix: [UInt8]
    let router: ValkeyRouter
    let tier: String

    init(_ router: ValkeyRouter, archive: String, in prefix: String, _ listener: any RemoteListener) {
        self.router = router
        self.listener = listener
        tier = router.name
        // A colon ends the name, so that no archive's prefix begins with another's. Owners follow a semicolon.
        let name = archive.replacing("%", with: "%25").replacing(":", with: "%3A").replacing(";", with: "%3B")
        self.prefix = Array("\(prefix):\(name):".utf8)
        router.add(self)
    }

    func close() { router.remove(self) }

    private func key(_ name: String) -> [UInt8] { prefix + name.utf8 }

    /// The sorted set of an owner's keys, by the time at which they expire.
    func ownerKey(_ owner: String) -> [UInt8] { prefix.dropLast() + ";owner:".utf8 + owner.utf8 }

    // MARK: One object

    func fetch(_ key: String, _ then: @escaping @Sendable (Result<RemoteObject?, RemoteError>) -> Void) {
        let name = self.key(key)
        // In one step: what another stores between the two would get the former one's lifetime.
        let commands = [RESPCommand("PTTL") + name, RESPCommand("GET") + name]
        router.send(commands, of: name, atomically: true) { [tier] result in
            then(result.flatMap { ValkeySpace.object(in: $0, key, tier) })
        }
    }

    private static func object(
        in replies: [RESPValue], _ key: String, _ tier: String
    ) -> Result<RemoteObject?, RemoteError> {
        switch replies[1] {
        case .null: return .success(nil)
        case .bytes(let bytes):
            do throws(StoredObject.Problem) {
                let left = replies[0].number ?? -1
                return .success(
                    RemoteObject(
                        try StoredObject(decoding: bytes), lifetime: left < 0 ? nil : .milliseconds(left)))
            } catch {
                return .failure(.unreadable(tier: tier, key: key, reason: error.reason))
            }
        default: return .failure(.unreadable(tier: tier, key: key, reason: "it is no string"))
        }
    }

    func store(
        _ object: RemoteObject, forKey key: String,
        _ then: @escaping @Sendable (Result<Void, RemoteError>) -> Void
    ) {
        var command = RESPCommand("SET") + self.key(key) + object.stored.encoded
        if let lifetime = object.lifetime {
            guard lifetime >= .milliseconds(1) else { return delete(key) { then($0.map { _ in }) } }
            command = command + "PX" + ValkeySpace.milliseconds(lifetime)
        }
        guard let owner = object.owner else {
            return router.send([command], of: self.key(key)) { [self] result in
                told(key, result)
                then(result.map { _ in })
            }
        }
        // Known to be the owner's before it is there, so that it is deleted with the others.
        note(key, of: owner, object.lifetime) { [self, command] result in
            if case .failure(let error) = result { return then(.failure(error)) }
            router.send([head(of: key), command], of: self.key(key), atomically: true) { [self] result in
                told(key, result)
                guard case .success(let replies) = result else { return then(result.map { _ in }) }
                if let former = ValkeySpace.owner(in: replies), former != owner { forget(key, of: former) }
                // Who deletes the owner's may have taken it out of the set before it was there.
                note(key, of: owner, object.lifetime) { [tier] in then($0.begun(at: tier)) }
            }
        }
    }

    func delete(_ key: String, _ then: @escaping @Sendable (Result<Bool, RemoteError>) -> Void) {
        let commands = [head(of: key), RESPCommand("UNLINK") + self.key(key)]
        router.send(commands, of: self.key(key), atomically: true) { [self] result in
            told(key, result)
            if case .success(let replies) = result, let owner = ValkeySpace.owner(in: replies) {
                forget(key, of: owner)
            }
            then(result.map { $0[1].number != 0 })
        }
    }

    func expire(
        _ key: String, in lifetime: Duration?, _ then: @escaping @Sendable (Result<Bool, RemoteError>) -> Void
    ) {
        let name = self.key(key)
        let command =
            if let lifetime {
                RESPCommand("PEXPIRE") + name + ValkeySpace.milliseconds(lifetime)
            } else {
                RESPCommand("PERSIST") + name
            }
        let commands = [head(of: key), RESPCommand("EXISTS") + name, command]
        router.send(commands, of: name, atomically: true) { [self] result in
            told(key, result)
            guard case .success(let replies) = result, let owner = ValkeySpace.owner(in: replies) else {
                return then(result.map { $0[1].number != 0 })
            }
            note(key, of: owner, lifetime) { [tier] in then($0.begun(at: tier).map { _ in true }) }
        }
    }

    /// The server doesn't tell of what this connection changes, so other archives of this process are told here.
    private func told(_ key: String, _ result: Result<[RESPValue], RemoteError>) {
        // It may be made although no answer came, and the server tells nobody on this connection.
        if case .failure(let error) = result, !error.isUncertain { return }
        router.tell(allBut: self) { $0.changed(key) }
    }

    private static func milliseconds(_ duration: Duration) -> Int64 {
        // So clamped that the server's own clock added to it doesn't overflow, which it refuses.
        duration.clampedMicroseconds / 1000
    }

    // MARK: Owners

    private func head(of key: String) -> RESPCommand {
        RESPCommand("GETRANGE") + self.key(key) + 0 + (StoredObject.longestHead - 1)
    }

    /// Of the object whose head the first reply is.
    private static func owner(in replies: [RESPValue]) -> String? {
        replies.first?.blob.flatMap { StoredObject.owner(ofHead: $0) }
    }

    /// Notes that an object is the owner's.
    private func note(
        _ key: String, of owner: String, _ lifetime: Duration?,
        _ then: @escaping @Sendable (Result<Void, RemoteError>) -> Void
    ) {
        let name = Array(key.utf8)
        let left = lifetime.map { ValkeySpace.milliseconds($0) }
        router.send([note(name, of: owner, left)], of: ownerKey(owner)) { [self] result in
            then(result.map { _ in })
            guard case .success(let replies) = result else { return }
            let looked = (replies[0].elements ?? []).compactMap(\.blob).filter { $0 != name }
            each(looked, StoredObject.lifeIfOwned, owner) { [self] result in
                guard case .success(let lives) = result else { return }
                let gone = zip(looked, lives).filter { $0.1 < -1 }.map(\.0)
                if !gone.isEmpty { forget(gone, of: owner) { _ in } }
            }
        }
    }

    private func note(
        _ name: [UInt8], of owner: String, _ left: Int64?, unlessThere: Bool = false
    ) -> RESPCommand {
        let now = Timestamp.now().microseconds / 1000
        let end = left.map { "\(now + $0)" } ?? "+inf"
        return RESPCommand("EVAL", StoredObject.noteOwned, "1") + ownerKey(owner) + end + name
            + (now - 60_000)
            + Int.random(in: 0..<1 << 48) + (unlessThere ? "NX" : "")
    }

    /// The name of what was deleted, or is another's. Nobody waits for it: names of nothing do no harm.
    private func forget(_ key: String, of owner: String) { forget([Array(key.utf8)], of: owner) { _ in } }

    /// Takes the names out of the owner's set, but for those that were recorded in the meantime.
    func forget(
        _ names: [[UInt8]], of owner: String, _ then: @escaping @Sendable (Result<Void, RemoteError>) -> Void
    ) {
        guard !names.isEmpty else { return then(.success(())) }
        let set = ownerKey(owner)
        router.send([RESPCommand(words: [Array("ZREM".utf8), set] + names)], of: set) { [self] result in
            if case .failure(let error) = result { return then(.failure(error)) }
            each(names, StoredObject.lifeIfOwned, owner) { [self] result in
                guard case .success(let lives) = result else { return then(result.map { _ in }) }
                let additions = zip(names, lives).filter { $0.1 >= -1 }.map { name, life in
                    note(name, of: owner, life < 0 ? nil : life, unlessThere: true)
                }
                guard !additions.isEmpty else { return then(.success(())) }
                router.send(additions, of: set) { then($0.map { _ in }) }
            }
        }
    }
}

extension RESPValue {
    var blob: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
}

extension Result<Void, RemoteError> {
    /// Behind a change that was made: whatever this is, the caller can't take it for nothing.
    fileprivate func begun(at tier: String) -> Self { mapError { $0.begun(at: tier) } }
}

extension RemoteError {
    /// Something else of the same change was made.
    func begun(at tier: String) -> RemoteError {
        isUncertain ? self : .unanswered(tier: tier, reason: "it was begun, and then: \(self)")
    }
}
#endif
