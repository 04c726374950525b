#if Valkey
import RESP
import StorageEngine
import VellumRemote

/// The keys of one archive at a server. What it asks is sent by its ``ValkeySession``.
final class ValkeySpace: RemoteSpace {
    let listener: any RemoteListener
    /// What the archive's keys begin with.
    let prefix: [UInt8]
    private let session: ValkeySession
    private let tier: String

    init(_ session: ValkeySession, archive: String, in prefix: String, _ listener: any RemoteListener) {
        self.session = session
        self.listener = listener
        tier = session.name
        // A colon ends the name, so that no archive's prefix begins with another's, which the server refuses to track.
        let name = archive.replacing("%", with: "%25").replacing(":", with: "%3A")
        self.prefix = Array("\(prefix):\(name):".utf8)
        session.add(self)
    }

    func close() { session.remove(self) }

    private func key(_ name: String) -> [UInt8] { prefix + name.utf8 }

    /// The sorted set of an owner's keys, by the time at which they expire.
    private func ownerKey(_ owner: String) -> [UInt8] { prefix.dropLast() + ";owner:".utf8 + owner.utf8 }

    // MARK: One object

    func fetch(_ key: String, _ then: @escaping @Sendable (Result<RemoteObject?, RemoteError>) -> Void) {
        let name = self.key(key)
        session.send([RESPCommand("PTTL") + name, RESPCommand("GET") + name]) { [tier] result in
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
        session.send(commands) { [self, command] result in
            switch result {
            case .success: self.set(command, key, then)
            case .failure(let error): then(.failure(error))
            }
        }
    }

    private func set(
        _ command: RESPCommand, _ key: String, _ then: @escaping @Sendable (Result<Void, RemoteError>) -> Void
    ) {
        session.send([command]) { [self] result in
            told(key, result)
            then(result.map { _ in })
        }
    }

    func delete(_ key: String, _ then: @escaping @Sendable (Result<Bool, RemoteError>) -> Void) {
        session.send([RESPCommand("UNLINK") + self.key(key)]) { [self] result in
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
        session.send([RESPCommand("EXISTS") + name, command]) { [self] result in
            told(key, result)
            then(result.map { $0[0].number != 0 })
        }
    }

    /// The server doesn't tell of what this connection changes, so other archives of this process are told here.
    private func told(_ key: String, _ result: Result<[RESPValue], RemoteError>) {
        guard case .success = result else { return }
        session.tell(allBut: self) { $0.changed(key) }
    }

    private static func milliseconds(_ duration: Duration) -> Int64 {
        // The server refuses times whose sum with its own clock overflows.
        min(max(0, duration.microseconds / 1000), 1 << 52)
    }

    // MARK: Many

    func deleteAll(ofOwner owner: String?, _ then: @escaping @Sendable (Result<Int, RemoteError>) -> Void) {
        let whole: @Sendable (Result<Int, RemoteError>) -> Void = { [self] result in
            session.tell(allBut: self) { $0.changedAll() }
            then(result)
        }
        if let owner { return deleteNext(of: owner, 0, whole) }
        deleteAll(beginningWith: prefix, from: "0", 0) { [self] result in
            guard case .success(let count) = result else { return whole(result) }
            deleteAll(beginningWith: ownerKey(""), from: "0", 0) { whole($0.map { _ in count }) }
        }
    }

    /// At most so many are looked at or deleted by a command.
    private static let portion = 1000

    private func deleteAll(
        beginningWith prefix: [UInt8], from cursor: String, _ deleted: Int,
        _ then: @escaping @Sendable (Result<Int, RemoteError>) -> Void
    ) {
        let command =
            RESPCommand("SCAN", cursor, "MATCH") + ValkeySpace.pattern(prefix) + "COUNT" + ValkeySpace.portion
        session.send([command]) { [self] result in
            guard case .success(let replies) = result else { return then(.failure(result.failure!)) }
            guard let parts = replies[0].elements, parts.count == 2, let next = parts[0].text else {
                return then(.failure(.refused(tier: tier, message: "SCAN was answered with something else")))
            }
            let goesOn: @Sendable (Int) -> Void = { [self] deleted in
                if next == "0" { return then(.success(deleted)) }
                deleteAll(beginningWith: prefix, from: next, deleted, then)
            }
            let keys = (parts[1].elements ?? []).compactMap {
                if case .bytes(let key) = $0 { key } else { nil }
            }
            guard !keys.isEmpty else { return goesOn(deleted) }
            session.send([RESPCommand(words: [Array("UNLINK".utf8)] + keys)]) { result in
                switch result {
                case .success(let replies): goesOn(deleted + Int(clamping: replies[0].number ?? 0))
                case .failure(let error): then(.failure(error))
                }
            }
        }
    }

    private func deleteNext(
        of owner: String, _ deleted: Int, _ then: @escaping @Sendable (Result<Int, RemoteError>) -> Void
    ) {
        let set = ownerKey(owner)
        session.send([RESPCommand("ZRANGE") + set + 0 + (ValkeySpace.portion - 1)]) { [self] result in
            guard case .success(let replies) = result else { return then(.failure(result.failure!)) }
            let names = (replies[0].elements ?? []).compactMap {
                if case .bytes(let name) = $0 { name } else { nil }
            }
            guard !names.isEmpty else { return then(.success(deleted)) }
            // Out of the set first: what is recorded meanwhile gets into it again.
            let commands =
                [RESPCommand(words: [Array("ZREM".utf8), set] + names)]
                + names.map {
                    RESPCommand("EVAL", StoredObject.deleteIfOwned, "1") + (prefix + $0) + owner
                }
            session.send(commands) { [self] result in
                switch result {
                case .success(let replies):
                    let count = replies.dropFirst().reduce(0) { $0 + Int(clamping: $1.number ?? 0) }
                    deleteNext(of: owner, deleted + count, then)
                case .failure(let error): then(.failure(error))
                }
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
