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

/// Failures of connections and of a server.
@Suite(
    .serialized, .enabled(if: ValkeyServer.program != nil, "there is neither valkey-server nor redis-server"))
struct ValkeyTroubleTests {
    private let server: ValkeyServer

    init() async throws { server = try await ValkeyServer() }

    /// A replica gets changes late, so nothing is guaranteed.
    @Test("a server that becomes a replica is detected") func replica() async throws {
        let machine = try await Machine.covered(server.url) { $0.heartbeat = .milliseconds(100) }
        let client = try server.client()
        try client.command("REPLICAOF", "127.0.0.1", "\(server.port)")
        #expect(try await eventually { !machine.parcels.isTracked })
        #expect(
            try await eventually {
                try machine.parcels.statistics().health.trouble?.contains("replica") == true
            })
        try client.command("REPLICAOF", "NO", "ONE")
        #expect(try await machine.isTracked())
        #expect(try machine.parcels.statistics().health.trouble == nil)
    }

    @Test("a request on a lost connection doesn't overwrite a newer change")
    func lateRequests() async throws {
        let proxy = try Proxy(to: server.port)
        defer { withExtendedLifetime(proxy) {} }
        let machine = try await Machine.covered(proxy.url) {
            $0.heartbeat = .milliseconds(200)
            $0.timeout = .milliseconds(500)
        }
        proxy.strand(true)
        #expect(throws: RemoteError.self) { try machine.parcels.record(Parcel(number: "k", weight: 1)) }
        #expect(try await eventually { try machine.parcels.statistics().health.connections == 2 })
        try machine.parcels.record(Parcel(number: "k", weight: 2))
        // Gives the server time to execute it.
        proxy.strand(false)
        try await Task.sleep(for: .milliseconds(200))
        let other = try Machine(server.url)
        #expect(try other.parcels.access("k")?.weight == 2)
    }

    /// Each call to a server that accepts connections and doesn't respond would wait for the timeout.
    @Test("calls fail at once after several failed attempts to connect") func failFast() async throws {
        let machine = try await Machine.covered(server.url) {
            $0.heartbeat = .milliseconds(100)
            $0.timeout = .milliseconds(800)
            $0.longestPause = .milliseconds(1)
        }
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
        // No call waited for a response or a connection.
        #expect(after.unsent - before.unsent == 30 && after.timeouts == before.timeouts)
        #expect(after.trouble != nil)
        server.resume()
        #expect(try await machine.isTracked())
        #expect(try machine.parcels.access("k") == nil)
    }

    @Test("machines reconnect with growing, random pauses") func reconnectBackoff() async throws {
        let machines = try (0..<20).map { _ in
            try Machine(server.url) { $0.longestPause = .milliseconds(800) }
        }
        for machine in machines { #expect(try await machine.isTracked()) }
        server.stop()
        let begin = ContinuousClock.now
        try await Task.sleep(for: .milliseconds(1500))
        let attempts = try machines.map { try $0.parcels.statistics().health.failures - 1 }
        let most = 10 + Int((ContinuousClock.now - begin) / .milliseconds(100))
        // Pauses start at up to 50 ms and double; without them, there were 60 attempts in this time.
        #expect(attempts.reduce(0, +) / 20 < most && Set(attempts).count > 1, "\(attempts)")
        try await server.start()
        for machine in machines { #expect(try await machine.isTracked()) }
        // Each machine reconnected once.
        #expect(try server.client().command("INFO", "stats").text?.contains("rejected_connections:0") == true)
        for machine in machines { #expect(try machine.parcels.statistics().health.connections == 2) }
    }
}
#endif
