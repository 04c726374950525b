import CBOR
import Foundation
import StorageEngine
import Testing

/// Values that are easily confused, in pipes and on terminals.
@Suite("rows of queries as text")
struct QueryTextTests {
    let store = TestStore()

    @Test func distinguishesNullAndEmptyText() throws {
        let lines = [
            #"{"id":"a","t":"","n":null}"#, #"{"id":"b","t":"null","n":0}"#, #"{"id":"c","t":" ","n":false}"#,
        ]
        try store.done("import", "A", "-", "--key", "id", input: lines.joined(separator: "\n"))
        let query = "sort id | select id, t, n, missing"
        #expect(try store.done("query", "A", query).text == "a\t\"\"\t\t\nb\tnull\t0\t\nc\t \tfalse\t\n")
        // An aggregate without values is null, too.
        #expect(try store.done("query", "A", "max t, max missing, count").text == "null\t\t3\n")
        #expect(try store.done("query", "A", "group by n | max t").lines.contains { $0 == "\t\"\"" })
        let table = try store.done("query", "A", "sort id | select n, t, id", "--format", "table").lines
        #expect(table[1].split(separator: " ") == ["-", "a"], "\(table)")
    }

    private static let allEnds = "tab\tfeed\nreturn\rlines\u{2028}\u{85}escape\u{1b}"

    @Test func escapesTabsAndLineEnds() throws {
        let text = #"tab\tfeed\nreturn\rlines\u2028\u0085escape\u001b"#
        try store.done("import", "A", "-", "--key", "id", input: #"{"id":"k","t":"\#(text)","n":1}"#)
        let spelled = #"tab\tfeed\nreturn\rlines\u{2028}\u{85}escape\e"#
        for query in ["select t, n", "group by t | count", "sort t | select t, n"] {
            #expect(try store.done("query", "A", query).text == "\(spelled)\t1\n", "\(query)")
        }
        #expect(try store.done("query", "A", "distinct t").text == spelled + "\n")
        let json = try JSON.object(try store.done("query", "A", "select t", "--json").text)
        #expect(json["t"] as? String == Self.allEnds)
    }

    @Test func valueColumnIsJSON() throws {
        let object = try JSONSerialization.data(withJSONObject: ["id": "k", "t": Self.allEnds])
        try store.done("import", "A", "-", "--key", "id", input: String(decoding: object, as: UTF8.self))
        let text = try store.done("query", "A").text
        #expect(text.unicodeScalars.count { $0.value < 0x20 || $0.value == 0x2028 } == 2, "\(text)")
        let columns = text.dropLast().split(separator: "\t")
        #expect(columns.count == 2 && columns[0] == "k", "\(text)")
        #expect(try JSON.object(String(try #require(columns.last)))["t"] as? String == Self.allEnds)
    }

    private func heads(_ line: String?) -> [String] {
        (line ?? "").components(separatedBy: "  ").map { $0.trimmingCharacters(in: .whitespaces) }.filter {
            !$0.isEmpty
        }
    }

    /// Regression: a table in a pipe or a file silently had 16 properties of 40.
    @Test func reportsOmittedColumns() throws {
        let names = (0..<40).map { "property\($0)" }
        // Only the last one has this property.
        let lines = (0..<200).map { number in
            let members = names.map { #""\#($0)":\#(number)"# } + (number == 199 ? ["\"late\":1"] : [])
            return #"{"id":"k\#(number)",\#(members.joined(separator: ","))}"#
        }
        try store.done("import", "W", "-", "--key", "id", input: lines.joined(separator: "\n"))
        let all = (["key", "id"] + names + ["late"]).map { $0.uppercased() }
        let piped = try store.done("query", "W", "sort property0", "--format", "table")
        #expect(heads(piped.lines.first).sorted() == all.sorted() && piped.lines.count == 201)
        #expect(piped.errors.isEmpty, "\(piped.errors)")
        let file = store.folder / "table.txt"
        try store.done("query", "W", "sort property0", "--format", "table", "--output", file)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == piped.text)
        let (status, text) = try PseudoTerminal.run(
            "query W 'sort property0' --store '\(store.path)'", columns: 80)
        let shown = heads(text.split(whereSeparator: \.isNewline).first.map(String.init))
        #expect(status == 0 && shown.first == "KEY" && shown.count < 17, "\(shown)")
        #expect(text.contains("left out \(all.count - shown.count) columns that did not fit: "), "\(text)")
    }

    @Test func distinguishesColumnTitles() throws {
        let object = #"{"id":"k","key":1,"Name":2,"name":3}"#
        try store.done("import", "A", "-", "--key", "id", input: object)
        let table = try store.done("query", "A", "--format", "table")
        #expect(heads(table.lines.first) == ["key", "id", "key 2", "Name", "name"])
        #expect(heads(table.lines.last) == ["k", "k", "1", "2", "3"])
        let capitals = try store.done("query", "A", "select key, name", "--format", "table")
        #expect(heads(capitals.lines.first) == ["KEY", "NAME"])
    }

    /// JSON has no such numbers, and words for them in CSV would make the column text when imported.
    @Test func printsInfiniteNumbers() throws {
        let opened = try Store.open(at: store.path)
        let archive = try opened.collection("N")
        for (key, number) in [("a", Double.infinity), ("b", -.infinity), ("c", .nan), ("d", 1.5)] {
            try archive.put(CBORValue.map([.text("n"): .float(number)]).encoded, forKey: key, encoding: .cbor)
        }
        try archive.put(CBORValue.map([.text("m"): 1]).encoded, forKey: "e", encoding: .cbor)
        opened.close()
        let groups = "group by n | count"
        #expect(
            try Set(store.done("query", "N", groups).lines) == [
                "-inf\t1", "1.5\t1", "inf\t1", "nan\t1", "\t1",
            ])
        let table = try store.done("query", "N", groups, "--format", "table").lines.dropFirst()
        #expect(Set(table.compactMap { heads($0).first }) == ["-inf", "1.5", "inf", "nan", "-"])
        let csv = try store.done("query", "N", groups, "--csv").lines
        #expect(Set(csv) == ["n,count", "null,1", "1.5,1", ",1"] && csv.count { $0 == "null,1" } == 3)
        let json = try store.done("query", "N", groups, "--json").lines.map(JSON.object)
        #expect(json.count { $0["n"] is NSNull } == 4)
        #expect(try store.done("query", "N", "find n > 2 | select @key, n").text == "a\tinf\n")
        #expect(try store.done("query", "N", #"find @key = "a""#).text == "a\t{\"n\":null}\n")
    }

