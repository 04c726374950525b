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
    private func archive(in path: String) async throws -> Archive {
        let store = try Store.open(at: path)
        #expect(try await eventually { try store.archiveNames().contains("Remote tiers") })
        return try store.archive(named: "Remote tiers")
    }

    @Test("a process reports the state of its tier") func reports() async throws {
        let server = try await ValkeyServer()
        let path = Machine.newStore()
        defer { discard(path) }
        var machine: Machine? = try Machine(server.url, store: path)
        let archive = try await archive(in: path)
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
        let key = try #require(try report()).primaryKey
        #expect(key.hasPrefix(name + "-"))
        let left =
            try #require(archive.metadata(key)?.expires).secondsSince1970 - Timestamp.now().secondsSince1970
        #expect(left > 0 && left < 31, "reports of ended processes expire")

        server.stop()
        #expect(try await eventually { try report().map { $0.state != "connected" } ?? false })
        let trouble = try #require(try report())
        #expect(trouble.state == trouble.statistics.health.trouble && !trouble.statistics.isTracked)

        machine = nil
        #expect(try await eventually { try report() == nil })
    }

    @Test("a tier that is connecting reports that") func connectingState() async throws {
        let (listener, port) = try Loopback.listen()
        defer { close(listener) }
        let path = Machine.newStore()
        defer { discard(path) }
        let machine = try Machine("valkey://127.0.0.1:\(port)", store: path) { $0.timeout = .seconds(3600) }
        defer { withExtendedLifetime(machine) {} }
        let archive = try await archive(in: path)
        let reports = try ArchivesFactory(storePath: path).archives(for: RemoteReport.self).throwing
        let isSaid = try await eventually {
            try archive.keys().keys.first.flatMap { try reports.access(archiveWithKey: $0) }?.state
                == "connecting"
        }
        #expect(isSaid)
    }

    @Test("heartbeats cause no new report") func heartbeats() async throws {
        let server = try await ValkeyServer()
        defer { withExtendedLifetime(server) {} }
        let path = Machine.newStore()
        defer { discard(path) }
        let machine = try Machine(server.url, store: path) { $0.heartbeat = .milliseconds(100) }
        defer { withExtendedLifetime(machine) {} }
        #expect(try await machine.isTracked())
        let reports = try await archive(in: path)
        // Written at the connection, then not for three seconds.
        var rests = false
        for _ in 0..<6 where !rests {
            func sequence() throws -> UInt64? {
                try reports.keys().keys.first.flatMap { try reports.metadata($0)?.sequence }
            }
            let before = try sequence()
            try await Task.sleep(for: .seconds(3))
            rests = try sequence() == before && before != nil
        }
        #expect(rests)
    }

    @Test("a report neither reopens a closed store nor recreates a removed one")
    func closedStore() async throws {
        let path = Machine.newStore()
        defer { discard(path) }
        let factory = ArchivesFactory(storePath: path)
        let tier = try ValkeyTier("valkey://localhost:1")
        let parcels: RemoteArchives<Parcel> = try factory.archives(remote: tier)
        let hasReport = try await eventually { try Store.open(at: path).archiveNames().count == 2 }
        #expect(hasReport)
        factory.close()
        try FileManager.default.removeItem(atPath: path)
        try await Task.sleep(for: .milliseconds(2500))
        #expect(!FileManager.default.fileExists(atPath: path))
        withExtendedLifetime(parcels) {}
    }

    @Test("shortened names of servers differ") func longNames() throws {
        let host = "my-production-cache.abcdefg.ng.0001.use1.cache.example.com"
        let names = try ["\(host)/0", "\(host)/1", "\(host):7000"].map {
            try ValkeyTier("valkey://\($0)").name
        }
        #expect(Set(names).count == 3 && names.allSatisfy { $0.utf8.count <= 40 })
    }

    @Test("reports can be turned off") func reportsOff() async throws {
        let path = Machine.newStore()
        defer { discard(path) }
        let tier = try ValkeyTier("valkey://localhost:1")
        let parcels: RemoteArchives<Parcel> = try ArchivesFactory(storePath: path).archives(
            remote: tier, reports: false)
        #expect(throws: RemoteError.self) { try parcels.access("a") }
        try await Task.sleep(for: .milliseconds(1200))
        #expect(try Store.open(at: path).archiveNames() == ["Parcel@\(tier.name)"])
    }

    @Test("an archive works if the name of the reports is in use") func nameInUse() async throws {
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
