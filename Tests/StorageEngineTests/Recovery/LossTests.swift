import Foundation
import StorageEngine
import Testing

/// A log that was cut off or lost segments. The index notes the loss until a repair reports it.
@Suite struct LossTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    private static let entries = 2400
    private static let missing = "the log is missing from byte "

    private static func value(_ number: Int) -> [UInt8] {
        Array("value \(number) ".utf8) + repeated(0x61, number % 200)
    }

    /// A closed archive of several segments.
    private func filled(_ kind: ArchiveKind = .cache, syncing: Bool = false) throws -> TemporaryFolder {
        let folder = try TemporaryFolder(inMemory: true)
        let limit: UInt64? = kind == .collection ? nil : 4_000_000
        let archive = try folder.archive(creating: ArchiveConfiguration(kind: kind, diskLimit: limit))
        defer { archive.close() }
        for number in 0..<LossTests.entries { try store(number, in: archive, of: kind) }
        if syncing { try archive.synchronize() }
        return folder
    }

    private func store(_ number: Int, in archive: Archive, of kind: ArchiveKind) throws {
        if kind == .log {
            try archive.append(LossTests.value(number))
        } else {
            try archive.put(LossTests.value(number), forKey: "key \(number)")
        }
    }

    /// Opens a collection during `body`.
    private func inCollection(_ folder: TemporaryFolder, _ body: (Archive) throws -> Void) throws {
        let archive = try folder.archive(creating: .collection)
        defer { archive.close() }
        try body(archive)
    }

    private func segments(_ folder: TemporaryFolder, atLeast least: Int = 4) throws -> [String] {
        let names = try folder.segments()
        try #require(names.count >= least)
        return names
    }

    private func remove(_ name: String, _ folder: TemporaryFolder) throws {
        try FileManager.default.removeItem(atPath: folder.archivePath("A", name))
    }

    private func change(_ file: String, _ folder: TemporaryFolder, _ body: (inout Data) -> Void) throws {
        let url = URL(fileURLWithPath: folder.archivePath("A", file))
        var data = try Data(contentsOf: url)
        body(&data)
        // In place, so that the file keeps its inode.
        let handle = try FileHandle(forUpdating: url)
        defer { try? handle.close() }
        try handle.write(contentsOf: data)
        try handle.truncate(atOffset: UInt64(data.count))
    }

    @Test("reports a gap in the log without its index until a repair", arguments: ArchiveKind.allCases)
    func gap(kind: ArchiveKind) throws {
        let folder = try filled(kind)
        #expect(try folder.check().clean)
        let names = try segments(folder)
        try folder.removeIndex("A")
        for name in names[1..<3] { try remove(name, folder) }
        for _ in 0..<2 {
            let report = try folder.check()
            #expect(report.entries < LossTests.entries && report.damaged == 1, "\(report)")
            #expect(report.problems.first?.contains("\(names[1]) to \(names[2]) are missing; ") == true)
            #expect(try folder.withArchive { try $0.status().damagedPlaces } == 1)
        }
        let repair = try folder.repair()
        #expect(repair.damaged == 1 && repair.problems.first?.contains(names[1]) == true, "\(repair)")
        let archive = try folder.archive()
        defer { archive.close() }
        let report = try archive.check()
        #expect(report.clean && report.entries == repair.entries, "\(report)")
        #expect(try archive.status().damagedPlaces == 0)
        if kind == .log {
            let batch = try archive.messages(after: nil, most: LossTests.entries)
            let messages = batch.messages
            #expect(!batch.someAreLost, "the repair has reported the loss")
            #expect(messages.count == repair.entries && messages.last?.bytes == Self.value(Self.entries - 1))
            try archive.append([1])
        } else {
            try archive.put([1], forKey: "new")
        }
        #expect(try archive.invariantViolations() == [])
    }

    private func look(_ folder: TemporaryFolder, _ mode: AccessMode = .readWrite) throws {
        try folder.withArchive(mode: mode) { _ = try $0.status() }
    }

    enum Cut: String, CaseIterable { case removed, shortened, emptied, lastTwoRemoved }

    private func apply(_ cut: Cut, to folder: TemporaryFolder) throws {
        let names = try segments(folder)
        let newest = names[names.count - 1]
        switch cut {
        case .removed: try remove(newest, folder)
        case .shortened: try change(newest, folder) { $0 = $0.prefix(3001) }
        case .emptied: try change(newest, folder) { $0 = Data() }
        case .lastTwoRemoved: for name in names.suffix(2) { try remove(name, folder) }
        }
    }

    @Test("reports a cut log until its repair", arguments: Cut.allCases, [ArchiveKind.cache, .log])
    func cutLog(cut: Cut, kind: ArchiveKind) throws {
        for mode in [AccessMode.readOnly, .readWrite] {
            let folder = try filled(kind)
            try apply(cut, to: folder)
            try look(folder, mode)
            let first = try folder.check()
            #expect(first.problems.filter { $0.contains(LossTests.missing) }.count == 1, "\(first)")
            #expect(first.entries < LossTests.entries)

            // Later puts replace the lost entries, and a new index has only those.
            let archive = try folder.archive()
            for number in 0..<LossTests.entries { try store(number, in: archive, of: kind) }
            archive.close()
            try change("index", folder) { $0[262_144 + 40] ^= 1 }
            try look(folder)
            let second = try folder.check()
            #expect(second.problems == first.problems.filter { $0.contains(LossTests.missing) })

            let report = try folder.repair()
            #expect(report.damaged == 1 && report.problems.count == 1, "\(report)")
            #expect(report.problems.first?.contains(LossTests.missing) == true)
            #expect(try folder.check().clean)
            #expect(try folder.repair().damaged == 0)
        }
    }

    @Test("a repair reports a cut log", arguments: Cut.allCases)
    func repairOfCutLog(cut: Cut) throws {
        let folder = try filled()
        try apply(cut, to: folder)
        let report = try folder.repair()
        #expect(report.problems.filter { $0.contains(LossTests.missing) }.count == 1, "\(report)")
        #expect(try folder.check().clean)
    }

    @Test("an observer reports a cut log") func observerOfCutLog() throws {
        let folder = try filled()
        let archive = try folder.archive()
        defer { archive.close() }
        try apply(.removed, to: folder)
        let report = try folder.check()
        #expect(report.problems.contains { $0.contains(LossTests.missing) }, "\(report)")
    }

    @Test("after a restart, only synced entries count as lost", arguments: [false, true], [false, true])
    func otherBoot(syncing: Bool, isCut: Bool) throws {
        let folder = try filled(syncing: syncing)
        try folder.makeIndexOfAnotherBoot()
        if isCut { try apply(.removed, to: folder) }
        try look(folder)
        let report = try folder.check()
        #expect(report.clean == !(syncing && isCut) && (report.entries == LossTests.entries) == !isCut)
    }

    @Test("an index copied during writes doesn't count", arguments: [false, true])
    func copiedIndex(isOpen: Bool) throws {
        let folder = try filled()
        let store = isOpen ? try Store.open(at: folder.store) : nil
        let archive = try store?.archive(named: "A")
        let copy = try TemporaryFolder(inMemory: true)
        try FileManager.default.copyItem(atPath: folder.store, toPath: copy.store)
        try apply(.removed, to: copy)
        try look(copy)
        #expect(try copy.check().clean == isOpen)
        withExtendedLifetime(archive) {}
        store?.close()
    }

    @Test(
        "an index that was copied before segments were reclaimed reports no loss", arguments: [false, true])
    func indexBeforeReclaiming(isCopy: Bool) throws {
        let folder = try filled()
        let path = folder.archivePath("A", "index")
        let earlier = try contents(of: path)
        let count = try segments(folder).count
        try folder.withArchive { archive in
            for round in 0..<20 {
                for number in 0..<Self.entries { try store(number + round, in: archive, of: .cache) }
            }
        }
        let oldest = try #require(try folder.segments().first)
        #expect(oldest != "00000001.segment" && count > 1)
        if isCopy {
            try FileManager.default.removeItem(atPath: path)
            try earlier.write(to: URL(fileURLWithPath: path))
        } else {
            try overwrite(path, at: 0, with: earlier)
        }
        #expect(try folder.check().clean)
        try folder.archive().close()
        #expect(try folder.check().clean)
    }

    @Test("reports a missing segment in the middle", arguments: [ArchiveKind.cache, .log])
    func middleSegment(kind: ArchiveKind) throws {
        let folder = try filled(kind)
        let names = try segments(folder)
        try remove(names[1], folder)
        let report = try folder.check()
        #expect(!report.clean)
        #expect(report.damaged == 1 || kind == .log, "\(report)")
        let isNamed = report.problems.contains { $0.hasSuffix("\(names[1]): the segment is missing") }
        #expect(isNamed || kind == .log, "\(report)")
        // Also after a rebuild, which follows the loss of the newest segment.
        try apply(.removed, to: folder)
        try look(folder)
        let after = try folder.check()
        #expect(after.problems.count == 1)
        #expect(
            after.problems.first?.contains(LossTests.missing + "64 of \(names[1]) to byte") == true,
            "\(after)")
        #expect(after.problems.first?.contains("of \(names[names.count - 1]) or in parts") == true)
    }

    @Test("reports a missing oldest segment") func oldestSegment() throws {
        let folder = try filled()
        let names = try segments(folder)
        try remove(names[0], folder)
        let report = try folder.check()
        #expect(report.problems.contains { $0.hasSuffix("\(names[0]): the segment is missing") }, "\(report)")
        // Without its mark the index is checked by its sums, which don't match.
        try folder.remark("A", clean: false)
        try look(folder)
        let after = try folder.check()
        #expect(after.problems.count == 1)
        #expect(
            after.problems.first?.contains(LossTests.missing + "64 of \(names[0]) to byte") == true,
            "\(after)")
    }

    @Test("numbers used by a large segment aren't missing") func largeSegment() throws {
        try inCollection(folder) { archive in
            try archive.put([1], forKey: "before")
            try archive.put(repeated(0, 70_000_000), forKey: "large")
            for number in 0..<3 { try archive.put(repeated(1, 9_000_000), forKey: "behind \(number)") }
        }
        let names = try segments(folder)
        #expect(!names.contains { $0.contains("00000003") }, "\(names)")
        #expect(try folder.check().clean)
        try folder.removeIndex("A")
        var before: UInt64 = 0
        try inCollection(folder) { archive in before = try #require(try archive.metadata("before")).sequence }
        try inCollection(folder) { archive in
            try archive.put([2], forKey: "later")
            let later = try #require(try archive.metadata("later")).sequence
            #expect(later - before < 1 << 32, "nothing is missing")
        }
    }

    @Test("notices a missing segment at any number", arguments: [false, true])
    func missingAtAnyNumber(behindLarge: Bool) throws {
        let value = repeated(1, 9_000)
        var away = ""
        try inCollection(folder) { archive in
            func fill(_ name: String, until last: String) throws {
                var number = 0
                while try segments(folder, atLeast: 0).last.map({ $0 < last }) ?? true {
                    try archive.put(value, forKey: "\(name) \(number % 6)")
                    number += 1
                }
            }
            if behindLarge {
                let large = repeated(0, (64 << 20) - 10_000)
                try archive.put(large, forKey: "large")
                try archive.put([1], forKey: "away")
                away = try #require(try segments(folder, atLeast: 0).last)
                for number in 0..<2 { try archive.put(repeated(0, 40 << 20), forKey: "behind \(number)") }
            } else {
                try fill("before", until: "00000ff0.segment")
                for number in 0..<16 { try archive.put(repeated(0, 60_000), forKey: "kept \(number)") }
                try fill("before", until: "00000fff.segment")
                away = try #require(try segments(folder, atLeast: 0).last)
                try archive.put([1], forKey: "away")
                for number in 0..<20 { try archive.put(value, forKey: "behind \(number)") }
            }
        }
        let names = try segments(folder, atLeast: 0)
        #expect(
            behindLarge ? away == names[1] : away == "00000fff.segment" && names.last! >= "00001000.segment")
        let place = folder.archivePath("A", away)
        try FileManager.default.moveItem(atPath: place, toPath: folder.path + "/kept")
        try folder.removeIndex("A")
        try inCollection(folder) { archive in
            let found = try archive.peek("away")
            #expect(found == nil)
        }
        #expect(try folder.check().problems.contains { $0.contains(away) })
    }

    @Test("reclaiming drops the entries of a missing segment", arguments: [false, true])
    func reclaimedLoss(comesBack: Bool) throws {
        let value = { (byte: UInt8) in repeated(byte, 2_000) }
        let lost = (0..<5).map { "lost \($0)" }
        var segment = ""
        try inCollection(folder) { archive in
            for number in 0..<600 { try archive.put(value(1), forKey: "before \(number)") }
            segment = try #require(try segments(folder).last)
            for key in lost { try archive.put(value(1), forKey: key) }
            for number in 0..<600 { try archive.put(value(1), forKey: "behind \(number)") }
        }
        let place = folder.archivePath("A", segment)
        try FileManager.default.moveItem(atPath: place, toPath: folder.path + "/kept")
        try inCollection(folder) { archive in
            #expect(throws: StorageError.self) { _ = try archive.peek(lost[0]) }
            for round in 0..<100 where try segments(folder)[0] < segment {
                for number in 0..<20 { try archive.put(value(UInt8(round)), forKey: "churn \(number)") }
            }
            let (count, listed) = (try archive.status().entries, try archive.entries().count)
            #expect(count == listed)
            let found = try lost.map { try archive.peek($0) }
            #expect(found.allSatisfy { $0 == nil })
            try archive.put(value(9), forKey: lost[0])
        }
        #expect(try folder.check().problems.contains { $0.contains(LossTests.missing) })
        if comesBack { try FileManager.default.moveItem(atPath: folder.path + "/kept", toPath: place) }
        try inCollection(folder) { archive in
            let (first, listed) = (try archive.peek(lost[0]), try archive.entries().count)
            let count = try archive.status().entries
            #expect(first == value(9) && listed == count)
        }
    }

    enum LostFile: CaseIterable { case removed, emptied, replaced }

    /// Makes a segment unreadable.
    private func lose(_ name: String, _ lost: LostFile, _ folder: TemporaryFolder) throws {
        switch lost {
        case .removed: try remove(name, folder)
        case .emptied: try change(name, folder) { $0 = Data() }
        case .replaced:
            let other = try contents(of: folder.archivePath("A", try segments(folder)[2]))
            try change(name, folder) { $0 = other }
        }
    }

    @Test("a snapshot reports unreadable segments of a log", arguments: LostFile.allCases, [0, 1])
    func snapshotOfLostMessages(lost: LostFile, place: Int) throws {
        let folder = try filled(.log)
        let name = try segments(folder)[place]
        try lose(name, lost, folder)
        let snapshot = try folder.withArchive { try $0.snapshot() }
        #expect(snapshot.count > 0 && snapshot.count < LossTests.entries)
        #expect(!snapshot.damagedPlaces.isEmpty)
        guard lost != .removed else { return }
        #expect(snapshot.damagedPlaces.contains { $0.description.contains(name) })
    }

    @Test("a plan deletes a damaged entry by its key beside an intact one", arguments: LostFile.allCases)
    func deletedDamage(lost: LostFile) throws {
        let folder = try filled()
        try lose(try segments(folder)[1], lost, folder)
        let archive = try folder.archive()
        defer { archive.close() }
        let (damaged, intact) = (0..<LossTests.entries).map { "key \($0)" }
            .reduce(into: ([String](), [String]())) {
                if (try? archive.metadata($1)) == nil { $0.0.append($1) } else { $0.1.append($1) }
            }
        let key = try #require(damaged.first)
        var plan = try archive.planned(intact.prefix(1))
        plan.append(PlannedEntry(key: key, sequence: PlannedEntry.unknownSequence))
        #expect(try archive.carryOut(.delete, on: plan).entries == 2)
        let (found, left) = (try archive.metadata(key), try archive.status().entries)
        #expect(found == nil && left == LossTests.entries - 2)
        #expect(throws: StorageError.self) { _ = try archive.metadata(damaged[1]) }
        let outcome = try #require(try archive.undo())
        #expect(outcome.entries == 1 && outcome.damaged == 1 && outcome.skippedCount == 0, "\(outcome)")
        #expect(try archive.metadata(intact[0]) != nil)
        #expect(throws: StorageError.self) { _ = try archive.metadata(key) }
    }

    @Test("messages of a lost segment are reported as damaged", arguments: LostFile.allCases)
    func lostMessages(lost: LostFile) throws {
        let folder = try filled(.log)
        let name = try segments(folder)[1]
        try lose(name, lost, folder)
        let archive = try folder.archive(mode: .readOnly)
        defer { archive.close() }
        for cursor in [nil, try archive.cursor(beforeLast: LossTests.entries)] {
            let batch = try archive.messages(after: cursor, most: LossTests.entries)
            #expect(batch.messages.count > 0 && batch.messages.count < LossTests.entries)
            #expect(batch.someAreLost && batch.someAreDamaged)
        }
        #expect(try archive.lostSegment()?.damagedFile?.hasSuffix(name) == true)
    }

    @Test(
        "a shortened segment and a missing first one of a log are reported, and counted once by a check",
        arguments: [(ArchiveKind.cache, true), (.collection, true), (.log, true), (.log, false)])
    func lostSegment(kind: ArchiveKind, isCut: Bool) throws {
        let folder = try filled(kind)
        let name = try segments(folder)[isCut ? 1 : 0]
        #expect(try folder.withArchive(mode: .readOnly) { try $0.lostSegment() } == nil)
        if isCut {
            try change(name, folder) { $0 = $0.prefix(20 << 10) }
        } else {
            try remove(name, folder)
        }
        let archive = try folder.archive(mode: .readOnly)
        defer { archive.close() }
        guard case .corrupted(let path, let offset, _)? = try archive.lostSegment() else {
            Issue.record("no lost segment")
            return
        }
        #expect(path.hasSuffix(name) && (offset == 20 << 10 || kind == .log))
        if kind != .log { #expect(try archive.check().damaged == 1) }
    }

    @Test("a snapshot reports missing entries", arguments: LostFile.allCases)
    func snapshotOfLoss(lost: LostFile) throws {
        let folder = try filled()
        let name = try segments(folder)[1]
        try lose(name, lost, folder)
        let archive = try folder.archive()
        let snapshot = try archive.snapshot()
        #expect(snapshot.count == LossTests.entries)
        let errors = (0..<snapshot.count).compactMap { number in
            do throws(StorageError) {
                _ = try snapshot.value(at: number)
                return nil as StorageError?
            } catch { return error }
        }
        #expect(!errors.isEmpty && errors.count < LossTests.entries)
        let list = try archive.entries()
        let unreadable = list.readPresentKeys(0..<list.count, at: { $0 }) { _, _ in }
        #expect(unreadable == errors.count)
        #expect(errors.allSatisfy { $0.damagedFile?.hasSuffix(name) == true })
    }

    @Test("reclaimed segments don't count as lost") func reclaimedSegments() throws {
        let folder = try filled()
        let before = try segments(folder)
        let archive = try folder.archive()
        for round in 0..<40 {
            for number in 0..<LossTests.entries {
                try archive.put(LossTests.value(number + round), forKey: "key \(number)")
            }
        }
        #expect(try folder.check().clean)
        archive.close()
        #expect(try segments(folder).first != before.first)
        #expect(try folder.check().clean)
        try folder.remark("A", clean: false)
        try change("index", folder) { $0[262_144 + 40] ^= 1 }
        try look(folder)
        #expect(try folder.check().clean)
    }
}
