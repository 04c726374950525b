import Foundation
import Testing

@Suite("ls, keys and get")
struct ReadingTests {
    let store: TestStore

    init() throws {
        store = TestStore()
        for (key, value) in [
            ("a", "[1,2,3]"), ("b", "\"text of some length\""), ("c", "{\"x\":1.50,\"y\":null}"),
        ] {
            try store.done("put", "A", key, "--disk", "1KB", "--memory", "2KiB", input: value)
        }
    }

    @Test func jsonPropertiesAreStable() throws {
        let list = try store.done("ls", "--json").text
        let names = [
            "archive", "kind", "type", "entries", "memoryBytes", "memoryLimit", "diskBytes", "diskLimit",
            "footprint", "hits", "misses", "evictions", "expirations", "rejections",
            "evictionPolicy",
        ]
        let archive = try #require(try store.archives()["A"])
        #expect(Set(archive.keys) == Set(names))
        #expect(archive["type"] is NSNull)
        #expect(archive["memoryLimit"] as? Int == 2048)
        #expect(archive["diskLimit"] as? Int == 1000)
        let places = names.map { list.range(of: "\"\($0)\":")?.lowerBound }
        #expect(places.allSatisfy { $0 != nil })
        #expect(places.compactMap { $0 } == places.compactMap { $0 }.sorted())

        let entry = try JSON.object(try #require(try store.done("keys", "A", "--json").lines.first))
        #expect(
            Set(entry.keys)
                == ["key", "size", "tier", "created", "accessed", "expires", "hits", "owner", "rank"])
        #expect(entry["key"] as? String == "c")
        #expect(entry["tier"] as? String == "disk")
        #expect(entry["expires"] is NSNull)
        let created = try #require(entry["created"] as? Double)
        #expect(abs(created - Date().timeIntervalSince1970) < 60)
    }

    @Test func printsExactColumnsInPipe() throws {
        let columns = try store.done("ls").text.dropLast().split(
            separator: "\t", omittingEmptySubsequences: false)
        #expect(columns.count == 15)
        #expect(columns[0] == "A" && columns[1] == "cache" && columns[2] == "" && columns[3] == "3")
        #expect(columns[5] == "2048" && columns[7] == "1000")
        for line in try store.done("keys", "A").lines {
            #expect(line.split(separator: "\t", omittingEmptySubsequences: false).count == 9)
        }
    }

    @Test(arguments: [
        ("recency", ["c", "b", "a"]), ("key", ["a", "b", "c"]), ("size", ["b", "c", "a"]),
        ("created", ["c", "b", "a"]), ("expires", ["c", "b", "a"]), ("hits", ["c", "b", "a"]),
    ])
    func sortsKeys(order: String, expected: [String]) throws {
        func keys(_ extra: String...) throws -> [String] {
            try Vellum.run(["keys", "A", "--store", store.path, "--order", order] + extra).lines
                .map { String($0.prefix { $0 != "\t" }) }
        }
        #expect(try keys() == expected)
        // Equal entries stay in order of recency.
        let turned = order == "expires" || order == "hits" ? expected : expected.reversed()
        #expect(try keys("--reverse") == turned)
        #expect(try keys("--limit", "2") == Array(expected.prefix(2)))
        #expect(try keys("--limit", "0").isEmpty)
    }

