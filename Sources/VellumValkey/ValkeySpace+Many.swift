#if Valkey
import StorageEngine
import Synchronization
import ValkeyWire
import VellumRemote

extension ValkeySpace {
    func deleteAll(ofOwner owner: String?, _ then: @escaping @Sendable (Result<Int, RemoteError>) -> Void) {
        let deletion = Deletion(of: self)
        let whole: Deletion.Then = { [self] result in
            router.notify(allBut: self) { $0.changedAll() }
            then(deletion.outcome(result))
        }
        if let owner { return deletion.delete(of: owner, from: "0", whole) }
        deletion.pass(through: prefix, 1) { [self] result in
            guard case .success = result else { return whole(result) }
            deletion.isOfObjects.store(false, ordering: .relaxed)
            deletion.pass(through: ownerKey(""), 1, whole)
        }
    }

    /// Runs a script for each object's key, concurrently, and returns the results.
    func each(
        _ names: [[UInt8]], _ script: String, _ owner: String,
        _ then: @escaping @Sendable (Result<[Int64], RemoteError>) -> Void
    ) {
        let keys = names.map { prefix + $0 }
        each(keys, { RESPCommand("EVAL", script, "1") + $0 + owner }, then)
    }

    /// Sends a command for each key, concurrently, and returns the numbers in the answers.
    fileprivate func each(
        _ keys: [[UInt8]], _ command: ([UInt8]) -> RESPCommand,
        _ then: @escaping @Sendable (Result<[Int64], RemoteError>) -> Void
    ) {
        guard !keys.isEmpty else { return then(.success([])) }
        let all = Guarded((missing: keys.count, numbers: [Int64](repeating: 0, count: keys.count)))
        let failure = Guarded<RemoteError?>(nil)
        for (place, key) in keys.enumerated() {
            router.send([command(key)], of: key) { result in
                if case .failure(let error) = result { failure.withLock { $0 = error } }
                let whole = all.withLock { all -> [Int64]? in
                    all.missing -= 1
                    if case .success(let replies) = result { all.numbers[place] = replies[0].number ?? 0 }
                    return all.missing == 0 ? all.numbers : nil
                }
                guard let whole else { return }
                then(failure.withLock { $0 }.map { .failure($0) } ?? .success(whole))
            }
        }
    }
}

/// Deletes many keys, not atomically.
private final class Deletion: Sendable {
    typealias Then = @Sendable (Result<Void, RemoteError>) -> Void

    private static let portion = 250
    /// A pass over a cluster misses keys that move, so passes are repeated while they find keys.
    private static let mostPasses = 5

    private let space: ValkeySpace
    private let deleted = Atomic(0)
    private let hasBegun = Atomic(false)
    /// Whether deleted keys are counted; owners' sets aren't.
    let isOfObjects = Atomic(true)

    init(of space: ValkeySpace) { self.space = space }

    /// After the first deletion, a failure is uncertain.
    func outcome(_ result: Result<Void, RemoteError>) -> Result<Int, RemoteError> {
        result.map { deleted.load(ordering: .relaxed) }.mapError {
            hasBegun.load(ordering: .relaxed) ? $0.begun(at: space.tier) : $0
        }
    }

    func pass(through prefix: [UInt8], _ number: Int, _ then: @escaping Then) {
        space.router.withServers { [self] result in
            guard case .success(let servers) = result else { return then(result.map { _ in }) }
            let before = deleted.load(ordering: .relaxed)
            pass(through: prefix, at: servers) { [self] (result: Result<Void, RemoteError>) in
                guard case .success = result, servers.count > 1, number < Deletion.mostPasses,
                    number == 1 || deleted.load(ordering: .relaxed) > before
                else { return then(result) }
                pass(through: prefix, number + 1, then)
            }
        }
    }

    private func pass(through prefix: [UInt8], at servers: [ValkeySession], _ then: @escaping Then) {
        guard let server = servers.first else { return then(.success(())) }
        scan(prefix, at: server, from: "0") { [self] result in
            guard case .success = result else { return then(result) }
            pass(through: prefix, at: Array(servers.dropFirst()), then)
        }
    }

    private func scan(
        _ prefix: [UInt8], at server: ValkeySession, from cursor: String, _ then: @escaping Then
    ) {
        let command =
            RESPCommand("SCAN", cursor, "MATCH") + Deletion.pattern(prefix) + "COUNT" + Deletion.portion
        space.router.send([command], to: server) { [self] result in
            portion(of: result, then) { [self] keys, next in
                if !keys.isEmpty { hasBegun.store(true, ordering: .relaxed) }
                space.each(keys, { RESPCommand("UNLINK") + $0 }) { [self] result in
                    count(result, then) { [self] in
                        if next == "0" {
                            then(.success(()))
                        } else {
                            scan(prefix, at: server, from: next, then)
                        }
                    }
                }
            }
        }
    }

    private static func pattern(_ bytes: [UInt8]) -> [UInt8] {
        bytes.flatMap { Array("*?[]\\".utf8).contains($0) ? [UInt8(ascii: "\\"), $0] : [$0] } + [
            UInt8(ascii: "*")
        ]
    }

    // MARK: An owner's objects

    /// Scans the owner's set. The scan visits each name that is in the set during the whole scan, and ends although names are added.
    func delete(of owner: String, from cursor: String, _ then: @escaping Then) {
        let set = space.ownerKey(owner)
        let command = RESPCommand("ZSCAN") + set + cursor + "COUNT" + Deletion.portion
        space.router.send([command], of: set) { [self] result in
            portion(of: result, then) { [self] parts, next in
                let names = parts.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
                if !names.isEmpty { hasBegun.store(true, ordering: .relaxed) }
                space.each(names, StoredObject.deleteIfOwned, owner) { [self] result in
                    count(result, then) { [self] in
                        space.forget(names, of: owner) { [self] result in
                            guard case .success = result, next != "0" else { return then(result) }
                            delete(of: owner, from: next, then)
                        }
                    }
                }
            }
        }
    }

    /// Passes the keys of a scan's step and the next cursor to `goOn`.
    private func portion(
        of result: Result<[RESPValue], RemoteError>, _ then: @escaping Then,
        _ goOn: ([[UInt8]], _ next: String) -> Void
    ) {
        guard case .success(let replies) = result else { return then(result.map { _ in }) }
        guard let parts = replies[0].elements, parts.count == 2, let next = parts[0].text else {
            return then(
                .failure(.refused(tier: space.tier, message: "invalid answer to a scan")))
        }
        goOn((parts[1].elements ?? []).compactMap(\.blob), next)
    }

    private func count(
        _ result: Result<[Int64], RemoteError>, _ then: @escaping Then, _ goOn: () -> Void
    ) {
        guard case .success(let numbers) = result else { return then(result.map { _ in }) }
        if isOfObjects.load(ordering: .relaxed) {
            deleted.add(numbers.count { $0 > 0 }, ordering: .relaxed)
        }
        goOn()
    }
}
#endif
