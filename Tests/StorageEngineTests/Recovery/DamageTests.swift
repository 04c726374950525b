import TestSupport
import Foundation
import StorageEngine
import Testing

/// F4, R6: damaged, missing and foreign files cause a clear error or lose the damaged data only, and never trap.
@Suite struct DamageTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A store with 200 entries in the archive "A", closed.
    private func filled(_ folder: TemporaryFolder) throws {
        let archive = try folder.archive(
            creating: ArchiveConfiguration(kind: .collection, diskLimit: nil, typeName: "Sample"))
        for number in 0..<200 { try archive.put(Array("value \(number)".utf8), forKey: "key \(number)") }
        archive.close()
    }

    /// Only the metadata of values longer than a page is checked.
    @Test("a list returns no damaged keys, owners or dates") func damagedMetadata() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(creating: .collection)
        for number in 0..<12 {
            let attributes = EntryAttributes(lifetime: .seconds(1_000), owner: "owner \(number % 3)")
            let value = repeated(1, number == 5 ? 5_000 : 20)
            try archive.put(value, forKey: "key \(number)", attributes: attributes)
        }
        let right = try archive.entries()
        let metadata = try right.indices.map { try #require(try right.metadata(at: $0)) }
        archive.close()
        let segment = folder.archivePath("A", "00000001.segment")
        let original = try contents(of: segment)
        let written = original.lastIndex { $0 != 0 } ?? 0
        let reader = try folder.archive(mode: .readOnly)
        var (damaged, wrong) = (0, [String]())
        for offset in stride(from: 64, to: written, by: 7) {
            try flip(segment, at: offset)
            let list = try reader.entries()
            for index in list.indices {
                let key = try list.soundKey(at: index)
                if key == nil { damaged += 1 }
                if let key, key != metadata[index].key { wrong.append("\(key) at \(offset)") }
                for found in [try list.soundMetadata(at: index), try? list.metadata(at: index)] {
                    guard let found else { continue }
                    let isNamed = found.key == metadata[index].key && found.owner == metadata[index].owner
                    if !isNamed { wrong.append("\(found) at \(offset)") }
                }
                if let found = try list.soundMetadata(at: index), found.valueBytes < 4_000 {
                    if found != metadata[index] { wrong.append("\(found) at \(offset)") }
                } else if metadata[index].valueBytes < 4_000, try !list.isDamaged(at: index) {
                    wrong.append("\(metadata[index].key) not damaged at \(offset)")
                }
            }
            try flip(segment, at: offset)
        }
        #expect(damaged > 5)
        #expect(wrong == [])
    }

    @Test("deletes damaged entries with their owner", arguments: ["owner 1", "key 4", "value 4"])
    func deletedWithOwner(text: String) throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(creating: .collection)
        defer { archive.close() }
        for number in 0..<6 {
            try archive.put(
                Array("value \(number)".utf8), forKey: "key \(number)",
                attributes: EntryAttributes(owner: "owner \(number % 3)"))
        }
        let segment = folder.archivePath("A", "00000001.segment")
        let data = try contents(of: segment)
        let place = try #require(data.range(of: Data(text.utf8))?.upperBound) - 1
        try overwrite(segment, at: place, with: [data[place] ^ 0x10])
        #expect(try archive.deleteEntries(ofOwner: "owner 1").entries == 2)
        let list = try archive.entries()
        #expect(try list.indices.map { try list.key(at: $0) } == ["key 5", "key 3", "key 2", "key 0"])
    }

    @Test("a damaged entry of a trusted index causes an error and is reported")
    func flippedBitUnderIndex() throws {
        try filled(folder)
        let segment = folder.archivePath("A", "00000001.segment")
        let place = try flip(segment, text: "value 42")
        let archive = try folder.archive(mode: .readOnly)
        #expect(try archive.peek("key 41") == Array("value 41".utf8))
        #expect { try archive.peek("key 42") } throws: { error in
            guard case .corrupted(let path, let offset, _)? = error as? StorageError else { return false }
            return path == segment && offset > 0 && offset < place
        }
        let report = try archive.check()
        #expect(!report.clean)
        #expect(report.damaged >= 1)
        #expect(report.problems.contains { $0.contains("00000001.segment") }, "\(report.problems)")
    }

    @Test("a damaged key doesn't count as absent") func damagedKey() throws {
        try filled(folder)
        let segment = folder.archivePath("A", "00000001.segment")
        try flip(segment, text: "key 42value 42")
        let archive = try folder.archive()
        defer { archive.close() }
        #expect(try archive.peek("key 41") == Array("value 41".utf8))
        #expect(try archive.peek("no key") == nil)
        #expect { try archive.peek("key 42") } throws: { $0.damagedFile == segment }
        #expect { try archive.access("key 42") } throws: { $0.damagedFile == segment }
        #expect { try archive.put([1], forKey: "key 42") } throws: { $0.damagedFile == segment }
        #expect(try archive.status().entries == 200)
        #expect(try !archive.check().clean)
    }

    @Test("a segment truncated anywhere keeps the entries before the cut") func segmentTruncatedAtEveryStep()
        throws
    {
        try filled(folder)
        let segment = folder.archivePath("A", "00000001.segment")
        let original = try contents(of: segment)
        var previous = 200
        for length in Array(stride(from: 16_000, through: 150, by: -311)) + [100, 64, 63, 8, 0] {
            try original.prefix(length).write(to: URL(fileURLWithPath: segment))
            try? FileManager.default.removeItem(atPath: folder.archivePath("A", "index"))
            let archive = try folder.archive(mode: .readOnly)
            let count = try archive.entries().count
            #expect(count <= previous)
            previous = count
        }
        #expect(previous == 0)
    }

    @Test("reports segments of other archives") func foreignSegments() throws {
        try filled(folder)
        let other = try TemporaryFolder()
        try filled(other)
        let segment = folder.archivePath("A", "00000001.segment")
        let original = try contents(of: segment)
        let foreign = try contents(of: other.archivePath("A", "00000001.segment"))
        for (name, content) in [
            ("00000001.segment", original.prefix(30)), ("00000001.segment", foreign),
            ("000000f0.segment", foreign),
            ("00000002.segment", original),
        ] {
            try content.write(to: URL(fileURLWithPath: folder.archivePath("A", name)))
            try? folder.removeIndex("A")
            let report = try folder.check()
            #expect(!report.clean && report.problems.contains { $0.contains(name) }, "\(report.problems)")
            try FileManager.default.removeItem(atPath: folder.archivePath("A", name))
            try original.write(to: URL(fileURLWithPath: segment))
        }
    }

    @Test("an archive without its descriptor isn't created again") func missingDescriptor() throws {
        try filled(folder)
        let descriptor = folder.archivePath("A", "descriptor")
        try FileManager.default.moveItem(atPath: descriptor, toPath: folder.path + "/descriptor")
        let store = try Store.open(at: folder.store)
        #expect { try store.archive(named: "A", orCreate: .cache()) } throws: { $0.damagedFile == descriptor }
        #expect(try store.archiveNames() == ["A"])
        try FileManager.default.moveItem(atPath: folder.path + "/descriptor", toPath: descriptor)
        #expect(try store.archive(named: "A").entries().count == 200)
    }

    @Test("folders without a store are refused") func foldersWithoutStore() throws {
        #expect(throws: StorageError.storeNotFound(path: folder.store)) {
            try Store.open(at: folder.store, mode: .readOnly)
        }
        #expect(throws: StorageError.storeNotFound(path: folder.path)) {
            try Store.open(at: folder.path, mode: .readOnly)
        }
        try Data("hello".utf8).write(to: URL(fileURLWithPath: folder.path + "/file"))
        for (path, mode) in [
            (folder.path + "/file", AccessMode.readWrite), (folder.path, .readOnly),
            (folder.path, .readWrite),
        ] {
            #expect("\(path) is no store and never becomes one") {
                try Store.open(at: path, mode: mode)
            } throws: { $0.isNotAStore }
        }
        #expect(try !Store.isStore(at: folder.path))
    }

    @Test("files and folders are accessible to their user only") func privateFiles() throws {
        try filled(folder)
        for name in try folder.files(inArchive: "A") {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.archivePath("A", name))
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
        for path in [folder.store, folder.store + "/A.archive"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o700, "\(path)")
        }
    }
}
