import Foundation
import StorageEngine
import Testing

@Suite("TTL, owners, expire and undo")
struct ExpiringTests {
    let store = TestStore()

    private func entries(_ arguments: String...) throws -> [[String: Any]] {
        try Vellum.run(["keys", "A", "--json", "--store", store.path] + arguments).lines.map(JSON.object)
    }

    /// The entry's TTL in seconds; nil if it doesn't expire.
    private func lifetime(_ key: String) throws -> Double? {
        let entry = try #require(try entries().first { $0["key"] as? String == key })
        let created = try #require(entry["created"] as? Double)
        return (entry["expires"] as? Double).map { $0 - created }
    }

    @Test(arguments: [
        ("500ms", 0.5), ("90s", 90), ("5m", 300), ("2h", 7200), ("3d", 259_200), ("1.5h", 5400),
        ("1h30m", 5400), ("1W", 604_800), ("36500d", 3_153_600_000),
    ])
    func parsesTTL(text: String, seconds: Double) throws {
        // The shortest may expire before the check.
        try store.done("put", "A", "k", "--expires", text, "--memory-expires", text, input: "1")
        let lifetime = try entries().isEmpty ? 0.5 : try #require(try lifetime("k"))
        #expect(abs(lifetime - seconds) < max(0.4, min(5, seconds / 10)))
    }

    @Test(arguments: [
        "5", "x", "0s", "-1m", "1.5.2h", "1h30", "36501d", "m", "", "1e3s", "٥s", ".s",
        "99999999999999999999d",
    ])
    func refusesOtherTTLs(text: String) throws {
        try store.run("put", "A", "k", "--expires=\(text)", input: "1").expect(2, errors: "--expires")
        #expect(!FileManager.default.fileExists(atPath: store.path))
    }

    @Test func undoCountsExpiredEntries() async throws {
        try store.done("put", "A", "short", "--expires", "2s", input: "1")
        try store.done("put", "A", "long", input: "1")
        try store.done("rm", "A", "short", "long", "--yes")
        try await Task.sleep(for: .seconds(2.2))
        let undo = try store.done("undo", "A", "--json")
        let report = try JSON.object(undo.text)
        #expect(report["entries"] as? Int == 1 && report["expired"] as? Int == 1, "\(undo.text)")
        #expect(undo.errors.contains("1 expired since") && undo.errors.contains("1 entry"))
        #expect(try store.keys("A") == ["long"])
    }

    @Test func keysAreOneLine() throws {
        try store.done("put", "A", "a\nb\tc\u{2028}d", input: "1")
        let list = try store.done("keys", "A")
        #expect(list.lines.count == 1 && list.text.hasPrefix("a\\nb\\tc\\u{2028}d\t"), "\(list.text)")
        let help = try Vellum.run(["keys", "--help"]).text.replacing(/\s+/, with: " ")
        #expect(help.contains("are escaped as \\n, \\t or \\u{2028}; --json prints them exactly"), "\(help)")
    }

