import TestSupport
import Foundation
import StorageEngine
import Testing

/// Effects of each operation.
@Suite struct ArchiveTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("an access makes an entry most recent; a peek doesn't") func recency() throws {
        let archive = try folder.archive(creating: .cache(10_000))
        for key in ["a", "b", "c"] { try archive.put(repeated(1, 10), forKey: key) }
        _ = try archive.peek("a")
        #expect(try archive.entries().keys == ["c", "b", "a"])
        _ = try archive.access("a")
        #expect(try archive.entries().keys == ["a", "c", "b"])
        #expect(try archive.access("nothing") == nil)
        let status = try archive.status()
        #expect(status.hits == 1 && status.misses == 1 && status.records == 3)
        let metadata = try #require(try archive.metadata("a"))
        #expect(metadata.hits == 1 && metadata.valueBytes == 10 && metadata.tier == .disk)
        #expect(try archive.entries().metadata(at: 0)?.rank == 1)
    }

    @Test("evicts least recent entries until the new one fits") func eviction() throws {
        let archive = try folder.archive(creating: .cache(100))
        for number in 0..<10 { try archive.put(repeated(1, 10), forKey: "\(number)") }
        _ = try archive.access("0")
        try archive.put(repeated(1, 25), forKey: "new")
        #expect(
            try archive.entries(order: .leastRecentFirst).keys == ["4", "5", "6", "7", "8", "9", "0", "new"])
        #expect(try archive.status().evictions == 3)
        // Overwriting with a larger value evicts others, never the entry itself.
        try archive.put(repeated(1, 95), forKey: "4")
        #expect(try archive.entries().keys == ["4"])
    }

    @Test("refuses a value above the limit and keeps everything") func tooLarge() throws {
        let archive = try folder.archive(creating: .cache(100))
        for number in 0..<10 { try archive.put(repeated(1, 10), forKey: "\(number)") }
        #expect(throws: StorageError.valueTooLarge(bytes: 101, limit: 100, archive: "A")) {
            try archive.put(repeated(1, 101), forKey: "3")
        }
        #expect(try archive.entries().count == 10)
        #expect(try archive.peek("3") == repeated(1, 10))
        #expect(try archive.status().rejections == 1)
        try archive.put(repeated(1, 100), forKey: "fits")
        #expect(try archive.entries().keys == ["fits"])
    }

    @Test("one value evicts tens of thousands of entries") func massEviction() throws {
        let archive = try folder.archive(creating: .cache(20_000))
        for number in 0..<20_000 { try archive.put(repeated(1, 1), forKey: "\(number)") }
        try archive.put(repeated(1, 19_990), forKey: "large")
        #expect(
            try archive.entries(order: .leastRecentFirst).keys == (19_990..<20_000).map(String.init) + [
                "large"
            ])
        try archive.expectValid()
        // The log has the same entries without the index.
        let again = try folder.reopen(archive)
        #expect(try again.entries().count == 11)
    }

    /// S3, with random overwrites: the worst case for a log.
    @Test(
        "disk usage stays bounded with random overwrites",
        arguments: [
            (10_000_000, 5000), (10_000_000, 300_000), (3_000_000, 200), (1_000_000, 40_000), (300_000, 50),
        ])
    func boundedDiskUsage(limit: Int, size: Int) throws {
        let archive = try folder.archive(creating: .cache(UInt64(limit)))
        var random = SeededGenerator(seed: 11)
        let keys = limit / size * 3 / 2
        var worst = 0.0
        for step in 0..<(3 * keys) {
            let key = "key \(Int.random(in: 0..<keys, using: &random))"
            try archive.put(repeated(1, Int.random(in: size / 2...size, using: &random)), forKey: key)
            guard step % max(1, keys / 50) == 0 else { continue }
            let status = try archive.status()
            let bound = 1.25 * Double(limit + 128 * status.entries) + 1_048_576
            worst = max(worst, Double(status.footprint - status.requestBytes) / bound)
            #expect(status.diskBytes <= UInt64(limit))
        }
        #expect(worst <= 1, "limit \(limit), values of \(size): \(worst) of the bound")
        #expect(try archive.invariantViolations() == [])
    }

    @Test("an update keeps the creation time; a put doesn't") func creationTime() throws {
        let archive = try folder.archive(creating: .cache(10_000))
        try archive.put(repeated(1, 1), forKey: "k")
        let first = try #require(try archive.metadata("k"))
        while Timestamp.now() <= first.created {}
        try archive.update(repeated(1, 2), forKey: "k")
        let second = try #require(try archive.metadata("k"))
        #expect(second.created == first.created && second.sequence > first.sequence && second.valueBytes == 2)
        try archive.put(repeated(1, 3), forKey: "k")
        #expect(try #require(try archive.metadata("k")).created > first.created)
    }

    @Test("a planned deletion skips an entry that was stored again") func plannedDeletion() throws {
        let archive = try folder.archive(creating: .cache(10_000))
        try archive.put(repeated(1, 1), forKey: "k")
        let planned = try #require(try archive.metadata("k")).sequence
        try archive.put(repeated(1, 2), forKey: "k")
        #expect(try archive.delete("k", ifSequence: planned) == .changed)
        #expect(try archive.peek("k") == repeated(1, 2))
        let now = try #require(try archive.metadata("k")).sequence
        #expect(try archive.delete("k", ifSequence: now) == .deleted)
        #expect(try archive.delete("k", ifSequence: now) == .absent)
        #expect(try !archive.delete("k"))
    }

    @Test("deleting all entries removes their files and survives a rebuild") func deletingAll() throws {
        let archive = try folder.archive(creating: .cache(4_000_000))
        for number in 0..<3000 { try archive.put(repeated(1, 1000), forKey: "\(number)") }
        let full = try archive.status().footprint
        let removal = try archive.deleteAll()
        #expect(removal.entries == 3000 && removal.bytes == 3_000_000)
        #expect(try archive.status().footprint < full - 2_500_000)
        #expect(try archive.entries().isEmpty)
        #expect(try archive.invariantViolations() == [])
        try archive.put(repeated(1, 5), forKey: "after")
        #expect(try folder.reopen(archive).entries().keys == ["after"])
    }

    @Test("a smaller limit evicts at once and persists") func smallerLimit() throws {
        let archive = try folder.archive(creating: .cache(1000))
        for number in 0..<100 { try archive.put(repeated(1, 10), forKey: "\(number)") }
        try archive.setLimits(disk: 55, memory: nil)
        #expect(try archive.entries().keys == ["99", "98", "97", "96", "95"])
        #expect(try archive.configuration().diskLimit == 55)
        #expect(throws: StorageError.self) { try archive.put(repeated(1, 56), forKey: "x") }
    }

    @Test("stores a value larger than a segment's address range") func hugeValues() throws {
        let archive = try folder.archive(creating: .collection)
        var huge = repeated(7, 70_000_000)
        huge[69_999_999] = 9
        try archive.put(repeated(1, 10), forKey: "before")
        try archive.put(huge, forKey: "huge")
        try archive.put(repeated(1, 10), forKey: "after")
        #expect(try archive.peek("huge", range: 69_999_998..<80_000_000) == [7, 9])
        #expect(try archive.withPeek("huge") { $0.count } == 70_000_000)
        let again = try folder.reopen(archive)
        #expect(try again.entries().keys == ["after", "huge", "before"])
        #expect(try again.check().clean)
        #expect(try again.delete("huge"))
        for number in 0..<2000 { try again.put(repeated(1, 1000), forKey: "\(number)") }
        guard FileSystem.givesIndexBlocksBack else { return }
        #expect(try again.status().footprint < 10_000_000, "the huge value's segment is reclaimed")
    }

    @Test("any text is a key, compared by bytes") func keysOfAllKinds() throws {
        let archive = try folder.archive(creating: .cache(10_000))
        let keys = [
            "/", "..", "a\u{0}b", "日本", "e\u{301}", "\u{e9}", "👨‍👩‍👧", String(repeating: "x", count: 1024),
        ]
        for (number, key) in keys.enumerated() { try archive.put(repeated(1, number + 1), forKey: key) }
        for (number, key) in keys.enumerated() { #expect(try archive.peek(key)?.count == number + 1) }
        for key in ["", String(repeating: "x", count: 1025)] {
            let error = #expect(throws: StorageError.self) { try archive.put([1], forKey: key) }
            if case .invalidKey? = error { continue }
            Issue.record("\(String(describing: error))")
        }
        try archive.put([], forKey: "empty value")
        #expect(try archive.peek("empty value") == [])
    }

    @Test("only a value that the archive's limit refuses is reported with the archive")
    func namesTheExceededLimit() {
        let most = 1 << 30
        func words(_ bytes: Int) -> String {
            StorageError.valueTooLarge(bytes: bytes, limit: UInt64(most), archive: "Name").description
        }
        #expect(words(most).contains("Name"))
        #expect(!words(most + 1).contains("Name") && words(most + 1).contains("\(most)"))
    }
}
