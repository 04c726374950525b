import CBOR
import Foundation
import StorageEngine
import Testing

/// Queries that print CSV.
@Suite struct CSVQueryTests {
    private let store = TestStore()

    @Test func entriesHaveAllPropertiesAsColumns() throws {
        let lines = #"{"id":"b","x":1}"# + "\n" + #"{"id":"a","y":"1, \"2\"","z":[1]}"#
        try store.done("import", "Thing", "-", "--format", "ndjson", "--key", "id", input: lines)
        try store.done("put", "Thing", "c", input: "[7]")
        let text = try store.done("query", "Thing", "sort @key", "--csv").text
        #expect(
            text == """
                key,id,x,y,z,value
                a,a,,"1, ""2\""","[1]",
                b,b,1,,,
                c,,,,,"[7]"

                """)
        #expect(
            try store.done("query", "Thing", "sort @key | select x, id", "--csv").text == "x,id\n,a\n1,b\n,\n"
        )
        #expect(try store.run("query", "Thing", "find x = 2", "--csv").output.isEmpty)
    }

    @Test("names that differ only in their bytes are two columns in CSV and tables")
    func tableHasColumnsOfCSV() throws {
        try store.done("put", "A", "nfc", input: "{\"\u{e9}\":7}")
        try store.done("put", "A", "nfd", input: "{\"e\u{301}\":5}")
        try store.done("put", "A", "both", input: "{\"\u{e9}\":1,\"e\u{301}\":2}")
        let table = try store.done("query", "A", "sort @key", "--format", "table").lines
            .dropFirst().map { $0.split(separator: " ") }
        #expect(table == [["both", "1", "2"], ["nfc", "7", "-"], ["nfd", "-", "5"]])
        let csv = try store.done("query", "A", "sort @key", "--csv").lines.dropFirst()
        #expect(csv == ["both,1,2", "nfc,7,", "nfd,,5"])
    }

    /// Regression: two columns were called `key`, and readers by name confused the property with the entry's key.
    @Test(arguments: [("csv", ","), ("tsv", "\t")]) func columnNamesAreUnique(
        format: String, separator: String
    ) throws {
        let objects = #"{"id":"a","key":7,"value":1,"key 2":2}"#
        try store.done("import", "Thing", "-", "--format", "ndjson", "--key", "id", input: objects)
        try store.done("put", "Thing", "b", input: "true")
        let lines = try store.done("query", "Thing", "sort @key", "--format", format).lines
        #expect(
            lines.map { $0.components(separatedBy: separator) } == [
                ["key", "id", "key 2", "value", "key 2 2", "value 2"], ["a", "a", "7", "1", "2", ""],
                ["b", "", "", "", "", "true"],
            ])
    }

    /// Spreadsheets evaluate texts that look like formulas.
    @Test("--spreadsheet escapes formulas") func escapesFormulas() throws {
        let risky = ["=1+1", "+1", "-1", "@A1", "\ttab", "＝1"]
        let harmless = ["a=1", "'=1", " =1", "1", "é"]
        var lines = Data()
        for (number, text) in (risky + harmless).enumerated() {
            let object: [String: Any] = ["=t": text, "n": -number, "id": "\(number)"]
            lines +=
                try JSONSerialization.data(withJSONObject: object, options: .sortedKeys) + Data("\n".utf8)
        }
        try store.done(
            "import", "Thing", "-", "--format", "ndjson", "--key", "id",
            input: String(decoding: lines, as: UTF8.self))
        /// Texts that look like numbers or begin with a blank are quoted.
        func table(_ header: String, _ texts: [String]) -> [String] {
            [header]
                + texts.enumerated().map { number, text in
                    let field = ["-1", "1", " =1"].contains(text) ? "\"\(text)\"" : text
                    return "\(field),\(-number)"
                }
        }
        let plain = table("=t,n", risky + harmless)
        let guarded = table("'=t,n", risky.map { "'" + $0 } + harmless)
        let query = "sort n desc | select \"=t\", n"
        #expect(try store.done("query", "Thing", query, "--csv").lines == plain)
        #expect(try store.done("query", "Thing", query, "--csv", "--spreadsheet").lines == guarded)
        // The second of three columns has the identifiers, numbers as texts.
        func withoutIdentifiers(_ lines: [String]) -> [String] {
            lines.map { line in
                var fields = line.split(separator: ",").map(String.init)
                fields.remove(at: 1)
                return fields.joined(separator: ",")
            }
        }
        #expect(try withoutIdentifiers(store.done("export", "Thing", "--format", "csv").lines) == plain)
        let file = store.folder / "out.csv"
        try store.done("export", "Thing", file, "--spreadsheet")
        let exported = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(
            String.init)
        #expect(withoutIdentifiers(exported) == guarded)
        #expect(try store.run("query", "Thing", "--spreadsheet").status == 2)
        #expect(try store.run("export", "Thing", "--spreadsheet").status == 2)
    }

    @Test("entries beyond --memory use temporary files until all names are known")
    func entriesBeyondMemoryUseFiles() throws {
        let opened = try Store.open(at: store.path)
        let archive = try opened.collection("Large")
        let content = String(repeating: "7", count: 60_000)
        for number in 0..<17 {
            let name = number == 0 ? "last" : "id"
            let value = CBORValue.map([.text(name): 1, "content": .text(content)]).encoded
            try archive.put(value, forKey: "large \(number)", encoding: .cbor)
        }
        opened.close()
        let roomy = try store.done("query", "Large", "--csv")
        #expect(roomy.lines.count == 18 && roomy.lines[0] == "key,last,id,content")
        #expect(try store.done("query", "Large", "--csv", "--memory", "100KB").text == roomy.text)
        let result = try store.run(
            "query", "Large", "sort content", "--csv", "--memory", "100KB", "--temp", "300KB")
        #expect(result.status == 3 && result.output.isEmpty)
        #expect(
            result.errors.contains("its limit of 300000 bytes of temporary files")
                && result.errors.contains("--temp"))
        #expect(
            try store.run("query", "Large", "count distinct content as n, median n", "--memory", "1KB").status
                == 3)
        // A query that names its columns needs no temporary file.
        let lines = try store.done("query", "Large", "select id | sort @key", "--csv").lines
        #expect(lines == ["id"] + Array(repeating: "1", count: 16))
    }

    @Test func suggestsProperties() throws {
        _ = try store.done(
            "import", "City", "-", "--format", "ndjson", "--key", "id",
            input: #"{"id":"a","population":3}"# + "\n")
        let result = try store.run("query", "City", "sum popluation")
        #expect(result.status == 0 && result.text == "0\n")
        #expect(result.errors.contains("no entry has the property popluation; did you mean population?"))
        #expect(
            try store.done("query", "City", "--json", "select population * 2 as twice").text
                == "{\"twice\":6}\n")
    }
}
