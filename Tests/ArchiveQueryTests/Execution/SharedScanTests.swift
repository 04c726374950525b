import ArchiveQuery
import CBOR
import Foundation
import StorageEngine
import Synchronization
import TestSupport
import Testing

/// Several threads that scan an archive together find the rows of one thread, in the same order.
@Suite("Queries by several threads") struct SharedScanTests {
    private final class Places {
        private let temporary: TemporaryArchive
        var path: String { temporary.path }
        var archive: Archive { temporary.archive }
        /// The cities several times, and some other values.
        let count: Int
        private static let wrong: [[UInt8]] = [[0xff], [0x07], [0xa1, 0x61]]

        private static let cities = Result {
            let file = URL(fileURLWithPath: #filePath).appending(
                path: "../../../../Assets/demo/cities.ndjson"
            ).standardized
            return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
                try JSONTranscoder.cbor(from: String($0))
            }
        }

        init(rounds: Int = 3) throws {
            temporary = try TemporaryArchive()
            let archive = temporary.archive
            let cities = try Self.cities.get()
            var count = 0
            for round in 0..<rounds {
                for (number, city) in cities.enumerated() {
                    let owner = number % 5 == 0 ? EntryAttributes(owner: "o\(number % 3)") : .none
                    try archive.put(city, forKey: "\(round):\(number)", encoding: .cbor, attributes: owner)
                    count += 1
                }
                for (number, wrong) in Self.wrong.enumerated() {
                    try archive.put(wrong, forKey: "wrong \(round):\(number)", encoding: .cbor)
                    count += 1
                }
            }
            self.count = count
        }

