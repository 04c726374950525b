#if Valkey
import Foundation
import ServerSupport
import StorageEngine
import TestSupport
import Testing
import Vellum
import VellumRemote
import VellumValkey

@Suite(.enabled(if: ValkeyServer.program != nil, "there is neither valkey-server nor redis-server"))
struct RemoteReportTests {
    @Test func aProcessSaysWhatItsTierDoes() async throws {
        let server = try await ValkeyServer()
        let path = Machine.newStore()
        defer { discard(path) }
        var machine: Machine? = try Machine(server.url, store: path)
        let archive = try Store.open(at: path).archive(named: "Remote tiers")
        let reports = try ArchivesFactory(storePath: path).archives(for: RemoteReport.self).throwing
        func report() throws -> RemoteReport? {
            let keys = try archive.keys().keys
            #expect(keys.count <= 1)
            return try keys.first.flatMap { try reports.access(archiveWithKey: $0) }
        }
        #expect(try await eventually { try report()?.state == "connected" })
        try machine?.parcels.record(Parcel(number: "a"))
        #expect(try await eventually { try report()?.statistics.records == 1 })
        let process = ProcessInfo.processInfo
        let name = "Parcel@\(machine?.tier.name ?? "") \(process.processName) \(process.processIdentifier)"
        #expect(try report()?.primaryKey == name)
        let left =
            try #require(archive.metadata(name)?.expires).secondsSince1970 - Timestamp.now().secondsSince1970
        #expect(left > 0 && left <= 30, "nobody believes one that has ended")

        server.stop()
        #expect(try await eventually { try report().map { $0.state != "connected" } ?? false })
        let trouble = try #require(try report())
        #expect(trouble.state == trouble.statistics.health.trouble && !trouble.statistics.isCovered)

        machine = nil
        #expect(try await eventually { try report() == nil })
    }

    @Test func nothingIsReportedUnwanted() async throws {
        let path = Machine.newStore()
        defer { discard(path) }
        let tier = try ValkeyTier("valkey://localhost:1")
        let parcels: RemoteArchives<Parcel> = try ArchivesFactory(storePath: path).archives(
            remote: tier, reports: false)
        #expect(throws: RemoteError.self) { try parcels.access("a") }
        try await Task.sleep(for: .milliseconds(1200))
        #expect(try Store.open(at: path).archiveNames() == ["Parcel@\(tier.name)"])
    }

    /// The archive is of use although nobody is told of its state.
    @Test func aNameInUseIsNoFailure() async throws {
        let path = Machine.newStore()
        defer { discard(path) }
        let factory = ArchivesFactory(storePath: path)
        let others: ArchiveManager<Parcel> = try factory.archives(named: "Remote tiers")
        try others.throwing.record(Parcel(number: "own"))
        let parcels: RemoteArchives<Parcel> = try factory.archives(
            remote: try ValkeyTier("valkey://localhost:1"))
        #expect(throws: RemoteError.self) { try parcels.access("a") }
        #expect(try others.throwing.access(archiveWithKey: "own") != nil)
    }
}
#endif