    @Test func printsValuesOtherThanObjects() throws {
        let values = [
            ("empty", "\"\""), ("flag", "true"), ("list", "[1,\"a\\tb\"]"), ("nothing", "null"),
            ("number", "5"), ("text", "\"a\\tb\""),
        ]
        for (key, value) in values { try store.done("put", "A", key, input: value) }
        #expect(try store.done("query", "A", "sort @key").lines == values.map { "\($0.0)\t\($0.1)" })
        let shown = [
            ["KEY", "VALUE"], ["empty"], ["flag", "true"], ["list", "[1,\"a\\tb\"]"], ["nothing", "-"],
            ["number", "5"], ["text", "a\\tb"],
        ]
        let (status, text) = try PseudoTerminal.run("query A 'sort @key' --store '\(store.path)'")
        let table = text.replacing("\r\n", with: "\n").split(separator: "\n")
        #expect(status == 0 && table.map { $0.split(separator: " ").map(String.init) } == shown, "\(text)")
        // The same outside a terminal with --format table.
        #expect(
            try store.done("query", "A", "sort @key", "--format", "table").lines == table.map(String.init))
        // Among objects they have a separate column.
        try store.done("put", "A", "object", input: "{\"n\":7}")
        #expect(try store.done("query", "A", "sort @key").lines.contains("object\t{\"n\":7}"))
        let (_, mixed) = try PseudoTerminal.run("query A 'sort @key' --store '\(store.path)'")
        #expect(mixed.contains("5") && mixed.contains("7") && mixed.contains("a\\tb"), "\(mixed)")
    }
}
