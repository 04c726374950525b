import Foundation
import ServerSupport
import Testing

#if ValkeyTLS
/// Commands on a server with TLS.
@Suite(.serialized, .enabled(if: ValkeyServer.servesTLS, "there is no server that knows TLS, or no openssl"))
struct CommandValkeyTLSTests {
    private func run(_ arguments: String...) throws -> Vellum.Result { try Vellum.run(arguments) }

    @Test func commandsUseTLS() async throws {
        let authority = try TestAuthority()
        let server = try await ValkeyServer(identity: try authority.identity())
        defer { withExtendedLifetime(server) {} }
        let text = String(repeating: "long ", count: 400_000)
        try server.client().command("SET", "page", text)
        let url = "\(server.tlsURL)?roots=\(authority.root)"
        let databases = try run("ls", "--json", "--store", url)
        #expect(try JSON.array(databases.output).map { $0["archive"] as? String } == ["db0"])
        #expect(try run("get", "db0", "page", "--raw", "--store", url).output == Data(text.utf8))
        let folder = TemporaryFolder()
        let removed = try Vellum.run(
            ["rm", "db0", "page", "--yes", "--write", "--store", url],
            environment: ["XDG_STATE_HOME": folder.path])
        #expect(removed.status == 0 && removed.errors.contains(url), "the undo command lacks the roots")
        try Vellum.run(
            ["undo", "db0", "--write", "--store", url], environment: ["XDG_STATE_HOME": folder.path]
        ).expect(0)
        #expect(try run("get", "db0", "page", "--raw", "--store", url).output == Data(text.utf8))
    }

    @Test func reportsTLSErrors() async throws {
        let authority = try TestAuthority()
        var identity = try authority.identity(for: "DNS:localhost")
        identity.asksClients = true
        let server = try await ValkeyServer(identity: identity)
        defer { withExtendedLifetime(server) {} }
        func errors(_ url: String) throws -> String {
            let result = try run("ls", "--store", url).expect(3)
            return result.errors
        }
        let named = "valkeys://localhost:\(server.tlsPort)?roots=\(authority.root)"
        #expect(try errors(server.tlsURL).contains("is not trusted by the system"))
        #expect(try errors("\(server.tlsURL)?roots=\(authority.root)").contains("is for another name"))
        #expect(try errors(named).contains("certificate"))
        #expect(try errors(named + "&certificate=/nowhere").contains("\"/nowhere\" (certificate)"))
        #expect(try errors("valkeys://localhost:\(server.port)").contains("write valkey://"))
        #expect(try errors("valkeys://localhost:1").contains("refused"))
        let own = try authority.identity(for: "DNS:client.example")
        let known = named + "&certificate=\(own.certificate)&key=\(own.key)"
        #expect(try run("ls", "--store", known).status == 0)
        try run("ls", "--store", named + "&color=red").expect(2, errors: "serverName=")
    }
}
#else
@Suite struct CommandValkeyTLSTests {
    @Test func refusesTLSWithoutTrait() throws {
        try Vellum.run(["ls", "--store", "valkeys://cache.example"]).expect(
            2, errors: "--traits ValkeyTLS", "tunnel")
    }
}
#endif
