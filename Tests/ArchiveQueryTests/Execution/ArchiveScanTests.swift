import TestSupport
import ArchiveQuery
import CBOR
import Foundation
import StorageEngine
import Synchronization
import Testing

/// Queries of an archive of the engine.
@Suite("Queries of archives") struct ArchiveScanTests {
    @Test("the most recent entries are first, and a query changes no entry") func recencyOrder() throws {
        let things = try TemporaryArchive()
        for number in 0..<5000 { try things.put("k\(number)", #"{"n":\#(number),"g":\#(number % 7)}"#) }
        _ = try things.archive.access("k17")
        _ = try things.archive.access("k3")
        let before = try things.archive.entries().map(\.recency)
        #expect(try things.keys("limit 3") == ["k3", "k17", "k4999"])
        #expect(try things.keys("find g = 3 | limit 4") == ["k3", "k17", "k4994", "k4987"])
        // Rows that are equal in a sort stay in LRU order, although the sort reads in storage order.
        #expect(try things.keys("sort g | limit 3") == ["k4998", "k4991", "k4984"])
        #expect(try things.keys("find g = 3 | sort g | limit 2") == ["k3", "k17"])
        #expect(try things.keys("find @rank <= 2") == ["k3", "k17"])
        #expect(try things.keys("find @key in [\"k1\", \"k2\", \"none\", \"k1\"]") == ["k2", "k1"])
        #expect(try things.keys("find @hits > 0 | sort @key") == ["k17", "k3"])
        let list = try things.archive.entries()
        #expect(try things.keys("") == list.indices.map { try list.key(at: $0) })
        #expect(try things.archive.entries().map(\.recency) == before)
        #expect(try things.archive.status().misses == 0)
    }

    @Test func ownersExpiryAndDeletes() throws {
        let things = try TemporaryArchive()
        try things.put("plain", "{}")
        try things.put("owned", "{}", EntryAttributes(lifetime: .seconds(600), owner: "api"))
        try things.put("over", "{}", EntryAttributes(lifetime: .zero))
        try things.put("gone", "{}")
        try things.archive.delete("gone")
        #expect(try things.keys("") == ["owned", "plain"])
        #expect(try things.keys("find @owner = \"api\" and @ttl < 11m and @ttl > 9m") == ["owned"])
        #expect(try things.keys("find @key in [\"gone\", \"over\"]") == [])
    }

    @Test("a condition on keys reads no values, and an empty selection returns entries")
    func conditionsOnKeys() throws {
        let things = try TemporaryArchive()
        for number in 0..<50 { try things.put("user:\(number)", #"{"n":\#(number)}"#) }
        try things.put("other", #"{"n":7}"#)
        let condition = PipelineStage.find(try QueryPredicate(#"@key starts with "user:4" or n = 7"#))
        var found: [EntryFacts] = []
        let report = try QueryPlan(QueryPipeline([condition, .select([])])).run(over: things.archive) { row in
            if let entry = row.entry { found.append(entry) }
            return found.count < 4
        }
        #expect(found.map(\.key) == ["other", "user:49", "user:48", "user:47"] && report.rows == 4)
        for entry in found {
            #expect(entry.sequence != 0)
            #expect(try things.archive.peek(entry.key)?.count == entry.valueBytes)
        }
        let plan = QueryPlan(try QueryPipeline(#"find @key like "user:_" | count"#))
        let (rows, keys) = try plan.rows(of: things.archive)
        #expect(rows.first?.columns.first == [0x0a] && keys.valuesRead == 0 && !plan.readsValues)
    }

    @Test("damaged entries are counted and the others are found") func damagedEntriesAreCounted() throws {
        let things = try TemporaryArchive()
        for number in 0..<100 { try things.put("k\(number)", #"{"n":\#(number)}"#) }
        let folder = things.path + "/things.archive"
        let segment = try #require(
            FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".segment") }.min())
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: folder + "/" + segment))
        try file.seek(toOffset: 2000)
        try file.write(contentsOf: Data([0xff, 0xfe, 0xfd]))
        try file.close()
        let (rows, report) = try things.archive.answer("find n >= 0")
        #expect(rows.count == 99)
        #expect(report.unreadable == 1 && report.visited == 100)
    }

    /// The index shrinks during the query: high entry numbers are replaced by lower ones of deleted entries.
    @Test(
        "entries whose number changes during a query are visited once",
        arguments: [QueryScanOrder.storage, .recency])
    func renumberedEntries(order: QueryScanOrder) throws {
        let things = try TemporaryArchive()
        let value = try JSONTranscoder.cbor(from: "{}")
        for number in 0..<40_000 { try things.archive.put(value, forKey: "t\(number)") }
        for number in 0..<500 { try things.archive.put(value, forKey: "s\(number)") }
        let before = try things.archive.status().footprint
        let cursor = try things.archive.cursor(in: order)
        #expect(cursor.count == 40_500)
        for number in 0..<40_000 { try things.archive.delete("t\(number)") }
        // Entries that were added later aren't visited.
        for number in 0..<50 { try things.archive.put(value, forKey: "new\(number)") }
        try things.archive.put([0x81, 1], forKey: "s7")
        if FileSystem.givesIndexBlocksBack { #expect(try things.archive.status().footprint < before / 2) }
        var seen: [String: Int] = [:]
        while try cursor.advance() {
            #expect(try cursor.load() == .present)
            seen[cursor.key, default: 0] += 1
            if cursor.key == "s7" { #expect(cursor.valueBytes == 2) }
        }
        #expect(seen == Dictionary(uniqueKeysWithValues: (0..<500).map { ("s\($0)", 1) }))
    }

    /// Stable keys are overwritten and moved all the time; the writer adds and deletes enough others that it compacts the log
    /// and shrinks the index.
    @Test("queries during writes return each unchanged key once, with its complete value")
    func queriesBesideAWriter() throws {
        let things = try TemporaryArchive()
        let stable = 2000
        @Sendable func value(_ key: String, _ generation: Int) -> String {
            // All parts must be of one generation.
            #"{"key":"\#(key)","a":\#(generation),"pad":"\#(String(repeating: "x", count: generation % 300))","b":\#(generation)}"#
        }
        for number in 0..<stable { try things.put("s\(number)", value("s\(number)", 0)) }
        let isOver = Atomic(false)
        let rounds = Atomic(0)
        let archive = things.archive
        // A separate thread: the tasks' threads may be busy with other tests.
        let writer = Background {
            var random = SeededGenerator.announced("a writer beside queries")
            var generation = 0
            while !isOver.load(ordering: .relaxed) {
                for _ in 0..<2000 {
                    generation += 1
                    let key = "s\(Int.random(in: 0..<stable, using: &random))"
                    try archive.put(
                        JSONTranscoder.cbor(from: value(key, generation)), forKey: key, encoding: .cbor)
                    let other = "t\(Int.random(in: 0..<6000, using: &random))"
                    try archive.put(
                        JSONTranscoder.cbor(from: value(other, generation)), forKey: other, encoding: .cbor)
                }
                for number in 0..<6000 { try archive.delete("t\(number)") }
                rounds.add(1, ordering: .relaxed)
            }
        }
        var queries = 0
        let start = ContinuousClock.now
        while start.duration(to: .now) < .seconds(3) || rounds.load(ordering: .relaxed) < 3 {
            let text = ["find key is not null | sort a", "find a >= 0", "find @size > 0B | sort @key"][
                queries % 3]
            var seen: Set<String> = []
            try QueryPlan(QueryPipeline(text)).run(over: archive) { row in
                let key = try #require(row.entry?.key)
                #expect(seen.insert(key).inserted, "\(key) twice: \(text)")
                guard case .map(let map) = try CBORReader.decode(try #require(row.value)) else {
                    return false
                }
                #expect(map[key: "key"] == .text(key))
                #expect(map[key: "a"] == map[key: "b"])
                return true
            }
            let missing = (0..<stable).filter { !seen.contains("s\($0)") }
            #expect(missing.isEmpty, "\(missing.count) missing: \(text)")
            queries += 1
        }
        isOver.store(true, ordering: .relaxed)
        try writer.wait()
        print(
            "queries beside a writer: \(queries) queries, \(rounds.load(ordering: .relaxed)) rounds of 10,000 changes"
        )
    }
}

extension TemporaryArchive {
    fileprivate func keys(_ query: String) throws -> [String] { try archive.keys(query) }
}
