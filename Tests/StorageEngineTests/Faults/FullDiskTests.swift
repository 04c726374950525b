import Foundation
import StorageEngine
import Testing

/// A disk without free blocks until a file is removed.
final class FullDisk {
    private let folder: TemporaryFolder
    private let plan: FaultPlan
    private var observer = 0

    /// `freedBy`: suffix of the files whose removal frees space.
    init(_ folder: TemporaryFolder, freedBy suffix: String?) {
        self.folder = folder
        let plan = FaultPlan(.fails(ENOSPC), call: .allocate, under: folder.path, number: 1, isLasting: true)
        self.plan = plan
        SystemFaults.install(plan)
        observer = SystemFaults.observe(under: folder.path) { event in
            var facts = stat()
            // A file without blocks frees no space.
            guard let suffix, case .unlinked(let path) = event, path.hasSuffix(suffix),
                stat(path, &facts) == 0,
                facts.st_blocks > 0
            else { return }
            SystemFaults.remove(plan)
        }
    }

    func fill() {
        SystemFaults.remove(plan)
        SystemFaults.install(plan)
    }

    /// Ends the shortage.
    func empty() { SystemFaults.remove(plan) }

    deinit {
        SystemFaults.endObserving(observer)
        SystemFaults.remove(plan)
    }
}

