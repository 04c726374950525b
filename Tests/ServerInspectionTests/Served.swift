import Foundation
import ServerInspection
import ServerSupport
import StoreInspection
import TestSupport
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
