import TestSupport
import Foundation
import StorageEngine
import Testing

/// A damaged index that looks trustworthy.
///
/// The next opening verifies a checksum over the closed index, or the sums in it, so that damage loses no intact
/// entries.
@Suite struct IndexTrustTests {
    private static let entries = 2001
    /// Live bytes of each segment; existing segments come first.
    private static let tables = 12_288..<12_288 + 400

    private static func value(_ number: Int, _ round: Int = 0) -> [UInt8] {
        Array("value \(number) of round \(round), ".utf8)
            + repeated(UInt8(truncatingIfNeeded: number), number % 150)
    }

    /// A closed store in which entry number n of the index is key n − 1: nothing was ever removed.
    private func fill(_ folder: TemporaryFolder, entries: Int, kind: ArchiveKind = .cache) throws {
        let archive = try folder.archive(
            creating: ArchiveConfiguration(kind: kind, diskLimit: kind == .cache ? 40_000_000 : nil))
        // A collection's log has its maximum length, so that every operation reclaims.
        for _ in 0..<(kind == .collection && entries < 10_000 ? 6 : 1) {
            for number in 0..<entries {
                try archive.put(IndexTrustTests.value(number), forKey: "key \(number)")
            }
        }
        archive.close()
    }

    /// Writes random bytes in place, so that the index stays valid for this file.
    private func damage(
        _ folder: TemporaryFolder, _ range: Range<Int>, count: Int, _ random: inout SeededGenerator
    ) throws -> Set<Int> {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: folder.archivePath("A", "index")))
        defer { try? file.close() }
        var places = Set<Int>()
        for _ in 0..<count {
            let place = Int.random(in: range, using: &random)
            places.insert(place)
            try file.seek(toOffset: UInt64(place))
            // Zeros in the tables make segments look empty.
            let byte = range == Self.tables ? 0 : UInt8.random(in: 0...255, using: &random)
            try file.write(contentsOf: Data([byte]))
        }
        return places
    }

    /// Entries whose slots contain these offsets: number n is key n − 1.
    private func keysHit(_ places: Set<Int>) -> Set<Int> {
        Set(
            places.compactMap { place in
                let offset = place - 262_144
                guard offset >= 0, offset % 98_304 < 65_536 else { return nil }
                return offset / 98_304 * 1024 + offset % 98_304 / 64
            })
    }

    /// Several short uses of the store, each with a separate opening. Returns the keys stored again.
    private func use(_ folder: TemporaryFolder, entries: Int, _ random: inout SeededGenerator) throws -> [Int:
        Int]
    {
        var stored: [Int: Int] = [:]
        for round in 1...4 {
            let mode: AccessMode = round == 1 ? .readOnly : .readWrite
            guard let store = try? Store.open(at: folder.store, mode: mode),
                let archive = try? store.archive(named: "A")
            else { continue }
            defer { store.close() }
            _ = try? archive.status()
            if round == 1 { _ = try? archive.check() }
            for _ in 0..<300 {
                let number = Int.random(in: 0..<entries, using: &random)
                let found = try? archive.peek("key \(number)")
                if let found {
                    #expect(found == IndexTrustTests.value(number, stored[number] ?? 0), "key \(number)")
                }
                guard mode == .readWrite else { continue }
                _ = try? archive.access("key \(number)")
                do throws(StorageError) {
                    try archive.put(IndexTrustTests.value(number, round), forKey: "key \(number)")
                    stored[number] = round
                } catch {
                    // Refused: the index contradicts itself, and the entry stays.
                }
            }
        }
        return stored
    }

    private func missing(_ folder: TemporaryFolder, entries: Int, stored: [Int: Int]) throws -> [Int] {
        let archive = try folder.rebuilt()
        defer { archive.close() }
        return try (0..<entries).filter {
            try archive.peek("key \($0)") != IndexTrustTests.value($0, stored[$0] ?? 0)
        }
    }

    enum Place: String, CaseIterable { case anywhere, header, tables, chunks, chunksOfALargeIndex }

    @Test("random bytes in an index lose no other entries", arguments: Place.allCases)
    func randomBytes(place: Place) throws {
        let large = place == .chunksOfALargeIndex
        let entries = large ? 52_000 : IndexTrustTests.entries
        let cache = try TemporaryFolder(inMemory: true)
        try fill(cache, entries: entries)
        let collection = try TemporaryFolder(inMemory: true)
        try fill(collection, entries: entries, kind: .collection)
        for seed in UInt64(1)...(large ? 2 : place == .header ? 8 : 4) {
            for isMarked in large ? [true] : [true, false] {
                let folder = try TemporaryFolder(inMemory: true)
                try FileManager.default.copyItem(
                    atPath: (seed % 2 == 0 ? cache : collection).store, toPath: folder.store)
                try folder.adoptIndex("A")
                var random = SeededGenerator(seed: seed)
                let path = folder.archivePath("A", "index")
                let size = try contents(of: path).count
                if !isMarked || large { try folder.remark("A", clean: isMarked) }
                let range =
                    switch place {
                    case .anywhere: 0..<size
                    case .header: 192..<1024
                    case .tables: Self.tables
                    case .chunks, .chunksOfALargeIndex: 262_144..<size
                    }
                let count = place == .header ? 1 + Int(seed) % 4 : 2000
                let places = try damage(folder, range, count: count, &random)
                let stored = try use(folder, entries: entries, &random)
                let lost = Set(try missing(folder, entries: entries, stored: stored))
                let beyond = lost.subtracting(keysHit(places))
                #expect(
                    beyond.isEmpty,
                    "seed \(seed), \(place), marked \(isMarked): \(beyond.count) lost, such as \(Array(beyond.prefix(5)))"
                )
            }
        }
    }

    @Test("a repair of a damaged log keeps entries that a large damaged index has lost")
    func damagedLogAndIndex() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let entries = 52_000
        try fill(folder, entries: entries)
        let path = folder.archivePath("A", "index")
        var random = SeededGenerator(seed: 7)
        let chunks = try 262_144..<contents(of: path).count
        try #require(chunks.upperBound > 4 << 20)
        _ = try damage(folder, chunks, count: 2000, &random)
        try folder.remark("A", clean: true)
        try flip(folder.archivePath("A", try #require(try folder.segments().first)), at: 1000)
        let report = try folder.repair()
        #expect(report.damaged > 0 && report.entries >= entries - 2)
        // One damaged place affects one entry, or two if it is between them.
        #expect(try missing(folder, entries: entries, stored: [:]).count <= 2)
    }

    @Test(
        "a wrong count of buckets causes a rebuild", arguments: [UInt32(1 << 20), 1 << 30, .max, 0, 1, 5_000])
    func wrongBucketCount(claimed: UInt32) throws {
        let folder = try TemporaryFolder(inMemory: true)
        var archive = try folder.archive(creating: .cache(1_000_000))
        for number in 0..<20_000 { try archive.put([UInt8(number & 255)], forKey: "key \(number)") }
        try overwrite(folder.archivePath("A", "index"), at: 460, with: little(claimed))
        // Look-ups must not report these entries as absent.
        for number in [0, 7_777, 19_999] where claimed > 10_000 {
            if case .success(let value) = Result(catching: { try archive.peek("key \(number)") }) {
                #expect(value == [UInt8(number & 255)])
            }
        }
        for number in 0..<3 { try? archive.put([7], forKey: "new \(number)") }
        var removed: Set<Int> = []
        for number in 0..<200 where (try? archive.delete("key \(number)")) == true { removed.insert(number) }
        archive = try folder.reopen(archive, rebuilding: false)
        try archive.expectValid()
        for number in 0..<20_000 {
            #expect(try (archive.peek("key \(number)") == nil) == removed.contains(number))
        }
    }

    @Test("no key counts as absent if the index claims more buckets than fit into it")
    func tooManyBuckets() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(creating: .cache(1_000_000))
        defer { archive.close() }
        for number in 0..<10_000 { try archive.put([1], forKey: "key \(number)") }
        let path = folder.archivePath("A", "index")
        let capacity = try contents(of: path)[448..<452].reversed().reduce(0) { $0 << 8 | UInt32($1) }
        try overwrite(path, at: 460, with: little(capacity / 1024 * 320 + 1))
        for number in stride(from: 0, to: 10_000, by: 50) {
            if case .success(let value) = Result(catching: { try archive.peek("key \(number)") }) {
                #expect(value == [1])
            }
        }
    }

    @Test("a removal with an extreme count of buckets ends") func extremeBucketCount() throws {
        let folder = try TemporaryFolder(inMemory: true)
        var archive = try folder.archive(creating: .cache(100_000))
        for number in 0..<20_000 { try archive.put([1], forKey: "key \(number)") }
        try overwrite(folder.archivePath("A", "index"), at: 460, with: little(UInt32.max))
        try? archive.setLimits(disk: 100, memory: nil)
        archive = try folder.reopen(archive, rebuilding: false)
        try archive.expectValid()
    }

    @Test("buckets far beyond the end are absent") func farBuckets() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(creating: .cache(1_000_000))
        for number in 0..<2_000 { try archive.put([1], forKey: "key \(number)") }
        let hash = try folder.hash(of: "A")
        // With 2³² - 1 buckets, a bucket has its tag's number. A chunk has 320 buckets and 1,024 entries.
        func ends32BitsAround(_ key: String) -> Bool {
            var key = key
            let tag = key.withUTF8 { UInt32(truncatingIfNeeded: hash(UnsafeRawBufferPointer($0))) }
            let end = (Int(tag) / 320 + 1) * 1024
            return end > 2048 && end & 0xffff_ffff <= 2048
        }
        let key = try #require((0...).lazy.map { "far \($0)" }.first(where: ends32BitsAround))
        try overwrite(folder.archivePath("A", "index"), at: 460, with: little(UInt32.max))
        #expect((try? archive.peek(key)) == nil)
        try? archive.put([1], forKey: key)
        archive.close()
    }
}
