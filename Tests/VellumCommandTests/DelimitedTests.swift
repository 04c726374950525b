import Foundation
import TestSupport
import Testing

@Suite("CSV and TSV")
struct DelimitedTests {
    let store = TestStore()

    @Test func readsQuotesOfRFC4180() throws {
        try store.importing(
            "a.csv", "id,\"the, name\"\r\n1,\"say \"\"hi\"\"\r\n, you\"\r\n\r\n2,plain \"quotes\"\r\n3,\"\""
        ).expect(0)
        let expected = [
            "{\"id\":1,\"the, name\":\"say \\\"hi\\\"\\r\\n, you\"}",
            "{\"id\":2,\"the, name\":\"plain \\\"quotes\\\"\"}",
            "{\"id\":3,\"the, name\":\"\"}",
        ]
        #expect(try store.done("export", "A").lines == expected)
    }

    @Test func reportsLinesOfBadRows() throws {
        let result = try store.importing(
            "bad.csv", "id,v\n1,\"two\nlines\"\n2\n3,\"x\"y\n4,5,6\n,no key\n7,ok\n8,\"never closed\n")
        // The file ends within a row.
        #expect(result.status == 1)
        let said = result.errors.split(separator: "\n").filter { $0.hasPrefix("vellum: ") }
        #expect(said.compactMap { Int($0.split(separator: ":")[2]) } == [4, 5, 6, 7, 9])
        #expect(try store.keys("A") == ["7", "1"])
    }

    @Test func keyMustBeColumn() throws {
        try store.importing("other.csv", "a,b\n1,2\n").expect(2, errors: "a, b")
    }