    @Test func printsValueInEachForm() throws {
        #expect(try store.done("get", "A", "a").text == "[\n  1,\n  2,\n  3\n]\n")
        #expect(try store.done("get", "A", "a", "--json").text == "[1,2,3]\n")
        #expect(try store.done("get", "A", "a", "--raw").output == Data([0x83, 1, 2, 3]))
        #expect(
            try store.done("get", "A", "a", "--hex").text
                == "00000000  83 01 02 03" + String(repeating: " ", count: 39) + "....\n")
        #expect(try store.done("get", "A", "c", "--json").text == "{\"x\":1.5,\"y\":null}\n")
        let meta = try JSON.object(try store.done("get", "A", "b", "--json", "--meta").text)
        #expect(meta["value"] as? String == "text of some length")
        #expect((meta["meta"] as? [String: Any])?["rank"] as? Int == 2)
        let plain = try store.done("get", "A", "b", "--meta").text
        #expect(plain.hasPrefix("key\tb\nsize\t20\n"))
        #expect(plain.hasSuffix("\n\n\"text of some length\"\n"))
    }

    @Test func narrowTerminalHasFewerColumns() throws {
        let keys = "keys A --store '\(store.path)'"
        func titles(_ columns: Int) throws -> [Substring] {
            try PseudoTerminal.run(keys, columns: columns).text.prefix { $0 != "\r\n" }.split(separator: " ")
        }
        #expect(
            try titles(100)
                == ["KEY", "SIZE", "TIER", "CREATED", "ACCESSED", "EXPIRES", "HITS", "OWNER", "RANK"])
        #expect(try titles(70) == ["KEY", "SIZE", "TIER", "ACCESSED", "EXPIRES", "HITS", "OWNER", "RANK"])
        #expect(try titles(40) == ["KEY", "SIZE", "TIER", "EXPIRES", "HITS", "OWNER"])
        #expect(try titles(10) == ["KEY", "SIZE"])
    }

    @Test func escapesTablesOnTerminal() throws {
        try store.done("put", "A", "evil\u{1b}[31m", input: "\"\\u009b31m\\u202e\"")
        for command in [
            "keys A", "keys A --json", "get A \"$KEY\"", "get A \"$KEY\" --json", "ls", "export A",
        ] {
            let (status, text) = try PseudoTerminal.run(
                "\(command) --store '\(store.path)'", environment: ["KEY": "evil\u{1b}[31m"])
            #expect(status == 0)
            #expect(
                !text.unicodeScalars.contains { $0.value == 0x1b || $0.value == 0x9b || $0.value == 0x202e })
            if command == "keys A" { #expect(text.hasPrefix("KEY") && text.contains("evil\\e[31m")) }
            if command == "ls" { #expect(text.hasPrefix("ARCHIVE") && text.contains("2.05 kB")) }
        }
    }

    @Test func groupsByProperty() throws {
        for (key, value) in [
            ("k1", "{\"t\":\"x\\n\"}"), ("k2", "{\"t\":\"x\\n\"}"), ("k3", "{\"t\":\"\"}"),
            ("k4", "{\"t\":null}"), ("k5", "{\"u\":1}"),
        ] {
            try store.done("put", "B", key, "--disk", "1KB", input: value)
        }
        let groups = try store.done("groups", "B", "--by", "t", "--order", "group", "--json").lines.map(
            JSON.object)
        var counts: [String?: Int] = [:]
        for group in groups { counts[group["group"] as? String] = group["entries"] as? Int }
        #expect(counts == ["": 1, "x\n": 2, nil: 2])
        // Regression: a text that looks like another type had the same group name.
        for (key, value) in [
            ("m1", "\"1\""), ("m2", "1"), ("m3", "true"), ("m4", "\"true\""), ("m5", "2.5"), ("m6", "[]"),
            ("m7", "\"[]\""), ("m8", "{\"a\":1}"),
        ] {
            try store.done("put", "M", key, "--disk", "1KB", input: "{\"v\":\(value)}")
        }
        let names = try store.done("groups", "M", "--by", "v", "--json").lines.map {
            $0.split(separator: ",").first.map(String.init)
        }
        let expected = [#""1""#, "1", "true", #""true""#, "2.5", "[]", #""[]""#, #"{"a":1}"#]
        #expect(Set(names) == Set(expected.map { #"{"group":\#($0)"# }))
        let browsed = try store.done("browse", "--size", "80x14", "--keys", "jj<enter>fv<enter>").text
        #expect(browsed.contains("\"true\"") && browsed.contains("\ntrue "))
        #expect(
            try store.done("groups", "B", "--by", "kind").lines.map { $0.prefix { $0 != "\t" } } == ["CBOR"])
        #expect(
            try store.run("groups", "B", "--by", "t[]").errors.contains("an entry has several values of t[]"))
        // Regression: an unknown property formed a group without a name, silently.
        #expect(try store.done("groups", "B", "--by", "tt").errors.contains("no entry has the property tt"))
        #expect(try store.done("groups", "B", "--by", "t").errors.isEmpty)
        #expect(try Vellum.run(["ls", "--store", ""]).errors.contains("--store is empty"))
        let both = try store.run("groups", "B", "--by", "t", "--prefix", "k")
        #expect(both.errors.contains("require --by prefix"))
    }
}
