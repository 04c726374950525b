import Foundation
import StorageEngine
import Testing

/// What a program in another language, written from OnDiskFormat alone, reads is what the engine has.
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

    /// As the engine has them when it reads the log without an index: the recency is the frames' own.
    private func engine(_ folder: TemporaryFolder) throws -> [Entry] {
        try? folder.removeIndex("A")
        let store = try Store.open(at: folder.store)
        defer { store.close() }
        let list = try store.archive(named: "A").entries(order: .leastRecentFirst)
        return try list.indices.map { index in
            let metadata = try #require(try list.metadata(at: index))
            let value = try #require(try list.withValue(at: index) { ReaderTests.hex($0) })
            return Entry(
                key: ReaderTests.hex(metadata.key.utf8), value: value, encoding: metadata.encoding.rawValue,
                created: metadata.created.microseconds, sequence: metadata.sequence, recency: metadata.recency
            )
        }
    }

    /// Entries stored anew, updated, deleted, evicted and moved by reclaiming, in several segments.
    private func fill(_ folder: TemporaryFolder, kind: ArchiveKind) throws {
        let store = try Store.open(at: folder.store)
        defer { store.close() }
        let archive = try store.archive(
            named: "A", orCreate: ArchiveConfiguration(kind: kind, diskLimit: kind == .cache ? 50_000 : nil))
        for number in 0..<60 {
            try archive.put([UInt8](repeating: 1, count: 900), forKey: "early \(number)", encoding: .cbor)
        }
        if kind == .collection { try archive.deleteAll() }
        for number in 0..<(kind == .cache ? 300 : 2500) {
            let value = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: number * 13 % 700)
            let key = "clé \(kind == .cache ? number : number % 97)"
            if number % 3 == 0 {
                try archive.update(value, forKey: key)
            } else {
                try archive.put(value, forKey: key)
            }
            if number % 11 == 0 { try archive.delete(key) }
        }
        try archive.put([], forKey: "empty", encoding: .text)
    }

    @Test(.enabled(if: python != nil, "needs python3"), arguments: [ArchiveKind.cache, .collection])
    func readsWhatTheEngineReads(kind: ArchiveKind) async throws {
        let folder = try TemporaryFolder()
        try fill(folder, kind: kind)
        let entries = try engine(folder)
        #expect(entries.count > 50)
        #expect(try await read(folder) == entries)
        // Past damage as well.
        let segment = try #require(try folder.files(inArchive: "A").last { $0.hasSuffix(".segment") })
        let url = URL(fileURLWithPath: folder.archivePath("A", segment))
        var data = try Data(contentsOf: url)
        for place in [20, 2000, 9000] where place < data.count { data[place] ^= 0x20 }
        try data.write(to: url)
        let past = try await read(folder)
        #expect(past != entries)
        #expect(try past == engine(folder))
    }
}
