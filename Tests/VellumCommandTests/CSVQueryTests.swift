import CBOR
import StorageEngine
import Testing

/// Queries that print CSV.
@Suite struct CSVQueryTests {
    private let store: TestStore

    init() throws { store = try TestStore() }

    @Test func wholeEntriesStandUnderTheNamesOfAllProperties() throws {
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

    /// All entries were kept for the names of their properties, however many there were.
    @Test func entriesThatTakeTooMuchMemoryAreRefused() throws {
        let opened = try Store.open(at: store.path)
        let archive = try opened.archive(
            named: "Large", orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
        let content = CBORValue.bytes([UInt8](repeating: 7, count: 16 << 20))
        let value = CBORValue.map(["id": 1, "content": content]).encoded
        for number in 0..<17 { try archive.put(value, forKey: "large \(number)", encoding: .cbor) }
        opened.close()
        let result = try store.run("query", "Large", "--csv")
        #expect(result.status == 2 && result.output.isEmpty)
        #expect(
            result.errors.contains("more than 268 MB")
                && result.errors.contains("select the properties"))
        // Columns that the query names need not wait.
        let lines = try store.done("query", "Large", "select id | sort @key", "--csv").lines
        #expect(lines == ["id"] + Array(repeating: "1", count: 17))
    }
}
