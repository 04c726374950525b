import Foundation
import Testing

@Suite("import")
struct ImportTests {
    let store = TestStore()

    /// The numbers of the reported lines.
    private func badLines(_ result: Vellum.Result) -> [Int] {
        result.errors.split(separator: "\n").filter { $0.hasPrefix("vellum: ") }.compactMap { line in
            line.split(separator: ":").dropFirst(2).first.flatMap { Int($0) }
        }
    }

    @Test func reportsBadLines() throws {
        let result = try store.importing(
            "bad.ndjson",
            """
            {"id":1}
            {"id":2
            {"id":"three"}

            [1,2]
            {"name":"no key"}
            {"id":4.5}
            {"id":null}
            {"id":""}
            {"id":5} {"id":6}
            {"id":7,"s":"\u{1}"}
            {"id":-8}
            """)
        #expect(result.status == 0)
        #expect(badLines(result) == [2, 5, 6, 7, 8, 9, 11])
        #expect(result.errors.contains("bad.ndjson:6: there is no property \"id\"\n"))
        #expect(result.errors.contains("; 7 records skipped\n"))
        #expect(try store.keys("A") == ["-8", "6", "5", "three", "1"])
    }

    @Test func shortensMessages() throws {
        let name = String(repeating: "é", count: 1_000_000)
        let result = try store.importing("long.csv", "\(name),\(name)\n1,2\n").expect(
            2, errors: "has no column \"id\"")
        #expect(result.errors.hasSuffix(" bytes more)\n"))
        #expect(result.errors.utf8.count < 5_000)
    }

    @Test func strictStopsAtFirstBadLine() throws {
        let result = try store.importing("bad.ndjson", "{\"id\":1}\n{\"id\":2}\nx\n{\"id\":3}\n", "--strict")
        #expect(result.status == 1)
        #expect(badLines(result) == [3])
        #expect(try store.keys("A") == ["2", "1"])
    }

    @Test func onlyBadLinesFail() throws {
        #expect(try store.importing("bad.ndjson", "x\ny\n").status == 1)
        #expect(try store.importing("empty.ndjson", "").status == 0)
        #expect(try store.importing("blank.ndjson", "\n  \r\n").status == 0)
    }

    @Test func acceptsMarksAndLineEnds() throws {
        let result = try store.importing("win.ndjson", "\u{feff}{\"id\":1}\r\n\r\n{\"id\":2}\r\n{\"id\":3}")
        #expect(result.status == 0 && badLines(result).isEmpty)
        #expect(try store.keys("A") == ["3", "2", "1"])
        let utf16 = try #require("{\"id\":1}\n".data(using: .utf16LittleEndian))
        let file = store.folder / "utf16.ndjson"
        try (Data([0xff, 0xfe]) + utf16).write(to: URL(fileURLWithPath: file))
        try store.run("import", "A", file, "--key", "id").expect(1, errors: "UTF-16")
    }

    @Test func readsLongLines() throws {
        let long = String(repeating: "long ", count: 1_000_000)
        try store.importing("long.ndjson", "{\"id\":1}\n{\"id\":2,\"v\":\"\(long)\"}\n{\"id\":3}\n").expect(0)
        #expect(try store.keys("A") == ["3", "2", "1"])
        #expect(try store.done("get", "A", "2", "--json").text == "{\"id\":2,\"v\":\"\(long)\"}\n")
    }

    @Test func countsLinesAcrossBuffers() throws {
        var lines = (1...30000).map {
            "{\"id\":\($0),\"v\":\"" + String(repeating: "y", count: $0 % 200) + "\"}"
        }
        let bad = [1, 9999, 17000, 30000]
        for number in bad { lines[number - 1] = "bad" }
        let result = try store.importing("many.ndjson", lines.joined(separator: "\n"))
        #expect(badLines(result) == bad)
        #expect(try store.archives()["A"]?["entries"] as? Int == 30000 - bad.count)
    }

    @Test func readsArrays() throws {
        let result = try store.importing(
            "items.json",
            """
             [ {"id":1,"s":"a,]}\\"["},
            {"id":2,"deep":[[1],{"x":[]}]} ,
            nonsense,
            {"id":
            3}
            ]
            """)
        #expect(result.status == 0)
        #expect(badLines(result) == [3])
        #expect(try store.keys("A") == ["3", "2", "1"])
        #expect(try store.done("get", "A", "1", "--json").text == "{\"id\":1,\"s\":\"a,]}\\\"[\"}\n")
        #expect(try badLines(store.importing("cut.json", "[{\"id\":1},\n{\"id\":2")) == [2])
        #expect(try badLines(store.importing("more.json", "[{\"id\":1}]\n\n{}")) == [3])
        #expect(try store.importing("none.json", " [ ] ").status == 0)
        #expect(try badLines(store.importing("comma.json", "[{\"id\":1},]")) == [1])
    }

    @Test func detectsFormat() throws {
        #expect(try store.importing("lines.json", "{\"id\":\"lines\"}\n").status == 0)
        #expect(try store.importing("data", "[{\"id\":\"array\"}]").status == 0)
        #expect(try store.importing("data.txt", "id\ntext\n").status == 2)
        #expect(try store.importing("data.txt", "id\ntext\n", "--format", "csv").status == 0)
        try store.run("import", "A", "-", "--key", "id", input: "\n{\"id\":\"piped\"}").expect(0)
        #expect(try store.keys("A") == ["piped", "text", "array", "lines"])
    }

    @Test func repeatedNameMakesLineBad() throws {
        let result = try store.importing(
            "names.ndjson", "{\"id\":1}\n{\"id\":2,\"v\":1,\"v\":2}\n{\"id\":3,\"v\":{\"id\":3}}\n")
        #expect(result.status == 0 && badLines(result) == [2], "\(result.errors)")
        #expect(result.errors.contains("an object has the name \"v\" twice, at byte 15"))
        #expect(try store.keys("A") == ["3", "1"])
    }

