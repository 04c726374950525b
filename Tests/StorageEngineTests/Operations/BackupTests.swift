import Foundation
import StorageEngine
import Synchronization
import TestSupport
import Testing

/// Unlike a copy of files in use, a backup is complete.
@Suite(.oneAtATime) struct BackupTests {
    private let folder: TemporaryFolder
    private let store: Store
    private var place: String { folder.path + "/backup" }

    init() throws {
        folder = try TemporaryFolder(inMemory: true)
        store = try Store.open(at: folder.store)
    }

    /// Marks a folder as a killed backup does.
    private func mark(_ path: String) throws {
        let inode = try #require(
            FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? UInt64)
        try Data("A backup is being made in folder \(inode)\n".utf8).write(
            to: URL(fileURLWithPath: path + "/vellum-store.backup"))
    }

    @Test("a backup's name may begin with a combining mark") func combiningMark() throws {
        try store.archive(named: "A", orCreate: .cache()).put([1], forKey: "a")
        let place = folder.path + "/\u{301}backup"
        _ = try store.backUp(to: place + "//")
        #expect(try Store.open(at: place).archive(named: "A").peek("a") == [1])
    }

    @Test("replaces a killed backup, however far its removal got") func partialRemoval() throws {
        let archive = try store.archive(named: "A", orCreate: .collection)
        try archive.put([1], forKey: "a")
        // On a disk, where folders list names in no particular order.
        let folder = try TemporaryFolder()
        let place = folder.path + "/backup"
        for number in 1...60 {
            let left = try Store.open(at: place + ".partial")
            for name in ["B", "C", "D", "E", "F"] {
                try left.archive(named: name, orCreate: .cache()).put([1], forKey: "b")
            }
            left.close()
            try mark(place + ".partial")
            let plan = FaultPlan(
                .fails(EIO), call: .unlink, under: folder.path, number: number, isLasting: true)
            _ = withFaults(plan) { try? store.backUp(to: place) }
            if plan.injected == 0 { return }
            // The failed calls may have followed the final rename.
            if !FileManager.default.fileExists(atPath: place) { _ = try store.backUp(to: place) }
            #expect(try Store.open(at: place).archive(named: "A").peek("a") == [1], "\(number)")
            try removeFolderInUse(place)
        }
        Issue.record("a removal made more than 60 calls")
    }

    @Test("doesn't replace a backup that took its name first") func concurrentBackup() throws {
        try store.archive(named: "A", orCreate: .cache()).put([1], forKey: "a")
        let other = try Store.open(at: place + ".partial")
        try other.archive(named: "B", orCreate: .cache()).put([2], forKey: "b")
        other.close()
        try mark(place + ".partial")
        let lock = open(place + ".partial", O_RDONLY | O_CLOEXEC)
        defer { close(lock) }
        try #require(flock(lock, LOCK_EX) == 0)
        let place = place
        let killed = Background {
            usleep(50_000)
            #expect(rename(place + ".partial", place) == 0)
            flock(lock, LOCK_UN)
        }
        #expect(throws: StorageError.backupExists(path: place)) { try store.backUp(to: place) }
        try killed.wait()
        #expect(try Store.open(at: place).archive(named: "B").peek("b") == [2])
        #expect(!FileManager.default.fileExists(atPath: place + ".partial"))
    }

    @Test("a complete backup with a leftover mark is a store") func leftoverMark() throws {
        try store.archive(named: "A", orCreate: .cache()).put([1], forKey: "a")
        _ = try store.backUp(to: place)
        #expect(!FileManager.default.fileExists(atPath: place + "/vellum-store.backup"))
        try mark(place)
        for mode in [AccessMode.readOnly, .readWrite] {
            #expect(try Store.open(at: place, mode: mode).archive(named: "A").peek("a") == [1])
        }
        #expect(!FileManager.default.fileExists(atPath: place + "/vellum-store.backup"))
        #expect(throws: StorageError.backupExists(path: place)) { try store.backUp(to: place) }
    }

    @Test("only the marked folder itself is an unfinished backup") func copiedMark() throws {
        try store.archive(named: "A", orCreate: .cache()).put([1], forKey: "a")
        let partial = place + ".partial"
        func make() throws -> Store {
            let mine = try Store.open(at: partial)
            try mine.archive(named: "Mine", orCreate: .cache()).put([2], forKey: "b")
            return mine
        }
        let mine = try make()
        for text in [nil, "", "A backup is being made in folder 1\n"] {
            try text.map { Data($0.utf8) }?.write(to: URL(fileURLWithPath: partial + "/vellum-store.backup"))
            for source in [store, mine] {
                #expect(throws: StorageError.backupExists(path: partial)) { try source.backUp(to: place) }
            }
        }
        #expect(try mine.archive(named: "Mine").peek("b") == [2])
        mine.close()
        #expect(try Store.open(at: partial).archive(named: "Mine").peek("b") == [2])
        try mark(partial)
        for mode in [AccessMode.readWrite, .readOnly] {
            #expect {
                try Store.open(at: partial, mode: mode)
            } throws: {
                "\($0)".contains("backup or restore was not finished")
            }
        }
        #expect(try store.backUp(to: place)?.archives.count == 1)
        #expect(try Store.open(at: place).archiveNames() == ["A"])
    }

    @Test("an archive that is named twice is copied once") func copiedOnce() throws {
        let log = try store.archive(named: "L", orCreate: .log(20_000))
        for number in 0..<20 { try log.append(repeated(UInt8(number), 1000)) }
        let report = try store.backUp(archives: ["L", "L"], to: place)
        #expect(report?.archives.map(\.entries) == [20])
        #expect(try Store.open(at: place).archive(named: "L").status().entries == 20)
    }

    @Test("names the file that prevents a backup") func obstacle() throws {
        let partial = place + ".partial"
        try Data().write(to: URL(fileURLWithPath: partial))
        #expect(throws: StorageError.backupExists(path: partial)) { try store.backUp(to: place) }
        try FileManager.default.removeItem(atPath: partial)
        try FileManager.default.createSymbolicLink(atPath: partial, withDestinationPath: folder.store)
        #expect(throws: StorageError.backupExists(path: partial)) { try store.backUp(to: place) }
    }

    @Test("a complete backup stays if its last sync fails") func failedLastSync() throws {
        try store.archive(named: "A", orCreate: .cache()).put([1], forKey: "a")
        for number in 1...60 {
            let plan = FaultPlan(
                .fails(EIO), call: .sync, under: folder.path, number: number, isLasting: true)
            let outcome = withFaults(plan) {
                Result { () throws(StorageError) in try store.backUp(to: place) }
            }
            if FileManager.default.fileExists(atPath: place) {
                if case .failure(let error) = outcome {
                    #expect("\(error)".contains("sync the complete backup \(place): "), "\(error)")
                }
                #expect(try Store.open(at: place).archive(named: "A").peek("a") == [1], "\(number)")
                try removeFolderInUse(place)
            }
            if plan.injected == 0 { return }
        }
        Issue.record("a backup made more than 60 syncs")
    }

    /// Metadata of all entries, the most recent first.
    private func facts(_ archive: Archive) throws -> [EntryMetadata] {
        let list = try archive.entries()
        return try list.indices.compactMap { try list.metadata(at: $0) }
    }

    private func expectSame(_ copy: Archive, _ original: Archive, _ comment: String) throws {
        let (found, expected) = (try facts(copy), try facts(original))
        #expect(found == expected, "\(comment)")
        for entry in expected { #expect(try copy.peek(entry.key) == original.peek(entry.key), "\(comment)") }
        #expect(try copy.configuration() == original.configuration(), "\(comment)")
        try copy.expectValid("\(comment)")
    }

    @Test("a backup has all entries, settings and messages") func completeCopy() throws {
        let cache = try store.archive(
            named: "Städte/1",
            orCreate: ArchiveConfiguration(
                diskLimit: 50_000, memoryLimit: nil, typeName: "City", durability: .interval(seconds: 5)))
        for number in 0..<80 {
            try cache.put(
                repeated(UInt8(number), 900), forKey: "key \(number)",
                encoding: ValueEncoding.allCases[number % 5],
                attributes: EntryAttributes(
                    lifetime: number % 3 == 0 ? .seconds(1000 + number) : nil,
                    memoryLifetime: number % 4 == 0 ? .seconds(7) : nil, owner: number % 5 == 0 ? "ö" : nil))
        }
        for number in stride(from: 79, to: 30, by: -7) {
            for _ in 0..<number % 4 { _ = try cache.access("key \(number)") }
        }
        try cache.update([1], forKey: "key 60")
        let collection = try store.archive(
            named: "C", orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil, durability: .full))
        var batch = Batch()
        for number in 0..<2000 { batch.put([UInt8(number & 255)], forKey: "\(number)") }
        try collection.apply(batch)
        let log = try store.archive(named: "L", orCreate: .log(5000))
        for number in 0..<200 { try log.append(repeated(UInt8(number), 100)) }
        _ = try store.archive(named: "Empty", orCreate: .cache())
        var steps = 0
        let looking = try Store.open(at: folder.store, mode: .readOnly)
        let report = try #require(
            try looking.backUp(to: place) { _ in
                steps += 1; return true
            })
        #expect(report.archives.map(\.name) == ["C", "Empty", "L", "Städte/1"] && report.damaged.isEmpty)
        #expect(report.archives.map(\.entries) == [2000, 0, 50, try cache.status().entries])
        #expect(steps > 8)
        #expect(!FileManager.default.fileExists(atPath: place + ".partial"))
        for comment in ["as it was made", "rebuilt"] {
            let copied = try Store.open(at: place)
            try expectSame(copied.archive(named: "Städte/1"), cache, comment)
            try expectSame(copied.archive(named: "C"), collection, comment)
            let messages = try copied.archive(named: "L").messages(most: .max).messages
            #expect(try messages == log.messages(most: .max).messages, "\(comment)")
            #expect(try copied.archive(named: "L").check().clean)
            #expect(try copied.archive(named: "Empty").status().entries == 0)
            copied.close()
            for name in try FileManager.default.contentsOfDirectory(atPath: place)
            where name != "vellum-store" {
                try FileManager.default.removeItem(atPath: place + "/" + name + "/index")
            }
        }
        let copied = try Store.open(at: place)
        try copied.archive(named: "C").put([1], forKey: "new")
        #expect(try copied.archive(named: "L").append([1]) > 200)
        #expect(try collection.peek("new") == nil)
    }

    @Test("a backup replaces nothing and leaves nothing behind") func existingFiles() throws {
        let archive = try store.archive(named: "A", orCreate: .cache())
        try archive.put([1], forKey: "a")
        #expect(throws: StorageError.backupExists(path: folder.store)) {
            try store.backUp(to: folder.store + "/")
        }
        let before = try FileManager.default.subpathsOfDirectory(atPath: folder.store).sorted()
        for inside in [folder.store + "/copy", folder.store + "/A.archive/copy"] {
            #expect(throws: StorageError.backupInsideStore(path: inside)) { try store.backUp(to: inside) }
        }
        #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.store).sorted() == before)
        #expect(throws: StorageError.self) { try store.backUp(archives: ["None"], to: place) }
        #expect(try store.backUp(to: place) { _ in false } == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["store"])
        // Leftovers of a killed backup are replaced; other files stay.
        for name in ["A.archive", "0123456789abcdef.removed"] {
            try FileManager.default.createDirectory(
                atPath: place + ".partial/" + name, withIntermediateDirectories: true)
        }
        try Data("half".utf8).write(to: URL(fileURLWithPath: place + ".partial/vellum-store"))
        try mark(place + ".partial")
        #expect(try store.backUp(to: place)?.archives.count == 1)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: place).sorted() == [
                "A.archive", "vellum-store",
            ])
        #expect(try Store.open(at: place).archive(named: "A").peek("a") == [1])
        let other = folder.path + "/other"
        try FileManager.default.createDirectory(atPath: other + ".partial", withIntermediateDirectories: true)
        _ = FileManager.default.createFile(atPath: other + ".partial/mine", contents: Data())
        #expect(throws: StorageError.self) { try store.backUp(to: other) }
        #expect(FileManager.default.fileExists(atPath: other + ".partial/mine"))
    }

    @Test("reports entries that a rebuilt index lacks", arguments: [AccessMode.readOnly, .readWrite])
    func damagedSource(mode: AccessMode) throws {
        var archive = try store.archive(named: "A", orCreate: .collection)
        for number in 0..<10 { try archive.put(Array("value \(number)".utf8), forKey: "k\(number)") }
        #expect(try archive.status().damagedPlaces == 0)
        archive.close()
        try flip(folder.archivePath("A", "00000001.segment"), text: "value 4")
        try folder.removeIndex("A")
        let source = try Store.open(at: folder.store, mode: mode)
        archive = try source.archive(named: "A")
        #expect(try archive.status().damagedPlaces == 1)
        let report = try #require(try source.backUp(to: place))
        #expect(report.archives.first?.entries == 9)
        #expect(report.damaged.count == 1 && report.damaged.first?.contains("1 place") == true)
        source.close()
        _ = try store.repair(archiveNamed: "A")
        #expect(try store.archive(named: "A").status().damagedPlaces == 0)
    }

    @Test("reports messages that only the index counts") func missingMessages() throws {
        let log = try store.archive(named: "L", orCreate: .log(100_000))
        // Of 64 bytes with their headers.
        for number in 10_000..<13_000 { try log.append(Array("message is \(number)".utf8)) }
        #expect(try log.snapshot().damagedPlaces == [])
        let name = try #require(folder.segments("L").min())
        let path = URL(fileURLWithPath: folder.archivePath("L", name))
        let bytes = try Data(contentsOf: path)
        let last = try #require(bytes.range(of: Data("message is".utf8), options: .backwards))
        try overwrite(path.path, at: last.lowerBound - 48 - 20 * 64, with: Data(count: 21 * 64))
        let report = try #require(try store.backUp(to: place))
        #expect(report.archives.first?.entries == 2_979)
        #expect(report.damaged == ["L: \(try log.snapshot().damagedPlaces[0])"])
        #expect(report.damaged[0].contains("the index counts 3000 messages, the log has 2979"))
    }

    @Test("reports damaged messages", arguments: ["message 7 ", "message 999 "])
    func damagedMessages(text: String) throws {
        let log = try store.archive(named: "L", orCreate: .log(100_000))
        for number in 0..<1000 { try log.append(Array("message \(number) ".utf8)) }
        var damaged: String?
        for name in try folder.files(inArchive: "L") where name.hasSuffix(".segment") {
            let path = folder.archivePath("L", name)
            let bytes = try contents(of: path)
            guard let place = bytes.range(of: Data(text.utf8)) else { continue }
            try overwrite(path, at: place.lowerBound, with: [99])
            damaged = path
        }
        let path = try #require(damaged)
        let report = try #require(try store.backUp(to: self.place))
        #expect(report.archives.first?.entries == 999)
        #expect(report.damaged.count == 1)
        #expect(report.damaged.first?.contains("\(path) is damaged at byte") == true)
    }

    @Test("reports a damaged entry and copies the others") func damagedEntry() throws {
        let archive = try store.archive(named: "A", orCreate: .cache())
        for number in 0..<10 { try archive.put(repeated(UInt8(number), 300), forKey: "\(number)") }
        let path = folder.archivePath("A", "00000001.segment")
        try overwrite(path, at: 1200, with: [99])
        let report = try #require(try store.backUp(to: place))
        #expect(report.damaged.count == 1 && report.archives.first?.entries == 9)
    }

    @Test("a backup of a busy store contains whole batches") func liveStore() throws {
        let archive = try store.archive(named: "A", orCreate: .cache(80_000))
        let end = Date().addingTimeInterval(0.5)
        let isOver = Mutex(false)
        let writer = Background {
            var number: UInt64 = 0
            while isOver.withLock({ !$0 }) {
                number += 1
                try archive.apply(.numbered(number))
                try archive.put(NumberedBatches.value(number, size: 1000), forKey: "noise \(number % 100)")
            }
        }
        defer { isOver.withLock { $0 = true } }
        var count = 0
        while Date() < end || count < 3 {
            count += 1
            let place = place + "\(count)"
            _ = try store.backUp(to: place)
            let copied = try Store.open(at: place)
            defer { copied.close() }
            guard let copy = try? copied.archive(named: "A"), try copy.status().entries > 0 else { continue }
            #expect(try copy.check().clean)
            let key = NumberedBatches.keys[0]
            guard let number = try copy.withPeek(key, { NumberedBatches.number($0) }) else { continue }
            for (key, value) in NumberedBatches.changes(number) { #expect(try copy.peek(key) == value) }
        }
        isOver.withLock { $0 = true }
        try writer.wait()
    }

    @Test("a backup succeeds while archives are removed") func removedArchives() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let store = try Store.open(at: folder.store)
        for name in ["A", "B", "C", "D"] {
            let archive = try store.archive(named: name, orCreate: .collection)
            for number in 0..<3000 { try archive.put(repeated(1, 500), forKey: "\(number)") }
        }
        var removed = false
        let report = try #require(
            try Store.open(at: folder.store, mode: .readOnly).backUp(to: folder.path + "/copy") { progress in
                if !removed {
                    removed = true
                    for name in ["A", "C"] { try? store.removeArchive(named: name) }
                }
                return true
            })
        #expect(removed)
        // The archive being copied is complete or absent.
        let names = report.archives.map(\.name)
        #expect(names == ["A", "B", "D"] || names == ["B", "D"])
        #expect(report.archives.allSatisfy { $0.entries == 3000 } && report.damaged == [])
        #expect(try Store.open(at: folder.path + "/copy", mode: .readOnly).archiveNames() == names)
        #expect(throws: StorageError.noSuchArchive(name: "C", store: folder.store)) {
            try store.backUp(archives: ["B", "C"], to: folder.path + "/named")
        }
    }
}
