import Foundation
import StorageEngine
import Testing

@Suite("compact, drop, copy and rename")
struct MaintainingTests {
    let store = TestStore()

    /// Stores entries of 1 kB through the library, which is faster.
    private func fill(_ name: String, _ count: Int) throws {
        let opened = try Store.open(at: store.path)
        defer { opened.close() }
        let archive = try opened.collection(name)
        let value = Array(repeating: UInt8(ascii: "x"), count: 1000)
        for number in 0..<count { try archive.put(value, forKey: "\(number)", encoding: .text) }
    }

    private func footprint(_ name: String) throws -> Int {
        try #require(try store.archives()[name]?["footprint"] as? Int)
    }

    @Test func compactReleasesSpace() throws {
        try fill("A", 20_000)
        let full = try footprint("A")
        try store.done("rm", "A", "--where", "@key matches \"[1-9]$\"", "--yes")
        let kept = try store.done("compact", "A")
        #expect(kept.errors.contains("are kept for undo; --give-up-undo"))
        #expect(try store.done("undo", "A").errors.contains("restored 18,000 entries"))
        try store.done("rm", "A", "--where", "@key matches \"[1-9]$\"", "--yes")
        let result = try store.done("compact", "A", "--give-up-undo")
        let columns = result.lines[0].split(separator: "\t").map(String.init)
        let now = try footprint("A")
        #expect(columns[0] == "A" && Int(columns[2]) == now)
        #expect(now < full / 2, "\(full) bytes became \(now)")
        #expect(try store.run("undo", "A").status == 1)
        #expect(try store.done("check").text == "A: clean, 2,000 entries, 2 MB\n")
        // Regression: the archives compacted before the missing one weren't reported.
        let missing = try store.run("compact", "A", "None")
        #expect(missing.status == 1 && missing.text.isEmpty && missing.errors.contains("\"None\""))
    }

    @Test func dropRemovesUnusedArchives() throws {
        try store.done("put", "A", "k", input: "[1]")
        try store.done("put", "B", "k", input: "[1]")
        #expect(try store.run("drop", "A").status == 2)
        #expect(try store.done("drop", "A", "--dry-run").text == "would remove archive A with 1 entry, 2 B\n")
        let opened = try Store.open(at: store.path)
        defer { opened.close() }
        let held = try opened.archive(named: "A")
        try store.run("drop", "A", "--yes").expect(1, errors: "open; end the process, or pass --force")
        #expect(try held.peek("k") != nil)
        try store.done("drop", "A", "--yes", "--force")
        #expect(throws: StorageError.self) { try held.peek("k") }
        #expect(try store.archives().keys.sorted() == ["B"])
        try store.run("drop", "Bb", "--yes").expect(1, errors: "did you mean \"B\"?")
    }

    /// Regression: the rebuilt index of a copied store has new numbers, which were mistaken for a change.
    @Test func dropsArchivesOfCopiedStore() throws {
        for name in ["A", "B", "C", "D", "E", "F"] { try store.done("put", name, "k", input: "[1]") }
        let copy = store.folder / "copy"
        try FileManager.default.copyItem(atPath: store.path, toPath: copy)
        for name in ["A", "B", "C", "D", "E"] {
            try Vellum.run(["drop", name, "--yes", "--store", copy]).expect(0)
        }
        #expect(try Vellum.run(["rename", "F", "G", "--store", copy]).status == 0)
    }

