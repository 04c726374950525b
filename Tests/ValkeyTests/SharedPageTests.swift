#if Valkey
import Foundation
import ServerSupport
import Testing
import TestSupport
import ValkeyWire
import Vellum
import VellumMetrics
import VellumRemote
import VellumValkey

@Suite struct SharedPageTests {
    @Test("the article's code is compiled here") func articleIsCompiled() throws {
        let code = try ArticleCode(Self.path)
        #expect(code.blocks == 7)
        for block in code.missing { Issue.record("not compiled here: \(block)") }
    }

    private static let path = "Sources/VellumValkey/VellumValkey.docc/VellumValkey.md"

    @Test(
        "the documented commands suffice for a user of the server",
        .enabled(if: ValkeyServer.program != nil, "there is neither valkey-server nor redis-server"))
    func requiredCommands() async throws {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: Self.path), encoding: .utf8)
        let start = try #require(page.range(of: "needs these commands:")).upperBound
        let commands = page[start...].prefix { $0 != "." }.matches(of: /`([A-Z]+)`/).map {
            String($0.output.1)
        }
        let server = try await ValkeyServer()
        defer { withExtendedLifetime(server) {} }
        let user = ["worker", "on", ">secret", "~vellum:*"] + commands.map { "+\($0.lowercased())" }
        let command = RESPCommand(words: (["ACL", "SETUSER"] + user).map { Array($0.utf8) })
        #expect(try server.client().command(command) == .status("OK"))
        let machine = try await Machine.covered("valkey://worker:secret@127.0.0.1:\(server.port)/3")
        let parcels = machine.parcels
        try parcels.record(Parcel(number: "a"), options: .init(expiresIn: .seconds(60), owner: "o"))
        try parcels.record(Parcel(number: "b"))
        #expect(try parcels.access("a") != nil && parcels.access("c") == nil)
        #expect(try parcels.expire("a", in: nil) && parcels.expire("b", in: .seconds(9)))
        #expect(try parcels.delete("b"))
        #expect(try parcels.deleteAll(ofOwner: "o") == 1)
        try parcels.record(Parcel(number: "d"))
        #expect(try parcels.deleteAll() == 1)
        #expect(try parcels.statistics().health.refusals == 0)
    }

    /// A server reports changes in any of its databases.
    @Test(
        "a change in another database causes one more request",
        .enabled(if: ValkeyServer.program != nil, "there is neither valkey-server nor redis-server"))
    func otherDatabase() async throws {
        let server = try await ValkeyServer()
        defer { withExtendedLifetime(server) {} }
        let (zero, seven) = (try await Machine.covered(server.url), try Machine(server.url + "/7"))
        try zero.parcels.record(Parcel(number: "k", weight: 1))
        try seven.parcels.record(Parcel(number: "k", weight: 7))
        #expect(try await eventually { zero.tier.health.invalidations == 1 })
        #expect(try zero.parcels.access("k")?.weight == 1)
        #expect(try zero.parcels.statistics().fetches == 1)
    }

    @Test("the staleness follows from heartbeat and timeout") func staleness() throws {
        #expect(try ValkeyTier("valkey://127.0.0.1:1").staleness == .milliseconds(3200))
        var quick = ValkeyTier.Options()
        quick.heartbeat = .milliseconds(200)
        quick.timeout = .milliseconds(500)
        #expect(try ValkeyTier("valkey://127.0.0.1:1", options: quick).staleness == .milliseconds(750))
    }
}

private func overview() async throws {
    let tier = try ValkeyTier("valkey://cache.example:6379/0")
    let users: RemoteArchives<User> = try ArchivesFactory.shared.archives(
        remote: tier, trySetMaxMemorySize: 20.megaBytes, trySetMaxDiskSize: 200.megaBytes)

    try users.record(
        User(userName: "ada", age: 36), options: .init(expiresIn: .seconds(3600), owner: "team 7"))
    let ada = try await users.asynchronous.access("ada")
    try users.expire("ada", in: .seconds(60))
    try users.deleteAll(ofOwner: "team 7")
    print(ada ?? "none")
    try behaviors(tier)
    try await watching(users, tier)
}

private func times() throws {
    var quick = ValkeyTier.Options()
    quick.heartbeat = .milliseconds(200)
    quick.timeout = .milliseconds(500)
    let quicker = try ValkeyTier("valkey://cache.example", options: quick)
    print(quicker.staleness)  // 0.75 seconds
}

private func behaviors(_ tier: ValkeyTier) throws {
    let pages: RemoteArchives<User> = try ArchivesFactory.shared.archives(
        named: "pages", remote: tier, whenUntracked: .serveStale(for: .seconds(600)))

    let events: RemoteArchives<User> = try ArchivesFactory.shared.archives(
        named: "events", remote: tier, writes: .behind(mostKeys: 50_000))
    try events.record(User(userName: "ada", age: 37))  // doesn't wait for the server
    try events.flush(within: .seconds(5))  // the server has it
    print(pages.isTracked)
}

private func security() throws {
    var options = ValkeyTier.Options()
    options.tls.roots = "/etc/cache/root.pem"  // instead of the roots that the system trusts
    options.tls.certificate = "/etc/cache/worker.pem"  // if the server requires one
    options.tls.key = "/etc/cache/worker.key"
    let secure = try ValkeyTier("valkeys://worker:secret@cache.example:6380/0", options: options)
    print(secure.address)
}

private func watching(_ users: RemoteArchives<User>, _ tier: ValkeyTier) async throws {
    let statistics = try users.statistics()
    print(statistics.isTracked, statistics.health.trouble ?? "connected")
    print(statistics.near.memoryHits, statistics.fetches, statistics.missing, statistics.staleHits)

    let metrics = ArchiveMetrics()
    metrics.add(users)
    metrics.add(tier)
    try await metrics.run(every: .seconds(10))
}
#endif
