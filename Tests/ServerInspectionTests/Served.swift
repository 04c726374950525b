import ArchiveQuery
import BrowserCore
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
    /// The folder of undo records.
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

    /// Makes the server the only node of a cluster.
    func beginCluster() async throws {
        try ask("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
        #expect(
            try await eventually(within: 20) {
                try ask("CLUSTER", "INFO").text?.contains("cluster_state:ok") == true
            })
    }

    // MARK: Ways to it

    /// The archive of the first database.
    var archive: ArchiveAddress { ArchiveAddress("db0", in: address.description) }

    /// A proxy that answers instead of the server where `answer` has an answer to a command.
    func proxy(_ answer: @escaping @Sendable ([String]) -> String?) throws -> Interposer {
        try Interposer(to: server.port, changing: { answer($0).map { Array($0.utf8) } ?? $1 })
    }

    private func address(by proxy: Interposer) throws -> ServerAddress {
        try ServerAddress("valkey://127.0.0.1:\(proxy.port)")
    }

    private func address(as user: String) throws -> ServerAddress {
        try ServerAddress("valkey://\(user):word@127.0.0.1:\(server.port)")
    }

    func connection(by proxy: Interposer) throws -> ServerConnection {
        ServerConnection(try address(by: proxy))
    }

    /// For a user with the password `word`.
    func connection(as user: String) throws -> ServerConnection {
        ServerConnection(try address(as: user))
    }

    private func changes(at address: ServerAddress) -> ServerChanges {
        ServerChanges(address, database: 0, undoFolder: folder)
    }

    func changes() -> ServerChanges { changes(at: address) }

    func changes(by proxy: Interposer) throws -> ServerChanges { changes(at: try address(by: proxy)) }

    /// For a user with the password `word`.
    func changes(as user: String) throws -> ServerChanges { changes(at: try address(as: user)) }

    /// - Parameter user: a user with the password `word`; nil: the default one.
    func source(as user: String?) throws -> ServerSource {
        ServerSource(
            try user.map(address(as:)) ?? address, remembers: EngineSource(), undoFolder: folder)
    }

    func source() -> ServerSource { ServerSource(address, remembers: EngineSource(), undoFolder: folder) }

    // MARK: State of the server

    /// The value of a key as the program reads it.
    func value(_ key: String, _ type: String) throws -> ServerValue {
        try #require(try connection.value(of: Array(key.utf8), type: type, in: 0))
    }

    func rows(_ query: String) throws -> (rows: [QueryRow], report: QueryReport) {
        let plan = QueryPlan(try QueryPipeline(query))
        return try plan.rows(of: ServerQuery(connection, database: 0, for: plan.pipeline))
    }

    /// The keys that a query finds, sorted.
    func keys(_ query: String) throws -> [String] {
        try rows(query).rows.compactMap { $0.entry?.key }.sorted()
    }

    /// How often the server has carried out a command.
    func calls(_ command: String) throws -> UInt64 {
        let statistics = RESPFields(lines: try ask("INFO", "commandstats"))
        let fields = RESPFields(
            statistics["cmdstat_" + command] ?? "", with: "=", separatedBy: { $0 == "," })
        return fields.number("calls") ?? 0
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
