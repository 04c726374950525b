import Foundation
import Testing

@Suite("put and rm")
struct ChangingTests {
    let store = TestStore()

    @Test func cacheEvictsLeastRecent() throws {
        // Values of 1,003 bytes (3 of head, 1,000 of text): 65 fit into 65,536 bytes.
        let lines = (0..<200).map { "{\"id\":\($0),\"v\":\"" + String(repeating: "x", count: 980) + "\"}" }
        let file = try store.folder.file("values.ndjson", lines.joined(separator: "\n"))
        let result = try store.done("import", "A", file, "--key", "id", "--disk", "64KiB")
        let archive = try #require(try store.archives()["A"])
        let size = try #require(try JSON.object(store.done("keys", "A", "--json").lines[0])["size"] as? Int)
        let fitting = 65536 / size
        #expect(archive["kind"] as? String == "cache")
        #expect(archive["entries"] as? Int == fitting)
        #expect(try store.keys("A") == (0..<200).reversed().prefix(fitting).map(String.init))
        #expect(archive["evictions"] as? Int == 200 - fitting)
        #expect(result.errors.contains("; \(200 - fitting) entries evicted"))
    }

    @Test func refusesValueAboveLimit() throws {
        try store.done("put", "A", "small", "--disk", "64KB", input: "{\"a\":1}")
        let before = try store.done("keys", "A", "--json").text
        let result = try store.run("put", "A", "large", input: "\"\(String(repeating: "x", count: 70000))\"")
        #expect(result.status == 1)
        #expect(result.errors.hasPrefix("vellum: ") && result.errors.contains("64000"))
        #expect(result.errors.split(separator: "\n").count == 1)
        #expect(try store.done("keys", "A", "--json").text == before)
        #expect(try store.archives()["A"]?["rejections"] as? Int == 1)
    }