    /// Regression: such an object was stored silently.
    @Test(
        "skips a row with an object that repeats a name",
        arguments: [("twice.csv", ","), ("twice.tsv", "\t")])
    func repeatedNamesInFieldAreBadRow(name: String, separator: String) throws {
        let objects = [#"{"x":1}"#, #"[{"x":1,"x":2}]"#, #"{"x":1,"x":2} and more"#]
        func field(_ text: String) -> String {
            separator == "," ? "\"\(text.replacing("\"", with: "\"\""))\"" : text
        }
        let rows = objects.enumerated().map { "\($0 + 1)\(separator)\(field($1))\n" }
        let content = "id\(separator)v\n" + rows.joined()
        try store.importing(name, content).expect(
            0, errors: "\(name):3: column \"v\": an object has the name \"x\" twice")
        #expect(try store.keys("A") == ["3", "1"])
        #expect(
            try JSON.object(store.done("get", "A", "3", "--json").text)["v"] as? String == objects[2],
            "invalid JSON was not stored as a text")
        #expect(try store.importing(name, content, "--text").status == 0)
        #expect(try JSON.object(store.done("get", "A", "2", "--json").text)["v"] as? String == objects[1])
        // Exported as a text, it is read as a text.
        let table = store.folder / "again.csv"
        try store.done("export", "A", table)
        try store.done("import", "B", table, "--key", "id")
        #expect(try JSON.object(store.done("get", "B", "2", "--json").text)["v"] as? String == objects[1])
    }

    @Test func typesFieldsWithoutLoss() throws {
        let fields = [
            ("42", "42"), ("-1.5", "-1.5"), ("007", "\"007\""), ("1.50", "1.5"), ("+1", "\"+1\""),
            ("1e5", "100000.0"), ("-0", "-0.0"), ("1.", "\"1.\""), ("1e", "\"1e\""), ("-", "\"-\""),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("true", "true"), ("False", "\"False\""), ("null", "null"), ("\"42\"", "\"42\""),
            ("\"null\"", "\"null\""),
            ("\"[1,{\"\"a\"\":2}]\"", "[1,{\"a\":2}]"), ("[x", "\"[x\""), (" 1", "\" 1\""),
            ("NaN", "\"NaN\""), ("\"\"\"quoted\"\"\"", "\"\\\"quoted\\\"\""), ("\"\"\"[1]\"\"\"", "\"[1]\""),
        ]
        for (field, json) in fields {
            #expect(try store.importing("typed.csv", "id,v\n1,\(field)\n").status == 0)
            #expect(
                try store.done("get", "A", "1", "--json").text == "{\"id\":1,\"v\":\(json)}\n", "\(field)")
        }
        #expect(try store.importing("none.csv", "id,v\n1,\n").status == 0)
        #expect(try store.done("get", "A", "1", "--json").text == "{\"id\":1}\n")
        #expect(try store.importing("text.csv", "id,v,w,x\n1,true,,[1]\n", "--text").status == 0)
        #expect(
            try store.done("get", "A", "1", "--json").text
                == "{\"id\":\"1\",\"v\":\"true\",\"w\":\"\",\"x\":\"[1]\"}\n")
    }

    /// Larger than a buffer, so that records cross its end.
    @Test func formatsAreEquivalent() throws {
        var values = RandomValues(seed: 7)
        let lines = (0..<60000).map { values.object(id: $0) }
        try store.done(
            "import", "N", try store.folder.file("all.ndjson", lines.joined(separator: "\n")), "--key", "id")
        try store.done(
            "import", "J", try store.folder.file("all.json", "[" + lines.joined(separator: ",\n") + "]"),
            "--key", "id")
        let csv = store.folder / "all.csv"
        try store.done("export", "N", csv)
        try store.done("import", "C", csv, "--key", "id")
        for name in ["all.ndjson", "all.json", "all.csv"] {
            let size = try FileManager.default.attributesOfItem(atPath: store.folder / name)[.size] as? Int
            #expect((size ?? 0) > 1 << 20)
        }
        let expected = try store.done("export", "N").output
        #expect(try store.done("export", "J").output == expected)
        #expect(try store.done("export", "C").output == expected)
        #expect(try store.archives()["N"]?["entries"] as? Int == 60000)
    }

    @Test func randomObjectsSurviveCSV() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var values = RandomValues(seed: seed)
        let lines = (0..<400).map { values.object(id: $0) }
        let after = try store.reimported(lines, by: "random.csv").lines
        let before = try store.done("export", "A").lines
        #expect(before.count == 400 && after.count == 400)
        for (one, two) in zip(before, after) where one != two {
            #expect(try JSON.equal(one, two), "seed \(seed): \(one) became \(two)")
        }
        #expect(try store.keys("A") == store.keys("B"))
    }
}

/// Random JSON objects whose values look like what CSV could mistake for something else.
struct RandomValues {
    private var random: SeededGenerator
    private static let pieces = [
        "\"", ",", "\n", "\r\n", "[", "]", "{", "}", "true", "null", "1", "-2.5", "007", " ", "\t", "é", "🎉",
        "\\", "a", "[1]", "\"[1]\"", "{\"a\":1}", "",
    ]

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func object(id: Int) -> String {
        var members = ["\"id\":\(id)"]
        for name in ["b", "c,\"d", "e"] where next(4) > 0 {
            members.append("\(quoted(name)):\(value(depth: 0))")
        }
        return "{" + members.joined(separator: ",") + "}"
    }

    private mutating func value(depth: Int) -> String {
        switch next(depth < 2 ? 8 : 6) {
        case 0: return "\(Int64.random(in: .min ... .max, using: &random))"
        case 1: return "\(Double(next(1000)) / 8)"
        case 2: return ["true", "false", "null"][next(3)]
        case 3...5: return quoted((0..<next(5)).map { _ in Self.pieces[next(Self.pieces.count)] }.joined())
        case 6: return "[" + (0..<next(4)).map { _ in value(depth: depth + 1) }.joined(separator: ",") + "]"
        default:
            return "{" + (0..<next(3)).map { "\"k\($0)\":\(value(depth: depth + 1))" }.joined(separator: ",")
                + "}"
        }
    }

    private func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    private mutating func next(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
}