    @Test func dropAsksOnTerminal() throws {
        try store.done("put", "A", "k", input: "[1]")
        try store.done("append", "L", "one", "--disk", "1MB")
        for answer in ["n\n", "\n", "yet\n", "\u{4}"] {
            let (status, text) = try PseudoTerminal.run("drop A --store '\(store.path)'", input: answer)
            #expect(status == 1 && text.contains("nothing was removed"), "\(text)")
            #expect(
                text.contains("Remove archive A with 1 entry, 2 B? This can't be undone. [y/N]"), "\(text)")
        }
        #expect(try store.keys("A") == ["k"])
        let (status, text) = try PseudoTerminal.run("drop A --store '\(store.path)'", input: "y\n")
        #expect(status == 0 && text.contains("removed archive A with 1 entry, 2 B"), "\(text)")
        #expect(try store.archives().keys.sorted() == ["L"])
        let log = try PseudoTerminal.run("drop L --store '\(store.path)'", input: "yes\n")
        #expect(log.status == 0 && log.text.contains("Remove archive L with 1 message, 3 B?"), "\(log.text)")
        #expect(try store.archives().isEmpty)
    }

    /// Later writes of the other process would be lost.
    @Test func refusesToRenameOpenArchive() throws {
        try store.done("put", "A", "k", input: "[1]")
        let opened = try Store.open(at: store.path)
        let held = try opened.archive(named: "A")
        let refused = try store.run("rename", "A", "B")
        #expect(refused.status == 1 && refused.output.isEmpty)
        #expect(
            refused.errors.contains("has archive \"A\" open; end the process, or use vellum copy"),
            "\(refused.errors)")
        #expect(try store.archives().keys.sorted() == ["A"])
        #expect(try held.peek("k") != nil)
        // The advised command works.
        try store.done("copy", "A", "B")
        try held.put([0x81, 0x02], forKey: "k2", encoding: .cbor)
        opened.close()
        try store.done("rename", "A", "C")
        #expect(try store.archives().keys.sorted() == ["B", "C"])
        #expect(try store.keys("C") == ["k2", "k"])
    }

    @Test func emptiesLog() throws {
        for text in ["one", "two"] { try store.done("append", "L", text, "--disk", "1MB") }
        #expect(try store.done("rm", "L", "--all", "--dry-run").text == "would delete 2 messages, 6 B\n")
        #expect(try store.run("rm", "L", "--owner", "x", "--yes").status == 2)
        try store.done("rm", "L", "--all", "--yes")
        #expect(try store.done("tail", "L").lines.isEmpty)
        try store.done("append", "L", "three")
        #expect(try store.done("tail", "L", "--raw").text == "three\n")
        #expect(try store.done("check").text == "L: clean, 1 entry, 5 B\n")
    }

    @Test func copiesWholeArchive() throws {
        try store.done("put", "A", "a", "--owner", "o", "--expires", "1h", "--disk", "1MB", input: "[1]")
        try store.done("put", "A", "b", input: "[2]")
        try store.done("touch", "A", "a")
        try store.done("copy", "A", "B")
        #expect(try store.done("keys", "B", "--json").text == store.done("keys", "A", "--json").text)
        #expect(try store.archives()["B"]?["diskLimit"] as? Int == 1_000_000)
        #expect(try store.run("copy", "A", "B").status == 1)
        let other = store.folder / "other"
        try store.done("copy", "A", "A", "--to", other)
        #expect(try Vellum.run(["diff", "A", "--store", store.path, "--with", other]).status == 0)
        try store.done("rename", "B", "C")
        #expect(try store.archives().keys.sorted() == ["A", "C"])
        #expect(try store.done("keys", "C", "--json").text == store.done("keys", "A", "--json").text)
        #expect(try store.run("rename", "C", "A").status == 1)
        #expect(try store.run("rename", "None", "D").status == 1)
        // Regression: a faulty request created an empty archive, or a store.
        #expect(try store.run("copy", "A", "Z", "--where", "n >").status == 2)
        #expect(try store.run("copy", "A", "Z", "nothing").status == 1)
        #expect(try store.run("copy", "None", "Z", "--to", store.folder / "new").status == 1)
        #expect(try store.archives().keys.sorted() == ["A", "C"])
        #expect(!FileManager.default.fileExists(atPath: store.folder / "new"))
    }

    @Test func copiesSomeEntries() throws {
        for number in 1...4 {
            try store.done("put", "A", "\(number)", "--owner", "o", input: "{\"n\":\(number)}")
        }
        try store.run("copy", "A", "B", "4", "none", "1").expect(1, errors: "no entry \"none\"")
        #expect(try store.keys("B") == ["1", "4"])
        try store.done("copy", "A", "B", "--where", "n >= 2 and @owner = \"o\"")
        #expect(try store.keys("B") == ["4", "3", "2", "1"])
        #expect(try store.done("diff", "A", "B").status == 0)
        #expect(try store.run("copy", "A", "B", "--where", "n > 9").status == 1)
        #expect(try store.run("copy", "A", "B", "1", "--where", "n > 9").status == 2)
    }

    @Test func deletesByCondition() throws {
        for number in 1...5 { try store.done("put", "A", "\(number)", input: "{\"n\":\(number)}") }
        #expect(
            try store.done("rm", "A", "--where", "n > 3", "--dry-run").text
                == "would delete 2 entries, 8 B\n")
        try store.done("rm", "A", "--where", "n > 3", "--yes")
        #expect(try store.keys("A") == ["3", "2", "1"])
        try store.done("undo", "A")
        try store.done("expire", "A", "--where", "n = 1", "--in", "1h", "--yes")
        #expect(try store.run("query", "A", "find @expires is not null | select n").text == "1\n")
        let none = try store.run("rm", "A", "--where", "n > 9", "--yes")
        #expect(none.status == 1 && none.errors.contains("no entry that meets the condition"))
        try store.run("rm", "A", "--where", "n >", "--yes").expect(
            2, errors: "syntax error at character 9")
        #expect(try store.run("rm", "A", "--where", "n > 1 | limit 1", "--yes").status == 2)
        #expect(try store.run("rm", "A", "1", "--where", "n > 1", "--yes").status == 2)
    }

    @Test("the order of a condition's parts doesn't decide whether it is refused")
    func orderOfParts() throws {
        for (key, value) in [("a", #"{"g":1,"t":5}"#), ("b", #"{"g":2,"t":"x"}"#), ("c", #"{"n":1,"t":7}"#)] {
            try store.done("put", "A", key, input: value)
        }
        for condition in [
            "n = 1 or (g = 2 and t > 3)", "n = 1 or (t > 3 and g = 2)",
            #"@key = "c" or (@key = "b" and t > 3)"#,
        ] {
            let dry = try store.done("rm", "A", "--where", condition, "--dry-run")
            #expect(dry.text.hasPrefix("would delete 1 entry"), "\(condition): \(dry.errors)")
            #expect(!dry.errors.contains("not a number"), "\(condition): \(dry.errors)")
        }
        let mistaken = try store.run("rm", "A", "--where", "n = 1 or (t > 3 and g > \"x\")", "--dry-run")
        #expect(mistaken.status == 2 && mistaken.errors.contains("g is a number, not a text"))
    }

    @Test("commands omit and count entries for which a condition can't be evaluated")
    func undecidableConditionsChooseNothing() throws {
        let dates = ["\"2020-01-01\"", "\"2026-06-01\"", "\"n/a\"", "17"]
        for (number, date) in dates.enumerated() {
            try store.done("put", "A", "\(number)", input: "{\"t\":\(date)}")
        }
        let condition = "not (t > 2026-01-01)"
        let dry = try store.done("rm", "A", "--where", condition, "--dry-run")
        #expect(dry.text.hasPrefix("would delete 1 entry"))
        #expect(dry.errors.contains("could not be evaluated for 2 entries"))
        #expect(try store.done("copy", "A", "B", "--where", condition).errors.contains("for 2 entries"))
        #expect(try store.keys("B") == ["0"])
        #expect(try store.done("export", "A", "--where", condition).lines.count == 1)
        try store.done("expire", "A", "--where", condition, "--in", "1h", "--yes")
        #expect(try store.run("query", "A", "@expires is not null | count").text == "1\n")
        try store.done("rm", "A", "--where", condition, "--yes")
        #expect(try store.keys("A") == ["3", "2", "1"])
    }

    @Test("a condition on a key chooses one of two keys that differ in their bytes only")
    func choosesKeysByBytes() throws {
        for key in ["caf\u{e9}", "cafe\u{301}"] { try store.done("put", "A", key, input: "1") }
        try store.done("rm", "A", "--where", "@key = \"caf\u{e9}\"", "--yes")
        #expect(try store.keys("A").map { Array($0.utf8) } == [Array("cafe\u{301}".utf8)])
    }
}
