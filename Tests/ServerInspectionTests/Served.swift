import Foundation
import ServerInspection
import ServerSupport
import StorageEngine
import StoreInspection
import TestSupport
import Testing
import ValkeyWire

/// A server, a client of the test, and a connection of the program.
final class Served {
    let server: ValkeyServer
    let client: PlainClient
    let address: ServerAddress
    let connection: ServerConnection
    /// For undo records.
    let folder: String

    init(_ options: [String] = []) async throws {
        server = try await ValkeyServer(options)
        client = try server.client()
        address = try ServerAddress(server.url)
        connection = ServerConnection(address)
        folder = NSTemporaryDirectory() + "vellum-undo-" + UUID().uuidString
    }

    deinit {
        discard(folder)
        withExtendedLifetime(server) {}
    }

    @discardableResult
    func ask(_ words: String...) throws -> RESPValue {
        try client.command(RESPCommand(words: words.map { Array($0.utf8) }))
    }

    func changes() -> ServerChanges { ServerChanges(address, database: 0, undoFolder: folder) }

    func changes(by proxy: Interposer) throws -> ServerChanges {
        ServerChanges(
            try ServerAddress("valkey://127.0.0.1:\(proxy.port)"), database: 0, undoFolder: folder)
    }

    /// For a user with the password `word`.
    func changes(as user: String) throws -> ServerChanges {
        let address = try ServerAddress("valkey://\(user):word@127.0.0.1:\(server.port)")
        return ServerChanges(address, database: 0, undoFolder: folder)
    }

    /// Undoes a change that has been carried out.
    func undo(
        _ carried: Carried<PlanOutcome>, by changes: ServerChanges? = nil
    ) throws -> Carried<UndoOutcome> {
        let action = try #require(carried.outcome.action)
        return try #require(try (changes ?? self.changes()).undo(action.id))
    }

    /// Stores strings at `key 0`, `key 1` and so on. Returns the keys.
    func fill(keys count: Int, with value: String = "0") throws -> [String] {
        let keys = (0..<count).map { "key \($0)" }
        for key in keys { try ask("SET", key, value) }
        return keys
    }

    func targets(_ keys: [String]) throws -> [Target] {
        try zip(keys, connection.facts(of: keys.map(KeyName.bytes), in: 0)).compactMap { key, facts in
            facts.map { Target(key: key, sequence: 0, size: $0.memory) }
        }
    }

    /// A key of each type.
    func fill() throws {
        try ask("SET", "text", "hello")
        try ask("SET", "number", "42")
        try ask("HSET", "hash", "name", "Ada", "born", "1815")
        try ask("RPUSH", "list", "one", "two", "one")
        try ask("SADD", "set", "member")
        try ask("ZADD", "scores", "2.5", "second", "-1", "first")
        try ask("XADD", "stream", "7-1", "event", "login")
    }
}
