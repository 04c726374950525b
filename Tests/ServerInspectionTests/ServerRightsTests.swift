import ArchiveQuery
import BrowserCore
import Foundation
import ServerInspection
import ServerSupport
import StorageEngine
import StoreInspection
import Testing
import ValkeyWire

/// Users without rights to some keys or commands.
@Suite(.serialized, .enabled(if: ValkeyServer.program != nil, "no server is installed"))
struct ServerRightsTests {
    /// A server with three keys, and a user `half` with rights to `own:1` only.
    private func served() async throws -> Served {
        let served = try await Served()
        for key in ["own:1", "other:1", "other:2"] { try served.ask("SET", key, "1") }
        try served.ask("ACL", "SETUSER", "half", "on", ">word", "~own*", "+@all")
        return served
    }

    private func rows(_ query: String, _ connection: ServerConnection) throws -> ([QueryRow], QueryReport) {
        let plan = QueryPlan(try QueryPipeline(query))
        return try plan.rows(of: ServerQuery(connection, database: 0, for: plan.pipeline))
    }

    private func listing(_ connection: ServerConnection) throws -> ServerListing {
        let listing = try #require(try ServerListing(ListingScan(connection, database: 0)))
        #expect(try listing.loadMetadata { _ in true })
        return listing
    }

    private func groups(_ listing: ServerListing, by property: QueryProperty? = nil) -> EntryGroups {
        let keys = KeyIndex(listing) { (_) throws(Never) in }
        return EntryGroups(
            listing, keys: property == nil ? keys : nil,
            by: property.map(Grouping.property) ?? .prefix(below: "", separator: UInt8(ascii: ":")),
            now: .now()
        ) { (_) throws(Never) in }
    }

    @Test(
        "metadata without permission is unknown, and doesn't hide the rest",
        arguments: [
            ("-memory", [QueryMetadata.size]), ("-pttl", [.ttl, .expires]), ("-type", [.type]),
            ("-object", [.encoding, .idle, .accessed]), ("-getrange", []),
        ])
    func missingCommands(rule: String, unknown: [QueryMetadata]) async throws {
        let served = try await Served()
        try served.ask("SET", "key", "1", "PX", "500000")
        try served.ask("ACL", "SETUSER", "some", "on", ">word", "~*", "+@all", rule)
        let connection = try served.connection(as: "some")
        let found = try connection.facts(of: ["key", "none"].map { Array($0.utf8) }, in: 0)
        let facts = try #require(found[0])
        #expect(found[1] == nil && facts.unknown == Set(unknown))
        #expect(facts.type == (unknown.contains(.type) ? "no access" : "string"))
        #expect((facts.memory > 0) != unknown.contains(.size))
        #expect((facts.expires == nil) == unknown.contains(.expires))
        #expect((facts.used == nil) == unknown.contains(.idle))
        // The listing caches facts in another form.
        let listing = try listing(connection)
        #expect(listing.unknown(at: 0) == Set(unknown))
        let (rows, report) = try rows("select @key, @size, @ttl, @type, @encoding, @idle", connection)
        #expect(rows.count == 1 && report.unreadable == (unknown.isEmpty ? 0 : 1))
    }

    @Test("a key that the user may only write is listed with its type")
    func writeOnlyKeys() async throws {
        let served = try await Served()
        try served.ask("SET", "key", "1")
        guard case .status = try served.ask("ACL", "SETUSER", "writer", "on", ">word", "%W~*", "+@all") else {
            // Servers before version 7 have no such rights.
            return
        }
        let connection = try served.connection(as: "writer")
        let facts = try connection.facts(of: [Array("key".utf8)], in: 0)[0]
        #expect(facts?.type == "string" && facts?.unknown == [.ttl, .expires])
    }

    @Test("groups leave out and count keys without rights, and leave out removed keys")
    func groups() async throws {
        let served = try await served()
        let connection = try served.connection(as: "half")
        let groups = groups(try listing(connection))
        #expect(groups.groups.map(\.name) == ["own:"] && groups.entries == 1 && groups.unmeasured == 2)
        let types = self.groups(try listing(connection), by: .metadata(.type))
        #expect(types.groups.map(\.name) == ["string"] && types.unmeasured == 2 && types.unreadable == 0)
        let scanned = try #require(try ServerListing(ListingScan(served.connection, database: 0)))
        try served.ask("DEL", "other:1")
        #expect(try scanned.loadMetadata { _ in true })
        let rest = self.groups(scanned)
        #expect(rest.entries == 2 && rest.unmeasured == 0)
    }

    @Test(
        "an aggregate of sorted rows counts keys without rights once",
        arguments: ["sort @key | sum @size", "sort @size | sum @size", "sort @key | count by @ttl"])
    func sortedRows(query: String) async throws {
        let served = try await served()
        let (_, report) = try rows(query, try served.connection(as: "half"))
        #expect(report.unreadable == 2 && report.damaged == 2)
    }

    @Test("the browser shows keys without rights as such, in lists and beside its figures")
    func browser() async throws {
        let served = try await served()
        var browser = try served.browser("<enter>", as: "half")
        browser.expect(shows: "no access", "?", hides: "not read", "0 B")
        for _ in 0..<3 where browser.model.cursorKey?.hasPrefix("other") != true { try browser.press("j") }
        browser.expect(shows: "No permission to read this key", hides: "reading counts as an access")
        try browser.press("4", shows: "2 without permission")
        try browser.press("z", shows: "1 entry, ", "2 keys could not be measured")
    }
}
