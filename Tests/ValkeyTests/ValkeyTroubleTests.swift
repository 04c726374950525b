#if Valkey
import Foundation
import ServerSupport
import StorageEngine
import Testing
import TestSupport
import ValkeyWire
import Vellum
import VellumRemote
import VellumValkey

/// What may happen to connections and to a server.
@Suite(
    .serialized, .enabled(if: ValkeyServer.program != nil, "there is neither valkey-server nor redis-server"))
struct ValkeyTroubleTests {
    /// It learns of changes whenever the other sends them, so it promises nothing.
    @Test func aServerThatBecomesAReplicaIsNoticed() async throws {
        let server = try await ValkeyServer()
        defer { withExtendedLifetime(server) {} }
        let machine = try Machine(server.url) { $0.heartbeat = .milliseconds(100) }
        #expect(try await machine.isCovered())
        let client = try server.client()
        try client.command("REPLICAOF", "127.0.0.1", "\(server.port)")
        #expect(try await eventually { !machine.parcels.isCovered })
        #expect(
            try await eventually {
                try machine.parcels.statistics().health.trouble?.contains("replica") == true
            })
        try client.command("REPLICAOF", "NO", "ONE")
        #expect(try await machine.isCovered())
        #expect(try machine.parcels.statistics().health.trouble == nil)
    }

    /// What is still under way on a lost connection when a newer change has been made on the next one.
    @Test func whatIsUnderWayOnALostConnectionNeverArrives() async throws {
        let server = try await ValkeyServer()
        defer { withExtendedLifetime(server) {} }
        let proxy = try Proxy(to: server.port)
        defer { withExtendedLifetime(proxy) {} }
        let machine = try Machine(proxy.url) {
            $0.heartbeat = .milliseconds(200)
            $0.timeout = .milliseconds(500)
        }
        #expect(try await machine.isCovered())
        proxy.strand(true)
        #expect(throws: RemoteError.self) { try machine.parcels.record(Parcel(number: "k", weight: 1)) }
        #expect(try await eventually { try machine.parcels.statistics().health.connections == 2 })
        try machine.parcels.record(Parcel(number: "k", weight: 2))
        // The server is given the time to carry it out, if it would.
        proxy.strand(false)
        try await Task.sleep(for: .milliseconds(200))
        let other = try Machine(server.url)
        #expect(try other.parcels.access("k")?.weight == 2)
    }

    /// A server that accepts connections and says nothing: each call would wait for the time-out.
    @Test func nobodyWaitsForAServerThatSeveralAttemptsDidNotReach() async throws {
        let server = try await ValkeyServer()
        defer { withExtendedLifetime(server) {} }
        let machine = try Machine(server.url) {
            $0.heartbeat = .milliseconds(100)
            $0.timeout = .milliseconds(800)
            $0.longestPause = .milliseconds(1)
        }
        #expect(try await machine.isCovered())
        server.pause()
        defer { server.resume() }
        let health = { try machine.parcels.statistics().health }
        #expect(try await eventually { try health().failures >= 2 })
        let before = try health()
        for number in 0..<30 {
            try await Task.sleep(for: .milliseconds(2))
            let error = #expect(throws: RemoteError.self) { try machine.parcels.access("\(number)") }
            #expect("\(try #require(error))".contains("nothing was sent"))
        }
        let after = try health()
        // None of them waited for an answer, or for the end of an attempt.
        #expect(after.unsent - before.unsent == 30 && after.timeouts == before.timeouts)
        #expect(after.trouble != nil)
        server.resume()
        #expect(try await machine.isCovered())
        #expect(try machine.parcels.access("k") == nil)
    }

    /// Many that lost one server come back one by one, and not again and again.
    @Test func aServerThatComesBackIsNotStormed() async throws {
        let server = try await ValkeyServer()
        defer { withExtendedLifetime(server) {} }
        let machines = try (0..<20).map { _ in
            try Machine(server.url) { $0.longestPause = .milliseconds(800) }
        }
        for machine in machines { #expect(try await machine.isCovered()) }
        server.stop()
        let begin = ContinuousClock.now
        try await Task.sleep(for: .milliseconds(1500))
        let attempts = try machines.map { try $0.parcels.statistics().health.failures - 1 }
        let most = 10 + Int((ContinuousClock.now - begin) / .milliseconds(100))
        // Pauses of up to 50 ms and twice as much each time: without that there were 60 in this time.
        #expect(attempts.reduce(0, +) / 20 < most && Set(attempts).count > 1, "\(attempts)")
        try await server.start()
        for machine in machines { #expect(try await machine.isCovered()) }
        // Each has made one connection and no more.
        #expect(try server.client().command("INFO", "stats").text?.contains("rejected_connections:0") == true)
        for machine in machines { #expect(try machine.parcels.statistics().health.connections == 2) }
    }
}
#endif