    /// Regression: an object with a repeated name was stored silently, and queries and readers saw different values.
    @Test func refusesRepeatedNames() throws {
        let result = try store.run("put", "A", "k", input: "{\"a\":1,\"a\":2}").expect(1)
        #expect(
            result.errors.hasPrefix(
                "vellum: standard input is refused: byte 7: an object has the name \"a\" twice; "),
            "\(result.errors)")
        #expect(try store.run("put", "A", "k", "--raw", input: "{\"a\":1,\"a\":2}").status == 0)
    }

    @Test("a document in place of its file is refused with the command that stores it")
    func documentAsArgument() throws {
        let result = try store.run("put", "A", "k", "{\"a\":1}").expect(2)
        #expect(result.errors.contains("echo '{\"a\":1}' | vellum --store \(store.path) put A k"))
    }

    @Test func refusesInvalidJSON() throws {
        for input in ["", "{", "{\"a\":1} x", "nul", "[1,]"] {
            let result = try store.run("put", "A", "k", input: input)
            #expect(result.status == 1, "\(input)")
            #expect(
                result.errors.hasPrefix("vellum: standard input is not a JSON document: byte "), "\(input)")
        }
        #expect(!FileManager.default.fileExists(atPath: store.path), "a store was created")
    }

    @Test(arguments: [
        ("1", 1), ("4096", 4096), ("20MB", 20_000_000), ("64KB", 64000), ("64KiB", 65536),
        ("1.5GB", 1_500_000_000), ("2 mib", 2_097_152), ("10B", 10),
    ])
    func parsesSize(text: String, bytes: Int) throws {
        _ = try store.run("put", "A", "k", "--kind", "cache", "--disk", text, input: "1")
        #expect(try store.archives()["A"]?["diskLimit"] as? Int == bytes)
    }

    @Test(arguments: ["0", "-1", "x", "5XB", "1.5", "0.3KB5", "99999999999TB", "", "MB", "1e3"])
    func refusesOtherSizes(text: String) throws {
        try store.run("put", "A", "k", "--disk=\(text)", input: "1").expect(2)
        #expect(!FileManager.default.fileExists(atPath: store.path))
    }

    @Test func existingArchiveKeepsLimits() throws {
        try store.done("put", "A", "k", "--disk", "1KB", input: "1")
        let result = try store.done("put", "A", "k", "--disk", "2KB", input: "2")
        #expect(
            result.errors == "vellum: archive \"A\" already exists and keeps its kind, limits and policy\n")
        #expect(try store.archives()["A"]?["diskLimit"] as? Int == 1000)
        #expect(try store.done("get", "A", "k", "--json").text == "2\n")
    }

    @Test("a new cache gets a policy, by which its entries can be listed")
    func policies() throws {
        try store.done("put", "A", "k", "--policy", "s3fifo", "--disk", "1kB", input: "1")
        let lines = (0..<12).map { "{\"k\":\($0)}" }.joined(separator: "\n")
        try store.done("import", "B", "-", "--key", "k", "--policy", "s3fifo", input: lines)
        try store.done("put", "C", "k", "--disk", "1kB", input: "1")
        let archives = try store.archives()
        #expect(archives["A"]?["kind"] as? String == "cache")
        #expect(
            ["A", "B", "C"].map { archives[$0]?["evictionPolicy"] as? String } == ["s3fifo", "s3fifo", "lru"])
        for key in ["3", "5"] { for _ in 0..<2 { try store.done("touch", "B", key) } }
        let entries = try store.done("keys", "B", "--order", "eviction", "--json").lines.map {
            try JSON.object($0)
        }
        #expect(
            entries.compactMap { $0["key"] as? String } == [
                "0", "1", "2", "4", "6", "7", "8", "9", "10", "11", "3", "5",
            ])
        #expect(entries.map { $0["queue"] as? String } == Array(repeating: "small", count: 12))
        #expect(entries.map { $0["frequency"] as? Int } == Array(repeating: 0, count: 10) + [2, 2])
        #expect(try JSON.object(store.done("why", "B", "3", "--json").text)["meta"] is [String: Any])
        let plain = try store.done("keys", "C", "--order", "eviction", "--json").lines.map {
            try JSON.object($0)
        }
        #expect(plain.count == 1 && plain[0]["queue"] == nil)
        try store.run("put", "D", "k", "--kind", "collection", "--policy", "lru", input: "1").expect(2)
        try store.run("put", "D", "k", "--policy", "arc", input: "1").expect(2)
        #expect(try store.done("put", "A", "k", "--policy", "lru", input: "2").errors.contains("keeps its"))
        #expect(try store.archives()["A"]?["evictionPolicy"] as? String == "s3fifo")
    }

    @Test func deletionAsksOnTerminal() throws {
        for key in ["a", "b"] { try store.done("put", "A", key, input: "[1]") }
        let arguments = "rm A a --store '\(store.path)'"
        for answer in ["n\n", "\n", "yesterday\n"] {
            let (status, text) = try PseudoTerminal.run(arguments, input: answer)
            #expect(status == 1 && text.contains("Delete 1 entry, 2 B of A? [y/N]"), "\(answer)")
            #expect(try store.keys("A") == ["b", "a"])
        }
        #expect(try PseudoTerminal.run(arguments, input: "y\n").status == 0)
        #expect(try store.keys("A") == ["b"])
    }

    @Test("a deletion of all entries keeps those stored before the confirmation")
    func keepsEntriesStoredBeforeConfirmation() async throws {
        for key in ["a", "b", "c"] { try store.done("put", "A", key, input: "[1]") }
        let asking = try PseudoTerminal.start("rm A --all --store '\(store.path)'")
        try await asking.until("question") { asking.text.contains("[y/N]") }
        for key in ["b", "d"] { try store.done("put", "A", key, input: "[2]") }
        asking.type("y\n")
        #expect(try await asking.finish() == 0)
        #expect(asking.text.contains("deleted 2 entries, 4 B"), "\(asking.text)")
        #expect(try store.keys("A") == ["d", "b"])
        try store.done("undo", "A")
        #expect(try store.keys("A").sorted() == ["a", "b", "c", "d"])
        try store.done("rm", "A", "--all", "--yes")
        #expect(try store.keys("A").isEmpty)
    }

    @Test func deletionNeedsYesWithoutTerminal() throws {
        for key in ["a", "b", "c"] { try store.done("put", "A", key, input: "[1]") }
        try store.run("rm", "A", "a").expect(2, errors: "--yes")
        #expect(try store.keys("A") == ["c", "b", "a"])
        let plan = try store.done("rm", "A", "a", "b", "a", "--dry-run")
        #expect(plan.text == "would delete 2 entries, 4 B\n")
        #expect(try store.keys("A") == ["c", "b", "a"])
        let deleted = try store.done("rm", "A", "a", "nothing", "--yes")
        #expect(
            deleted.errors == "vellum: no entry \"nothing\"\ndeleted 1 entry, 2 B\n"
                + "to undo it: vellum --store \(store.path) undo A 1\n")
        #expect(try store.keys("A") == ["c", "b"])
        #expect(try store.run("rm", "A", "a", "--yes").status == 1)
        #expect(try store.done("rm", "A", "--all", "--dry-run").text == "would delete 2 entries, 4 B\n")
        try store.done("rm", "A", "--all", "--yes")
        #expect(try store.keys("A").isEmpty)
        #expect(try store.run("rm", "A", "--all", "--yes").status == 1)
        #expect(try store.archives()["A"]?["entries"] as? Int == 0)
    }
}
