import Foundation
import StorageEngine
import TestSupport
import Testing

/// A Python reader, written from OnDiskFormat alone, reads the same entries as the engine.
@Suite struct ReaderTests {
    private static let python = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":")
        .map { $0 + "/python3" }.first(where: FileManager.default.isExecutableFile(atPath:))

    private struct Entry: Codable, Hashable {
        let key: String
        let value: String
        let encoding: UInt8
        let created: Int64
        let sequence: UInt64
        let recency: UInt64
    }

    private static func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private func read(_ folder: TemporaryFolder) async throws -> [Entry] {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Reader/segments.py").path
        let python = try #require(ReaderTests.python)
        let worker = try Worker(
            [script, folder.store + "/A.archive"], in: folder, executable: String(python))
        let (status, lines) = try await worker.finish()
        #expect(status == 0)
        return try lines.map { try JSONDecoder().decode(Entry.self, from: Data($0.utf8)) }
    }

    /// Entries that the engine reads without an index, with the recency of the frames.
    private func engine(_ folder: TemporaryFolder) throws -> [Entry] {
        try? folder.removeIndex("A")
        let archive = try folder.archive()
        defer { archive.close() }
        let list = try archive.entries(order: .leastRecentFirst)
        return try list.indices.map { index in
            let metadata = try #require(try list.metadata(at: index))
            let value = try #require(try list.withValue(at: index) { ReaderTests.hex($0) })
            return Entry(
                key: ReaderTests.hex(metadata.key.utf8), value: value, encoding: metadata.encoding.rawValue,
                created: metadata.created.microseconds, sequence: metadata.sequence, recency: metadata.recency
            )
        }
    }

    /// Stores, updates, deletes, evicts and moves entries, in several segments.
    private func fill(_ folder: TemporaryFolder, kind: ArchiveKind) throws {
        let archive = try folder.archive(
            creating: ArchiveConfiguration(kind: kind, diskLimit: kind == .cache ? 50_000 : nil))
        defer { archive.close() }
        for number in 0..<60 { try archive.put(repeated(1, 900), forKey: "early \(number)", encoding: .cbor) }
        if kind == .collection { try archive.deleteAll() }
        for number in 0..<(kind == .cache ? 300 : 2500) {
            let value = repeated(UInt8(truncatingIfNeeded: number), number * 13 % 700)
            let key = "clé \(kind == .cache ? number : number % 97)"
            if number % 3 == 0 {
                try archive.update(value, forKey: key)
            } else {
                try archive.put(value, forKey: key)
            }
            if number % 11 == 0 { try archive.delete(key) }
            if number % 50 == 7 { try archive.apply(batch(number)) }
        }
        try archive.put([], forKey: "empty", encoding: .text)
    }

    /// Puts and deletes of existing and new keys.
    private func batch(_ number: Int) -> Batch {
        var batch = Batch()
        for place in 0..<12 {
            let key = "clé \((number + place * 7) % 97)"
            if place % 4 == 3 {
                batch.delete(key)
            } else {
                batch.put(repeated(UInt8(place), place * 40), forKey: key, encoding: .json)
            }
        }
        return batch
    }

    /// Entries without the least recent ones above the limit.
    private func fitting(_ entries: [Entry], kind: ArchiveKind) -> [Entry] {
        guard kind == .cache else { return entries }
        var bytes = entries.reduce(0) { $0 + $1.value.count / 2 }
        return Array(
            entries.drop { entry in
                defer { bytes -= entry.value.count / 2 }
                return bytes > 50_000
            })
    }

    @Test("reads damaged batches as the engine does", .enabled(if: python != nil, "needs python3"))
    func damagedBatches() async throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(creating: .collection)
        for number in 0..<6 {
            try archive.put(repeated(7, 600), forKey: "clé \(number)")
            try archive.apply(batch(number))
        }
        archive.close()
        let url = URL(fileURLWithPath: folder.archivePath("A", "00000001.segment"))
        let whole = try Data(contentsOf: url)
        let end = try #require(whole.lastIndex { $0 != 0 })
        #expect(end > 3 * 4096)
        var random = SeededGenerator(seed: 11)
        var found: Set<[Entry]> = []
        for round in 0..<12 {
            var data = whole
            let place = Int.random(in: 64..<end, using: &random)
            let range =
                switch round % 4 {
                case 0: place..<data.count
                case 1: place / 4096 * 4096..<min(end, place / 4096 * 4096 + 4096)
                case 2: place / 512 * 512..<min(end, place / 512 * 512 + 512)
                default: place..<place + 1
                }
            if range.count == 1 { data[place] ^= 1 } else { data.resetBytes(in: range) }
            try data.write(to: url)
            let entries = try await read(folder)
            #expect(try entries == engine(folder), "round \(round), changed \(range)")
            found.insert(entries)
        }
        #expect(found.count > 4)
    }

    @Test(
        "an independent reader finds the same entries", .enabled(if: python != nil, "needs python3"),
        arguments: [ArchiveKind.cache, .collection])
    func readsSameEntries(kind: ArchiveKind) async throws {
        let folder = try TemporaryFolder()
        try fill(folder, kind: kind)
        let entries = try engine(folder)
        #expect(entries.count > 50)
        #expect(try await read(folder) == entries)
        let segment = try #require(try folder.segments().last)
        let url = URL(fileURLWithPath: folder.archivePath("A", segment))
        var data = try Data(contentsOf: url)
        let end = try #require(data.lastIndex { $0 != 0 })
        for place in [20, 2000, 9000, end - 20] where place < end { data[place] ^= 0x20 }
        try data.write(to: url)
        let past = try await read(folder)
        #expect(past != entries)
        // Without the frames that evicted them, the entries may exceed the limit.
        #expect(try fitting(past, kind: kind) == engine(folder))
    }
}
