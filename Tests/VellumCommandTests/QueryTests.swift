import Foundation
import Testing

@Suite("queries of the cities")
struct QueryTests {
    let store: TestStore

    init() throws {
        store = TestStore()
        try store.done("import", "City", Vellum.cities, "--key", "geonameid")
    }

    private func lines(_ query: String, _ options: String...) throws -> [String] {
        let result = try Vellum.run(["--store", store.path, "query", "City", query] + options)
        #expect(result.status == 0 && result.errors.isEmpty, "\(query): \(result.errors)")
        return result.lines
    }

    @Test func findsLargestCities() throws {
        let query = #"find countrycode = "ID" | sort population desc | limit 10"#
        let names = [
            "Jakarta", "Surabaya", "Bekasi", "Bandung", "Medan", "Depok", "Tangerang", "Palembang",
            "Semarang", "Makassar",
        ]
        #expect(try lines(query + " | select name") == names)
        let objects = try lines(query, "--json").map(JSON.object)
        #expect(objects.map { ($0["value"] as? [String: Any])?["name"] as? String } == names)
        #expect(objects.allSatisfy { Set($0.keys) == ["key", "value"] })
        let rows = try lines(query).map { $0.split(separator: "\t") }
        #expect(try rows.map { try JSON.object(String($0[1]))["name"] as? String } == names)
        #expect(rows.map { String($0[0]) } == objects.map { $0["key"] as? String })
    }

    @Test func findsAlternateNames() throws {
        let found = try lines(
            #"find alternatenames has any ["Batavia", "Maskva", "Kioto"] | sort name | select name"#)
        #expect(found == ["Jakarta", "Kyoto", "Moscow"])
    }

    @Test func aggregatesAreExact() throws {
        var sums: [String: Int] = [:]
        for line in try String(contentsOfFile: Vellum.cities, encoding: .utf8).split(separator: "\n") {
            let city = try JSON.object(String(line))
            sums[try #require(city["countrycode"] as? String), default: 0] += try #require(
                city["population"] as? Int)
        }
        let objects = try lines("group by countrycode | sum population", "--json").map(JSON.object)
        #expect(objects.map { $0["countrycode"] as? String } == sums.keys.sorted())
        #expect(objects.map { $0["sum"] as? Int } == sums.sorted { $0.key < $1.key }.map(\.value))
        for query in ["sum population by countrycode", "sum population | group by countrycode"] {
            #expect(try lines(query, "--json") == lines("group by countrycode | sum population", "--json"))
        }
        #expect(try lines("count", "--json") == [#"{"count":6204}"#])
        #expect(try lines("sum population", "--json") == ["{\"sum\":\(sums.values.reduce(0, +))}"])
    }

    @Test func selectsProperties() throws {
        let query = #"find @key = "1642911" | select name, missing, alternatenames[0], @key"#
        let object = try JSON.object(try #require(lines(query, "--json").first))
        #expect(
            object["name"] as? String == "Jakarta" && object["missing"] is NSNull
                && object["@key"] as? String == "1642911")
        #expect(object.count == 4)
        #expect(try lines(query, "--csv")[0] == "name,missing,alternatenames[0],@key")
        #expect(try lines("limit 3", "--csv").count == 4)
        #expect(try lines("limit 3", "--csv")[0].hasPrefix("key,geonameid,name,"))
    }

    /// Each format of the same rows, to standard output and to a file; the query is read from a file.
    @Test func writesFormats() throws {
        let folder = TemporaryFolder()
        let query =
            #"find countrycode = "ID" | sort population desc | limit 2 | select name, population, timezone"#
        try Data("\u{feff}\(query)\n".utf8).write(to: URL(fileURLWithPath: folder / "largest.query"))
        let cells = [["Jakarta", "8540121", "Asia/Jakarta"], ["Surabaya", "3018022", "Asia/Jakarta"]]
        let delimited = { (separator: String) in
            ([["name", "population", "timezone"]] + cells).map { $0.joined(separator: separator) }
        }
        let objects = cells.map { #"{"name":"\#($0[0])","population":\#($0[1]),"timezone":"\#($0[2])"}"# }
        let expected: [(format: String, lines: [String])] = [
            ("ndjson", objects), ("json", ["[", objects[0] + ",", objects[1], "]"]), ("csv", delimited(",")),
            ("tsv", delimited("\t")),
        ]
        for (format, lines) in expected {
            let printed = try Vellum.run(["query", "City", query, "--format", format, "-s", store.path])
            #expect(
                printed.status == 0 && printed.errors.isEmpty && printed.lines == lines,
                "\(format): \(printed)")
            let path = folder / "rows.\(format)"
            let written = try store.run("query", "City", "--file", folder / "largest.query", "--output", path)
            #expect(written.status == 0 && written.text.isEmpty, "\(format): \(written)")
            #expect(try String(contentsOfFile: path, encoding: .utf8) == lines.joined(separator: "\n") + "\n")
        }
        let none = try store.run("query", "City", "find population > 99999999", "--format", "json")
        #expect(none.text == "[]\n")
        let table = try lines(query, "--format", "table")
        #expect(
            table.first?.split(separator: " ").map { $0.lowercased() } == ["name", "population", "timezone"])
        let piped = try store.run("query", "City", "--file", "-", "--format", "csv", input: query)
        #expect(piped.status == 0 && piped.lines == delimited(","))
    }