    @Test func sortsByExpiryTimeAndOwner() throws {
        try store.done("put", "A", "late", "--expires", "3h", "--owner", "地理", input: "1")
        try store.done("put", "A", "never", "--owner", "地理", input: "1")
        try store.done("put", "A", "soon", "--expires", "1h", "--owner", "other", input: "1")
        try store.done("put", "A", "unowned", "--expires", "2h", input: "1")
        func keys(_ arguments: String...) throws -> [String?] {
            try Vellum.run(["keys", "A", "--json", "--store", store.path] + arguments).lines
                .map { try JSON.object($0)["key"] as? String }
        }
        #expect(try keys("--order", "expires") == ["soon", "unowned", "late", "never"])
        #expect(try keys("--order", "expires", "--reverse") == ["never", "late", "unowned", "soon"])
        // Regression: with --reverse, the order of equal entries differed from the browser's.
        for turned in [[], ["--reverse"]] {
            let found = try Vellum.run(["keys", "A", "--order", "size", "--store", store.path] + turned).lines
            #expect(
                found.compactMap { $0.split(separator: "\t").first } == ["unowned", "soon", "never", "late"])
        }
        #expect(try keys("--owner", "地理") == ["never", "late"])
        #expect(try keys("--owner", "地理", "--order", "expires", "--limit", "1") == ["late"])
        #expect(try keys("--owner", "unknown").isEmpty)
        #expect(try entries("--owner", "other").first?["owner"] as? String == "other")
        #expect(try store.run("keys", "A", "--owner", "").status == 2)
        let none = try store.run("keys", "A", "--owner", "missing")
        #expect(none.status == 1 && none.output.isEmpty)
        #expect(none.errors.contains("has no entry of owner \"missing\""))
        #expect(try store.run("keys", "A", "--owner", "missing", "--limit", "0").status == 1)
        #expect(try store.run("put", "A", "k", "--owner", String(repeating: "x", count: 256)).status == 2)
    }

    @Test func importSetsTTLAndOwner() throws {
        try store.done(
            "import", "A", "-", "--key", "id", "--expires", "5m", "--owner", "me",
            input: "{\"id\":1}\n{\"id\":2}\n")
        #expect(try entries("--owner", "me").count == 2)
        #expect(try entries().allSatisfy { $0["expires"] is Double })
    }

    @Test func changesExpiryTimes() throws {
        try store.done("put", "A", "a", "--expires", "5m", "--owner", "me", input: "[1]")
        try store.done("put", "A", "b", "--owner", "me", input: "[1]")
        let plan = try store.done("expire", "A", "--owner", "me", "--in", "2h", "--dry-run")
        #expect(plan.text == "would expire 2 entries, 4 B in 2h\n" && plan.errors.isEmpty)
        #expect(try lifetime("b") == nil)

        let later = try store.done("expire", "A", "--owner", "me", "--in", "2h", "--yes")
        #expect(
            later.errors == "set 2 entries, 4 B to expire in 2h\n"
                + "to undo it, until 4.19 MB more have been written: vellum --store \(store.path) undo A 1\n")
        #expect(try abs(#require(try lifetime("b")) - 7200) < 600)
        let never = try store.done("expire", "A", "a", "nothing", "--never", "--yes")
        #expect(never.errors.hasPrefix("vellum: no entry \"nothing\"\nkept 1 entry, 2 B from expiring\n"))
        #expect(try lifetime("a") == nil)

        #expect(try store.done("undo", "A").errors.hasPrefix("restored the expiry times of 1 entry, 2 B ("))
        #expect(try abs(#require(try lifetime("a")) - 7200) < 600)
        try store.done("undo", "A")
        #expect(try abs(#require(try lifetime("a")) - 300) < 60)
        #expect(try lifetime("b") == nil)
        #expect(try store.archives()["A"]?["expirations"] as? Int == 0)
    }

    /// Regression: the advice was always `vellum rm`, which deleted the entry.
    @Test("the advice for a key that looks like an option repeats the command")
    func advisesSameCommand() throws {
        for key in ["--all", "b"] { try store.done("put", "--", "A", key, input: "1") }
        let refused = try store.run("expire", "A", "--all", "--in", "1h", "--yes")
        let advice = "vellum --store \(store.path) expire --in 1h --yes -- A --all"
        #expect(refused.status == 2 && refused.errors.hasSuffix("put it after --: \(advice)\n"), "\(refused)")
        let followed = try Vellum.run(
            ["--store", store.path, "expire", "--in", "1h", "--yes", "--", "A", "--all"])
        #expect(followed.status == 0 && followed.errors.hasPrefix("set 1 entry"), "\(followed)")
        try store.done("put", "--", "A", "--dry-run", input: "1")
        #expect(try store.run("rm", "A", "b", "--dry-run").errors.contains("rm -- A b --dry-run\n"))
    }

    /// Regression: it was recorded as the action to undo.
    @Test func neverWithoutExpiryChangesNothing() throws {
        try store.done("put", "A", "a", input: "[1]")
        try store.done("put", "A", "b", "--expires", "1h", input: "[1]")
        for arguments in [["a"], ["a", "--dry-run"]] {
            let none = try Vellum.run(["expire", "A", "--never", "--yes", "--store", store.path] + arguments)
            #expect(none.status == 1)
            if !arguments.contains("--dry-run") {
                #expect(none.errors == "vellum: nothing changed: 1 entry already has no expiry time\n")
            }
        }
        #expect(try store.run("undo", "A").status == 1)
        let one = try store.done("expire", "A", "--all", "--never", "--yes")
        #expect(one.errors.hasPrefix("kept 1 entry, 2 B from expiring\n"))
        #expect(
            try store.run("expire", "A", "--all", "--never", "--yes").errors.contains(
                "2 entries already have no"))
        #expect(try store.done("undo", "A").status == 0)
        #expect(try abs(#require(try lifetime("b")) - 3600) < 60)
    }

    @Test func undoRestoresExpiredEntries() throws {
        for key in ["a", "b", "c"] {
            try store.done("put", "A", key, "--expires", "1h", "--owner", "me", "--disk", "1KB", input: "[1]")
        }
        let before = try entries()
        #expect(
            try store.done("expire", "A", "--all", "--now", "--yes").errors.hasPrefix("expired 3 entries"))
        #expect(try entries().isEmpty)
        #expect(try store.archives()["A"]?["expirations"] as? Int == 3)
        let outcome = try store.done("undo", "A", "--json")
        #expect(
            outcome.text == "{\"id\":1,\"action\":\"expire\",\"entries\":3,\"bytes\":6,\"skipped\":[],"
                + "\"skippedCount\":0,\"expired\":0,\"displaced\":0,\"damaged\":0,\"evicted\":0}\n")
        #expect(outcome.errors.hasPrefix("restored 3 entries, 6 B (expired "))
        let after = try entries()
        #expect(after.count == 3)
        for (old, new) in zip(before, after) {
            for name in ["key", "owner", "rank", "created", "accessed", "size"] {
                #expect(old[name] as? NSObject == new[name] as? NSObject, "\(name)")
            }
            // Regression: the restored expiry time changed each time.
            let times = [old, new].compactMap { $0["expires"] as? Double }
            #expect(times.count == 2 && times[0] == times[1])
        }
    }

    @Test func expiresOnlyIdleEntries() async throws {
        for key in ["old", "older"] { try store.done("put", "A", key, "--owner", key, input: "[1]") }
        let gap = 6.0
        let put = try Date().timeIntervalSince1970 - #require(entries()[0]["accessed"] as? Double)
        try await Task.sleep(for: .seconds(max(0, gap - put)))
        try store.done("put", "A", "new", input: "[1]")
        let recent = try #require(try entries()[0]["accessed"] as? Double)
        /// The current age halfway between both accesses.
        func idle() -> String { "\(Int((Date().timeIntervalSince1970 - recent + gap / 2) * 1000))ms" }
        let narrow = try store.done(
            "expire", "A", "--owner", "old", "--idle-longer-than", idle(), "--dry-run")
        #expect(narrow.text == "would expire 1 entry, 2 B\n")
        #expect(
            try store.done("expire", "A", "--idle-longer-than", idle(), "--dry-run").text
                == "would expire 2 entries, 4 B\n")
        let none = try store.run("expire", "A", "--idle-longer-than", "1h", "--yes")
        #expect(none.status == 1 && none.errors == "vellum: no entry was idle for longer than 1h\n")
        try store.done("expire", "A", "--idle-longer-than", idle(), "--yes")
        #expect(try store.keys("A") == ["new"])
        try store.done("undo", "A")
        #expect(try store.keys("A") == ["new", "older", "old"])
    }

    @Test func accessBeforeConfirmationKeepsEntry() async throws {
        for key in ["a", "b"] { try store.done("put", "A", key, input: "[1]") }
        try await Poll.until("both idle") {
            try store.run("expire", "A", "--idle-longer-than", "1ms", "--dry-run").text.contains("2 entries")
        }
        let asking = try PseudoTerminal.start("expire A --idle-longer-than 1ms --store '\(store.path)'")
        try await asking.until("question") { asking.text.contains("[y/N]") }
        let opened = try Store.open(at: store.path)
        defer { opened.close() }
        #expect(try opened.archive(named: "A").access("a") != nil)
        asking.type("y\n")
        #expect(try await asking.finish() == 0)
        #expect(asking.text.contains("\"a\" was accessed after the plan was made; skipped"))
        #expect(asking.text.contains("expired 1 entry, 2 B"))
        #expect(try store.keys("A") == ["a"])
    }

    @Test func expireAsksOnTerminal() throws {
        for key in ["a", "b"] { try store.done("put", "A", key, input: "[1]") }
        try store.run("expire", "A", "a", "--now").expect(2, errors: "--yes")
        let arguments = "expire A a --now --store '\(store.path)'"
        let (status, text) = try PseudoTerminal.run(arguments, input: "n\n")
        #expect(status == 1 && text.contains("Expire 1 entry, 2 B of A now? [y/N]"))
        #expect(try store.keys("A") == ["b", "a"])
        #expect(try PseudoTerminal.run(arguments, input: "y\n").status == 0)
        #expect(try store.keys("A") == ["b"])
    }

    @Test func undoesDeletionByOwner() throws {
        try store.done("put", "A", "a", "--owner", "me", input: "[1]")
        try store.done("put", "A", "b", input: "[1]")
        try store.done("put", "A", "c", "--owner", "me", input: "[1]")
        let missing = try store.run("rm", "A", "--owner", "you", "--yes")
        #expect(missing.status == 1 && missing.errors == "vellum: A has no entry of owner \"you\"\n")
        try store.done("rm", "A", "--owner", "me", "--yes")
        #expect(try store.keys("A") == ["b"])
        try store.done("rm", "A", "--all", "--yes")
        #expect(try store.keys("A").isEmpty)
        // The first one by its number, then the last.
        try store.done("undo", "A", "1")
        #expect(try store.keys("A") == ["c", "a"])
        try store.done("undo", "A")
        #expect(try store.keys("A") == ["c", "b", "a"])
        let again = try store.run("undo", "A")
        #expect(again.status == 1 && again.errors.hasPrefix("vellum: nothing to undo in A: only deletions"))
    }

    @Test func listsUndoRecords() throws {
        let empty = TestStore()
        try empty.done("put", "A", "a", input: "[1]")
        let none = try empty.run("undo", "A", "--list", "--json")
        #expect(none.status == 1 && none.text == "[]\n")
        for key in ["a", "b"] { try store.done("put", "A", key, input: "[1]") }
        try store.done("rm", "A", "a", "--yes")
        try store.done("expire", "A", "b", "--in", "1h", "--yes")
        let list = try store.done("undo", "A", "--list", "--json")
        #expect(
            Masked.text(list.text) == """
                [
                {"id":2,"time":T,"action":"deadline","entries":1,"bytes":2,"pid":P,"process":null,"end":T,"bytesLeft":4194304},
                {"id":1,"time":T,"action":"delete","entries":1,"bytes":2,"pid":P,"process":null,"end":T,"bytesLeft":null}
                ]

                """)
        let first = try #require(try JSON.array(list.output).first)
        let time = try #require(first["time"] as? Double)
        let end = try #require(first["end"] as? Double)
        let grace = end - time
        #expect(abs(grace - 600) < 1)
        #expect(try store.done("undo", "A", "--list").lines[0].split(separator: "\t").count == 8)
        let (status, text) = try PseudoTerminal.run("undo A --list --store '\(store.path)'")
        #expect(status == 0 && text.hasPrefix("ID  TIME") && text.contains("WRITES LEFT"))
        #expect(text.contains("  10m  ") || text.contains("  9m 5"))
        // Tombstoned entries survive any writes; previous expiry times are kept in the log only.
        let lines = text.split(whereSeparator: \.isNewline)
        #expect(lines[1].hasSuffix("  4.19 MB") && lines[2].hasSuffix("  -"))
        #expect(try store.run("undo", "A", "1", "--list").status == 2)
        #expect(try store.run("undo", "A", "x").status == 2)
        try store.run("undo", "A", "7").expect(1, errors: "action 7 of A")
    }

    @Test func undoKeepsNewerEntries() throws {
        for key in ["a", "b"] { try store.done("put", "A", key, input: "[1]") }
        try store.done("rm", "A", "--all", "--yes")
        try store.done("put", "A", "a", input: "[2]")
        let outcome = try store.done("undo", "A", "--json")
        #expect(
            outcome.text == "{\"id\":1,\"action\":\"delete\",\"entries\":1,\"bytes\":2,\"skipped\":[\"a\"],"
                + "\"skippedCount\":1,\"expired\":0,\"displaced\":0,\"damaged\":0,\"evicted\":0}\n")
        #expect(outcome.errors.hasPrefix("vellum: \"a\" was recorded, changed or evicted after the action"))
        #expect(try store.done("get", "A", "a", "--json").text == "[2]\n")
        #expect(try store.keys("A") == ["a", "b"])

        try store.done("rm", "A", "b", "--yes")
        try store.done("put", "A", "b", input: "[3]")
        #expect(try store.run("undo", "A").status == 1, "an entry was restored")
    }

    @Test func undoEvictsOtherEntries() throws {
        let value = "\"" + String(repeating: "x", count: 38) + "\""
        for key in ["a", "b"] { try store.done("put", "A", key, "--disk", "100B", input: value) }
        try store.done("rm", "A", "--all", "--yes")
        try store.done("put", "A", "c", input: value)
        let outcome = try store.done("undo", "A")
        #expect(outcome.errors.contains("restored 2 entries, 80 B"))
        #expect(outcome.errors.contains("; 1 other entry was evicted"))
        #expect(try store.keys("A") == ["b", "a"])
    }
}
