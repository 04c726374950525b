import Foundation
import Testing

/// Expired entries are absent for every command, even before they are removed.
@Suite("expired entries before their removal")
struct ExpiredEntriesTests {
    let store: TestStore

    /// Stores `stays`, `kept`, and last `old`, which has expired: a later writer might remove it.
    init() async throws {
        let made = TestStore()
        store = made
        try made.done("put", "A", "removed", input: "1")
        try made.done("rm", "A", "removed", "--yes")
        try made.done("put", "A", "stays", input: "[1]")
        try made.done("put", "A", "kept", "--expires", "1h", "--owner", "me", input: "[2]")
        try made.done("put", "A", "old", "--expires", "50ms", "--owner", "me", input: "{\"n\":1}")
        try await Poll.until("expiry") { try made.run("exists", "A", "old").status == 1 }
    }

    private func why(_ key: String) throws -> [String: Any] {
        try JSON.object(try store.done("why", "A", key, "--json").text)
    }

    @Test func commandsOmitExpiredEntries() throws {
        #expect(try why("old")["expired"] is Double, "the expired entry was removed")
        let listed = try #require(try store.archives()["A"])
        #expect(listed["entries"] as? Int == 2 && listed["diskBytes"] as? Int == 4)
        let stats = try store.done("stats", "A", "--owners").text
        #expect(stats.contains("A\tentries\t2\n") && stats.contains("A\tdiskBytes\t4\n"), "\(stats)")
        #expect(stats.contains("\tme\t1\t2\t"), "\(stats)")
        #expect(try store.done("check").text == "A: clean, 2 entries, 4 B\n")
        let report = try JSON.object(try store.done("check", "--json").text)
        #expect(report["entries"] as? Int == 2 && report["damaged"] as? Int == 0)
        #expect(try store.done("doctor").text.contains("a collection, 2 entries, 4 B"))
        #expect(try store.keys("A") == ["kept", "stays"])
        #expect(try store.run("keys", "A", "--prefix", "old").status == 1)
        #expect(try store.done("query", "A", "select @key").lines == ["kept", "stays"])
        #expect(try store.done("query", "A", "count").text == "2\n")
        let asked = try store.run("query", "A", "find @key = \"old\"")
        #expect(asked.status == 1 && asked.output.isEmpty && asked.errors.isEmpty)
        #expect(try store.done("export", "A").lines == ["[1]", "[2]"])
        let groups = try store.done("groups", "A", "--by", "owner").lines
        #expect(groups.count == 2 && groups.contains { $0.hasPrefix("me\t1\t2\t") }, "\(groups)")
        for command in ["exists", "ttl", "get", "touch"] {
            let result = try store.run(command, "A", "old")
            #expect(result.status == 1 && result.output.isEmpty, "\(command)")
            #expect(result.errors.hasPrefix("vellum: no entry \"old\""), "\(command): \(result.errors)")
        }
    }

    @Test func deletionsOmitExpiredEntries() throws {
        func plan(_ arguments: String...) throws -> Vellum.Result {
            try Vellum.run(["--store", store.path, "rm", "A", "--dry-run"] + arguments)
        }
        #expect(try plan("--all").text == "would delete 2 entries, 4 B\n")
        #expect(try plan("--owner", "me").text == "would delete 1 entry, 2 B\n")
        #expect(try plan("--where", "n = 1").status == 1)
        let named = try plan("old")
        #expect(named.status == 1 && named.text == "would delete 0 entries, 0 B\n")
        #expect(named.errors == "vellum: no entry \"old\"\n")
        try store.run("rm", "A", "old", "--yes").expect(1, errors: "no entry \"old\"")
        #expect(try store.done("rm", "A", "--owner", "me", "--yes").errors.hasPrefix("deleted 1 entry, 2 B"))
        #expect(try store.done("undo", "A").errors.hasPrefix("restored 1 entry, 2 B"))
        #expect(try store.keys("A") == ["kept", "stays"])
    }

    @Test func whyReportsExpiryInEveryForm() throws {
        func outputs(_ key: String) throws -> (json: [String: Any], pipe: [String], terminal: [String]) {
            let (status, text) = try PseudoTerminal.run("why A \(key) --store '\(store.path)'")
            #expect(status == 0)
            let lines = text.replacing("\r\n", with: "\n").split(separator: "\n").map(String.init)
            let pipe = try store.done("why", "A", key).text.components(separatedBy: "\n")
            return (try why(key), pipe, lines)
        }
        let old = try outputs("old")
        let deadline = try #require(old.json["expired"] as? Double)
        let recorded = try #require((old.json["events"] as? [[String: Any]])?.first?["time"] as? Double)
        #expect(abs(deadline - recorded - 0.05) < 0.04, "\(deadline - recorded)")
        #expect(old.json["present"] as? Bool == false && old.json["meta"] is NSNull)
        #expect(old.pipe[0] == "present\tfalse" && old.pipe[1].hasPrefix("expired\t"), "\(old.pipe)")
        #expect(Double(old.pipe[1].dropFirst(8)) == deadline && old.pipe[2].isEmpty, "\(old.pipe)")
        #expect(
            try #require(old.terminal.first).wholeMatch(
                of: /"old" is not in A: it expired (just now|.+ ago), and has not been removed yet/) != nil,
            "\(old.terminal)")

        let kept = try outputs("kept")
        #expect(kept.json["present"] as? Bool == true && kept.json["expired"] is NSNull)
        let meta = try #require(kept.json["meta"] as? [String: Any])
        let expires = try #require(kept.pipe.first { $0.hasPrefix("expires\t") })
        #expect(Double(expires.dropFirst(8)) == meta["expires"] as? Double)
        #expect(kept.pipe[0] == "present\ttrue" && !kept.pipe.contains { $0.hasPrefix("expired\t") })
        #expect(kept.terminal.first == "\"kept\" is in A: 2 B")
        #expect(
            kept.terminal.contains { $0.hasPrefix("  expires ") } && !kept.terminal[0].contains("expired"))

        // A deleted entry hasn't expired.
        let removed = try outputs("removed")
        #expect(removed.json["present"] as? Bool == false && removed.json["expired"] is NSNull)
        #expect(removed.pipe[0] == "present\tfalse" && removed.pipe[1].isEmpty, "\(removed.pipe)")
        #expect(removed.terminal.first == "\"removed\" is not in A")
        #expect(removed.terminal.contains { $0.contains("deleted by ") }, "\(removed.terminal)")
    }
}
