import Foundation
import ServerSupport
import Testing

/// Commands on a Valkey or Redis server.
@Suite(.serialized, .enabled(if: ValkeyServer.program != nil, "no server is installed"))
struct ServerCommandTests {
    /// A server with some keys.
    private final class Machine {
        let server: ValkeyServer
        let client: PlainClient
        let folder: TemporaryFolder

        init() async throws {
            server = try await ValkeyServer()
            client = try server.client()
            folder = TemporaryFolder()
            try client.command("HSET", "user:1", "name", "Ada", "age", "36")
            try client.command("HSET", "user:2", "name", "Bob", "age", "17")
            try client.command("RPUSH", "queue", "one", "two")
            try client.command("SET", "page", "<p>hello</p>")
            try client.command("SET", "user:*", "a pattern as a name")
        }

        deinit { withExtendedLifetime(server) {} }

        func run(_ arguments: String..., store: String? = nil) throws -> Vellum.Result {
            try run(arguments, store: store)
        }

        func run(_ arguments: [String], store: String? = nil) throws -> Vellum.Result {
            try Vellum.run(
                ["--store", store ?? server.url] + arguments, environment: ["XDG_STATE_HOME": folder.path])
        }

        /// Deletes all keys; stores one that isn't UTF-8, and one whose name is the spelling of the first.
        func storeBytesAndText() throws {
            try client.command("FLUSHDB")
            let script = #"""
                redis.call('SET', 'caf\233', 'bytes')
                redis.call('SET', "h'636166e9'", 'text')
                """#
            try client.command("EVAL", script, "0")
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
        try machine.run("keys", "db0", "--match", "nothing*").expect(1, errors: "no key that matches")
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
        try machine.run("get", "db0", "missing").expect(1, errors: "no key \"missing\" in db0")
    }

    @Test("bytes of a collection differ from every text, in each format")
    func bytesOfCollections() async throws {
        let machine = try await Machine()
        let script = #"""
            redis.call('HSET', 'mixed', 'caf\233', 'caf\233', 'Y2Fm6Q', "h'636166e9'")
            redis.call('RPUSH', 'bytes', 'caf\233', "h'636166e9'")
            """#
        try machine.client.command("EVAL", script, "0")
        let object = try JSON.object(machine.run("get", "db0", "mixed", "--json").text)
        #expect(object as? [String: String] == ["h'636166e9'": "h'636166e9'", "Y2Fm6Q": #"\h'636166e9'"#])
        #expect(
            try machine.run("get", "db0", "bytes", "--json").lines == [#"["h'636166e9'","\\h'636166e9'"]"#])
        let find = "find @key = \"mixed\""
        for format in ["--json", "--csv"] {
            let text = try machine.run("query", "db0", find, format, "--touch").text
            #expect(text.contains("h'636166e9'") && text.contains("Y2Fm6Q"), "\(format): \(text)")
            #expect(text.contains(#"\h'636166e9'"#), "\(format): \(text)")
        }
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
        try machine.run("rm", "db0", "page").expect(2)
        #expect(try machine.client.command("DBSIZE").number == 5)
        try machine.run("rm", "db0", "page", "missing", "--yes").expect(
            0, errors: "no key \"missing\"", "undo db0 1")
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

    @Test func refusesOtherCommands() async throws {
        let machine = try await Machine()
        for words in [["check"], ["drop", "db0"], ["watch"], ["touch", "db0", "k"], ["compact"]] {
            let result = try Vellum.run(["--store", machine.server.url] + words)
            #expect(result.status == 2, "\(words)")
            #expect(result.errors.contains("is a server; only browse"), "\(words)")
        }
        try machine.run("rm", "db0", "k", "--yes", store: "valkey://192.0.2.1").expect(2, errors: "--write")
        try machine.run("ls", store: "valkey://127.0.0.1:1").expect(3, errors: "can't be reached")
        #expect(try machine.run("keys", "City").errors.contains("is not a database of a server"))
        let secret = try machine.run("ls", store: "valkey://me:secret@127.0.0.1:nonsense").expect(2)
        #expect(!secret.errors.contains("secret"))
    }

    @Test("conditions on metadata read no values; before version 7.2, rows have none either")
    func queriesOfMetadata() async throws {
        let machine = try await Machine()
        try machine.client.command("CONFIG", "RESETSTAT")
        let found = try machine.run("query", "db0", "find @type = \"hash\" | sort @key", "--json").expect(0)
        #expect(found.lines.count == 2)
        let commands = try machine.client.command("INFO", "commandstats")
        if found.errors.contains("--touch") {
            guard case .bytes(let text) = commands else { return }
            #expect(!String(decoding: text, as: UTF8.self).contains("cmdstat_hgetall"))
            #expect(!String(decoding: text, as: UTF8.self).contains("cmdstat_hscan"))
        }
    }

    @Test(
        "a change combines conditions on values and idle times only where reads are no accesses",
        arguments: [
            ["rm", "db0", "--where", "@idle < 1h and name = \"Ada\""],
            ["rm", "db0", "--where", "@accessed > now - 1h and name = \"Ada\"", "--dry-run"],
            ["expire", "db0", "--where", "name = \"Ada\"", "--idle-longer-than", "1ms"],
        ])
    func idleTimesAndValues(words: [String]) async throws {
        let machine = try await Machine()
        let isAccess = try machine.run("rm", "db0", "--where", "name = \"Ada\"", "--dry-run").status == 2
        let result = try machine.run(words + ["--yes", "--touch"])
        #expect((result.status == 2) == isAccess)
        if isAccess {
            #expect(try machine.client.command("DBSIZE").number == 5)
            #expect(try machine.run("rm", "db0", "--where", "@idle < 1h", "--yes").status == 0)
        }
    }

    @Test("a lossless export restores types and expiry times, and replaces keys only with --overwrite")
    func exportsAndImports() async throws {
        let machine = try await Machine()
        try machine.client.command("PEXPIRE", "queue", "1000000")
        try machine.client.command("XADD", "events", "7-1", "event", "login")
        try machine.client.command("XGROUP", "CREATE", "events", "group", "0")
        let keys = ["user:1", "user:2", "queue", "page", "user:*", "events"]
        let before = try keys.map { try machine.client.command("DUMP", $0) }
        let file = machine.folder.path + "/all.ndjson"
        try machine.run("export", "db0", file, "--lossless", "--touch").expect(0)
        #expect(try machine.client.command("DBSIZE").number == 6)
        try machine.client.command("DEL", "user:1", "user:2", "queue", "user:*", "events")
        try machine.client.command("SET", "page", "another")
        try machine.run("import", "db0", file, "--lossless").expect(0, errors: "page")
        #expect(try machine.client.command("GET", "page").text == "another")
        #expect(try machine.run("import", "db0", file, "--lossless", "--overwrite").status == 0)
        #expect(try keys.map { try machine.client.command("DUMP", $0) } == before)
        #expect((900_000...1_000_000).contains(try machine.client.command("PTTL", "queue").number ?? 0))
        #expect(try machine.client.command("PTTL", "page").number == -1)
    }

    @Test("a plain export has the form of an archive's, and an import stores texts and JSON")
    func plainExports() async throws {
        let machine = try await Machine()
        let file = machine.folder.path + "/some.ndjson"
        try machine.run(
            "export", "db0", file, "--with-keys", "--touch", "--where", "@type in [\"hash\", \"string\"]"
        ).expect(0)
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 4)
        #expect(lines.contains(#"{"key":"user:1","value":{"name":"Ada","age":"36"}}"#))
        try machine.run("import", "db1", file, "--key", "key", "--value", "value", "--expires", "1h").expect(
            0)
        try machine.client.command("SELECT", "1")
        #expect(try machine.client.command("GET", "user:1").text == #"{"name":"Ada","age":"36"}"#)
        #expect(try machine.client.command("GET", "page").text == "<p>hello</p>")
        #expect((3500...3600).contains(try machine.client.command("TTL", "page").number ?? 0))
        #expect(try machine.run("export", "db0", "--format", "csv", "--touch").status == 2)
    }

    @Test("keys that aren't UTF-8 are written as bytes, and read back", arguments: [true, false])
    func binaryKeys(isLossless: Bool) async throws {
        let machine = try await Machine()
        try machine.storeBytesAndText()
        #expect(Set(try machine.keys()) == ["h'636166e9'", #"\h'636166e9'"#])
        #expect(try machine.run("get", "db0", "h'636166e9'", "--raw").text == "bytes")
        #expect(try machine.run("get", "db0", #"\h'636166e9'"#, "--raw").text == "text")
        let file = machine.folder.path + "/keys.ndjson"
        let options = isLossless ? ["--lossless"] : ["--with-keys"]
        #expect(try machine.run(["export", "db0", file, "--touch"] + options).status == 0)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.contains(#""h'636166e9'""#) && text.contains(#""\\h'636166e9'""#), "\(text)")
        let reading = isLossless ? ["--lossless"] : ["--key", "key", "--value", "value"]
        #expect(try machine.run(["import", "db1", file] + reading).status == 0)
        for (key, value) in [("h'636166e9'", "bytes"), (#"\h'636166e9'"#, "text")] {
            #expect(try machine.run("get", "db1", key, "--raw").text == value)
        }
    }

    @Test(
        "import and arguments read keys in query output that aren't UTF-8",
        arguments: ["ndjson", "csv", "tsv"])
    func binaryKeysInQueries(format: String) async throws {
        let machine = try await Machine()
        try machine.storeBytesAndText()
        for (database, query) in [
            ("db1", "find @size > 0"), ("db2", "select @key as key, value"),
            ("db3", "group by @key as key | max value as value"),
        ] {
            let file = machine.folder.path + "/\(database).\(format)"
            #expect(try machine.run("query", "db0", query, "--output", file, "--touch").status == 0)
            #expect(
                try machine.run("import", database, file, "--key", "key", "--value", "value").status == 0)
            for (key, value) in [("h'636166e9'", "bytes"), (#"\h'636166e9'"#, "text")] {
                #expect(try machine.run("get", database, key, "--raw").text == value, "\(query)")
            }
        }
        let keys = try machine.run("query", "db0", "select @key").lines
        #expect(Set(keys) == ["h'636166e9'", #"\h'636166e9'"#])
        #expect(try machine.run(["rm", "db0", "--yes"] + keys).status == 0)
        #expect(try machine.client.command("DBSIZE").number == 0)
    }

    @Test("an import into a server reports values whose bytes became texts")
    func nestedBytes() async throws {
        let machine = try await Machine()
        let file = machine.folder.path + "/nested.ndjson"
        let lines = [
            #"{"key":"a","value":"h'ff'"}"#, #"{"key":"b","value":{"n":"h'ff'"}}"#,
            #"{"key":"c","value":["h'00'","h'01'"]}"#,
        ]
        try lines.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
        try machine.run("import", "db1", file, "--key", "key", "--value", "value").expect(
            0, errors: "2 values have byte strings", "first \"b\"")
    }

    @Test("JSON of a server is exported and imported unchanged")
    func textsThatLookLikeBytes() async throws {
        let machine = try await Machine()
        try machine.client.command("FLUSHDB")
        let value = #"{"a":"h'00'","h'01'":["\\h'02'"]}"#
        try machine.client.command("SET", "k", value)
        let file = machine.folder.path + "/bytes.ndjson"
        #expect(try machine.run("export", "db0", file, "--with-keys", "--touch").status == 0)
        let read = try machine.run("import", "db1", file, "--key", "key", "--value", "value")
        #expect(read.status == 0 && !read.errors.contains("byte strings"))
        try machine.client.command("SELECT", "1")
        #expect(try machine.client.command("GET", "k").text == value)
    }

    @Test("an object with duplicate names is reported by get and export")
    func repeatedNames() async throws {
        let machine = try await Machine()
        try machine.client.command("FLUSHDB")
        try machine.client.command("SET", "k", #"{"a":1,"a":2}"#)
        #expect(try machine.run("get", "db0", "k", "--json").errors.contains("duplicate names"))
        #expect(try machine.run("export", "db0", "--touch").errors.contains("duplicate names"))
        try machine.client.command("SET", "k", #"{"a":{"a":1}}"#)
        #expect(try !machine.run("get", "db0", "k", "--json").errors.contains("duplicate names"))
        #expect(try !machine.run("export", "db0", "--touch").errors.contains("duplicate names"))
    }

    @Test("a server behind a tunnel is changed only with --write")
    func tunnels() async throws {
        let machine = try await Machine()
        let tunnel = try Interposer(to: machine.server.port)
        let url = "valkey://localhost:\(tunnel.port)"
        try machine.run("rm", "db0", "page", "--yes", store: url).expect(2, errors: "--write")
        #expect(try machine.client.command("EXISTS", "page").number == 1)
        #expect(try machine.run("rm", "db0", "page", "--yes", "--write", store: url).status == 0)
        #expect(try machine.run("undo", "db0", store: url).status == 2)
        #expect(try machine.run("undo", "db0", "--write", store: url).status == 0)
        #expect(try machine.client.command("EXISTS", "page").number == 1)
    }

    @Test("keys without rights are counted, and have neither sizes nor groups")
    func keysWithoutRights() async throws {
        let machine = try await Machine()
        try machine.client.command("ACL", "SETUSER", "half", "on", ">word", "~user:*", "+@all")
        let url = "valkey://half:word@127.0.0.1:\(machine.server.port)"
        let groups = try machine.run("groups", "db0", "--json", store: url).expect(3, errors: "2 keys")
        #expect(try groups.lines.map { try JSON.object($0)["group"] as? String } == ["user:"])
        let types = try machine.run("groups", "db0", "--by", "@type", "--json", store: url).expect(3)
        #expect(types.lines.count == 2)
        let keys = try machine.run("keys", "db0", "--json", store: url).expect(3, errors: "2 keys")
        let sizes = try keys.lines.map { try JSON.object($0)["size"] }
        #expect(sizes.count { $0 as? Int == nil } == 2 && sizes.count == 5)
        try machine.run("keys", "db0", "--prefix", "user:", store: url).expect(0)
        let idle = try machine.run("expire", "db0", "--idle-longer-than", "1ms", "--dry-run", store: url)
        #expect(idle.errors.contains("2 keys"))
    }

    @Test("an export ends when the server is lost, instead of waiting for it with each key")
    func exportFromLostServer() async throws {
        let machine = try await Machine()
        let port = machine.server.port
        let proxy = try Interposer(to: port) { words in
            let isRead = ["GETRANGE", "HLEN", "LLEN"].contains(words[0])
            if isRead { _ = try? PlainClient(port: port).command("SHUTDOWN", "NOSAVE") }
        }
        let result = try machine.run("export", "db0", "--touch", store: "valkey://127.0.0.1:\(proxy.port)")
        result.expect(3)
        #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
    }

    @Test func printsStatistics() async throws {
        let machine = try await Machine()
        let stats = try JSON.object(try machine.run("stats", "--json").text)
        #expect(stats["entries"] as? Int == 5)
        #expect(stats["memoryLimit"] is NSNull)
    }
}
