import ArchiveQuery
import CBOR
import ServerInspection
import ServerSupport
import StorageEngine
import StoreInspection
import Testing
import TestSupport
import ValkeyWire

@Suite(.serialized, .enabled(if: ValkeyServer.program != nil, "no server is installed"))
struct ServerKeysTests {
    @Test("each key has one spelling")
    func keyNames() {
        var random = SeededGenerator.announced("names of keys")
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                [0x00, 0x41, 0x7f, 0x80, 0xc3, 0xa4, 0xf4, 0x8f, 0xbc, 0xff].randomElement(using: &random)
                    ?? 0
            }.map { UInt8($0) }
            #expect(KeyName.bytes(KeyName.text(bytes)) == bytes)
        }
        #expect(KeyName.text(Array("Zürich".utf8)) == "Zürich")
        #expect(KeyName.text([0x63, 0xe9]) == "h'63e9'")
        // A text that looks like bytes, as a key.
        let text = Array("h'63e9'".utf8)
        #expect(KeyName.text(text) == "\\h'63e9'")
        #expect(KeyName.bytes(KeyName.text(text)) == text)
    }

    @Test("facts of a later read don't make those of an earlier one valid again")
    func agesOfFacts() {
        let start = Timestamp(seconds: 1_770_000_000)
        var cached = CachedFacts()
        for (place, seconds) in [(0, 0.0), (1, 8)] {
            let end = start.adding(seconds: seconds)
            cached.note(nil, at: place, now: end)
            cached.endRead(at: end)
        }
        func fresh(after seconds: Double) -> [Bool] {
            (0..<3).map { cached.isFresh($0, at: start.adding(seconds: seconds)) }
        }
        #expect(fresh(after: 9) == [true, true, false])
        #expect(fresh(after: 12) == [false, true, false])
        #expect(fresh(after: 19) == [false, false, false])
    }

    @Test(arguments: [
        ("redis://h", "valkey://h"), ("valkey://u:p%40@h:1/3", "valkey://h:1"),
        ("valkey://[::1]:7", "valkey://[::1]:7"),
    ])
    func parsesAddresses(text: String, shown: String) throws {
        #expect(try ServerAddress(text).description == shown)
    }

    @Test(arguments: [
        "valkey://", "valkey://h:0", "valkey://h:x", "valkey://h/x", "http://h", "valkey://h?roots=a",
    ])
    func refusesInvalidAddresses(text: String) {
        #expect(throws: ServerURLError.self) { try ServerAddress(text) }
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("localhost", true), ("[::1]", true), ("127.evil.example", false),
        ("10.0.0.1", false),
    ])
    func recognizesAddressesOfThisMachine(host: String, isLocal: Bool) throws {
        #expect(try ServerAddress("valkey://\(host)").isLocal == isLocal)
    }

    @Test("a listing has each key once")
    func listings() async throws {
        let served = try await Served()
        for number in 0..<3000 { try served.ask("SET", "key \(number)", "\(number)") }
        let listing = try #require(
            try ServerListing(ListingScan(served.connection, database: 0), isPaced: false))
        let keys = try Set((0..<listing.count).map { try listing.key(at: $0) ?? "" })
        #expect(listing.count == 3000)
        #expect(keys == Set((0..<3000).map { "key \($0)" }))
        #expect(!listing.isCut)
        let part = try #require(
            try ServerListing(ListingScan(served.connection, database: 0), most: 500, isPaced: false))
        #expect(part.count == 500)
        #expect(part.isCut)
        let pattern = ServerScan.pattern(holding: "Y 29[9")
        #expect(String(decoding: pattern, as: UTF8.self) == "*[yY] 29\\[9*")
        let some = try #require(
            try ServerListing(
                ListingScan(
                    served.connection, database: 0, matching: ServerScan.pattern(holding: "KEY 299")),
                isPaced: false))
        #expect(some.count == 11)
    }

    @Test("reading facts leaves idle times unchanged")
    func factsWithoutAccess() async throws {
        let served = try await Served()
        try served.fill()
        try served.ask("EXPIRE", "hash", "1000")
        try await Task.sleep(for: .milliseconds(2100))
        let names = ["text", "hash", "list", "set", "scores", "stream", "none"]
        let facts = try served.connection.facts(of: names.map { Array($0.utf8) }, in: 0)
        #expect(facts.map { $0?.type } == ["string", "hash", "list", "set", "zset", "stream", nil])
        #expect(facts[0]?.layout == "embstr")
        #expect(facts.allSatisfy { ($0?.memory ?? 1) > 0 })
        let left = try #require(facts[1]?.expires).seconds(since: .now())
        #expect((900...1001).contains(left))
        #expect(facts[0]?.expires == nil)
        let listing = try #require(
            try ServerListing(ListingScan(served.connection, database: 0), isPaced: false))
        let first = try #require(listing.index(ofKey: "text"))
        #expect(try listing.loadMetadata(of: .some([Int32(first)])) { _ in true })
        #expect(!listing.knowsFigures && Int(listing.figures(at: first).size) == facts[0]?.memory)
        #expect(try listing.loadMetadata { _ in true } && listing.knowsFigures)
        for name in names.dropLast() {
            #expect(try (served.ask("OBJECT", "IDLETIME", name).number ?? 0) >= 2)
        }
        let text = try #require(listing.index(ofKey: "text"))
        #expect(Int(listing.figures(at: text).size) == facts[0]?.memory)
        #expect(listing.kind(at: text)?.type == "string")
        let hash = try #require(listing.index(ofKey: "hash"))
        #expect(listing.expiryAndTier(at: hash).expires != nil)
    }

    @Test("collections are read as documents")
    func documents() async throws {
        let served = try await Served()
        try served.fill()
        func json(_ key: String, _ type: String) throws -> String {
            let value = try served.value(key, type)
            #expect(value.shortage == nil)
            return String(
                decoding: try RecognizedValue(value.bytes, encoding: value.encoding).json(.compact),
                as: UTF8.self)
        }
        #expect(try json("number", "string") == "\"42\"")
        #expect(try json("hash", "hash") == #"{"name":"Ada","born":"1815"}"#)
        #expect(try json("list", "list") == #"["one","two","one"]"#)
        #expect(try json("set", "set") == #"["member"]"#)
        #expect(try json("scores", "zset") == #"{"first":-1,"second":2.5}"#)
        #expect(try json("stream", "stream") == #"{"7-1":{"event":"login"}}"#)
        #expect(try served.connection.value(of: Array("none".utf8), type: "hash", in: 0) == nil)
        #expect(try served.connection.value(of: Array("none".utf8), type: "string", in: 0) == nil)
    }

    @Test("fields of a large hash are sorted, and a stream has the times of its IDs")
    func orderOfElements() async throws {
        let served = try await Served()
        for number in 0..<1000 { try served.ask("HSET", "hash", "f\(number)", "\(number)") }
        let hash = try served.value("hash", "hash")
        let json = String(
            decoding: try RecognizedValue(hash.bytes, encoding: hash.encoding).json(.compact), as: UTF8.self)
        let pairs = (0..<1000).map { (name: "f\($0)", value: $0) }.sorted { $0.name < $1.name }
        #expect(json == "{" + pairs.map { "\"\($0.name)\":\"\($0.value)\"" }.joined(separator: ",") + "}")
        try served.ask("XADD", "stream", "7-1", "a", "1")
        #expect(try served.value("stream", "stream").origin == nil)
        try served.ask("XADD", "stream", "1700000000000-0", "a", "1")
        #expect(try served.value("stream", "stream").origin?.contains("2023-11-1") == true)
    }

    @Test("a stream's entry with a repeated field is a list of pairs")
    func repeatedFields() async throws {
        let served = try await Served()
        try served.ask("XADD", "stream", "7-1", "a", "1", "b", "2", "a", "3")
        try served.ask("XADD", "stream", "7-2", "a", "4")
        let value = try served.value("stream", "stream")
        let json = try RecognizedValue(value.bytes, encoding: value.encoding).json(.compact)
        #expect(
            String(decoding: json, as: UTF8.self)
                == #"{"7-1":[["a","1"],["b","2"],["a","3"]],"7-2":{"a":"4"}}"#)
    }

    @Test("infinite scores are numbers")
    func infiniteScores() async throws {
        let served = try await Served()
        try served.ask("ZADD", "scores", "inf", "most", "-inf", "least", "1.5", "middle")
        let value = try served.value("scores", "zset")
        guard case .map(let map) = try CBORReader.decode(value.bytes) else {
            Issue.record("no map")
            return
        }
        #expect(
            map[key: .text("most")] == .float(.infinity) && map[key: .text("least")] == .float(-.infinity))
        #expect(try served.keys("find most > 1e300 and least < middle") == ["scores"])
    }

    @Test(
        "a filter finds keys that aren't UTF-8 by their readable parts and by their spelling",
        arguments: ["C", "h'2a63e9'"])
    func filteredBinaryKeys(filter: String) async throws {
        let served = try await Served()
        _ = try served.client.command(RESPCommand("SET") + [UInt8]([0x2a, 0x63, 0xe9]) + "1")
        try served.ask("SET", "other", "2")
        for pattern in [nil, ServerScan.pattern(holding: filter)] {
            let listing = try #require(
                try ServerListing(
                    ListingScan(served.connection, database: 0, matching: pattern), isPaced: false))
            #expect(listing.count == (pattern == nil ? 2 : 1))
            let text = try #require(FilterPattern(filter))
            let matches = listing.entries(matching: text, among: .all(listing.count)) { _ in }
            #expect(try matches.found.map { try listing.key(at: Int($0)) } == ["h'2a63e9'"])
            #expect(matches.unreadable == 0)
        }
    }

    @Test("a query names keys that aren't UTF-8 by their bytes")
    func queriesOfBinaryKeys() async throws {
        let served = try await Served()
        _ = try served.client.command(RESPCommand("SET") + [UInt8]([0x63, 0xe9]) + "1")
        try served.ask("SET", "h'63e9'", "2")
        #expect(try served.keys("find @size > 0") == ["\\h'63e9'", "h'63e9'"])
        #expect(try served.keys("find @key = \"h'63e9'\"") == ["h'63e9'"])
    }

    @Test(
        "the beginning of a long value is read and reported as incomplete",
        arguments: ["hash", "set", "list", "zset", "stream"])
    func longValues(type: String) async throws {
        let served = try await Served()
        for number in 0..<3000 {
            switch type {
            case "hash": try served.ask("HSET", "k", "field \(number)", "\(number)")
            case "set": try served.ask("SADD", "k", "member \(number)")
            case "list": try served.ask("RPUSH", "k", "\(number)")
            case "zset": try served.ask("ZADD", "k", "\(number)", "member \(number)")
            default: try served.ask("XADD", "k", "*", "n", "\(number)")
            }
        }
        func value(_ most: Int) throws -> ServerValue? {
            try served.connection.value(of: Array("k".utf8), type: type, in: 0, most: most)
        }
        let whole = try #require(try value(1 << 20))
        #expect(whole.shown == 3000)
        #expect(whole.shortage == nil)
        let part = try #require(try value(8000))
        #expect((200..<2900).contains(part.shown))
        #expect(part.total == 3000)
        #expect(part.shortage != nil && part.isTooLarge)
    }

    @Test("a collection of more than 50,000 elements is read whole")
    func manyElements() async throws {
        let served = try await Served()
        let numbers = (0..<60_000).map { Array("\($0)".utf8) }
        _ = try served.client.command(RESPCommand(words: [Array("RPUSH".utf8), Array("k".utf8)] + numbers))
        let value = try served.value("k", "list")
        #expect(value.shown == 60_000 && value.shortage == nil)
        guard case .array(let elements) = try CBORReader.decode(value.bytes) else {
            Issue.record("no array")
            return
        }
        #expect(elements == (0..<60_000).map { CBORValue.text("\($0)") })
        let rows = try served.rows("find @key = \"k\"")
        #expect(rows.report.damaged == 0 && rows.rows.count == 1)
    }

    @Test("objects of near caches are decoded, and damaged ones reported")
    func nearCacheObjects() async throws {
        let served = try await Served()
        let object = CBORValue.map(CBORMap([.init(key: .text("weight"), value: .unsigned(7))])).encoded
        func store(_ key: String, _ owner: String?, _ change: (inout [UInt8]) -> Void = { _ in }) throws {
            var bytes = StoredObject(
                bytes: object, encoding: .cbor, memoryLifetime: .seconds(5), owner: owner
            ).encoded
            change(&bytes)
            _ = try served.client.command(RESPCommand("SET") + key + bytes)
        }
        func value(_ key: String) throws -> ServerValue { try served.value(key, "string") }
        try store("owned", "Ada")
        try store("free", nil)
        try store("damaged", "Ada") { $0[$0.count - 1] ^= 1 }
        try store("cut", "Ada") { $0.removeLast($0.count - 12) }
        let owned = try value("owned")
        #expect(owned.bytes == object && owned.encoding == .cbor && owned.owner == "Ada")
        #expect(owned.origin?.contains("5.0 seconds") == true && owned.shortage == nil)
        #expect(try value("free").bytes == object && value("free").owner == nil)
        let damaged = try value("damaged")
        #expect(damaged.bytes.starts(with: Array("VLM1".utf8)) && damaged.encoding == .unknown)
        #expect(damaged.origin?.contains("checksum") == true && damaged.owner == nil)
        #expect(damaged.isUnreadable)
        #expect(try value("cut").origin == nil && value("cut").bytes.count == 12)

        let rows = try served.rows("find weight = 7")
        #expect(rows.rows.compactMap { $0.entry?.key }.sorted() == ["free", "owned"])
        #expect(rows.report.damaged == 1)
        #expect(rows.report.warnings.contains { $0.contains("first \"damaged\"") })
    }

    @Test("reads texts that look like numbers as numbers, and prints them unchanged")
    func numbersStoredAsTexts() async throws {
        let served = try await Served()
        for (key, number) in [("a", "9"), ("b", "10"), ("c", "1.50"), ("d", "00014"), ("e", "n/a")] {
            try served.ask("HSET", key, "n", number, "m", "10")
        }
        try served.ask("RPUSH", "list", "9", "10")
        func result(_ text: String) throws -> (rows: [String], warnings: [String]) {
            let result = try served.rows(text)
            let rows = result.rows.map { row in
                row.entry?.key
                    ?? row.columns.map { "\($0.flatMap { try? CBORReader.decode($0) } ?? .null)" }
                    .joined()
            }
            return (rows, result.report.warnings)
        }
        #expect(try result("find n > 2").rows.sorted() == ["a", "b"])
        #expect(try result("find n = m and n is not null").rows == ["b"])
        #expect(try result("find n in [9, 11]").rows == ["a"])
        #expect(try result("find n between 1 and 2").rows == ["c"])
        #expect(try result("find n in [9, \"10\", \"00014\"]").rows.sorted() == ["a", "b", "d"])
        #expect(try result("find n not in [9, \"10\"] and n is not null").rows.sorted() == ["c", "d", "e"])
        #expect(try result("find value[] in [8, \"10\"]").rows == ["list"])
        #expect(try result("find value has 9").rows == ["list"])
        #expect(try result("find value has all [9, \"10\"]").rows == ["list"])
        #expect(try result("find value has any [1, \"9\"]").rows == ["list"])
        #expect(try result("find n + 1 = 11").rows == ["b"])
        #expect(try result("find n = \"10\" or text(n) = \"1.50\"").rows.sorted() == ["b", "c"])
        #expect(try result("find n starts with \"000\"").rows == ["d"])
        #expect(try result("find value[] > 9").rows == ["list"])
        let sorted = try result("find n is not null | sort n")
        #expect(sorted.rows == ["c", "a", "b", "d", "e"] && !sorted.warnings.isEmpty)
        let greatest = try result("max n, sum n")
        #expect(greatest.warnings.contains { $0.contains("left out 2 texts") }, "\(greatest)")
    }

    @Test("a query reads each value once, and only of keys that meet its conditions on metadata")
    func readsOfQueries() async throws {
        let served = try await Served()
        for number in 0..<1000 { try served.ask("SET", "key \(number)", "\(number)") }
        func read(_ text: String) throws -> (rows: Int, values: UInt64) {
            try served.ask("CONFIG", "RESETSTAT")
            let rows = try served.rows(text).rows.count
            return (rows, try served.calls("getrange"))
        }
        #expect(try read(#"find value > 10 and @key starts with "key 99""#) == (11, 11))
        #expect(try read(#"find value > 990 | select @key"#) == (9, 1000))
        // Many short values with one request.
        let reads = RESPFields(lines: try served.ask("INFO", "stats")).number("total_reads_processed")
        #expect(reads ?? 0 < 500)
        #expect(try read("limit 3").values == 3)
    }

    @Test("queries read metadata and values")
    func queries() async throws {
        let served = try await Served()
        try served.fill()
        #expect(try served.keys("find @type in [\"hash\", \"zset\"]") == ["hash", "scores"])
        #expect(try served.keys("find born = \"1815\"") == ["hash"])
        #expect(try served.keys("find @encoding = \"embstr\"") == ["text"])
        #expect(try served.keys("find @size > 100000") == [])
        #expect(try served.keys("find @key = \"set\"") == ["set"])
        #expect(try served.keys("find @key in [\"none\", \"hash\"]") == ["hash"])
        #expect(try served.keys("find @key = \"none\"") == [])
        #expect(try served.keys("find first < 0") == ["scores"])
        #expect(try served.keys("sort @size desc | limit 1") == ["stream"])
        #expect(try served.keys("find value = 42") == ["number"])
        #expect(try served.keys("find value starts with \"hel\"") == ["text"])
        #expect(try served.keys("find value[] = \"two\"") == ["list"])
        for unknown in ["@hits = 0", "@age < 1h", "@owner is null", "@tier = \"disk\"", "not (@rank > 3)"] {
            #expect(throws: SourceError.self, "\(unknown)") { try served.rows("find " + unknown) }
        }
    }

    @Test(
        "reading a value doesn't make a full server evict keys",
        arguments: ["list", "hash", "string", "stream", "zset"])
    func readsOnAFullServer(type: String) async throws {
        let served = try await Served(["--maxmemory-policy", "allkeys-random"])
        let part = String(repeating: "x", count: 200_000)
        for number in 0..<100 {
            switch type {
            case "list": try served.ask("RPUSH", "large", part)
            case "hash": try served.ask("HSET", "large", "\(number)", part)
            case "zset": try served.ask("ZADD", "large", "\(number)", "\(number)" + part)
            case "stream": try served.ask("XADD", "large", "7-\(number + 1)", "field", part)
            default: try served.ask("APPEND", "large", part)
            }
        }
        for number in 0..<200 { try served.ask("SET", "other \(number)", "0") }
        let used = try served.connection.figures().memory
        try served.ask("CONFIG", "SET", "maxmemory", "\(used + 4_000_000)")
        let value = try served.value("large", type)
        #expect(value.shortage == nil && value.total == (type == "string" ? 20_000_000 : 100))
        #expect(value.bytes.count >= 20_000_000)
        #expect(try served.connection.figures().evictions == 0)
    }

    @Test("a value that changes during the read is reported")
    func valuesThatChange() async throws {
        let served = try await Served()
        for number in 0..<5000 { try served.ask("ZADD", "scores", "\(number)", "member \(number)") }
        let port = served.server.port
        let isOver = Guarded(false)
        let writing = Background {
            let client = try PlainClient(port: port)
            var generator = SeededGenerator.announced("scores")
            while !isOver.withLock({ $0 }) {
                let (score, member) = (
                    Int.random(in: 0..<5000, using: &generator), Int.random(in: 0..<5000, using: &generator)
                )
                _ = try client.command("ZADD", "scores", "\(score)", "member \(member)")
            }
        }
        let mixed = try served.value("scores", "zset")
        #expect(mixed.isMixed && mixed.shortage?.contains("changed while it was read") == true)
        isOver.withLock { $0 = true }
        try writing.wait()
        let whole = try served.value("scores", "zset")
        #expect(whole.shortage == nil && whole.shown == 5000 && whole.doubt == nil)
        try served.ask("ACL", "SETUSER", "reader", "on", ">word", "~*", "+@read", "+@connection", "+info")
        let reader = try served.connection(as: "reader")
        let read = try #require(try reader.value(of: Array("scores".utf8), type: "zset", in: 0))
        #expect(read.shown == 5000 && read.shortage == nil && read.doubt?.contains("WATCH") == true)
        // A transaction that the user has no permission to end must not stay open.
        try served.ask("ACL", "SETUSER", "reader", "+@transaction", "-exec")
        #expect(try reader.value(of: Array("scores".utf8), type: "zset", in: 0)?.doubt != nil)
        #expect(try reader.ask(RESPCommand("PING")) == .status("PONG"))
        // The connection watches no key.
        let clients = try served.ask("CLIENT", "LIST").text ?? ""
        #expect(clients.contains("watch=1") == false)
    }

    @Test("a scan fails if another server answers")
    func restartDuringAScan() async throws {
        let served = try await Served()
        for number in 0..<500 { try served.ask("SET", "key \(number)", "0") }
        var (scan, seen) = (ServerScan(served.connection, database: 0), KeyTable())
        #expect(try scan.next(&seen)?.isEmpty == false)
        served.server.stop()
        try await served.server.start()
        let problem = #expect(throws: SourceError.self) { try scan.next(&seen) }
        #expect(problem?.description.contains("another server") == true)
    }

    @Test("a key whose type changes during a query is read again")
    func changedType() async throws {
        let served = try await Served()
        try served.ask("SET", "key", "0")
        let port = served.server.port
        let isChanged = Guarded(false)
        let proxy = try Interposer(
            to: port,
            before: { command in
                guard command.starts(with: ["GETRANGE", "key"]), !isChanged.withLock({ $0 }) else { return }
                isChanged.withLock { $0 = true }
                _ = try? PlainClient(port: port).command("DEL", "key")
                _ = try? PlainClient(port: port).command("HSET", "key", "name", "0")
            })
        let source = try ServerQuery(served.connection(by: proxy), database: 0, for: QueryPipeline([]))
        let cursor = try source.only(["key"]).cursor(in: .storage)
        #expect(try cursor.advance())
        let value = try cursor.loadValue()
        #expect(value.reading == .present && value.encoding == .cbor)
        #expect(isChanged.withLock { $0 })
    }

    @Test("a query fails if another server answers a part of it")
    func restartDuringAQuery() async throws {
        let served = try await Served()
        let source = try ServerQuery(served.connection, database: 0, for: QueryPipeline([]))
        served.server.stop()
        try await served.server.start()
        try PlainClient(port: served.server.port).command("SET", "key", "0")
        let cursor = try source.only(["key"]).cursor(in: .storage)
        #expect(try cursor.advance())
        let problem = #expect(throws: SourceError.self) { try cursor.load() }
        #expect(problem?.description.contains("another server") == true)
    }

    @Test("a condition on keys in front of one on values costs lookups only of the keys that meet it")
    func lookupsOfKeyConditions() async throws {
        let served = try await Served()
        for number in 0..<300 {
            try served.ask("HSET", number % 30 == 0 ? "h:\(number)" : "s:\(number)", "n", "\(number)")
        }
        // The program's figures exclude its own lookups.
        func lookups() throws -> UInt64 {
            RESPFields(lines: try served.ask("INFO", "stats")).number("keyspace_hits") ?? 0
        }
        let before = try lookups()
        let rows = try served.rows(#"find @key starts with "h:" and n > 5 and @key != "h:30""#).rows
        #expect(rows.count == 8)
        #expect(try lookups() - before < 200)
        let all = try served.rows(#"find @type = "hash" and @key starts with "h:""#).rows
        #expect(all.count == 10)
    }

    @Test("a changed eviction policy is noticed")
    func changedPolicy() async throws {
        let served = try await Served()
        try served.ask("SET", "key", "0")
        let key = Array("key".utf8)
        #expect(try served.connection.facts(of: [key], in: 0)[0]?.used != nil)
        try served.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lfu")
        _ = try served.connection.figures()
        #expect(try served.connection.facts(of: [key], in: 0)[0]?.frequency != nil)
    }

    @Test("a key without permission doesn't hide the others")
    func keysWithoutRights() async throws {
        let served = try await Served()
        try served.ask("SET", "own", "1")
        try served.ask("SET", "other", "2")
        try served.ask("ACL", "SETUSER", "half", "on", ">word", "~own*", "+@all")
        let connection = try served.connection(as: "half")
        let facts = try connection.facts(of: ["own", "other", "none"].map { Array($0.utf8) }, in: 0)
        #expect(facts[0]?.type == "string" && facts[0]?.memory ?? 0 > 0)
        #expect(facts[1]?.type == "no access")
        let problem = #expect(throws: SourceError.self) {
            try connection.value(of: Array("other".utf8), type: "no access", in: 0)
        }
        #expect(problem?.description.hasPrefix("no permission to read this key") == true)
    }

    @Test(
        "conditions on metadata leave out keys without rights, and count them",
        arguments: [
            ("find @size < 1", [], 1), ("find not @size > 1000000000", ["own"], 1),
            ("sort @size", ["other", "own"], 1),
            ("find @key = \"other\"", ["other"], 0), ("find @type = \"no access\"", [], 1),
            ("find @type != \"hash\"", ["own"], 1),
        ])
    func conditionsWithoutRights(query: String, keys: [String], unreadable: Int) async throws {
        let served = try await Served()
        try served.ask("SET", "own", "1")
        try served.ask("SET", "other", "2")
        try served.ask("ACL", "SETUSER", "half", "on", ">word", "~own*", "+@all")
        let connection = try served.connection(as: "half")
        let plan = QueryPlan(try QueryPipeline(query + " | select @key"))
        let found = try plan.rows(of: ServerQuery(connection, database: 0, for: plan.pipeline))
        #expect(found.rows.compactMap { $0.entry?.key }.sorted() == keys)
        #expect(found.report.unreadable == unreadable && found.report.warnings.isEmpty == (unreadable == 0))
        let groups = try QueryPlan(QueryPipeline("sum @size by @type"))
        let sums = try groups.rows(of: ServerQuery(connection, database: 0, for: groups.pipeline))
        #expect(sums.rows.count == 1 && sums.report.unreadable == 1)
        let condition = try QueryPredicate("@size < 1")
        let listing = try #require(try ServerListing(ListingScan(connection, database: 0)))
        let probe = try ListingProbe(listing, condition: condition, now: .now())
        #expect((0..<listing.count).count { probe.isMet(at: $0) } == 0 && probe.unreadable == 1)
    }

    @Test("patterns escape wildcards")
    func patterns() {
        #expect(ServerScan.escaped("a*\u{301}?b[c]\\^") == "a\\*\u{301}\\?b\\[c\\]\\\\\\^")
        #expect(ServerScan.pattern(holding: "a*\u{301}") == Array("*[aA]\\*\u{301}*".utf8))
        #expect(ServerScan.pattern(holding: "h'2ae9'") == [0x2a, 0x5c, 0x2a, 0xe9, 0x2a])
    }

    @Test("a value beyond the browser's limit is reported as too large, and a query reads it whole")
    func valuesThatAreTooLarge() async throws {
        let served = try await Served()
        try served.ask("SETRANGE", "large", "40000000", "end")
        let value = try served.value("large", "string")
        #expect(value.isTooLarge && value.shown == 33_554_432 && value.total == 40_000_003)
        #expect(value.shortage?.contains("too large") == true)
        let report = try served.rows("find first = 1").report
        #expect(report.visited == 1 && report.damaged == 0)
    }
}
