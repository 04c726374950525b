import ServerInspection
import ServerSupport
import StoreInspection
import Testing
import TestSupport
import ValkeyWire

@Suite(.serialized, .enabled(if: ValkeyServer.program != nil, "no server is installed"))
struct ServerConnectionTests {
    @Test("a connection that must stay with its server uses no other one")
    func restartedServer() async throws {
        let served = try await Served()
        let connection = ServerConnection(served.address, staysWithServer: true)
        let run = try connection.capabilities().run
        served.server.stop()
        try await served.server.start()
        for _ in 0..<2 {
            #expect(throws: SourceError.self) { try connection.ask(RESPCommand("DBSIZE"), in: 0) }
        }
        #expect(try connection.capabilities().run == run)
    }

    @Test("refused logins and databases are reported without credentials")
    func refusedLogins() async throws {
        let served = try await Served()
        try served.ask("CONFIG", "SET", "requirepass", "secret")
        let problem = #expect(throws: SourceError.self) { try served.connection.figures() }
        #expect(problem?.description.contains("requires a password") == true)
        let wrong = ServerConnection(try ServerAddress("valkey://:wrong@127.0.0.1:\(served.server.port)"))
        let refusal = #expect(throws: SourceError.self) { try wrong.figures() }
        #expect(refusal?.description.contains("WRONGPASS") == true)
        #expect(refusal?.description.contains("wrong@") == false)
        let right = ServerConnection(try ServerAddress("valkey://:secret@127.0.0.1:\(served.server.port)"))
        #expect(try right.figures().databases.map(\.name) == ["db0"])
        let database = #expect(throws: SourceError.self) {
            try right.facts(of: [[1]], in: 99)
        }
        #expect(database?.description.contains("refuses the database 99") == true)
        // The connection stays open, and the next command uses its own database.
        #expect(try right.facts(of: [[1]], in: 3) == [nil])
    }

    @Test("a user without a password isn't the default user")
    func usersWithoutPasswords() async throws {
        let served = try await Served()
        try served.fill()
        try served.ask("ACL", "SETUSER", "reader", "on", "nopass", "~*", "+@all", "-memory")
        let reader = ServerConnection(try ServerAddress("valkey://reader@127.0.0.1:\(served.server.port)"))
        #expect(try reader.facts(of: [Array("text".utf8)], in: 0)[0]?.unknown == [.size])
        let nobody = ServerConnection(try ServerAddress("valkey://nobody@127.0.0.1:\(served.server.port)"))
        #expect(throws: SourceError.self) { try nobody.figures() }
    }

    @Test("a lost connection is reopened")
    func reconnection() async throws {
        let served = try await Served()
        try served.fill()
        #expect(try served.connection.figures().databases[0].keys == 7)
        served.server.stop()
        #expect(throws: SourceError.self) { try served.connection.figures() }
        try await served.server.start()
        #expect(try served.connection.figures().databases[0].keys == 0)
    }

    @Test("a database that the server doesn't have is refused")
    func missingDatabases() async throws {
        let served = try await Served()
        func databases(_ number: Int) throws -> [Int] {
            try ServerConnection(ServerAddress(served.address.description + "/\(number)"))
                .figures().databases.map(\.number)
        }
        #expect(try databases(15) == [15], "it is empty")
        #expect(throws: SourceError.self) { try databases(16) }
    }

    @Test("a connection to a server without HELLO has a name, too")
    func nameWithoutHello() async throws {
        let served = try await Served()
        // Without this, the server would execute HELLO before the proxy replaces the reply.
        try served.ask("ACL", "SETUSER", "default", "-hello")
        let proxy = try served.proxy { $0.first == "HELLO" ? "-ERR unknown command 'HELLO'\r\n" : nil }
        let clients = try served.connection(by: proxy).clients()
        #expect(clients.contains { $0.isOwn }, "\(clients)")
    }

    @Test("reads figures, clients and the slow log")
    func figures() async throws {
        let served = try await Served([
            "--slowlog-log-slower-than", "0", "--maxmemory", "50mb", "--databases", "3",
        ])
        try served.fill()
        try served.ask("GET", "text")
        try served.ask("GET", "none")
        try served.ask("CLIENT", "SETNAME", "tester")
        let figures = try served.connection.figures()
        #expect(figures.memoryLimit == 50 << 20)
        #expect(figures.hits == 1)
        #expect(figures.misses == 1)
        #expect(figures.databases.map(\.keys) == [7])
        #expect(
            figures.product.contains("7") || figures.product.contains("8") || figures.product.contains("9"))
        let clients = try served.connection.clients()
        #expect(clients.contains { $0.name == "tester" && $0.command.contains("client") })
        let slow = try served.connection.slowCommands()
        #expect(slow.contains { $0.words.prefix(2) == ["GET", "none"] })
    }
}