/// Operations that free space work on a full disk.
@Suite(.oneAtATime) struct FullDiskTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    private func filled(
        _ folder: TemporaryFolder, _ kind: ArchiveKind, entries: Int = 600, limit: UInt64 = 20_000_000
    ) throws -> Archive {
        let archive = try folder.archive(
            creating: ArchiveConfiguration(kind: kind, diskLimit: kind == .collection ? nil : limit))
        for number in 0..<entries {
            let value = repeated(UInt8(number & 255), 2_000)
            if kind == .log { try archive.append(value) } else { try archive.put(value, forKey: "\(number)") }
        }
        return archive
    }

    private func makeStale(_ folder: TemporaryFolder) throws {
        try overwrite(folder.archivePath("A", "index"), at: 12, with: [3, 0, 0, 0])
    }

    // MARK: Opening

    @Test("rebuilds a stale index in its own space", arguments: [ArchiveKind.cache, .collection, .log])
    func staleIndex(kind: ArchiveKind) throws {
        try filled(folder, kind).close()
        try makeStale(folder)
        let disk = FullDisk(folder, freedBy: "/index")
        let archive = try folder.archive()
        disk.fill()
        #expect(try archive.status().entries == 600)
        #expect(FileManager.default.fileExists(atPath: folder.archivePath("A", "index")))
        try archive.deleteAll()
        #expect(try archive.status().entries == 0)
    }

    @Test("opens a collection for one process if no index can be built") func noIndex() throws {
        try filled(folder, .collection).close()
        try folder.removeIndex("A")
        do {
            let disk = FullDisk(folder, freedBy: nil)
            defer { withExtendedLifetime(disk) {} }
            let archive = try folder.archive()
            #expect(try archive.status().entries == 600)
            for number in 0..<20 { #expect(try archive.delete("\(number)")) }
            #expect(throws: StorageError.self) { try folder.archive() }
            let observer = try folder.archive(mode: .readOnly)
            #expect(try observer.status().entries == 580)
            #expect(try archive.check().clean)
            archive.close()
        }
        let archive = try folder.archive()
        #expect(try archive.status().entries == 580)
        #expect(try archive.peek("19") == nil)
        #expect(try archive.check().clean)
    }

    @Test("evicts entries for its index; observers don't", arguments: [ArchiveKind.cache, .log])
    func evictsForIndex(kind: ArchiveKind) throws {
        try filled(folder, kind).close()
        try folder.removeIndex("A")
        let disk = FullDisk(folder, freedBy: ".segment")
        let observer = try folder.archive(mode: .readOnly)
        #expect(try observer.status().entries == 600, "observers evict nothing")
        let archive = try folder.reopen(observer, rebuilding: false)
        disk.fill()
        let status = try archive.status()
        #expect(status.entries < 600 && status.entries > 200, "\(status)")
        #expect(FileManager.default.fileExists(atPath: folder.archivePath("A", "index")))
        try archive.expectValid()
    }

    @Test("repairs on a full disk, with or without the space of the old index") func repairOnAFullDisk()
        throws
    {
        for freesTheOldIndex in [true, false] {
            let folder = try TemporaryFolder(inMemory: true)
            try filled(folder, .collection).close()
            let disk = FullDisk(folder, freedBy: freesTheOldIndex ? "/index" : nil)
            let report = try folder.repair()
            withExtendedLifetime(disk) {}
            #expect(report.entries == 600 && report.damaged == 0)
            let archive = try folder.archive()
            #expect(try archive.status().entries == 600)
        }
    }

    // MARK: The reserve for removals

    private struct Reserve {
        let path: String

        /// Its length and the bytes that the file system has allocated; `nil` if there is no file.
        var bytes: (length: Int, allocated: Int)? {
            var facts = stat()
            return stat(path, &facts) == 0 ? (Int(facts.st_size), Int(facts.st_blocks) * 512) : nil
        }
    }

    /// A closed collection of more than a thousand entries, and the length of its reserve.
    private func reserve(_ folder: TemporaryFolder) throws -> (file: Reserve, length: Int) {
        let archive = try filled(folder, .collection, entries: 6_000)
        let file = Reserve(path: folder.archivePath("A", "removals.spare"))
        let bytes = try #require(file.bytes)
        #expect(bytes.length >= 9 * 4_976 && bytes.allocated >= bytes.length)
        archive.close()
        return (file, bytes.length)
    }

    @Test("fills the holes of a reserve, and cuts a longer one", arguments: [1, 20])
    func sparseReserve(times: Int) throws {
        let (file, length) = try reserve(folder)
        for size in [0, times * length] { #expect(truncate(file.path, off_t(size)) == 0) }
        let archive = try folder.archive()
        let bytes = try #require(file.bytes)
        #expect(bytes.length == length && bytes.allocated >= length)
        #expect(try archive.check().clean)
    }

    @Test("replaces a reserve that has a second name, and leaves that file unchanged")
    func linkedReserve() throws {
        let (file, length) = try reserve(folder)
        let other = Reserve(path: folder.path + "/linked")
        #expect(truncate(file.path, off_t(2 * length)) == 0 && link(file.path, other.path) == 0)
        let archive = try folder.archive()
        #expect(other.bytes?.length == 2 * length)
        #expect(try #require(file.bytes).allocated >= length)
        archive.close()
    }

    @Test("reserves a part if the disk has no space for all")
    func partialReserve() throws {
        let (file, length) = try reserve(folder)
        try FileManager.default.removeItem(atPath: file.path)
        let plan = FaultPlan(.fails(ENOSPC), call: .allocate, under: file.path, number: 1, isLasting: false)
        SystemFaults.install(plan)
        defer { SystemFaults.remove(plan) }
        let archive = try folder.archive()
        #expect(plan.injected == 1)
        #expect(try #require(file.bytes).length == length)
        archive.close()
    }

    @Test("stores entries if the reserve can't be opened")
    func unreadableReserve() throws {
        let path = folder.archivePath("A", "removals.spare")
        let plan = FaultPlan(.fails(EACCES), call: .open, under: path, number: 1, isLasting: true)
        SystemFaults.install(plan)
        defer { SystemFaults.remove(plan) }
        let archive = try filled(folder, .collection, entries: 3_000)
        #expect(plan.injected > 0)
        #expect(try archive.status().entries == 3_000)
    }

    @Test("deletes reversibly with the reserve if the index is in memory")
    func reserveWithoutIndexFile() throws {
        _ = try reserve(folder)
        try folder.removeIndex("A")
        let disk = FullDisk(folder, freedBy: "/removals.spare")
        defer { withExtendedLifetime(disk) {} }
        let archive = try folder.archive()
        #expect(!FileManager.default.fileExists(atPath: folder.archivePath("A", "index")))
        while (try? archive.put(repeated(1, 2_000), forKey: "0")) != nil {}
        let outcome = try archive.deleteAllReversibly()
        #expect(outcome.entries == 6_000 && outcome.action != nil && !outcome.isFinal)
        #expect(try archive.check().clean)
    }

    @Test("restores the reserve after an undo and after a deletion of all entries")
    func restoredReserve() throws {
        let (file, length) = try reserve(folder)
        let archive = try folder.archive()
        try FileManager.default.removeItem(atPath: file.path)
        #expect(try archive.deleteAllReversibly().entries == 6_000)
        #expect(file.bytes?.length == length)
        try FileManager.default.removeItem(atPath: file.path)
        #expect(try archive.undo()?.entries == 6_000)
        #expect(file.bytes?.length == length)
    }

    // MARK: Storing

    @Test("a cache evicts its oldest entries instead of refusing puts") func cacheEvicts() throws {
        let archive = try filled(folder, .cache)
        let first = try archive.nextEvent()
        let disk = FullDisk(folder, freedBy: ".segment")
        let value = repeated(9, 2_000)
        for number in 0..<1_500 {
            try archive.put(value, forKey: "new \(number)")
            if number % 160 == 0 { disk.fill() }
            #expect(try archive.peek("new \(number)") == value)
        }
        let status = try archive.status()
        #expect(status.evictions > 300)
        let events = try archive.events(from: first).events
        let evicted = events.filter { $0.kind == .eviction }
        #expect(!evicted.isEmpty && evicted.allSatisfy { $0.cause == .noSpace && $0.key != nil })
        try archive.expectValid()
        #expect(status.footprint < 4_000_000)
        let before = try archive.entries().keys
        archive.close()
        disk.empty()
        let again = try folder.rebuilt()
        #expect(try again.entries().keys.sorted() == before.sorted())
    }

    @Test("keeps the entries of a segment that can't be mapped") func unmappableSegment() throws {
        for number in 1...40 {
            let folder = try TemporaryFolder(inMemory: true)
            let archive = try folder.archive(creating: .cache(200_000))
            for key in 0..<30 { try archive.put(repeated(7, 4_500), forKey: "\(key)") }
            archive.close()
            try #require(try folder.segments().count > 1)
            let again = try folder.archive()
            let plan = FaultPlan(.fails(ENOSPC), under: folder.path, number: number, isLasting: true)
            _ = withFaults(plan) { try? again.put(repeated(8, 60_000), forKey: "large") }
            #expect(try again.check().problems == [], "call \(number)")
            for key in 0..<4 { try again.put(repeated(9, 4_500), forKey: "new \(key)") }
            let listed = try again.entries().keys.sorted()
            #expect(try folder.reopen(again).entries().keys.sorted() == listed, "call \(number)")
            if plan.injected == 0 { return }
        }
        Issue.record("a put made more than 40 calls")
    }

    @Test("lists no entries of a segment that is being removed") func segmentInRemoval() throws {
        let archive = try filled(folder, .cache)
        let observer = try folder.archive(mode: .readOnly)
        _ = try observer.entries()
        let disk = FullDisk(folder, freedBy: ".segment")
        let seen = Guarded<[(listed: Int, snapshot: Int, missing: Int)]>([])
        let hook = SystemFaults.observe(under: folder.path) { event in
            guard case .unlinked(let path) = event, path.hasSuffix(".segment"),
                let list = try? observer.entries(), let snapshot = try? observer.snapshot()
            else { return }
            let missing = list.indices.count { ((try? list.presentMetadata(at: $0)) ?? nil) == nil }
            seen.withLock { $0.append((list.count, snapshot.count, missing)) }
        }
        for number in 0..<300 { try archive.put(repeated(9, 2_000), forKey: "new \(number)") }
        SystemFaults.endObserving(hook)
        withExtendedLifetime(disk) {}
        let looks = seen.withLock { $0 }
        #expect(looks.count > 1)
        for look in looks { #expect(look.listed == look.snapshot && look.missing == 0) }
    }

    @Test("keeps the entries of a segment that can't be removed", arguments: [ArchiveKind.cache, .log])
    func unremovableSegment(kind: ArchiveKind) throws {
        let archive = try filled(folder, kind)
        try #require(try folder.segments().count > 2)
        let disk = FullDisk(folder, freedBy: nil)
        let plan = FaultPlan(.fails(ENOSPC), call: .unlink, under: folder.path, number: 1, isLasting: true)
        SystemFaults.install(plan)
        defer { SystemFaults.remove(plan) }
        var stored = 600
        let value = repeated(1, 2_000)
        func store() throws {
            if kind == .log { try archive.append(value) } else { try archive.put(value, forKey: "\(stored)") }
        }
        while (try? store()) != nil { stored += 1 }
        #expect { try store() } throws: { $0.isNoSpace }
        #expect(plan.injected > 0)
        #expect(try archive.status().entries == stored)
        try archive.expectValid()
        if kind == .cache {
            #expect(try archive.delete("0"))
        } else {
            #expect(try archive.messages(most: 1).messages.count == 1)
        }
        archive.close()
        SystemFaults.remove(plan)
        disk.empty()
        let again = try folder.rebuilt()
        #expect(try again.status().entries == (kind == .cache ? stored - 1 : stored))
        if kind == .cache { #expect(try again.peek("0") == nil) }
        #expect(try again.check().problems == [])
    }

    @Test("a log drops its oldest messages on a full disk") func logDropsOldest() throws {
        let archive = try filled(folder, .log)
        let first = try archive.nextEvent()
        let disk = FullDisk(folder, freedBy: ".segment")
        for number in 0..<1_500 {
            var message = repeated(9, 2_000)
            message[0] = UInt8(number & 255)
            try archive.append(message)
            if number % 160 == 0 { disk.fill() }
        }
        let last = try archive.messages(most: .max).messages
        #expect(last.last?.bytes.first == UInt8(1_499 & 255))
        #expect(zip(last, last.dropFirst()).allSatisfy { $0.sequence < $1.sequence })
        #expect(
            try archive.events(from: first).events.contains { $0.kind == .eviction && $0.cause == .noSpace })
        #expect(try archive.status().entries == last.count)
        #expect(try archive.check().clean)
    }

    @Test("an entry that can't fit evicts nothing") func tooLarge() throws {
        let archive = try filled(folder, .cache)
        let disk = FullDisk(folder, freedBy: nil)
        defer { withExtendedLifetime(disk) {} }
        #expect { try archive.put(repeated(1, 3_000_000), forKey: "large") } throws: { $0.isNoSpace }
        #expect(try archive.status().entries == 600)
        #expect(try archive.check().clean)
    }

    @Test("a collection refuses puts on a full disk and keeps its entries") func collectionRefuses() throws {
        let archive = try filled(folder, .collection)
        let disk = FullDisk(folder, freedBy: ".segment")
        var stored = 600
        while (try? archive.put(repeated(1, 2_000), forKey: "\(stored)")) != nil { stored += 1 }
        #expect { try archive.put(repeated(1, 2_000), forKey: "one more") } throws: { $0.isNoSpace }
        #expect(try archive.status().entries == stored)
        #expect(try archive.check().clean)
        // More deletes than the reserve has space for; its last bytes are for deleting all.
        var deleted = 0
        while deleted < stored, (try? archive.delete("\(stored - 1 - deleted)")) == true { deleted += 1 }
        #expect(deleted >= 40)
        disk.fill()
        #expect(try archive.deleteAll().entries == stored - deleted)
        try archive.put([1], forKey: "again")
        #expect(try archive.check().clean)
    }
}
