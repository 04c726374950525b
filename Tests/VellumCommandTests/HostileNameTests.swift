import Foundation
import Testing

/// Keys and names that imitate something else.
@Suite("hostile names") struct HostileNameTests {
    private let store = TestStore()

    /// Regression: the hint was quoted by grapheme clusters, and ran a command in the archive's name.
    @Test func undoHintIsQuoted() throws {
        let name = "-x'\u{301};touch PWNED;#"
        try store.done("put", "--", name, "k", input: "1")
        let removed = try store.done("rm", "--yes", "--", name, "k")
        let hint = try #require(removed.errors.split(separator: "\n").first { $0.hasPrefix("to undo it: ") })
        let command = hint.dropFirst("to undo it: vellum ".count)
        #expect(try Vellum.shell("cd \"$1\" && \"$0\" \(command)", store.folder.path).status == 0)
        #expect(!FileManager.default.fileExists(atPath: store.folder / "PWNED"))
        #expect(try store.done("get", "--", name, "k").text == "1\n")
    }

    /// Regression: invalid bytes were replaced, so that `b\xff` and `b\xfe` were the same key.
    @Test func refusesArgumentsOfInvalidUTF8() throws {
        try store.done("put", "A", "b\u{fffd}", input: "1")
        for command in ["get A", "put A", "rm --yes A"] {
            let script = "echo 2 | \"$0\" \(command) \"$(printf 'b\\377')\" --store \"$1\""
            try Vellum.shell(script, store.path).expect(2, errors: "isn't UTF-8")
        }
        #expect(try store.done("get", "A", "b\u{fffd}").text == "1\n")
    }

    @Test func escapesLineEndsInKeys() throws {
        let key = "a\n\u{1b}[31mforged\t1\u{2028}"
        try store.done("put", "A", key, input: "1")
        let lines = try store.done("keys", "A").text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 2 && lines[0].hasPrefix(#"a\n\e[31mforged\t1\u{2028}"# + "\t"))
        #expect(try store.keys("A") == [key], "JSON changed the key")
        let missing = try store.run("get", "A", "x\nvellum: all is well")
        #expect(missing.errors.split(separator: "\n").count == 1)
    }

    /// Regression: they counted as one repeated property, and their object was left out.
    @Test func keepsPropertiesThatLookAlike() throws {
        try store.done("put", "A", "k", input: "{\"caf\u{e9}\":1,\"cafe\u{301}\":2}")
        let csv = try store.done("export", "A", "--format", "csv").text
        #expect(Array(csv.utf8) == Array("caf\u{e9},cafe\u{301}\n1,2\n".utf8))
    }

    @Test func checkReportsInvalidFolders() throws {
        try store.done("put", "A", "k", input: "1")
        try FileManager.default.copyItem(
            atPath: store.path + "/A.archive", toPath: store.path + "/x%0aB: clean, 9 entries.archive")
        let check = try store.run("check").expect(1)
        #expect(check.lines.count == 3 && check.lines[0].hasPrefix("A: clean"))
        let list = try store.run("ls")
        #expect(list.status == 3 && list.lines.count == 1 && list.errors.contains("%0aB"))
    }
}
