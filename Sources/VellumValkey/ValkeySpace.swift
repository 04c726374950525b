#if Valkey
import RESP
import StorageEngine
import VellumRemote

/// The keys of one archive at a server. What it asks is sent by its ``ValkeyRouter``.
final class ValkeySpace: RemoteSpace {
    let listener: any RemoteListener
    /// What the archive's keys begin with.
    let prefix: [UInt8]
    private let router: ValkeyRouter
    private let tier: String

    init(_ router: ValkeyRouter, archive: String, in prefix: String, _ listener: any RemoteListener) {
        self.router = router
        self.listener = listener
        tier = router.name
        // A colon ends the name, so that no archive's prefix begins with another's, which the server refuses to track. Behind a
        // semicolon stand its owners.
        let name = archive.replacing("%", with: "%25").replacing(":", with: "%3A").replacing(";", with: "%3B")
        self.prefix = Array("\(prefix):\(name):".utf8)
        router.add(self)
    }

    func close() { router.remove(self) }

    private func key(_ name: String) -> [UInt8] { prefix + name.utf8 }

    /// The sorted set of an owner's keys, by the time at which they expire.
    private func ownerKey(_ owner: String) -> [UInt8] { prefix.dropLast() + ";owner:".utf8 + owner.utf8 }

    // MARK: One object

    func fetch(_ key: String, _ then: @escaping @Sendable (Result<RemoteObject?, RemoteError>) -> Void) {
        let name = self.key(key)
        router.send([RESPCommand("PTTL") + name, RESPCommand("GET") + name], of: name) { [tier] result in
            then(result.flatMap { ValkeySpace.object(in: $0, key, tier) })
        }
    }

