import ArchiveQuery
import Testing

@Suite("Completions") struct CompletionTests {
    private let properties = ["name", "population", "address.city", "address.zip", "odd name", "sort"]

    /// Completions at `‸`.
    private func complete(_ text: String) -> [QueryCompletion] {
        let parts = text.split(separator: "‸", maxSplits: 1, omittingEmptySubsequences: false)
        return QueryPipeline.completions(
            in: parts.joined(), at: parts[0].utf8.count, properties: properties)
    }

    private func words(_ text: String) -> [String] {
        complete(text).filter { $0.kind != .placeholder }.map(\.text)
    }

    @Test func stages() {
        let all = [
            "find", "sort", "limit", "skip", "select", "count", "sum", "avg", "min", "max", "median",
            "percentile", "group by", "distinct",
        ]
        #expect(words("‸") == all)
        #expect(words("find a = 1 | ‸") == all)
        #expect(words("s‸") == ["sort", "skip", "select", "sum"])
        #expect(words("S‸") == ["sort", "skip", "select", "sum"])
        #expect(words("count | di‸ | limit 2") == ["distinct"])
        // A bare condition is a stage too.
        #expect(words("pop‸") == ["population"])
        #expect(words("find a = 1 | na‸") == ["name"])
    }

    @Test func names() {
        let offered = words("find ‸")
        #expect(
            offered.starts(with: [
                "name", "population", "address.city", "address.zip", "\"odd name\"", "\"sort\"",
            ]))
        #expect(offered.contains("@idle") && offered.contains("not") && offered.contains("("))
        #expect(words("find p‸") == ["population"])
        #expect(words("find address.‸") == ["city", "zip"])
        #expect(words("find address.c‸") == ["city"])
        #expect(words("sort population desc, na‸") == ["name"])
        #expect(words("find @s‸") == ["@size"])
        #expect(complete("find po‸")[0].range == 5..<7)
    }

    @Test func operators() {
        let operators = words("find name ‸")
        for word in [
            "is", "in", "between", "contains", "icontains", "matches", "has", "not", "=", "<=", "starts",
            "ends", "like", "ilike", "+",
        ] {
            #expect(operators.contains(word), "\(word)")
        }
        #expect(words("find name i‸") == ["is", "icontains", "ilike", "in"])
        #expect(words("find name is ‸") == ["not", "empty", "null"])
        #expect(words("find a = 1 ‸") == ["and", "or", "|", "*", "/", "+", "-"])
        #expect(words("sort a ‸").contains("desc"))
        #expect(
            words("group by a ‸").starts(with: [
                "as", "count", "sum", "avg", "min", "max", "median", "percentile",
            ]))
        #expect(words("find a > ‸").starts(with: ["name", "population"]))
        #expect(words("FIND name STARTS ‸") == ["with"])
        #expect(words("count ‸").starts(with: ["distinct", "as"]))
    }

    @Test func values() {
        #expect(
            complete("find a = ‸").filter { $0.kind != .property && $0.kind != .metadata }.map(\.text) == [
                "true", "false", "null", "now", "today", "yesterday", "tomorrow", "a value",
            ])
        #expect(complete("limit ‸").map(\.text) == ["a whole number"])
        #expect(complete("limit ‸").map(\.kind) == [.placeholder])
        #expect(complete("find a contains ‸").map(\.text) == ["a text in \"…\""])
        #expect(complete("find a = \"x‸").isEmpty)
        #expect(complete("limit 1‸").isEmpty)
    }

    @Test func storedValues() {
        func complete(_ text: String) -> [String] {
            QueryPipeline.completions(in: text, at: text.utf8.count, properties: ["name"]) { property in
                switch "\(property)" {
                case "name": [.text("Oslo"), .text("a \"b\""), .integer(5)]
                case "done": [.boolean(true)]
                default: []
                }
            }.filter { $0.kind != .placeholder && $0.kind != .metadata && $0.kind != .property }.map(\.text)
        }
        #expect(complete("find name = ").prefix(3) == ["\"Oslo\"", "\"a \\\"b\\\"\"", "5"])
        #expect(complete("find name contains ") == ["\"Oslo\"", "\"a \\\"b\\\"\""])
        #expect(complete("find a = 1 and name in [\"O") == ["\"Oslo\""])
        #expect(complete("find name = \"os") == ["\"Oslo\""], "in either case")
        #expect(complete("find name = \"Oslo\" and other = ").contains("true") == false)
        #expect(complete("find done = ").contains("true") && !complete("find done = ").contains("false"))
    }

    @Test("any offset gives completions without a trap") func anyOffset() {
        for text in ["find é = \"漢\" | sort é", "", "find (((", "\"", "@"] {
            for offset in -1...text.utf8.count + 1 { _ = QueryPipeline.completions(in: text, at: offset) }
        }
    }
}
