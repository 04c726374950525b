#if Valkey
import Foundation
import RESP
import StorageEngine
import TestSupport
import Testing
import Vellum
import VellumRemote
import VellumValkey

/// Three servers that share the slots, and what may happen to them.
@Suite(
    .serialized, .enabled(if: ValkeyServer.program != nil, "there is neither valkey-server nor redis-server"))
struct ValkeyClusterTests {
    /// A key in a slot of the first server, and its full name.
    private static func key(of place: Int, _ servers: [ValkeyServer]) throws -> String {
        let client = try servers[0].client()
        for number in 0... {
            let slot = try client.command("CLUSTER", "KEYSLOT", "vellum:Parcel:\(number)").number
            if Int(try #require(slot)) * 3 / 16_384 == place { return "\(number)" }
        }
        fatalError()
    }

    /// It answers as before, and knows nothing of it: only the others do.
    @Test(arguments: ["yes", "no"])
    func aServerThatTheOthersHaveReplacedIsNoticed(needsAll: String) async throws {
        let servers = try await ValkeyServer.cluster([
            "--cluster-require-full-coverage", needsAll, "--cluster-allow-replica-migration", "no",
        ])
        defer { withExtendedLifetime(servers) {} }
        let machine = try Machine(servers[0].url) { $0.heartbeat = .milliseconds(100) }
        let other = try Machine(servers[1].url)
        #expect(try await machine.isCovered())
        #expect(try await other.isCovered())
        let key = try Self.key(of: 0, servers)
        try machine.parcels.record(Parcel(number: key, weight: 1))
        #expect(try machine.parcels.access(key)?.weight == 1)
        let clients = try servers.map { try $0.client() }
        // The first one doesn't listen to the others any more, and the second one takes what it has.
        for place in 1...2 {
            let id = try #require(try clients[place].command("CLUSTER", "MYID").text)
            #expect(try clients[0].command("CLUSTER", "FORGET", id) == .status("OK"))
        }
        let last = "\(16_384 / 3 - 1)"
        try clients[1].command("CLUSTER", "DELSLOTSRANGE", "0", last)
        #expect(try clients[1].command("CLUSTER", "ADDSLOTSRANGE", "0", last) == .status("OK"))
        try clients[1].command("CLUSTER", "BUMPEPOCH")
        let isTaken = try await eventually {
            try? other.parcels.record(Parcel(number: key, weight: 2))
            return try clients[1].command("EXISTS", "vellum:Parcel:\(key)") == .integer(1)
        }
        #expect(isTaken)
        #expect(try clients[0].command("PING") == .status("PONG"))
        #expect(try await eventually { (try? machine.parcels.access(key)?.weight) == 2 })
        #expect(try await machine.isCovered())
        try other.parcels.record(Parcel(number: key, weight: 3))
        #expect(try await eventually { try machine.parcels.access(key)?.weight == 3 })
    }
}
#endif
