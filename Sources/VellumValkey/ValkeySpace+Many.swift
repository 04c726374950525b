#if Valkey
import StorageEngine
import ValkeyWire
import VellumRemote

extension ValkeySpace {
    func deleteAll(ofOwner owner: String?, _ then: @escaping @Sendable (Result<Int, RemoteError>) -> Void) {
        let deletion = Deletion(of: self)
        deletion.deleteAll(ofOwner: owner) { [self] result in
            router.notify(allBut: self) { $0.changedAll() }
            then(deletion.outcome(result))
        }
    }

    /// Runs a script for each object's key, concurrently, and returns the results.
    func each(
        _ names: [[UInt8]], _ script: String, _ owner: String,
        _ then: @escaping @Sendable (Result<[Int64], RemoteError>) -> Void
    ) {
        each(names.map { prefix + $0 }, { RESPCommand("EVAL", script, "1") + $0 + owner }, then)
    }

    /// Sends a command for each key, concurrently, and returns the numbers in the answers.
    fileprivate func each(
        _ keys: [[UInt8]], _ command: ([UInt8]) -> RESPCommand,
        _ then: @escaping @Sendable (Result<[Int64], RemoteError>) -> Void
    ) {
        guard !keys.isEmpty else { return then(.success([])) }
        let numbers = [Int64](repeating: 0, count: keys.count)
        let all = Guarded((missing: keys.count, numbers: numbers, failure: RemoteError?.none))
        for (place, key) in keys.enumerated() {
            router.send([command(key)], of: key) { result in
                let whole = all.withLock { all -> Result<[Int64], RemoteError>? in
                    all.missing -= 1
                    switch result {
                    case .success(let replies): all.numbers[place] = replies[0].number ?? 0
                    case .failure(let error): all.failure = error
                    }
                    guard all.missing == 0 else { return nil }
                    return all.failure.map { .failure($0) } ?? .success(all.numbers)
                }
                if let whole { then(whole) }
            }
        }
    }
}

/// Deletes many keys, not atomically. For one event loop.
private final class Deletion: @unchecked Sendable {
    typealias Then = @Sendable (Result<Void, RemoteError>) -> Void
    /// Sends the command of a scan's step from a cursor.
    private typealias Scan = @Sendable (_ cursor: [UInt8], @escaping ValkeyRouter.Then) -> Void

    private static let portion = 250
    /// Maximum number of successive replies of a scan without a deletion. Each visits up to 2,500 buckets of a hash table.
    private static let mostIdle = 100_000
    /// A pass over a cluster misses keys that move, so passes are repeated while they find keys.
    private static let mostPasses = 5

    private let space: ValkeySpace
    private var deleted = 0
    private var hasBegun = false

    init(of space: ValkeySpace) { self.space = space }

    /// After the first deletion, a failure is uncertain.
    func outcome(_ result: Result<Void, RemoteError>) -> Result<Int, RemoteError> {
        result.map { deleted }.mapError { hasBegun ? $0.begun(at: space.tier) : $0 }
    }

    func deleteAll(ofOwner owner: String?, _ then: @escaping Then) {
        if let owner { return deleteObjects(of: owner, then) }
        pass(through: space.prefix, 1) { [self] result in
            guard case .success = result else { return then(result) }
            let objects = deleted
            pass(through: space.ownerKey(""), 1) { [self] result in
                deleted = objects
                then(result)
            }
        }
    }

    private func pass(through prefix: [UInt8], _ number: Int, _ then: @escaping Then) {
        space.router.withServers { [self] result in
            guard case .success(let servers) = result else { return then(result.map { _ in }) }
            let before = deleted
            pass(through: prefix, at: servers[...]) { [self] result in
                guard case .success = result, servers.count > 1, number < Deletion.mostPasses,
                    number == 1 || deleted > before
                else { return then(result) }
                pass(through: prefix, number + 1, then)
            }
        }
    }

    private func pass(
        through prefix: [UInt8], at servers: ArraySlice<ValkeySession>, _ then: @escaping Then
    ) {
        guard let server = servers.first else { return then(.success(())) }
        let pattern = KeyPattern.escaped(prefix) + Array("*".utf8)
        scan { [space] cursor, then in
            let command = RESPCommand("SCAN") + cursor + "MATCH" + pattern + "COUNT" + Deletion.portion
            space.router.send([command], to: server, then)
        } deleting: { [self] keys, then in
            space.each(keys, { RESPCommand("UNLINK") + $0 }) { [self] in then(count($0)) }
        } then: { [self] result in
            guard case .success = result else { return then(result) }
            pass(through: prefix, at: servers.dropFirst(), then)
        }
    }

    /// Scans the owner's set. The scan visits each name that is in the set during the whole scan, and ends although names are added.
    private func deleteObjects(of owner: String, _ then: @escaping Then) {
        let set = space.ownerKey(owner)
        scan { [space] cursor, then in
            space.router.send(
                [RESPCommand("ZSCAN") + set + cursor + "COUNT" + Deletion.portion], of: set, then)
        } deleting: { [self] parts, then in
            let names = stride(from: 0, to: parts.count, by: 2).map { parts[$0] }
            space.each(names, StoredObject.deleteIfOwned, owner) { [self] result in
                guard case .success = count(result) else { return then(result.map { _ in }) }
                space.forget(names, of: owner, then)
            }
        } then: {
            then($0)
        }
    }

    /// Deletes the keys that a scan finds.
    private func scan(
        from cursor: [UInt8] = Array("0".utf8), after cursors: ScanCursors = ScanCursors(),
        _ step: @escaping Scan, deleting delete: @escaping @Sendable ([[UInt8]], @escaping Then) -> Void,
        then: @escaping Then
    ) {
        step(cursor) { [self] result in
            guard case .success(let replies) = result else { return then(result.map { _ in }) }
            guard let (next, elements) = replies[0].scanned else {
                return then(.failure(.refused(tier: space.tier, message: "invalid answer to a scan")))
            }
            hasBegun = hasBegun || !elements.isEmpty
            let before = deleted
            delete(elements.compactMap(\.blob)) { [self] result in
                guard case .success = result, next != Array("0".utf8) else { return then(result) }
                var cursors = cursors
                guard cursors.isAdvanced(to: next, new: deleted - before), cursors.count <= Deletion.mostIdle
                else {
                    let message = "a scan makes no progress"
                    return then(.failure(.refused(tier: space.tier, message: message)))
                }
                scan(from: next, after: cursors, step, deleting: delete, then: then)
            }
        }
    }

    private func count(_ result: Result<[Int64], RemoteError>) -> Result<Void, RemoteError> {
        result.map { deleted += $0.count { $0 > 0 } }
    }
}
#endif
