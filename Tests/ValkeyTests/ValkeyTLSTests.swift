#if ValkeyTLS
import Foundation
import ServerSupport
import TestSupport
import Testing
import Vellum
import VellumRemote
import VellumValkey

/// Serialized like ``ValkeyTierTests``.
@Suite(
    .serialized,
    .enabled(if: ValkeyServer.servesTLS, "there is no server that knows TLS, or no openssl"))
struct ValkeyTLSTests {
    private let authority: TestAuthority

    init() throws { authority = try TestAuthority() }

    private func machine(_ url: String, _ change: (inout ValkeyTier.TLS) -> Void = { _ in }) throws -> Machine
    {
        try Machine(url) {
            $0.tls.roots = authority.root
            $0.heartbeat = .milliseconds(500)
            $0.timeout = .milliseconds(1000)
            $0.longestPause = .milliseconds(200)
            change(&$0.tls)
        }
    }

    private func expect(
        _ machine: Machine, failsWith words: String..., location: SourceLocation = #_sourceLocation
    ) async throws {
        var trouble = ""
        let isSaid = try await eventually(within: 20) {
            trouble = try machine.parcels.statistics().health.trouble ?? ""
            return words.allSatisfy { trouble.contains($0) }
        }
        #expect(isSaid, "\(trouble)", sourceLocation: location)
        #expect(!machine.parcels.isTracked, sourceLocation: location)
        let error = #expect(throws: RemoteError.self, sourceLocation: location) {
            try machine.parcels.access("k")
        }
        #expect("\(try #require(error))".contains("can't be reached"), sourceLocation: location)
    }

    @Test("a server is reachable with TLS by its address and by its name") func byAddressAndByName()
        async throws
    {
        let server = try await ValkeyServer(identity: try authority.identity())
        defer { withExtendedLifetime(server) {} }
        let (a, b) = (try machine(server.tlsURL), try machine("rediss://localhost:\(server.tlsPort)"))
        #expect(try await a.isTracked())
        #expect(try await b.isTracked())
        for round in 0..<20 {
            try a.parcels.record(
                Parcel(number: "k", weight: round, note: String(repeating: "n", count: 50_000)))
            #expect(try await eventually { try b.parcels.access("k")?.weight == round })
        }
        // A connection without TLS reads the same.
        #expect(try Machine(server.url).parcels.access("k")?.weight == 19)
        #expect(a.tier.address.description == "valkeys://127.0.0.1:\(server.tlsPort)/0")
    }

    @Test("an untrusted certificate is refused") func untrustedCertificates() async throws {
        let server = try await ValkeyServer(identity: try authority.identity())
        defer { withExtendedLifetime(server) {} }
        let other = try TestAuthority()
        try await expect(
            try machine(server.tlsURL) { $0.roots = other.root }, failsWith: "127.0.0.1:\(server.tlsPort)",
            "is not trusted by \"\(other.root)\"", "set roots to")
        try await expect(
            try machine(server.tlsURL) { $0.roots = nil }, failsWith: "is not trusted by the system")
        try await expect(
            try machine(server.tlsURL) {
                $0.roots = other.root
                $0.verifiesName = false
            }, failsWith: "is not trusted")
    }

    @Test("a certificate for another name is refused") func names() async throws {
        let server = try await ValkeyServer(identity: try authority.identity(for: "DNS:cache.example"))
        defer { withExtendedLifetime(server) {} }
        try await expect(
            try machine(server.tlsURL), failsWith: "is for another name than \"127.0.0.1\"",
            "set serverName to")
        let byName = "valkeys://localhost:\(server.tlsPort)"
        try await expect(try machine(byName), failsWith: "is for another name than \"localhost\"")
        try await expect(
            try machine(byName) { $0.serverName = "else.example" },
            failsWith: "is for another name than \"else.example\"")
        #expect(try await machine(server.tlsURL) { $0.serverName = "cache.example" }.isTracked())
        #expect(try await machine(server.tlsURL) { $0.verifiesName = false }.isTracked())
    }

    /// An attacker who redirects a name may have a certificate for the address there.
    @Test("a certificate for the address isn't valid for the name")
    func certificateForAddress() async throws {
        let server = try await ValkeyServer(identity: try authority.identity(for: "IP:127.0.0.1"))
        defer { withExtendedLifetime(server) {} }
        let byName = "valkeys://localhost:\(server.tlsPort)"
        try await expect(try machine(byName), failsWith: "is for another name than \"localhost\"")
        try await expect(
            try machine(server.tlsURL) { $0.serverName = "cache.example" }, failsWith: "\"cache.example\"")
        #expect(try server.client().command("CLIENT", "LIST").text?.contains("name=vellum") == false)
        #expect(try await machine(server.tlsURL).isTracked())
    }

    @Test("a wildcard stands for one label") func wildcards() async throws {
        let server = try await ValkeyServer(identity: try authority.identity(for: "DNS:*.Cache.example"))
        defer { withExtendedLifetime(server) {} }
        #expect(try await machine(server.tlsURL) { $0.serverName = "one.cache.example" }.isTracked())
        for other in ["two.one.cache.example", "cache.example", "onecache.example"] {
            try await expect(
                try machine(server.tlsURL) { $0.serverName = other }, failsWith: "another name than")
        }
    }

    @Test("an expired certificate is refused") func expiredCertificates() async throws {
        let server = try await ValkeyServer(identity: try authority.identity(days: -1))
        defer { withExtendedLifetime(server) {} }
        try await expect(try machine(server.tlsURL), failsWith: "expired 24 hours ago")
    }

    @Test("a server may require a client certificate") func clientCertificate() async throws {
        var identity = try authority.identity()
        identity.asksClients = true
        let server = try await ValkeyServer(identity: identity)
        defer { withExtendedLifetime(server) {} }
        try await expect(
            try machine(server.tlsURL), failsWith: "require a client certificate", "set certificate")
        let own = try authority.identity(for: "DNS:client.example")
        let known = try machine(server.tlsURL) {
            $0.certificate = own.certificate
            $0.key = own.key
        }
        #expect(try await known.isTracked())
        let file = authority.folder + "/both.pem"
        try
            (String(contentsOfFile: own.key, encoding: .utf8)
            + String(contentsOfFile: own.certificate, encoding: .utf8))
            .write(toFile: file, atomically: true, encoding: .utf8)
        #expect(try await machine(server.tlsURL) { $0.certificate = file }.isTracked())
        let stranger = try TestAuthority().identity(for: "DNS:client.example")
        try await expect(
            try machine(server.tlsURL) {
                $0.certificate = stranger.certificate
                $0.key = stranger.key
            }, failsWith: "refused the client certificate", "\"\(stranger.certificate)\"")
    }

    @Test("a server with or without TLS is reported to connections of the other kind")
    func wrongKindOfServer() async throws {
        let server = try await ValkeyServer(identity: try authority.identity())
        defer { withExtendedLifetime(server) {} }
        try await expect(
            try machine("valkey://127.0.0.1:\(server.tlsPort)"), failsWith: "expects TLS, write valkeys://")
        try await expect(
            try machine("valkeys://127.0.0.1:\(server.port)"), failsWith: "TLS", "write valkey://")
        // Other failures aren't taken for that.
        try server.client().command("CONFIG", "SET", "requirepass", "sesame")
        try await expect(try machine("valkey://:wrong@127.0.0.1:\(server.port)"), failsWith: "refuses")
        server.stop()
        let gone = try machine(server.tlsURL)
        #expect(try await eventually { try gone.parcels.statistics().health.trouble != nil })
        #expect(try gone.parcels.statistics().health.trouble?.contains("TLS") == false)
    }

    @Test("connections to all servers of a cluster use TLS") func aCluster() async throws {
        let servers = try await ValkeyServer.cluster(identity: try authority.identity())
        defer { withExtendedLifetime(servers) {} }
        let machine = try machine(servers[1].tlsURL)
        for number in 0..<60 { try machine.parcels.record(Parcel(number: "\(number)", weight: number)) }
        #expect(try await machine.isTracked())
        for number in 0..<60 { #expect(try machine.parcels.access("\(number)")?.weight == number) }
        for server in servers {
            let client = try server.client()
            #expect(try client.command("DBSIZE").number ?? 0 > 0)
            // All cluster connections but this one use TLS.
            let clients = try client.command("CLIENT", "LIST").text ?? ""
            let ours = clients.split(separator: "\n").filter { $0.contains("name=vellum") }
            #expect(!ours.isEmpty && ours.allSatisfy { $0.contains("laddr=127.0.0.1:\(server.tlsPort)") })
        }
        // One name for all servers.
        let named = try await Machine.covered(servers[0].tlsURL) {
            $0.tls.roots = authority.root
            $0.tls.serverName = "localhost"
        }
        #expect(try named.parcels.access("1")?.weight == 1)
    }

    /// A renewed certificate, one of another authority, and then with that authority in the file of roots.
    @Test("the next connection reads the certificate files again") func renewedCertificate() async throws {
        let server = try await ValkeyServer(identity: try authority.identity())
        defer { withExtendedLifetime(server) {} }
        let roots = authority.folder + "/roots.pem"
        try FileManager.default.copyItem(atPath: authority.root, toPath: roots)
        let machine = try machine(server.tlsURL) { $0.roots = roots }
        #expect(try await machine.isTracked())
        try await restart(server, with: try authority.identity())
        #expect(try await eventually { try machine.parcels.statistics().health.connections == 2 })
        #expect(try await machine.isTracked())
        let other = try TestAuthority()
        try await restart(server, with: try other.identity())
        try await expect(machine, failsWith: "is not trusted by \"\(roots)\"")
        try Data(contentsOf: URL(fileURLWithPath: other.root)).write(
            to: URL(fileURLWithPath: roots), options: .atomic)
        #expect(try await machine.isTracked())
        #expect(try machine.parcels.access("k") == nil)
    }

    private func restart(_ server: ValkeyServer, with identity: TestIdentity) async throws {
        server.stop()
        server.identity = identity
        try await server.start()
    }

    @Test("an error names the certificate file that can't be used") func unusableFiles() throws {
        let (own, other) = (try authority.identity(), try authority.identity())
        func error(_ change: (inout ValkeyTier.TLS) -> Void) throws -> String {
            let error = #expect(throws: ValkeyTLSError.self) { try machine("valkeys://127.0.0.1:1", change) }
            return "\(try #require(error))"
        }
        #expect(try error { $0.roots = "/nowhere" }.contains("\"/nowhere\" (roots)"))
        #expect(try error { $0.roots = own.key }.contains("\"\(own.key)\" (roots)"))
        #expect(try error { $0.certificate = "/nowhere" }.contains("\"/nowhere\" (certificate)"))
        #expect(
            try error { $0.certificate = own.certificate }.contains(
                "there is no key in \"\(own.certificate)\""))
        #expect(try error { $0.key = own.key }.contains("no certificate"))
        #expect(
            try error {
                $0.certificate = own.certificate
                $0.key = other.key
            }.contains("don't match"))
        #expect(try error { $0.serverName = "127.0.0.1" }.contains("is an IP address"))
        // Ignored without TLS.
        _ = try machine("valkey://127.0.0.1:1") { $0.roots = "/nowhere" }
    }
}
#elseif Valkey
import Testing
import VellumValkey

@Suite struct ValkeyTLSTests {
    @Test(.disabled("built without the trait ValkeyTLS: `make test-tls` runs them")) func connections() {}

    @Test("TLS is refused without the trait") func withoutTrait() throws {
        let error = #expect(throws: ValkeyTLSError.self) { try ValkeyTier("valkeys://cache.example") }
        #expect("\(try #require(error))".contains("traits: [\"ValkeyTLS\"]"))
    }
}
#endif
