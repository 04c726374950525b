import Foundation
import StorageEngine
import Testing

/// Opens stores of every format version with all entries (F10).
///
/// `Fixtures/format-1` must not change. `VELLUM_RENEW_GOLDEN=1 swift test --filter ReleasedFormatTests` recreates it,
/// before the release of the version only.
@Suite struct ReleasedFormatTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fixtures")
    private static let renews = ProcessInfo.processInfo.environment["VELLUM_RENEW_GOLDEN"] == "1"

    /// Expected contents of a store; `entries` with the least recent first.
    private struct Manifest: Codable, Equatable {
        struct Entry: Codable, Equatable {
            var key: String
            var value: String
            var encoding: UInt8
            var created: Int64
            var sequence: UInt64
        }

        struct Contents: Codable, Equatable {
            var name: String
            var kind: UInt8
            var diskLimit: UInt64?
            var memoryLimit: UInt64?
            var typeName: String
            var entries: [Entry]
        }

        var archives: [Contents]
    }

    private func manifest(of store: Store) throws -> Manifest {
        Manifest(
            archives: try store.archiveNames().map { name in
                let archive = try store.archive(named: name)
                let configuration = try archive.configuration()
                let list = try archive.entries(order: .leastRecentFirst)
                return Manifest.Contents(
                    name: name, kind: configuration.kind.rawValue, diskLimit: configuration.diskLimit,
                    memoryLimit: configuration.memoryLimit, typeName: configuration.typeName,
                    entries: try list.indices.map { index in
                        let entry = try #require(try list.metadata(at: index))
                        let value = try #require(
                            try list.withValue(at: index) { Data($0).base64EncodedString() })
                        return Manifest.Entry(
                            key: entry.key, value: value, encoding: entry.encoding.rawValue,
                            created: entry.created.microseconds, sequence: entry.sequence)
                    })
            })
    }

    /// Every kind of frame that this version writes: put, delete, deleteAll, evict, move, and, after a repair, void.
    private func make(_ folder: TemporaryFolder) throws {
        let store = try Store.open(at: folder.store)
        defer { store.close() }
        let cache = try store.archive(
            named: "Cache & more",
            orCreate: ArchiveConfiguration(
                kind: .cache, diskLimit: 1000, memoryLimit: 500, typeName: "Array<City>"))
        for number in 0..<9 {
            try cache.put(repeated(UInt8(number), 150), forKey: "ключ \(number)", encoding: .cbor)
        }
        try cache.update(Array("{\"a\":1}".utf8), forKey: "ключ 5", encoding: .json)
        try cache.delete("ключ 6")
        try cache.setLimits(disk: 400, memory: nil)
        let collection = try store.archive(
            named: "Items",
            orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil, memoryLimit: nil))
        try collection.put([1], forKey: "before")
        try collection.deleteAll()
        for (number, encoding) in ValueEncoding.allCases.enumerated() {
            try collection.put(Array("value \(number)".utf8), forKey: "key \(number)", encoding: encoding)
        }
        try collection.put([], forKey: String(repeating: "k", count: 1024))
        // Overwritten beside one live entry, until reclaiming has moved that entry.
        let moved = try store.archive(
            named: "Moved", orCreate: ArchiveConfiguration(kind: .cache, diskLimit: 20_000, memoryLimit: 0))
        try moved.put(Array("stays".utf8), forKey: "stays")
        let first = folder.archivePath("Moved", "00000001.segment")
        for _ in 0..<5000 where FileManager.default.fileExists(atPath: first) {
            try moved.put(repeated(9, 2000), forKey: "goes")
            _ = try moved.access("stays")
        }
        try moved.put([7], forKey: "goes")
        #expect(!FileManager.default.fileExists(atPath: first))
        let voided = try store.archive(named: "Voided", orCreate: .collection)
        for number in 0..<4 { try voided.put(Array("value \(number)".utf8), forKey: "key \(number)") }
        voided.close()
        try flip(folder.archivePath("Voided", "00000001.segment"), text: "value 1")
        #expect(try store.repair(archiveNamed: "Voided").damaged == 1)
    }

    /// Copies the files to keep: segments without trailing zeros, no index, no locks. Of "Moved", only the newest
    /// segment, which holds both entries.
    private func keep(_ folder: TemporaryFolder, in kept: URL) throws {
        let files = FileManager.default
        try? files.removeItem(at: kept)
        for path in try files.subpathsOfDirectory(atPath: folder.store) {
            let source = folder.store + "/" + path
            let name = path.split(separator: "/").last ?? ""
            let newest = try folder.segments("Moved").last
            if path.hasPrefix("Moved"), name.hasSuffix(".segment"), String(name) != newest { continue }
            guard name == "descriptor" || name == "vellum-store" || name.hasSuffix(".segment") else {
                continue
            }
            var data = try contents(of: source)
            if name.hasSuffix(".segment") {
                let end = ((data.lastIndex { $0 != 0 } ?? 0) + 8) & ~7
                data = data.prefix(max(end, 64))
            }
            let target = kept.appendingPathComponent(path)
            try files.createDirectory(
                at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
            try data.write(to: target)
        }
    }

    /// A store of the kept files, with segments padded to whole pages.
    private func store(from kept: URL) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try FileManager.default.copyItem(atPath: kept.path, toPath: folder.store)
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.store)
        where path.hasSuffix(".segment") {
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: folder.store + "/" + path))
            defer { try? file.close() }
            try file.truncate(atOffset: (file.seekToEnd() + 4095) & ~4095)
        }
        return folder
    }

    @Test("opens format 1 with all entries") func formatOne() throws {
        let kept = ReleasedFormatTests.folder.appendingPathComponent("format-1")
        let expectation = ReleasedFormatTests.folder.appendingPathComponent("format-1.json")
        if ReleasedFormatTests.renews {
            let made = try TemporaryFolder()
            try make(made)
            try keep(made, in: kept)
            let copy = try store(from: kept)
            let store = try Store.open(at: copy.store)
            defer { store.close() }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            try encoder.encode(manifest(of: store)).write(to: expectation)
        }
        let expected = try JSONDecoder().decode(Manifest.self, from: Data(contentsOf: expectation))
        #expect(expected.archives.map(\.entries.count) == [3, 6, 2, 3])
        for mode in [AccessMode.readOnly, .readWrite] {
            let folder = try store(from: kept)
            let store = try Store.open(at: folder.store, mode: mode)
            defer { store.close() }
            #expect(try manifest(of: store) == expected)
            for name in try store.archiveNames() {
                let archive = try store.archive(named: name)
                #expect(try archive.check().problems == [], "\(name)")
                guard mode == .readWrite else { continue }
                try archive.put([1, 2], forKey: "new")
                #expect(try archive.access("new") == [1, 2])
                #expect(try archive.invariantViolations() == [])
            }
        }
    }
}
