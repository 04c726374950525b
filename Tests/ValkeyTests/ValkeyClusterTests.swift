#if Valkey
import Foundation
import ServerSupport
import StorageEngine
import Synchronization
import Testing
import TestSupport
import ValkeyWire
import Vellum
import VellumRemote
import VellumValkey

/// Three servers that share the slots, and their failures.
@Suite(
    .serialized, .enabled(if: ValkeyServer.program != nil, "there is neither valkey-server nor redis-server"))
struct ValkeyClusterTests {
    /// A key in a slot of one of the servers.
    private static func key(
        of place: Int, _ servers: [ValkeyServer], braces: Bool = false
    ) throws -> String {
        let client = try servers[0].client()
        for number in 0... {
            let key = braces ? "{\(number)}" : "vellum:Parcel:\(number)"
            let slot = try client.command("CLUSTER", "KEYSLOT", key).number
            if Int(try #require(slot)) * 3 / 16_384 == place { return "\(number)" }
        }
        fatalError()
    }

    @Test("a cluster is found through one of its servers") func cluster() async throws {
        let servers = try await ValkeyServer.cluster()
        defer { withExtendedLifetime(servers) {} }
        let (a, b) = (try await Machine.covered(servers[0].url), try await Machine.covered(servers[1].url))
        for number in 0..<300 {
            try a.parcels.record(
                Parcel(number: "\(number)", weight: 1), options: .init(owner: "o\(number % 2)"))
        }
        for number in 0..<300 { #expect(try b.parcels.access("\(number)")?.weight == 1, "\(number)") }
        // Each server has a share.
        for server in servers { #expect(try server.client().command("DBSIZE").number ?? 0 > 30) }
        for number in 0..<300 {
            try b.parcels.record(
                Parcel(number: "\(number)", weight: 2), options: .init(owner: "o\(number % 2)"))
        }
        for number in 0..<300 {
            #expect(try await eventually { try a.parcels.access("\(number)")?.weight == 2 }, "\(number)")
        }
        #expect(try a.parcels.deleteAll(ofOwner: "o1") == 150)
        #expect(try await eventually { try b.parcels.access("1") == nil && b.parcels.access("299") == nil })
        #expect(try b.parcels.access("2") != nil)
        #expect(try b.parcels.deleteAll() == 150)
        for server in servers { #expect(try server.client().command("DBSIZE") == .integer(0)) }
    }

    @Test("objects stay accessible while a slot moves") func movingSlots() async throws {
        let servers = try await ValkeyServer.cluster()
        defer { withExtendedLifetime(servers) {} }
        let (a, b) = (try await Machine.covered(servers[0].url), try await Machine.covered(servers[2].url))
        // All in one slot.
        let names = (0..<40).map { "{moving}\($0)" }
        for name in names { try a.parcels.record(Parcel(number: name, weight: 1)) }
        for name in names { #expect(try b.parcels.access(name)?.weight == 1) }
        let clients = try servers.map { try $0.client() }
        let slot = try #require(try clients[0].command("CLUSTER", "KEYSLOT", "{moving}").number)
        let from = Int(slot) * 3 / 16_384
        let to = (from + 1) % 3
        let ids = try clients.map { try #require(try $0.command("CLUSTER", "MYID").text) }
        #expect(
            try clients[to].command("CLUSTER", "SETSLOT", "\(slot)", "IMPORTING", ids[from]) == .status("OK"))
        #expect(
            try clients[from].command("CLUSTER", "SETSLOT", "\(slot)", "MIGRATING", ids[to]) == .status("OK"))
        for (place, name) in names.enumerated() {
            let moved = try clients[from].command(
                "MIGRATE", "127.0.0.1", "\(servers[to].port)", "vellum:Parcel:\(name)", "0", "5000")
            #expect(moved == .status("OK"))
            if place == 20 {
                for name in names {
                    #expect(try b.parcels.access(name)?.weight == 1, "\(name)")
                    try a.parcels.record(Parcel(number: name, weight: 2))
                    #expect(try await eventually { try b.parcels.access(name)?.weight == 2 }, "\(name)")
                }
            }
        }
        for place in [to, from] {
            #expect(
                try clients[place].command("CLUSTER", "SETSLOT", "\(slot)", "NODE", ids[to]) == .status("OK"))
        }
        for name in names {
            #expect(try b.parcels.access(name)?.weight == 2, "\(name)")
            try a.parcels.record(Parcel(number: name, weight: 3))
            #expect(try await eventually { try b.parcels.access(name)?.weight == 3 }, "\(name)")
        }
        #expect(try b.parcels.statistics().health.redirections > 0)
        #expect(try await b.isTracked())
    }

    @Test("keys of an unreachable server of a cluster throw") func unreachableClusterServer() async throws {
        let servers = try await ValkeyServer.cluster()
        defer { withExtendedLifetime(servers) {} }
        let machine = try await Machine.covered(servers[0].url)
        for number in 0..<60 { try machine.parcels.record(Parcel(number: "\(number)", weight: number)) }
        servers[2].stop()
        #expect(try await eventually { !machine.parcels.isTracked })
        var failures = 0
        for number in 0..<60 {
            do { #expect(try machine.parcels.access("\(number)")?.weight == number) } catch is RemoteError {
                failures += 1
            }
        }
        #expect(failures > 5)
        try await servers[2].start()
        #expect(try await machine.isTracked())
        // Only the stopped server's objects are lost.
        for number in 0..<60 {
            if let found = try machine.parcels.access("\(number)") { #expect(found.weight == number) }
        }
    }

    /// The replaced server answers as before, since it doesn't learn of the replacement.
    @Test(arguments: ["yes", "no"]) func replacedServer(needsAll: String) async throws {
        let servers = try await ValkeyServer.cluster([
            "--cluster-require-full-coverage", needsAll, "--cluster-allow-replica-migration", "no",
        ])
        let fourth = try await ValkeyServer([
            "--cluster-enabled", "yes", "--cluster-require-full-coverage", needsAll,
        ])
        defer { withExtendedLifetime((servers, fourth)) {} }
        try fourth.client().command("CLUSTER", "MEET", "127.0.0.1", "\(servers[1].port)")
        for server in servers + [fourth] {
            let client = try server.client()
            #expect(
                try await eventually {
                    try client.command("CLUSTER", "INFO").text?.contains("known_nodes:4") == true
                        && client.command("CLUSTER", "SLOTS").elements?.count == 3
                })
        }
        let machine = try await Machine.covered(servers[0].url) { $0.heartbeat = .milliseconds(100) }
        let other = try Machine(servers[1].url)
        #expect(try await other.isTracked())
        let key = try Self.key(of: 0, servers)
        try machine.parcels.record(Parcel(number: key, weight: 1))
        #expect(try machine.parcels.access(key)?.weight == 1)
        let clients = try (servers + [fourth]).map { try $0.client() }
        // The first server ignores the others, and the fourth takes over its slots.
        for client in clients.dropFirst() {
            let id = try #require(try client.command("CLUSTER", "MYID").text)
            #expect(try clients[0].command("CLUSTER", "FORGET", id) == .status("OK"))
        }
        let last = "\(16_384 / 3 - 1)"
        try clients[3].command("CLUSTER", "DELSLOTSRANGE", "0", last)
        #expect(try clients[3].command("CLUSTER", "ADDSLOTSRANGE", "0", last) == .status("OK"))
        try clients[3].command("CLUSTER", "BUMPEPOCH")
        let isTaken = try await eventually {
            try? other.parcels.record(Parcel(number: key, weight: 2))
            return try clients[3].command("EXISTS", "vellum:Parcel:\(key)") == .integer(1)
        }
        #expect(isTaken)
        #expect(try clients[0].command("PING") == .status("PONG"))
        #expect(try await eventually { (try? machine.parcels.access(key)?.weight) == 2 })
        #expect(try await machine.isTracked())
        try other.parcels.record(Parcel(number: key, weight: 3))
        #expect(try await eventually { try machine.parcels.access(key)?.weight == 3 })
    }

    /// Starts to move the slot of these keys, and moves `moved` of them.
    private static func move(
        _ names: [String], _ servers: [ValkeyServer], from: Int, to: Int, moved: Int
    ) throws -> (slot: String, target: String) {
        let clients = try [from, to].map { try servers[$0].client() }
        let slot = "\(try #require(try clients[0].command("CLUSTER", "KEYSLOT", names[0]).number))"
        let ids = try clients.map { try #require(try $0.command("CLUSTER", "MYID").text) }
        try clients[1].command("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[0])
        try clients[0].command("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[1])
        for name in names.prefix(moved) {
            let reply = try clients[0].command(
                "MIGRATE", "127.0.0.1", "\(servers[to].port)", name, "0", "5000")
            #expect(reply == .status("OK"))
        }
        return (slot, ids[1])
    }

    /// Some of the slot's keys have moved already.
    @Test("all objects are deleted while a slot moves") func deletingDuringMove() async throws {
        let servers = try await ValkeyServer.cluster()
        defer { withExtendedLifetime(servers) {} }
        let machine = try await Machine.covered(servers[0].url)
        for owner in [nil, "o"] {
            let names = (0..<20).map { "{\(owner ?? "")moving}\($0)" }
            let others = (0..<60).map { "other \($0)" }
            for name in names + others {
                try machine.parcels.record(Parcel(number: name), options: .init(owner: owner))
            }
            let keys = names.map { "vellum:Parcel:\($0)" }
            let slot = try #require(try servers[0].client().command("CLUSTER", "KEYSLOT", keys[0]).number)
            let from = Int(slot) * 3 / 16_384
            _ = try Self.move(keys, servers, from: from, to: (from + 1) % 3, moved: 10)
            // New records are stored at the other server.
            try machine.parcels.record(Parcel(number: names[0], weight: 2), options: .init(owner: owner))
            #expect(try machine.parcels.deleteAll(ofOwner: owner) == 80)
            for server in servers { #expect(try server.client().command("DBSIZE") == .integer(0)) }
        }
        #expect(try machine.parcels.statistics().health.redirections > 0)
    }

    /// From a server that is scanned later to one that was scanned before.
    @Test("objects that move during a deletion are deleted") func movesDuringDeletion() async throws {
        let servers = try await ValkeyServer.cluster(["--cluster-node-timeout", "60000"])
        defer { withExtendedLifetime(servers) {} }
        let machine = try await Machine.covered(servers[0].url) {
            $0.timeout = .seconds(60)
            $0.heartbeat = .seconds(60)
        }
        let first = try Self.key(of: 0, servers)
        let last = "{\(try Self.key(of: 2, servers, braces: true))}"
        try machine.parcels.record(Parcel(number: first))
        try machine.parcels.record(Parcel(number: last))
        servers[1].pause()
        let count = Atomic(0)
        let deletion = Background { count.store(try machine.parcels.deleteAll(), ordering: .relaxed) }
        let client = try servers[0].client()
        #expect(try await eventually { try client.command("DBSIZE") == .integer(0) })
        let keys = ["vellum:Parcel:\(last)"]
        let (slot, id) = try Self.move(keys, servers, from: 2, to: 0, moved: 1)
        for place in [0, 2] {
            try servers[place].client().command("CLUSTER", "SETSLOT", slot, "NODE", id)
        }
        servers[1].resume()
        try deletion.wait()
        #expect(count.load(ordering: .relaxed) == 2)
        for server in servers { #expect(try server.client().command("DBSIZE") == .integer(0)) }
    }

    @Test("a cluster that is down is reported after the timeout at the latest")
    func failedCluster() async throws {
        let servers = try await ValkeyServer.cluster(["--cluster-node-timeout", "500"])
        defer { withExtendedLifetime(servers) {} }
        let machine = try await Machine.covered(servers[0].url) { $0.timeout = .milliseconds(600) }
        let key = try Self.key(of: 0, servers)
        servers[1].stop()
        servers[2].stop()
        let client = try servers[0].client()
        #expect(
            try await eventually {
                if case .error(let message) = try client.command("GET", "vellum:Parcel:\(key)") {
                    message.contains("CLUSTERDOWN")
                } else {
                    false
                }
            })
        let begin = ContinuousClock.now
        let error = #expect(throws: RemoteError.self) { try machine.parcels.access(key) }
        #expect("\(try #require(error))".contains("CLUSTERDOWN"))
        // Retries of 50 ms and twice as much each time would last 12 s.
        #expect(ContinuousClock.now - begin < .seconds(8))
        let health = try machine.parcels.statistics().health
        #expect(health.retries > 0 && health.trouble != nil && !machine.parcels.isTracked)
    }

    @Test("a cluster that doesn't report its state is not tracked")
    func unreadableClusterState() async throws {
        let servers = try await ValkeyServer.cluster()
        defer { withExtendedLifetime(servers) {} }
        for server in servers {
            try server.client().command("ACL", "SETUSER", "one", "on", ">pw", "~*", "+@all", "-cluster")
        }
        let machine = try Machine("valkey://one:pw@127.0.0.1:\(servers[0].port)")
        #expect(
            try await eventually {
                try machine.parcels.statistics().health.trouble?.contains("cluster") == true
            })
        #expect(!machine.parcels.isTracked)
        let key = try Self.key(of: 1, servers)
        try machine.parcels.record(Parcel(number: key, weight: 1))
        #expect(try machine.parcels.access(key)?.weight == 1)
    }

    /// The server's name differs from the address that the cluster reports, so its invalidations could be taken for others'
    /// changes.
    @Test("own changes stay in memory, whichever name the server has") func ownChanges() async throws {
        let servers = try await ValkeyServer.cluster()
        defer { withExtendedLifetime(servers) {} }
        let machine = try await Machine.covered("valkey://localhost:\(servers[0].port)")
        let key = try Self.key(of: 0, servers)
        for round in 0..<20 {
            try machine.parcels.record(Parcel(number: key, weight: round))
            #expect(try machine.parcels.access(key)?.weight == round)
        }
        try await Task.sleep(for: .milliseconds(100))
        let statistics = try machine.parcels.statistics()
        #expect(statistics.health.invalidations == 0 && statistics.fetches == 0)
        // Other machines' changes are reported.
        let other = try Machine(servers[1].url)
        try other.parcels.record(Parcel(number: key, weight: 77))
        #expect(try await eventually { try machine.parcels.access(key)?.weight == 77 })
    }
}
#endif