    @Test func lastOfEqualKeysIsKept() throws {
        #expect(
            try store.importing("twice.ndjson", "{\"id\":1,\"v\":1}\n{\"id\":\"1\",\"v\":2}\n").status == 0)
        #expect(try store.keys("A") == ["1"])
        #expect(try store.done("export", "A").text == "{\"id\":\"1\",\"v\":2}\n")
    }

    @Test func valueAboveLimitMakesLineBad() throws {
        let big = String(repeating: "x", count: 2000)
        let result = try store.importing(
            "big.ndjson", "{\"id\":1}\n{\"id\":2,\"v\":\"\(big)\"}\n{\"id\":3}\n", "--disk", "1KB")
        #expect(result.status == 0 && badLines(result) == [2])
        #expect(try store.keys("A") == ["3", "1"])
    }

    @Test func interruptKeepsImportedEntries() async throws {
        let process = try store.start("import", "A", "-", "--key", "id", holdsInput: true)
        process.type("{\"id\":1}\n{\"id\":2}\n{\"id\":")
        // Lines with entries were read completely.
        try await process.until("two entries") { try store.run("keys", "A").lines.count == 2 }
        process.signal(SIGINT)
        #expect(try await process.finish() == 130)
        #expect(process.errors.hasPrefix("imported 2 entries, "))
        #expect(try store.keys("A") == ["2", "1"])
    }

    // MARK: Reports

    @Test func countsRepeatedErrors() throws {
        let lines = (0..<30).map { "{\"name\":\($0)}" } + ["{\"id\":1}", "nonsense", "{\"id\":1.5}"]
        let result = try store.importing("many.ndjson", lines.joined(separator: "\n"))
        #expect(badLines(result) == Array(1...10) + [32, 33])
        #expect(result.errors.contains("20 records more: there is no property …\n"))
        #expect(result.errors.contains("; 32 records skipped\n"))
    }

    /// Regression: it counted as one skipped record with exit code 0, and half of the file was lost.
    @Test(arguments: [
        ("cut.json", "[{\"id\":1},\n{\"id\":2", 2), ("array.json", "[{\"id\":1},", 1),
        ("cut.ndjson", "{\"id\":1}\n{\"id\":2,\"v\":[1,", 2),
        ("string.ndjson", "{\"id\":1}\n{\"id\":\"tw", 2),
        ("quote.csv", "id,v\n1,a\n2,\"never", 3), ("fields.csv", "id,v\n1,a\n2", 3),
        ("fields.tsv", "id\tv\n1\ta\n2", 3),
    ])
    func incompleteFileIsError(name: String, content: String, line: Int) throws {
        let result = try store.importing(name, content)
        #expect(result.status == 1 && badLines(result) == [line], "\(result.errors)")
        #expect(result.errors.contains("the input ended within a record"))
        #expect(try store.keys("A") == ["1"])
    }

    @Test func readsObjectsOverSeveralLines() throws {
        let result = try store.importing(
            "pretty.json",
            """
            {
              "id": 1,
              "tags": [
                {"a": "}{\\"]"},
            {"b": []}
              ]
            }
            {
              "id": 2
            } {"id":3}{"id":4}
            [
              1
            ]
            {
              "id": 5,
              "torn": {
            {"id":6,
             "v":"x"}
            """)
        #expect(result.status == 0 && badLines(result) == [11, 14], "\(result.errors)")
        #expect(try store.keys("A") == ["6", "4", "3", "2", "1"])
        #expect(
            try store.done("get", "A", "1", "--json").text
                == "{\"id\":1,\"tags\":[{\"a\":\"}{\\\"]\"},{\"b\":[]}]}\n")
    }

    @Test(
        arguments: [([0x1f, 0x8b, 8, 0], "zcat"), ([0x28, 0xb5, 0x2f, 0xfd], "zstdcat")]
            as [([UInt8], String)])
    func refusesCompressedFiles(begins: [UInt8], unpacker: String) throws {
        let file = store.folder / "cities.csv.gz"
        try Data(begins + [0, 0, 0]).write(to: URL(fileURLWithPath: file))
        try store.run("import", "A", file, "--key", "id").expect(
            2, errors: "\(unpacker) \(file) | vellum --store \(store.path) import --key id")
        #expect(!FileManager.default.fileExists(atPath: store.path))
    }

    @Test func failureLeavesNoArchive() throws {
        try store.done("put", "Other", "k", input: "1")
        #expect(try store.importing("bad.ndjson", "{\"name\":1}\n").status == 1)
        #expect(try store.run("put", "B", "k", "--disk", "1B", input: "[1,2,3]").status == 1)
        #expect(try store.run("put", "C", "", input: "1").status == 2)
        #expect(try store.archives().keys.sorted() == ["Other"])
        // An existing archive stays.
        try store.done("rm", "Other", "--all", "--yes")
        #expect(try store.run("put", "Other", "", input: "1").status == 2)
        #expect(try store.archives().keys.sorted() == ["Other"])
    }

    @Test func countsReplacedRecords() throws {
        let result = try store.importing("twice.ndjson", "{\"id\":1}\n{\"id\":2}\n{\"id\":1}\n")
        #expect(result.errors.hasPrefix("imported 3 records, "))
        #expect(result.errors.contains("; 2 new entries, 1 entry replaced\n"))
    }

    @Test func refusesFoldersAndMissingFiles() throws {
        for path in [store.folder.path, store.folder / "none.csv"] {
            try store.run("import", "A", path, "--key", "id").expect(2, errors: path)
        }
    }
}
