import Foundation
import ServerSupport
import Testing

/// The commands on a Valkey or Redis server.
@Suite(.serialized, .enabled(if: ValkeyServer.program != nil, "no server is installed"))
struct ServerCommandTests {
    /// A server with some keys, and the program run on it.
    private final class Machine {
        let server: ValkeyServer
        let client: PlainClient
        let folder: TemporaryFolder

        init() async throws {
            server = try await ValkeyServer()
            client = try server.client()
            folder = try TemporaryFolder()
            try client.command("HSET", "user:1", "name", "Ada", "age", "36")
            try client.command("HSET", "user:2", "name", "Bob", "age", "17")
            try client.command("RPUSH", "queue", "one", "two")
            try client.command("SET", "page", "<p>hello</p>")
            try client.command("SET", "user:*", "a pattern as a name")
        }

        deinit { withExtendedLifetime(server) {} }

        func run(_ arguments: String..., store: String? = nil) throws -> Vellum.Result {
            try Vellum.run(
                ["--store", store ?? server.url] + arguments, environment: ["XDG_STATE_HOME": folder.path])
        }

        func keys(_ arguments: String...) throws -> [String] {
            let result = try Vellum.run(["--store", server.url, "keys", "db0", "--json"] + arguments)
            return try result.lines.map { try #require(JSON.object($0)["key"] as? String) }
        }
    }

    @Test func listsDatabasesAndKeys() async throws {
        let machine = try await Machine()
        let databases = try JSON.array(machine.run("ls", "--json").output)
        #expect(databases.map { $0["archive"] as? String } == ["db0"])
        #expect(databases.map { $0["entries"] as? Int } == [5])
        #expect(Set(try machine.keys()) == ["user:1", "user:2", "queue", "page", "user:*"])
        #expect(Set(try machine.keys("--match", "user:?")) == ["user:1", "user:2", "user:*"])
        #expect(try machine.keys("--prefix", "user:*") == ["user:*"])
        #expect(try machine.keys("--order", "key") == ["page", "queue", "user:*", "user:1", "user:2"])
        #expect(try machine.keys("--order", "key", "--reverse", "--limit", "1") == ["user:2"])
        #expect(try machine.keys("--limit", "2").count == 2)
        let none = try machine.run("keys", "db0", "--match", "nothing*")
        #expect(none.status == 1)
        #expect(none.errors.contains("no key that matches"))
        let row = try JSON.object(
            try #require(machine.run("keys", "db0", "--match", "queue", "--json").lines.first))
        #expect(row["type"] as? String == "list")
        #expect((row["size"] as? Int ?? 0) > 20)
    }

    @Test func getsValuesAsDocuments() async throws {
        let machine = try await Machine()
        let user = try machine.run("get", "db0", "user:1", "--json")
        #expect(user.lines == [#"{"name":"Ada","age":"36"}"#])
        #expect(try machine.run("get", "0", "page", "--raw").text == "<p>hello</p>")
        let meta = try JSON.object(try machine.run("get", "db0", "queue", "--json", "--meta").text)
        #expect((meta["meta"] as? [String: Any])?["type"] as? String == "list")
        #expect(meta["value"] as? [String] == ["one", "two"])
        let none = try machine.run("get", "db0", "nobody")
        #expect(none.status == 1)
        #expect(none.errors.contains("no key \"nobody\" in db0"))
    }

    @Test func queriesKeysAndValues() async throws {
        let machine = try await Machine()
        let hashes = try machine.run("query", "db0", "find @type = \"hash\" | count", "--json")
        #expect(hashes.lines == [#"{"count":2}"#])
        let young = try machine.run("query", "db0", "find age = \"17\" | select name", "--json", "--touch")
        #expect(young.lines == [#"{"name":"Bob"}"#])
    }

    @Test func deletesExpiresAndUndoes() async throws {
        let machine = try await Machine()
        let plan = try machine.run("rm", "db0", "--where", "@type = \"hash\"", "--dry-run")
        #expect(plan.text.contains("would delete 2 entries"))
        let unasked = try machine.run("rm", "db0", "page")
        #expect(unasked.status == 2)
        #expect(try machine.client.command("DBSIZE").number == 5)
        let deleted = try machine.run("rm", "db0", "page", "nobody", "--yes")
        #expect(deleted.status == 0)
        #expect(deleted.errors.contains("no key \"nobody\""))
        #expect(deleted.errors.contains("undo db0 1"))
        #expect(try machine.client.command("EXISTS", "page").number == 0)
        let list = try JSON.array(machine.run("undo", "db0", "--list", "--json").output)
        #expect(list.map { $0["action"] as? String } == ["delete"])
        #expect(try machine.run("undo", "db0").status == 0)
        #expect(try machine.client.command("GET", "page").text == "<p>hello</p>")
        #expect(try machine.run("undo", "db0").status == 1)
        #expect(try machine.run("expire", "db0", "page", "--in", "5m", "--yes").status == 0)
        #expect((290...300).contains(try machine.client.command("TTL", "page").number ?? 0))
        #expect(try machine.run("expire", "db0", "page", "--never", "--yes").status == 0)
        #expect(try machine.client.command("TTL", "page").number == -1)
        #expect(try machine.run("expire", "db0", "--idle-longer-than", "1h", "--yes").status == 1)
        #expect(try machine.run("rm", "db0", "--all", "--yes").status == 0)
        #expect(try machine.client.command("DBSIZE").number == 0)
        #expect(try machine.run("undo", "db0").status == 0)
        #expect(try machine.client.command("DBSIZE").number == 5)
    }

    @Test func refusesWhatItCannotDo() async throws {
        let machine = try await Machine()
        for words in [["check"], ["drop", "db0"], ["watch"], ["export", "db0"], ["compact"]] {
            let result = try Vellum.run(["--store", machine.server.url] + words)
            #expect(result.status == 2, "\(words)")
            #expect(result.errors.contains("is a server, and this command works on stores"), "\(words)")
        }
        let elsewhere = try machine.run("rm", "db0", "k", "--yes", store: "valkey://192.0.2.1")
        #expect(elsewhere.status == 2)
        #expect(elsewhere.errors.contains("--write"))
        let unreachable = try machine.run("ls", store: "valkey://127.0.0.1:1")
        #expect(unreachable.status == 3)
        #expect(unreachable.errors.contains("can't be reached"))
        #expect(try machine.run("keys", "City").errors.contains("is no database of a server"))
        let secret = try machine.run("ls", store: "valkey://me:secret@127.0.0.1:nonsense")
        #expect(secret.status == 2)
        #expect(!secret.errors.contains("secret"))
    }

    @Test func figures() async throws {
        let machine = try await Machine()
        let stats = try JSON.object(try machine.run("stats", "--json").text)
        #expect(stats["entries"] as? Int == 5)
        #expect(stats["memoryLimit"] is NSNull)
    }
}
