import Foundation
import Testing

@Suite("the demo's cities, imported and read")
struct CitiesTests {
    let store: TestStore
    let lines: [String]

    init() throws {
        store = TestStore()
        lines = try String(contentsOfFile: Vellum.cities, encoding: .utf8).split(separator: "\n").map(
            String.init)
        let result = try store.done("import", "City", Vellum.cities, "--key", "geonameid")
        #expect(result.output.isEmpty)
        #expect(result.errors.hasPrefix("imported 6,204 entries, "))
    }

    @Test func entriesAndBytesAreExact() throws {
        let archive = try #require(try store.archives()["City"])
        #expect(archive["entries"] as? Int == 6204)
        #expect(archive["kind"] as? String == "collection")
        #expect(archive["diskLimit"] is NSNull)
        let sizes = try store.done("keys", "City", "--json").lines.map { line in
            try #require(try JSON.object(line)["size"] as? Int)
        }
        #expect(sizes.count == 6204)
        #expect(archive["diskBytes"] as? Int == sizes.reduce(0, +))
        for key in try store.keys("City").prefix(20) {
            let raw = try store.done("get", "City", key, "--raw").output
            let metadata = try JSON.object(try store.done("get", "City", key, "--json", "--meta").text)
            #expect((metadata["meta"] as? [String: Any])?["size"] as? Int == raw.count)
        }
    }

    @Test func valuesAreTheImportedLines() throws {
        let line = try #require(lines.first { $0.contains("\"geonameid\":1642911,") })
        #expect(try store.done("get", "City", "1642911", "--json").text == line + "\n")
        #expect(try store.done("export", "City").lines == lines)
    }

    @Test func keepsOrderOfImport() throws {
        let keys = try lines.reversed().map { line in
            String(try #require(try JSON.object(line)["geonameid"] as? Int))
        }
        #expect(try store.keys("City") == keys)
        let first = try store.done("keys", "City", "--order", "recency", "--limit", "5", "--json").lines
        #expect(try first.map { try JSON.object($0)["key"] as? String } == keys.prefix(5).map { $0 })
        #expect(try first.map { try JSON.object($0)["rank"] as? Int } == [1, 2, 3, 4, 5])
        let last = try store.done("keys", "City", "--reverse", "--limit", "2").lines
        let lastKeys = last.map { String($0.prefix { $0 != "\t" }) }
        #expect(lastKeys == keys.suffix(2).reversed())
    }

    @Test func readingCountsNoAccess() throws {
        let before = try store.done("keys", "City", "--json").text
        let counters = try store.done("ls", "--json").text
        for key in ["1642911", "32767", "nothing"] { _ = try store.run("get", "City", key, "--meta") }
        try store.done("keys", "City", "--order", "key")
        try store.done("export", "City", "--format", "csv")
        try store.done("check")
        try store.done("rm", "City", "--all", "--dry-run")
        #expect(try store.done("keys", "City", "--json").text == before)
        #expect(try store.done("ls", "--json").text == counters)
    }

    @Test func exportsReimport() throws {
        for format in ["ndjson", "csv"] {
            let file = store.folder / ("cities." + format)
            try store.done("export", "City", file)
            let copy = TestStore()
            try copy.done("import", "City", file, "--key", "geonameid")
            #expect(try copy.done("export", "City").lines == lines, "\(format)")
            #expect(try copy.keys("City") == store.keys("City"))
        }
    }

    @Test func rebuildsIndex() throws {
        let index = store.path + "/City.archive/index"
        #expect(FileManager.default.fileExists(atPath: index))
        try FileManager.default.removeItem(atPath: index)
        #expect(try store.archives()["City"]?["entries"] as? Int == 6204)
        #expect(try Set(store.done("export", "City").lines) == Set(lines))
    }
}
