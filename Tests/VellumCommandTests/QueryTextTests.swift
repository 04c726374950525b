import Foundation
import Testing

/// What a pipe and a terminal get of values that are easily taken for others.
@Suite("Rows of queries as text")
struct QueryTextTests {
    let store: TestStore

    init() throws { store = try TestStore() }

    /// What broke: an empty text, null and a property that isn't there were all nothing.
    @Test func nullAndAnEmptyTextDiffer() throws {
        let lines = [
            #"{"id":"a","t":"","n":null}"#, #"{"id":"b","t":"null","n":0}"#, #"{"id":"c","t":" ","n":false}"#,
        ]
        try store.done("import", "A", "-", "--key", "id", input: lines.joined(separator: "\n"))
        let query = "sort id | select id, t, n, missing"
        #expect(
            try store.done("query", "A", query).text == "a\t\"\"\t\t\nb\tnull\t0\t\nc\t \tfalse\t\n")
        // A figure that nothing had a value for is null too.
        #expect(try store.done("query", "A", "max t, max missing, count").text == "null\t\t3\n")
        #expect(
            try store.done("query", "A", "group by n | max t").lines.contains { $0 == "\t\"\"" })
        let table = try store.done("query", "A", "sort id | select n, t, id", "--format", "table").lines
        #expect(table[1].split(separator: " ") == ["-", "a"], "\(table)")
    }

    private static let allEnds = "tab\tfeed\nreturn\rlines\u{2028}\u{85}escape\u{1b}"

    @Test func tabsAndLineEndsMakeNoColumnsAndRows() throws {
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

    /// Whoever takes the second column of a whole entry for JSON can read it.
    @Test func theValueOfAnEntryIsJSONWhateverIsInIt() throws {
        let object = try JSONSerialization.data(withJSONObject: ["id": "k", "t": Self.allEnds])
        try store.done("import", "A", "-", "--key", "id", input: String(decoding: object, as: UTF8.self))
        let text = try store.done("query", "A").text
        #expect(text.unicodeScalars.count { $0.value < 0x20 || $0.value == 0x2028 } == 2, "\(text)")
        let columns = text.dropLast().split(separator: "\t")
        #expect(columns.count == 2 && columns[0] == "k", "\(text)")
        #expect(try JSON.object(String(try #require(columns.last)))["t"] as? String == Self.allEnds)
    }

    /// What broke: of values that are no objects the keys alone were shown.
    @Test func valuesThatAreNoObjectsAreShown() throws {
        let values = [
            ("empty", "\"\""), ("flag", "true"), ("list", "[1,\"a\\tb\"]"), ("nothing", "null"),
            ("number", "5"),
            ("text", "\"a\\tb\""),
        ]
        for (key, value) in values { try store.done("put", "A", key, input: value) }
        #expect(
            try store.done("query", "A", "sort @key").lines == values.map { "\($0.0)\t\($0.1)" })
        let shown = [
            ["KEY", "VALUE"], ["empty"], ["flag", "true"], ["list", "[1,\"a\\tb\"]"], ["nothing", "-"],
            ["number", "5"], ["text", "a\\tb"],
        ]
        let (status, text) = try PseudoTerminal.run("query A 'sort @key' --store '\(store.path)'")
        let table = text.replacing("\r\n", with: "\n").split(separator: "\n")
        #expect(status == 0 && table.map { $0.split(separator: " ").map(String.init) } == shown, "\(text)")
        // The same from something else than a terminal that asks for it.
        #expect(
            try store.done("query", "A", "sort @key", "--format", "table").lines == table.map(String.init))
        // Among objects they have a column of their own.
        try store.done("put", "A", "object", input: "{\"n\":7}")
        #expect(try store.done("query", "A", "sort @key").lines.contains("object\t{\"n\":7}"))
        let (_, mixed) = try PseudoTerminal.run("query A 'sort @key' --store '\(store.path)'")
        #expect(mixed.contains("5") && mixed.contains("7") && mixed.contains("a\\tb"), "\(mixed)")
    }
}