    private static func object(
        in replies: [RESPValue], _ key: String, _ tier: String
    ) -> Result<RemoteObject?, RemoteError> {
        switch replies[1] {
        case .null: return .success(nil)
        case .bytes(let bytes):
            do {
                var object = try StoredObject.decode(bytes)
                if let left = replies[0].number, left >= 0 { object.lifetime = .milliseconds(left) }
                return .success(object)
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
        var command = RESPCommand("SET") + self.key(key) + StoredObject.encode(object)
        if let lifetime = object.lifetime {
            guard lifetime >= .milliseconds(1) else { return delete(key) { then($0.map { _ in }) } }
            command = command + "PX" + ValkeySpace.milliseconds(lifetime)
        }
        guard let owner = object.owner else { return set(command, key, then) }
        // Known to be the owner's before it is there, so that it is deleted with the others.
        let set = ownerKey(owner)
        let now = Timestamp.now().microseconds / 1000
        let end = object.lifetime.map { "\(now + ValkeySpace.milliseconds($0))" } ?? "+inf"
        // Clocks differ. A minute is more than they should.
        let commands = [
            RESPCommand("ZADD") + set + end + Array(key.utf8),
            RESPCommand("ZREMRANGEBYSCORE") + set + "-inf" + (now - 60_000),
        ]
        router.send(commands, of: set) { [self, command] result in
            if case .failure(let error) = result { return then(.failure(error)) }
            self.set(command, key) { [self] result in
                guard case .success = result else { return then(result) }
                // Who deletes the owner's may have taken it out of the set before it was there.
                router.send([commands[0]], of: set) { then($0.map { _ in }) }
            }
        }
    }

    private func set(
        _ command: RESPCommand, _ key: String, _ then: @escaping @Sendable (Result<Void, RemoteError>) -> Void
    ) {
        router.send([command], of: self.key(key)) { [self] result in
            told(key, result)
            then(result.map { _ in })
        }
    }

    func delete(_ key: String, _ then: @escaping @Sendable (Result<Bool, RemoteError>) -> Void) {
        router.send([RESPCommand("UNLINK") + self.key(key)], of: self.key(key)) { [self] result in
            told(key, result)
            then(result.map { $0[0].number != 0 })
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
        router.send([RESPCommand("EXISTS") + name, command], of: name) { [self] result in
            told(key, result)
            then(result.map { $0[0].number != 0 })
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

    // MARK: Many

    func deleteAll(ofOwner owner: String?, _ then: @escaping @Sendable (Result<Int, RemoteError>) -> Void) {
        let whole: @Sendable (Result<Int, RemoteError>) -> Void = { [self] result in
            router.tell(allBut: self) { $0.changedAll() }
            then(result)
        }
        if let owner { return deleteNext(of: owner, 0, whole) }
        router.withServers { [self] servers in
            deleteAll(beginningWith: prefix, at: servers, 0) { [self] result in
                guard case .success(let count) = result else { return whole(result) }
                router.withServers { [self] servers in
                    deleteAll(beginningWith: ownerKey(""), at: servers, 0) { whole($0.map { _ in count }) }
                }
            }
        }
    }

    /// At most so many are looked at or deleted at once.
    private static let portion = 1000

    /// One server after the other.
    private func deleteAll(
        beginningWith prefix: [UInt8], at servers: [ValkeySession], _ deleted: Int,
        _ then: @escaping @Sendable (Result<Int, RemoteError>) -> Void
    ) {
        guard let server = servers.first else { return then(.success(deleted)) }
        deleteAll(beginningWith: prefix, at: server, from: "0", deleted) { [self] result in
            guard case .success(let deleted) = result else { return then(result) }
            deleteAll(beginningWith: prefix, at: Array(servers.dropFirst()), deleted, then)
        }
    }

    private func deleteAll(
        beginningWith prefix: [UInt8], at server: ValkeySession, from cursor: String, _ deleted: Int,
        _ then: @escaping @Sendable (Result<Int, RemoteError>) -> Void
    ) {
        let command =
            RESPCommand("SCAN", cursor, "MATCH") + ValkeySpace.pattern(prefix) + "COUNT" + ValkeySpace.portion
        router.send([command], to: server) { [self] result in
            guard case .success(let replies) = result else { return then(.failure(result.failure!)) }
            guard let parts = replies[0].elements, parts.count == 2, let next = parts[0].text else {
                return then(.failure(.refused(tier: tier, message: "SCAN was answered with something else")))
            }
            let goesOn: @Sendable (Int) -> Void = { [self] deleted in
                if next == "0" { return then(.success(deleted)) }
                deleteAll(beginningWith: prefix, at: server, from: next, deleted, then)
            }
            let keys = (parts[1].elements ?? []).compactMap(ValkeySpace.bytes)
            guard !keys.isEmpty else { return goesOn(deleted) }
            // One by one: keys of several slots are refused.
            router.send(keys.map { RESPCommand("UNLINK") + $0 }, to: server) { result in
                switch result {
                case .success(let replies): goesOn(deleted + ValkeySpace.sum(replies))
                case .failure(let error): then(.failure(error))
                }
            }
        }
    }

    private static func bytes(_ value: RESPValue) -> [UInt8]? {
        if case .bytes(let bytes) = value { bytes } else { nil }
    }

    private static func sum(_ replies: [RESPValue]) -> Int {
        replies.count { $0.number ?? 0 > 0 }
    }

    private func deleteNext(
        of owner: String, _ deleted: Int, _ then: @escaping @Sendable (Result<Int, RemoteError>) -> Void
    ) {
        let set = ownerKey(owner)
        let range = [RESPCommand("ZRANGE") + set + 0 + (ValkeySpace.portion - 1)]
        router.send(range, of: set) { [self] result in
            guard case .success(let replies) = result else { return then(.failure(result.failure!)) }
            let names = (replies[0].elements ?? []).compactMap(ValkeySpace.bytes)
            guard !names.isEmpty else { return then(.success(deleted)) }
            each(names, StoredObject.deleteIfOwned, owner) { [self] result in
                guard case .success(let counts) = result else { return then(.failure(result.failure!)) }
                let count = deleted + counts.reduce(0, +)
                forget(names, of: owner) { [self] result in
                    if case .failure(let error) = result { return then(.failure(error)) }
                    deleteNext(of: owner, count, then)
                }
            }
        }
    }

    /// Takes the names out of the owner's set, but for those that were recorded in the meantime.
    private func forget(
        _ names: [[UInt8]], of owner: String, _ then: @escaping @Sendable (Result<Void, RemoteError>) -> Void
    ) {
        let set = ownerKey(owner)
        router.send([RESPCommand(words: [Array("ZREM".utf8), set] + names)], of: set) { [self] result in
            if case .failure(let error) = result { return then(.failure(error)) }
            each(names, StoredObject.isOwned, owner) { [self] result in
                guard case .success(let counts) = result else { return then(.failure(result.failure!)) }
                let present = zip(names, counts).filter { $0.1 > 0 }.map(\.0)
                guard !present.isEmpty else { return then(.success(())) }
                let additions = present.map { RESPCommand("ZADD") + set + "NX" + "+inf" + $0 }
                router.send(additions, of: set) { then($0.map { _ in }) }
            }
        }
    }

    /// Runs a script on each of these keys, all at once, each where it is; returns what they return.
    private func each(
        _ names: [[UInt8]], _ script: String, _ owner: String,
        _ then: @escaping @Sendable (Result<[Int], RemoteError>) -> Void
    ) {
        let all = Guarded((missing: names.count, counts: Array(repeating: 0, count: names.count)))
        let failure = Guarded<RemoteError?>(nil)
        for (place, name) in names.enumerated() {
            let key = prefix + name
            router.send([RESPCommand("EVAL", script, "1") + key + owner], of: key) { result in
                if case .failure(let error) = result { failure.withLock { $0 = error } }
                let whole = all.withLock { all -> [Int]? in
                    all.missing -= 1
                    if case .success(let replies) = result { all.counts[place] = ValkeySpace.sum(replies) }
                    return all.missing == 0 ? all.counts : nil
                }
                guard let whole else { return }
                then(failure.withLock { $0 }.map { .failure($0) } ?? .success(whole))
            }
        }
    }

    /// A pattern for what begins with these bytes.
    private static func pattern(_ bytes: [UInt8]) -> [UInt8] {
        bytes.flatMap { Array("*?[]\\".utf8).contains($0) ? [UInt8(ascii: "\\"), $0] : [$0] } + [
            UInt8(ascii: "*")
        ]
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
#endif
