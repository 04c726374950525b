import Foundation
import StorageEngine
import Testing

@Suite("export")
struct ExportTests {
    let store = TestStore()

    @Test("get and export report an object with duplicate names")
    func repeatedNames() throws {
        let opened = try Store.open(at: store.path)
        let archive = try opened.collection("A")
        try archive.put([0xa2, 0x61, 0x61, 1, 0x61, 0x61, 2], forKey: "k", encoding: .cbor)
        opened.close()
        let printed = try store.done("get", "A", "k", "--json")
        #expect(
            printed.text == "{\"a\":1,\"a\":2}\n" && printed.errors.contains("duplicate"), "\(printed.errors)"
        )
        #expect(try store.done("get", "A", "k").errors.contains("duplicate"))
        for query in ["limit 5", "select a, @key", "find a = 1 | limit 1"] {
            let rows = try store.done("query", "A", query, "--json")
            #expect(
                rows.errors.contains("1 row has") == !query.hasPrefix("select"), "\(query): \(rows.errors)")
        }
        let exported = try store.done("export", "A")
        #expect(
            exported.text == printed.text && exported.errors.contains("1 value has"), "\(exported.errors)")
    }

    @Test func withKeysRestoresKeys() throws {
        for (key, value) in [
            ("a b", "[1,2]"), ("n\tn", "\"text\""), ("z", "{\"key\":\"other\"}"), ("0", "null"),
        ] {
            try store.done("put", "A", key, input: value)
        }
        for format in ["ndjson", "csv"] {
            let file = store.folder / ("out." + format)
            try store.done("export", "A", file, "--with-keys")
            let copy = TestStore()
            try copy.done("import", "A", file, "--key", "key", "--value", "value")
            #expect(try copy.keys("A") == store.keys("A"), "\(format)")
            #expect(try copy.done("export", "A").text == store.done("export", "A").text, "\(format)")
        }
    }

    @Test(
        "bytes, and texts that look like bytes, are restored as values and as names",
        arguments: ["ndjson", "json", "csv", "tsv"])
    func bytesComeBack(format: String) throws {
        for (key, value) in [
            ("a", #"{"b":"h'00ff'","t":"\\h'00ff'","u":"\\\\h''","n":[{"h'01'":"h''"}]}"#),
            ("h'aa'", #"{"h'fe'":1,"\\h'fe'":2,"h'f'":"h'0'"}"#),
        ] { try store.done("put", "A", key, input: value) }
        let dump = try store.done("export", "A", "--with-keys").lines
        #expect(dump[0].contains(#""b":"h'00ff'","t":"\\h'00ff'","u":"\\\\h''""#), "\(dump[0])")
        let file = store.folder / ("out." + format)
        try store.done("export", "A", file, "--with-keys")
        let copy = TestStore()
        let result = try copy.done("import", "A", file, "--key", "key", "--value", "value")
        #expect(result.errors.contains("read as bytes"))
        #expect(try copy.done("export", "A", "--with-keys").lines == dump)
        for key in ["a", "h'aa'"] {
            let (archive, other) = try (
                Store.open(at: store.path).archive(named: "A"), Store.open(at: copy.path).archive(named: "A")
            )
            #expect(try archive.peek(key) == other.peek(key), "\(key)")
        }
        let rows = try store.done("query", "A", "find @key = \"a\" | select b, t, u", "--csv").lines
        #expect(rows == ["b,t,u", #"h'00ff',\h'00ff',\\h''"#])
    }

    @Test(
        "import reads the rows of a query with a key that looks like bytes",
        arguments: ["ndjson", "json", "csv", "tsv"])
    func keysLikeBytes(format: String) throws {
        try store.done("put", "A", "h'00'", input: "[1]")
        for query in ["find @size > 0", "select @key as key, value"] {
            let file = store.folder / ("rows." + format)
            try store.done("query", "A", query, "--output", file, "--force")
            let copy = TestStore()
            try copy.done("import", "A", file, "--key", "key")
            #expect(try copy.keys("A") == ["h'00'"], "\(query)")
        }
        #expect(try store.done("query", "A", "select @key").lines == ["h'00'"])
        #expect(try store.done("query", "A", "group by @key | count | select @key").lines == ["h'00'"])
    }

    @Test func omitsValuesWithoutRows() throws {
        try store.done("put", "A", "object", input: "{\"a\":1}")
        try store.done("put", "A", "array", input: "[1]")
        let result = try store.run("export", "A", "--format", "csv").expect(1)
        #expect(result.text == "a\n1\n")
        #expect(result.errors.hasPrefix("vellum: \"array\" "))
    }

    /// Regression: it was written with an empty value, which replaced the value where it was imported.
    @Test func omitsMemoryOnlyEntries() throws {
        try store.done("put", "A", "there", input: "1")
        let archive = try Store.open(at: store.path).archive(named: "A")
        _ = try archive.withHashed("elsewhere") { (key) throws(StorageError) in
            try archive.recordInMemoryOnly(key, bytes: 100)
        }
        let result = try store.done("export", "A", "--with-keys")
        #expect(result.lines == ["{\"key\":\"there\",\"value\":1}"])
        #expect(result.errors.contains("1 entry is only in a process's memory, and left out"))
        // Regression: a query reported it as unreadable and advised a check, and get reported it as absent.
        let query = try store.done("query", "A", "sort @key")
        #expect(query.errors.contains("1 entry is only in a process's memory"))
        #expect(!query.errors.contains("check"))
        try store.run("get", "A", "elsewhere").expect(1, errors: "is only in a process's memory")
        archive.close()
    }

    @Test func emptyArchiveExportsNothing() throws {
        try store.done("put", "A", "k", input: "1")
        try store.done("rm", "A", "k", "--yes")
        #expect(try store.done("export", "A").output.isEmpty)
        #expect(try store.done("export", "A", "--format", "csv").output.isEmpty)
    }

    /// Regression: 458 kB of such objects were 400 MB of CSV.
    @Test func refusesSparseTables() throws {
        let lines = (0..<3_000).map { line in
            "{\"id\":\(line)," + (0..<5).map { "\"p\(line)x\($0)\":1" }.joined(separator: ",") + "}"
        }
        let file = try store.folder.file("sparse.ndjson", lines.joined(separator: "\n"))
        try store.done("import", "A", file, "--key", "id")
        for command in [["export", "A", "--format", "csv"], ["query", "A", "sort @key", "--csv"]] {
            let result = try Vellum.run(command + ["--store", store.path])
            #expect(result.status == 2 && result.output.isEmpty, "\(command)")
            #expect(
                result.errors.contains("3,000 objects × 15,001 properties"), "\(result.errors)")
        }
        #expect(try store.done("export", "A").lines.count == 3_000)
        #expect(try store.done("query", "A", "select id", "--csv").lines.count == 3_001)
    }

    @Test func keepsOrderOfProperties() throws {
        let lines = [
            "{\"id\":1,\"c\":3}", "{\"id\":2,\"b\":2,\"c\":3}", "{\"id\":3,\"a\":1,\"b\":2,\"d\":4}",
        ]
        let file = try store.folder.file("some.ndjson", lines.joined(separator: "\n"))
        try store.done("import", "A", file, "--key", "id")
        let csv = try store.done("export", "A", "--format", "csv").text
        #expect(csv == "id,a,b,d,c\n1,,,,3\n2,,2,,3\n3,1,2,4,\n")
    }

    /// Regression: each name was searched in a list, and 100,000 properties took minutes.
    @Test func exportsManyProperties() throws {
        let names = (0..<60_000).map { "\"p\($0)\":\($0)" }
        try store.done("put", "A", "k", input: "{" + names.joined(separator: ",") + "}")
        let start = ContinuousClock.now
        let file = store.folder / "out.csv"
        try store.done("export", "A", file, "--with-keys")
        let rows = try store.done("query", "A", "--csv").text.split(separator: "\n")
        #expect(rows.count == 2 && rows[1].hasSuffix(",59999"))
        try store.done("import", "B", file, "--key", "key")
        #expect(try store.archives()["B"]?["entries"] as? Int == 1)
        #expect(ContinuousClock.now - start < .seconds(60))
    }

    // MARK: Formats

    @Test func formatFollowsName() throws {
        for id in 1...3 { try store.done("put", "A", "\(id)", input: "{\"id\":\(id),\"v\":\"a\\tb\"}") }
        let expected = try store.done("export", "A").text
        for ending in ["ndjson", "jsonl", "json", "csv", "tsv"] {
            let file = store.folder / "out.\(ending)"
            try store.done("export", "A", file)
            try store.done("import", ending, file, "--key", "id")
            #expect(try store.done("export", ending).text == expected, "\(ending)")
        }
        let items = try JSON.array(Data(contentsOf: URL(fileURLWithPath: store.folder / "out.json")))
        #expect(items.map { $0["id"] as? Int } == [1, 2, 3])
        for name in ["out", "out.txt", "out.csv.gz"] {
            try store.run("export", "A", store.folder / name).expect(2, errors: "--format")
            #expect(!FileManager.default.fileExists(atPath: store.folder / name))
        }
        try store.done("export", "A", store.folder / "out", "--format", "json")
        try store.done("rm", "A", "--all", "--yes")
        #expect(try store.done("export", "A", "--format", "json").text == "[]\n")
    }

    @Test func exportsByCondition() throws {
        for id in 1...5 { try store.done("put", "A", "\(id)", input: "{\"id\":\(id)}") }
        #expect(try store.done("export", "A", "--where", "id > 3").lines == ["{\"id\":4}", "{\"id\":5}"])
        #expect(try store.run("export", "A", "--where", "id >").status == 2)
        #expect(try store.run("export", "A", "--where", "id > 1 | limit 2").status == 2)
        // A mistyped property would select everything.
        let mistaken = try store.run("export", "A", "--where", "ie != 3")
        #expect(mistaken.status == 2 && mistaken.output.isEmpty)
        #expect(mistaken.errors.contains("no entry has the property ie; did you mean id?"))
    }

    @Test(
        "a property that no entry has stops a command with a condition on keys, too",
        arguments: [#"@key in ["1", "2"] and not (ie > 5)"#, #"@key = "1" and ie is null"#])
    func mistypedPropertiesOfKeys(condition: String) throws {
        for id in 1...5 { try store.done("put", "A", "\(id)", input: "{\"id\":\(id)}") }
        for command in [["export", "A"], ["rm", "A", "--yes"], ["expire", "A", "--in", "1h", "--yes"]] {
            let mistaken = try Vellum.run(["--store", store.path] + command + ["--where", condition])
            #expect(mistaken.status == 2 && mistaken.output.isEmpty, "\(command)")
        }
        #expect(try store.keys("A").count == 5)
        // An entry that the condition excludes has the property.
        try store.done("put", "A", "9", input: #"{"ie":1}"#)
        try store.done("rm", "A", "--where", condition, "--yes")
        #expect(try store.run("get", "A", "1").status == 1)
    }
}
