import ArchiveQuery
import CBOR
import StorageEngine
import TestSupport
import Testing

/// Rows beyond the memory limit are written to temporary files.
@Suite("Queries with little memory") struct SpillTests {
    private let many: ListSource

    init() throws {
        var random = SeededGenerator.announced("queries with little memory")
        func number(_ most: Int) -> Int { Int.random(in: 0..<most, using: &random) }
        many = ListSource(
            try (0..<2500).map { place in
                let tags = (0..<number(3)).map { _ in "\"t\(number(400))\"" }.joined(separator: ",")
                let text = "\"\(String(repeating: "x", count: number(60)))\(number(2000))\""
                let v = place % 9 == 0 ? "null" : place % 7 == 0 ? text : "\(number(1500))"
                var entry = ListSource.Entry(
                    key: "k\(place)",
                    value: try JSONTranscoder.cbor(
                        from:
                            #"{"pad":"\#(String(repeating: "p", count: 90))","v":\#(v),"w":\#(number(5)),"tags":[\#(tags)]}"#
                    )
                )
                entry.hits = UInt32(number(9))
                entry.owner = place % 3 == 0 ? "o\(number(4))" : nil
                entry.expires = place % 5 == 0 ? Timestamp(microseconds: Int64(place) * 1_000_000) : nil
                return entry
            } + [ListSource.Entry(key: "no map", value: [0x07])])
    }

    private func answer(
        _ query: String, memory: Int?, temporary: Int? = nil, of source: ListSource? = nil
    ) throws -> (rows: [QueryRow], report: QueryReport) {
        try (source ?? many).answer(query, now: Timestamp(microseconds: 1_000_000_000)) {
            if let memory { $0.memoryLimit = memory }
            if let temporary { $0.temporaryLimit = temporary }
        }
    }

    @Test(arguments: [
        "sort v", "sort v desc, w", "sort tags[] desc | skip 7 | find w > 1",
        "sort w | select v, @key, @owner, @ttl, @hits", "sort v | select v | sort v desc | limit 900",
        "sort @key desc | distinct v", "sort v | limit 2000 | sort w",
        "group by v | count, sum w, min @key, max @hits", "group by v, w | count",
        "group by tags[] | count, sum w", "group by tags[], w | max v, count | sort count desc, w",
        "group by @key | max tags[]", "group by tags | count", "distinct v", "distinct v, w",
        "distinct tags[], w | limit 1500", "distinct @owner, v, tags",
        "find w < 3 | group by v | count | sort count desc | limit 10", "sort v | group by w | sum v",
    ])
    func sameAnswerWithTemporaryFiles(query: String) throws {
        let (expected, unlimited) = try answer(query, memory: nil)
        let (rows, report) = try answer(query, memory: 50_000)
        #expect(rows == expected)
        #expect(unlimited.temporary == 0 && report.temporary > 0)
        // The minimum of each stage is added.
        #expect(report.memory < 300_000)
    }

    /// Merging all files each time would write the first rows once for each merge.
    @Test("some of many temporary files are merged at a time") func manyFiles() throws {
        let pad = String(repeating: "p", count: 1500)
        let source = try ListSource(json: (0..<3600).map { #"{"v":\#($0 * 7919 % 3601),"pad":"\#(pad)"}"# })
        let (rows, report) = try answer("sort v", memory: 1, of: source)
        #expect(
            rows.map(\.entry?.key)
                == (0..<3600).sorted { $0 * 7919 % 3601 < $1 * 7919 % 3601 }.map { "\($0)" })
        #expect(report.temporary > 3600 * 1500)
        // Rows being merged exist twice.
        #expect(report.temporary < 3600 * 1500 * 14 / 10)
    }

    @Test("properties that later stages don't need aren't kept") func unneededProperties() throws {
        let whole = try answer("sort v", memory: nil).report.memory
        let part = try answer("sort v | select v", memory: nil).report.memory
        #expect(part < whole - many.entries.count * 90)
        // A limit keeps only the first rows.
        #expect(try answer("sort v | limit 5", memory: nil).report.memory < 400_000)
    }

    @Test("queries that exceed the limits throw") func limitErrors() throws {
        #expect(throws: QueryError.tooMuchTemporary(limit: 100_000)) {
            try answer("sort v", memory: 50_000, temporary: 100_000)
        }
        #expect(throws: QueryError.tooMuchMemory(limit: 20_000)) { try answer("median w", memory: 20_000) }
        #expect(throws: QueryError.tooMuchMemory(limit: 20_000)) {
            try answer("count distinct @key", memory: 20_000)
        }
        #expect(
            !QueryError.tooMuchMemory(limit: 1).isWrongQuery && QueryError.invalidPattern("(").isWrongQuery)
    }

    @Test("a query can be cancelled while it merges") func cancellation() throws {
        #expect(throws: QueryError.cancelled) {
            try many.answer("sort v") {
                $0.memoryLimit = 50_000
                $0.progress = { $0.visited < $0.total }
            }
        }
    }
}