        func answer(
            _ query: String, threads: Int, _ change: (inout QueryOptions) -> Void = { _ in }
        ) throws -> (rows: [QueryRow], report: QueryReport) {
            try archive.answer(query, now: Timestamp(microseconds: 2_000_000_000_000_000)) {
                $0.mostThreads = threads
                $0.looksForMistakes = true
                change(&$0)
            }
        }
    }

    @Test("several threads give the same rows and report as one") func sameAnswer() throws {
        let places = try Places()
        #expect(places.count > 2 * 8192)
        var queries = CityQueries(random: .announced("queries by several threads"))
        var texts = [
            "find countrycode = \"ID\"", "find population > 1000000 | select name, population * 2 as twice",
            "find name contains \"a\" | distinct countrycode", "distinct countrycode, timezone",
            "distinct alternatenames[]", "distinct alternatenames[] | limit 12000", "distinct name | skip 3",
            "group by alternatenames[] | count", "group by alternatenames[].of, countrycode | count",
            "find alternatenames[].of is null | distinct alternatenames[].of", "sort latitude",
            "sort @idle | limit 5",
            "sort name desc, latitude | limit 7", "find @owner = \"o1\" | sort @key | limit 300",
            "group by countrycode | count, max name, min latitude, median population, count distinct timezone",
            "count, max name, avg population, percentile latitude 90", "find @rank < 9000 | count",
            "find @rank > 15000 | sort countrycode | limit 30", "find name matches \"^[A-C]\" | count",
            "sum popluation", "find population contains \"3\" | count",
            "sort countrycode | select name | limit 9000",
        ]
        let chosen = texts
        for _ in 0..<20 { texts.append(queries.pipeline()) }
        var shared: [String] = []
        for text in texts {
            let (expected, alone) = try places.answer(text, threads: 1)
            let (rows, report) = try places.answer(text, threads: 3)
            if report.threads == 3 { shared.append(text) }
            #expect(alone.threads == 1)
            #expect(rows == expected, "\(text)")
            guard !text.contains("limit"), !text.contains("skip") else { continue }
            // With a limit, threads read ahead.
            #expect(report.warnings == alone.warnings, "\(text)")
            #expect(report.givenUp == alone.givenUp)
            #expect(report.visited == places.count && alone.visited == places.count)
            #expect(report.valuesRead == alone.valuesRead, "\(text)")
            #expect(report.bytesRead == alone.bytesRead && report.unreadable == alone.unreadable)
            #expect(report.stages.map(\.rowsIn) == alone.stages.map(\.rowsIn), "\(text)")
            #expect(report.stages.map(\.rowsOut) == alone.stages.map(\.rowsOut), "\(text)")
        }
        // Its limit is reached before the work is shared. Random queries may be either.
        #expect(chosen.filter { !shared.contains($0) } == ["distinct alternatenames[] | limit 12000"])
    }

    /// Groups and rows that exceed a thread's memory are left to the caller's thread, which has temporary files.
    @Test(arguments: [
        "sort name | select name", "group by name | count", "group by timezone | count, count distinct name",
        "distinct name, population", "group by @key | max name", "distinct @key", "find population > 0",
        "count distinct timezone, median population",
    ])
    func sameAnswerInLittleMemory(query: String) throws {
        let places = try Places(rounds: 8)
        let (expected, _) = try places.answer(query, threads: 1)
        let (rows, report) = try places.answer(query, threads: 3) { $0.memoryLimit = 16_000_000 }
        let difference = zip(rows, expected).first { $0 != $1 }
        #expect(rows.count == expected.count && difference == nil)
        #expect(report.threads == 3)
        #expect(report.memory < 16_500_000)
        #expect(report.visited == places.count)
    }

    @Test("a group that exceeds the memory limit is returned once") func groupsBeyondMemory() throws {
        let places = try Places(rounds: 0)
        let long = String(repeating: "l", count: 400_000)
        for number in 0..<30_000 {
            // Memory is checked after some groups.
            var name = "g\(number % 100)"
            if [5000, 20_001, 29_001].contains(number) { name = long }
            if number > 5000, number % 10 == 0 { name = "late \(number % 70)" }
            try places.archive.put(
                try JSONTranscoder.cbor(from: #"{"name":"\#(name)"}"#), forKey: "\(number)", encoding: .cbor)
        }
        let query = "group by name | count"
        let (expected, _) = try places.answer(query, threads: 1)
        let (rows, _) = try places.answer(query, threads: 3) { $0.memoryLimit = 1 << 20 }
        #expect(rows == expected && rows.count == 108)
    }

    @Test("a tiny memory limit uses one thread") func tinyMemory() throws {
        let places = try Places()
        for memory in [0, 1, 100_000] {
            let (rows, report) = try places.answer("find population > 0 | limit 9000", threads: 3) {
                $0.memoryLimit = memory
            }
            #expect(rows.count == 9000 && report.threads == 1)
        }
    }

    @Test("a query for a few rows reads few entries, on one thread") func limitedReads() throws {
        let places = try Places(rounds: 12)
        let (rows, report) = try places.answer("find countrycode = \"ID\" | limit 3", threads: 3)
        #expect(rows.count == 3)
        #expect(report.threads == 1 && report.visited < places.count / 2)
        var seen = 0
        var options = QueryOptions()
        options.mostThreads = 3
        let ended = try QueryPlan(QueryPipeline("find population > 0")).run(
            over: places.archive, options: options
        ) {
            _ in
            seen += 1
            return seen < 9000
        }
        #expect(seen == 9000 && ended.rows == 9000)
        #expect(ended.visited < places.count)
    }

    @Test("the caller can stop a shared query, and errors reach it") func callerStops() throws {
        struct Enough: Error {}
        let places = try Places()
        let caller = Thread.current
        for query in ["find name contains \"e\"", "sort name", "group by name | count"] {
            #expect(throws: QueryError.cancelled) {
                try places.answer(query, threads: 3) {
                    $0.progress = {
                        #expect(Thread.current == caller)
                        return $0.visited <= 8192
                    }
                }
            }
        }
        var options = QueryOptions()
        options.mostThreads = 3
        var seen = 0
        #expect(throws: Enough.self) {
            try QueryPlan(QueryPipeline("find population > 0")).run(over: places.archive, options: options) {
                _ in
                seen += 1
                if seen == 9000 { throw Enough() }
                return true
            }
        }
    }

    @Test("damage is reported once, whichever thread finds it") func damageIsReportedOnce() throws {
        let places = try Places()
        let value = [UInt8]("a value that is damaged on purpose, in its middle".utf8)
        try places.archive.put(value, forKey: "damaged", encoding: .text)
        var damaged = 0
        for name in try FileManager.default.subpathsOfDirectory(atPath: places.path) {
            let url = URL(fileURLWithPath: places.path + "/" + name)
            guard name.hasSuffix(".segment"), var bytes = try? Data(contentsOf: url),
                let place = bytes.range(of: Data(value))
            else { continue }
            bytes[place.lowerBound + 20] ^= 1
            let handle = try FileHandle(forUpdating: url)
            try handle.seek(toOffset: UInt64(place.lowerBound))
            try handle.write(contentsOf: bytes[place])
            try handle.close()
            damaged += 1
        }
        #expect(damaged == 1)
        for query in ["find population > 0 | count", "find population > 0", "sort population | limit 3"] {
            let (rows, report) = try places.answer(query, threads: 3)
            #expect(report.damaged == 1 && report.threads == 3)
            #expect(try places.answer(query, threads: 1).rows == rows)
        }
    }

    @Test("a query uses all available processors by default, up to eight") func defaultThreads() throws {
        let places = try Places(rounds: 4)
        #expect(places.count > 20_000)
        let processors = min(8, ProcessInfo.processInfo.activeProcessorCount)
        for query in ["find population > 0", "sort name | limit 3", "group by countrycode | count"] {
            let report = try places.answer(query, threads: 1) { $0.mostThreads = nil }.report
            #expect(report.threads == processors, "\(query)")
        }
    }

    @Test("threads share the query's time limit for regular expressions") func sharedPatternTime() throws {
        let places = try Places(rounds: 0)
        // The caller reads the first part of the most recent entries; each free thread takes the next part.
        let part = 8192
        let last = 4 * part
        let endless = String(repeating: "a", count: 60) + "b"
        let slow = String(repeating: "a", count: 17) + "b"
        func text(_ rank: Int) -> String? {
            switch rank {
            case part..<part + 12: endless
            case last..<last + 5: "aa"
            case (last + 5)...: slow
            default: nil
            }
        }
        for rank in (0..<last + 15).reversed() {
            let value = text(rank).map { "{\"p\":\"\($0)\"}" } ?? "{\"q\":1}"
            try places.archive.put(
                try JSONTranscoder.cbor(from: value), forKey: "\(rank)", encoding: .cbor)
        }
        let query = "find p matches \"^(a+)+$\" | select p"
        let (rows, report) = try places.answer(query, threads: 3)
        #expect(report.threads == 3 && report.visited == last + 15)
        // Fast matches are still found; slower searches are abandoned.
        #expect(rows.count == 5)
        #expect(report.givenUp == 12 + 10)
        #expect(
            report.unevaluated == 22 && report.warnings[0].contains("22 texts"), "\(report.warnings)")
        // With the time limit to itself, the search of this text finishes, unless the machine is busy.
        let alone = try ListSource(json: ["{\"p\":\"\(slow)\"}"])
        #expect(
            try holds(within: 1) { try alone.answer(query).report.givenUp == 0 })
    }

    @Test("each stable entry is visited once while another thread writes") func scanBesideAWriter() throws {
        let places = try Places()
        let archive = places.archive
        let whole = try places.answer("find geonameid > 0", threads: 1).rows.count
        let isOver = Atomic(false)
        // A separate thread: the tasks' threads may be busy with other tests.
        let writer = Background {
            var number = 0
            while !isOver.load(ordering: .relaxed) {
                try archive.put([0xa0], forKey: "new \(number % 3000)", encoding: .cbor)
                try archive.delete("new \((number * 7) % 3000)")
                number += 1
            }
        }
        for _ in 0..<20 {
            let (rows, report) = try places.answer("find geonameid > 0 | select @key", threads: 3)
            let keys = rows.compactMap { $0.entry?.key }
            #expect(Set(keys).count == keys.count && report.threads == 3)
            #expect(keys.count == whole)
            let counted = try places.answer("find geonameid > 0 | count", threads: 3).rows
            #expect(counted.first?.columns == [CBORWriter.encoded(whole)])
        }
        isOver.store(true, ordering: .relaxed)
        try writer.wait()
    }
}

extension CBORWriter {
    fileprivate static func encoded(_ count: Int) -> [UInt8] {
        var writer = CBORWriter()
        writer.write(unsigned: UInt64(count))
        return writer.bytes
    }
}
