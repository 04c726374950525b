#if Valkey
import StorageEngine
import ValkeyWire
import VellumRemote

/// The keys of one archive at a server or cluster.
final class ValkeySpace: RemoteSpace, @unchecked Sendable {
    let listener: any RemoteListener
    /// The beginning of the archive's keys.
    let prefix: [UInt8]
    let router: ValkeyRouter
    let tier: String
    /// Whether all changes are reported. Only for the router's loop.
    var isTracked = false

    init(_ router: ValkeyRouter, archive: String, in prefix: String, _ listener: any RemoteListener) {
        self.router = router
        self.listener = listener
        tier = router.name
        // A colon ends the name, so that no prefix is the beginning of another. Owners' sets have a semicolon instead.
        let name = archive.replacing("%", with: "%25").replacing(":", with: "%3A").replacing(";", with: "%3B")
        self.prefix = Array("\(prefix):\(name):".utf8)
        router.add(self)
    }

    func close() { router.remove(self) }

    private func key(_ name: String) -> [UInt8] { prefix + name.utf8 }

    /// The key of an owner's sorted set: names of objects by their expiry times.
    func ownerKey(_ owner: String) -> [UInt8] { prefix.dropLast() + ";owner:".utf8 + owner.utf8 }

    // MARK: One object

    func fetch(_ key: String, _ then: @escaping @Sendable (Result<RemoteObject?, RemoteError>) -> Void) {
        let name = self.key(key)
        // Atomic: an object that is stored between the two commands would get the former one's TTL.
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
        default: return .failure(.unreadable(tier: tier, key: key, reason: "it isn't a string"))
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
                notifyOthers(key, result)
                then(result.map { _ in })
            }
        }
        // The name is in the owner's set before the object exists, so that deleting the owner's objects finds it.
        note(key, of: owner, object.lifetime) { [self, command] result in
            if case .failure(let error) = result { return then(.failure(error)) }
            change(key, [command]) { [self] result, former in
                guard case .success = result else { return then(result.map { _ in }) }
                if let former, former != owner { forget(key, of: former) }
                // A concurrent deletion may have removed the name before the object existed.
                note(key, of: owner, object.lifetime) { [tier] in then($0.begun(at: tier)) }
            }
        }
    }

    func delete(_ key: String, _ then: @escaping @Sendable (Result<Bool, RemoteError>) -> Void) {
        change(key, [RESPCommand("UNLINK") + self.key(key)]) { [self] result, owner in
            if let owner { forget(key, of: owner) }
            then(result.map { $0[1].number != 0 })
        }
    }

    func expire(
        _ key: String, in lifetime: Duration?, _ then: @escaping @Sendable (Result<Bool, RemoteError>) -> Void
    ) {
        let name = self.key(key)
        let command =
            lifetime.map { RESPCommand("PEXPIRE") + name + ValkeySpace.milliseconds($0) }
            ?? RESPCommand("PERSIST") + name
        change(key, [RESPCommand("EXISTS") + name, command]) { [self] result, owner in
            guard let owner else { return then(result.map { $0[1].number != 0 }) }
            note(key, of: owner, lifetime) { [tier] in then($0.begun(at: tier).map { _ in true }) }
        }
    }

    /// Executes commands of a key atomically. Their replies are behind one with the head of the object; `then` also gets its owner.
    private func change(
        _ key: String, _ commands: [RESPCommand],
        _ then: @escaping @Sendable (Result<[RESPValue], RemoteError>, _ owner: String?) -> Void
    ) {
        let name = self.key(key)
        let head = RESPCommand("GETRANGE") + name + 0 + (StoredObject.longestHead - 1)
        router.send([head] + commands, of: name, atomically: true) { [self] result in
            notifyOthers(key, result)
            let found = (try? result.get())?.first?.blob
            then(result, found.flatMap { StoredObject.owner(ofHead: $0) })
        }
    }

    /// Notifies other archives of this process, because the server doesn't report changes by this connection. A change without an
    /// answer may have been executed.
    private func notifyOthers(_ key: String, _ result: Result<[RESPValue], RemoteError>) {
        if case .failure(let error) = result, !error.isUncertain { return }
        router.notify(allBut: self) { $0.changed(key) }
    }

    private static func milliseconds(_ duration: Duration) -> Int64 {
        // Clamped, because the server refuses an expiry time that overflows.
        duration.clampedMicroseconds / 1000
    }

    // MARK: Owners

    /// Adds an object's name to the owner's set, and removes stale names that the script returns.
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

    /// Removes a name from the owner's set, without waiting: stale names are harmless.
    private func forget(_ key: String, of owner: String) { forget([Array(key.utf8)], of: owner) { _ in } }

    /// Removes names from the owner's set, and adds those again whose objects exist.
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

extension Result<Void, RemoteError> {
    /// Makes a failure uncertain, after a part of the change was executed.
    fileprivate func begun(at tier: String) -> Self { mapError { $0.begun(at: tier) } }
}

extension RemoteError {
    /// The error of a change that was partly executed.
    func begun(at tier: String) -> RemoteError {
        isUncertain
            ? self : .unanswered(tier: tier, reason: "a part of the change was executed, then: \(self)")
    }
}
#endif
