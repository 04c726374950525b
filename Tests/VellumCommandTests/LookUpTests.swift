import Foundation
import Testing

@Suite("exists, ttl, touch, and texts")
struct LookUpTests {
    let store: TestStore

    init() throws {
        store = TestStore()
        for key in ["a", "b"] { try store.done("put", "A", key, input: "[1]") }
    }

    @Test func existsSetsExitCode() throws {
        let there = try store.done("exists", "A", "a", "b")
        #expect(there.output.isEmpty && there.errors.isEmpty)
        let missing = try store.run("exists", "A", "a", "c")
        #expect(missing.status == 1 && missing.errors == "vellum: no entry \"c\"\n")
        #expect(try store.run("exists", "None", "a").status == 1)
        #expect(try Vellum.run(["exists", "A", "a", "--store", store.folder / "none"]).status == 3)
    }

    @Test func printsTTL() throws {
        #expect(try store.done("ttl", "A", "a").text == "never\n")
        #expect(
            try store.done("ttl", "A", "a", "--json").text
                == "{\"key\":\"a\",\"ttl\":null,\"expires\":null}\n")
        try store.done("touch", "A", "a", "--in", "1h")
        let left = try #require(Double(store.done("ttl", "A", "a").text.dropLast()))
        #expect(left > 3500 && left <= 3600)
        #expect(try store.run("ttl", "A", "none").status == 1)
    }

    @Test func touchCountsAsAccess() throws {
        #expect(try store.keys("A") == ["b", "a"])
        try store.done("touch", "A", "a")
        #expect(try store.keys("A") == ["a", "b"])
        #expect(try store.archives()["A"]?["hits"] as? Int == 1)
        let missing = try store.run("touch", "A", "none", "b")
        #expect(missing.status == 1 && missing.errors == "vellum: no entry \"none\"\n")
        #expect(try store.keys("A") == ["b", "a"])
        #expect(try store.archives()["A"]?["misses"] as? Int == 1)
    }

    @Test func storesTextsAndBytesUnchanged() throws {
        try store.done("put", "A", "t", "--text", input: "  [1,\n")
        #expect(try store.done("get", "A", "t", "--raw").text == "  [1,\n")
        #expect(try store.done("get", "A", "t", "--text").text == "  [1,\n")
        try store.done("put", "A", "s", input: "\"a\\nb\"")
        #expect(try store.done("get", "A", "s", "--text").text == "a\nb")
        #expect(try store.run("get", "A", "a", "--text").status == 1)
        let bytes = store.folder / "bytes"
        try Data([0xff, 0, 1]).write(to: URL(fileURLWithPath: bytes))
        #expect(try store.run("put", "A", "r", bytes, "--text").status == 1)
        try store.done("put", "A", "r", bytes, "--raw")
        #expect(try store.done("get", "A", "r", "--raw").output == Data([0xff, 0, 1]))
        #expect(try store.run("put", "A", "r", bytes, "--raw", "--text").status == 2)
    }

    @Test func matchesPatterns() throws {
        for key in ["user:1", "user:22", "é1", "*"] { try store.done("put", "A", key, input: "1") }
        func keys(_ pattern: String) throws -> [String] {
            try store.run("keys", "A", "--match", pattern, "--order", "key").lines.map {
                String($0.prefix { $0 != "\t" })
            }
        }
        #expect(try keys("user:*") == ["user:1", "user:22"])
        #expect(try keys("user:?") == ["user:1"])
        #expect(try keys("?1") == ["é1"])
        #expect(try keys("[ab]") == ["a", "b"])
        #expect(try keys("\\*") == ["*"])
        #expect(try store.run("keys", "A", "--match", "none*").status == 1)
    }

    // MARK: Words with a dash, and mistyped ones

    @Test func explainsKeysWithDashes() throws {
        let help = try store.done("get", "A", "-h")
        #expect(help.text.contains("USAGE") && help.errors.contains("after --, as in: vellum get City -- -h"))
        #expect(try store.done("get", "--help").errors.isEmpty)
        try store.run("get", "A", "-x").expect(2, errors: "vellum get City -- -x")
        try store.done("put", "A", "--", "--all", input: "1")
        try store.run("keys", "A", "--limit", "-1").expect(
            2, errors: "attach the value of --limit: --limit=-1")
        let missing = try store.run("keys", "A", "--limit", "--json")
        #expect(missing.status == 2 && !missing.errors.contains("attached"))
        let mistyped = try store.run("keys", "A", "--reverse", "--limt", "3")
        #expect(mistyped.errors.contains("'--limit'") && !mistyped.errors.contains("vellum get City"))
        try Vellum.run(["help", "gte"]).expect(2, errors: "vellum help get")
        try Vellum.run(["help", "get"]).expect(0)
        try store.run("rm", "A", "--all", "--yes").expect(2, errors: "rm --yes -- A --all")
        #expect(try store.keys("A") == ["--all", "b", "a"])
        try store.done("rm", "A", "--yes", "--", "--all")
        // Beside a condition or before the dashes, an option can't be a key.
        try store.done("put", "A", "--", "--yes", input: "1")
        #expect(try store.run("rm", "A", "b", "--yes").status == 2)
        try store.done("rm", "A", "--where", "@key = \"b\"", "--yes")
        try store.done("rm", "A", "--yes", "--", "a")
        #expect(try store.keys("A") == ["--yes"])
        try store.done("rm", "A", "--all", "--yes")
    }

    @Test func suggestsNames() throws {
        try store.done("put", "City", "bogor", input: "1")
        #expect(try store.run("gte", "City", "bogor").errors.contains("did you mean: vellum get"))
        #expect(try store.run("get", "Ctiy", "bogor").errors.contains("did you mean \"City\"?"))
        #expect(try store.run("get", "City", "bogro").errors.contains("did you mean \"bogor\"?"))
        #expect(try store.done("put", "Citys", "k", input: "1").errors.contains("there is also \"City\""))
        #expect(!(try store.run("get", "Elsewhere", "x").errors.contains("did you mean")))
    }
}