    @Test func noMatchExitsWith1() throws {
        let result = try store.run("query", "City", "find population > 99999999")
        #expect(result.status == 1 && result.output.isEmpty && result.errors.isEmpty)
        #expect(try store.run("query", "Village", "count").status == 1)
    }

    @Test func marksErrors() throws {
        let result = try store.run("query", "City", "find é = \"漢\" | limit x")
        #expect(result.status == 2 && result.output.isEmpty)
        let lines = result.errors.split(separator: "\n").map(String.init)
        #expect(
            lines == [
                "vellum: syntax error at character 22: found \"x\", expected a whole number",
                "  find é = \"漢\" | limit x",
                // The wide character takes two columns.
                "                        ^",
            ])
        try store.run("query", "City", "find | sort").expect(2, errors: "character 6", "character 12")
        #expect(try store.run("query", "City", "find name matches \"(\"").status == 2)
        #expect(try store.run("query", "City", "count", "--csv", "--json").status == 2)
    }

    @Test func explainsQueries() throws {
        let query =
            #"find countrycode = "ID" and population > 1000000 | sort population desc, name | limit 10"#
        let text = try lines(query, "--explain").joined(separator: "\n")
        for part in [
            "in storage order", "scanned     6,204 entries; read 6,204 values",
            "10 rows in ", "(reading entries and processing rows)",
        ] {
            #expect(text.contains(part), "\(part)")
        }
        #expect(!text.contains("expired"))
        let object = try JSON.object(try #require(lines(query, "--explain", "--json").first))
        #expect(
            object["order"] as? String == "storage" && object["visited"] as? Int == 6204
                && object["rows"] as? Int == 10)
        #expect((object["stages"] as? [[String: Any]])?.map { $0["rowsOut"] as? Int } == [16, 10, 10])
        let byKey = try JSON.object(
            try #require(lines(#"find @key = "1642911""#, "--explain", "--json").first))
        #expect(byKey["order"] as? String == "keys" && byKey["visited"] as? Int == 1)
    }

    @Test func queriesCountNoAccess() throws {
        let before = try store.done("keys", "City", "--json").text
        let counters = try store.done("ls", "--json").text
        _ = try lines("find population > 0 | sort name")
        #expect(try store.done("keys", "City", "--json").text == before)
        #expect(try store.done("ls", "--json").text == counters)
    }

    @Test func refusesLogs() throws {
        try store.done("append", "Lines", "--disk", "64KiB", input: "one\n")
        try store.run("query", "Lines", "count").expect(2, errors: "vellum tail")
    }

    @Test func runsExamplesOfManual() throws {
        let page = try String(
            contentsOf: Vellum.root.appendingPathComponent("Assets/manual/QueryLanguage.md"), encoding: .utf8)
        let block = try #require(
            page.components(separatedBy: "```query\n").dropFirst().first?.components(separatedBy: "```").first
        )
        let queries = block.split(separator: "\n").map(String.init)
        #expect(queries.count >= 5)
        for query in queries { #expect(try !lines(query).isEmpty, "\(query)") }
    }
}
