import Foundation
import StorageEngine
import TestSupport
import Testing

/// A repair that fails or is killed at any step, and is repeated, has the result of an undisturbed one.
@Suite(.oneAtATime) struct InterruptedRepairTests {
    enum Case: CaseIterable {
        /// Changes of entries are lost with a segment in the middle.
        case cache, collection
        case newestOfCollection
        case log

        var kind: ArchiveKind {
            switch self {
            case .cache: .cache
            case .collection, .newestOfCollection: .collection
            case .log: .log
            }
        }
    }

    /// A closed archive that lacks a segment.
    private func damaged(_ damage: Case) throws -> TemporaryFolder {
        let folder = try TemporaryFolder(inMemory: true)
        let limit: UInt64? = damage.kind == .collection ? nil : 4_000_000
        let archive = try folder.archive(
            creating: ArchiveConfiguration(kind: damage.kind, diskLimit: limit))
        var number = 0
        func fill(untilSegments count: Int) throws {
            while try folder.segments().count < count {
                let value = repeated(UInt8(truncatingIfNeeded: number), 2_000)
                if damage.kind == .log {
                    try archive.append(value)
                } else {
                    try archive.put(value, forKey: "key \(number)")
                }
                number += 1
            }
        }
        try fill(untilSegments: 3)
        if damage.kind != .log {
            for key in 0..<5 { try archive.delete("key \(key)") }
            for key in 5..<10 { try archive.put([1], forKey: "key \(key)") }
        }
        try fill(untilSegments: damage == .newestOfCollection ? 3 : 5)
        archive.close()
        try FileManager.default.removeItem(atPath: folder.archivePath("A", folder.segments()[2]))
        return folder
    }

    /// Values by key; of a log, by the messages' numbers.
    private func content(_ folder: TemporaryFolder) throws -> [String: [UInt8]] {
        try folder.withArchive { archive in
            #expect(try archive.invariantViolations() == [])
            guard try archive.configuration().kind != .log else {
                let messages = try archive.messages(after: nil, most: .max).messages
                return Dictionary(uniqueKeysWithValues: messages.map { ("\($0.sequence)", $0.bytes) })
            }
            var found: [String: [UInt8]] = [:]
            for key in try archive.entries().keys { found[key] = try archive.peek(key) }
            return found
        }
    }

    private static func reportsLoss(_ report: RepairReport?) -> Bool {
        report?.problems.contains { $0.contains("the log is missing from") } == true
    }

    @Test("a repair loses nothing if a system call fails", arguments: Case.allCases)
    func failure(damage: Case) throws {
        let undisturbed = try damaged(damage)
        #expect(Self.reportsLoss(try undisturbed.repair()))
        let expected = try content(undisturbed)
        if damage == .cache { #expect((0..<10).allSatisfy { expected["key \($0)"] == nil }) }
        var number = 1
        var injected = 1
        while injected > 0 {
            let folder = try damaged(damage)
            let plan = FaultPlan(.fails(EIO), under: folder.store, number: number, isLasting: false)
            let first = withFaults(plan) { try? folder.repair() }
            injected = plan.injected
            if first == nil {
                #expect(try !folder.check().clean, "call \(number)")
                #expect(Self.reportsLoss(try folder.repair()), "call \(number)")
            }
            #expect(try content(folder) == expected, "call \(number)")
            number += max(1, number / 10)
        }
        #expect(number > 20)
    }

    @Test(
        "a repair loses nothing if the disk is full", arguments: Case.allCases,
        [[SystemCall.allocate], [.allocate, .write]])
    func fullDisk(damage: Case, calls: [SystemCall]) throws {
        let undisturbed = try damaged(damage)
        try undisturbed.repair()
        let expected = try content(undisturbed)
        var (number, injected, failed) = (1, 1, 0)
        while injected > 0 {
            let folder = try damaged(damage)
            let plans = calls.map {
                FaultPlan(.fails(ENOSPC), call: $0, under: folder.store, number: number, isLasting: true)
            }
            plans.forEach(SystemFaults.install)
            let first = try? folder.repair()
            plans.forEach(SystemFaults.remove)
            injected = plans.map(\.injected).max() ?? 0
            number += 1
            guard first == nil else { continue }
            failed += 1
            #expect(Self.reportsLoss(try folder.repair()), "call \(number)")
            #expect(try content(folder) == expected, "call \(number)")
        }
        #expect(failed > 0 || damage == .newestOfCollection)
    }

    @Test("syncs the record of a loss before it changes the log, and before the old index is replaced")
    func syncOrder() throws {
        let folder = try damaged(.cache)
        let index = folder.archivePath("A", "index")
        let events = Guarded<[String]>([])
        let observer = SystemFaults.observe(under: folder.store) { event in
            switch event {
            case .synced(let path), .renamed(let path, _):
                // In state 5 and with a loss, the index is evidence for a repeated repair.
                let bytes = path == index ? try? contents(of: index) : nil
                let isKept = bytes.map { $0[12] == 5 && $0[736..<752].contains { $0 != 0 } } ?? true
                let name = (path as NSString).lastPathComponent
                events.withLock { $0.append(isKept ? name : "unmarked \(name)") }
            default: break
            }
        }
        let report = try folder.repair()
        SystemFaults.endObserving(observer)
        #expect(Self.reportsLoss(report))
        let names = events.withLock { $0 }
        let first = try #require(names.firstIndex { $0.hasSuffix(".segment") })
        #expect(names[..<first].contains("index"), "\(names)")
        let replaced = try #require(names.lastIndex(of: "index.new"))
        #expect(names[..<replaced].contains("index.new"), "synced before it is renamed: \(names)")
        #expect(names[replaced...].contains("A.archive"), "\(names)")
    }

    #if DEBUG
    @Test(
        "readers see the entries that only the old index has", arguments: [ArchiveKind.cache, .collection],
        [CrashPoint.indexFileMade, .rebuildSegmentDone, .indexBuilt])
    func readers(kind: ArchiveKind, point: CrashPoint) async throws {
        try await readers(kind, point, afterRestart: false)
    }

    @Test(
        "after a restart, readers see the entries that only the old index has",
        arguments: [ArchiveKind.cache, .collection])
    func readersAfterRestart(kind: ArchiveKind) async throws {
        try await readers(kind, .indexFileMade, afterRestart: true)
    }

    private func readers(_ kind: ArchiveKind, _ point: CrashPoint, afterRestart: Bool) async throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(creating: kind == .cache ? .cache() : .collection)
        let keys = (0..<20).map { "key \($0)" }
        for key in keys {
            try archive.put([1], forKey: key)
            try archive.setLifetime(.seconds(3600), forKey: key)
        }
        _ = try archive.carryOut(.delete, on: archive.planned(keys))
        let segment = folder.archivePath("A", try #require(try folder.segments().first))
        let undo = (try #require(contents(of: segment).lastIndex { $0 != 0 }) / 8 + 1) * 8
        #expect(try archive.undo()?.entries == 20)
        try archive.put([2], forKey: "later")
        archive.close()
        try flip(segment, at: undo + 20)
        let worker = try Worker(["repair", folder.store, "A", "1", point.rawValue], in: folder)
        #expect(try await worker.finish().status & 0x7f == SIGKILL)
        if afterRestart { try folder.makeIndexOfAnotherBoot() }
        try folder.withArchive(mode: .readOnly) { archive in
            let found = try archive.entries().keys
            #expect(Set(found) == Set(keys + ["later"]))
            for key in keys {
                let (metadata, value) = (try archive.metadata(key), try archive.peek(key))
                #expect(metadata?.expires != nil && value == [1])
            }
        }
        try folder.repair()
        #expect(try Set(content(folder).keys) == Set(keys + ["later"]))
    }

    @Test(
        "a killed repair loses nothing", arguments: Case.allCases,
        [CrashPoint.indexFileMade, .rebuildSegmentDone, .removalFrameWritten, .indexBuilt, .indexRenamed])
    func kill(damage: Case, point: CrashPoint) async throws {
        let undisturbed = try damaged(damage)
        try undisturbed.repair()
        let expected = try content(undisturbed)
        // An opening for writing between the two repairs changes nothing either.
        for opens in [false, true] {
            let folder = try damaged(damage)
            let worker = try folder.worker("repair", "A", "1", point.rawValue)
            let (status, lines) = try await worker.finish()
            guard status & 0x7f == SIGKILL else {
                #expect(point == .removalFrameWritten && damage != .cache, "\(lines)")
                continue
            }
            if opens {
                #expect(try content(folder) == expected)
            } else {
                #expect(try !folder.check().clean)
            }
            #expect(Self.reportsLoss(try folder.repair()))
            #expect(try content(folder) == expected)
        }
    }

    @Test(
        "a kill after the old index was removed for its space makes no outdated entry current",
        arguments: Case.allCases)
    func killWithoutOldIndex(damage: Case) async throws {
        let undisturbed = try damaged(damage)
        try undisturbed.repair()
        let folder = try damaged(damage)
        let worker = try Worker(
            ["repair", folder.store, "A", "1", CrashPoint.oldIndexRemoved.rawValue], in: folder)
        let (status, lines) = try await worker.finish()
        #expect(status & 0x7f == SIGKILL, "\(lines)")
        #expect(!FileManager.default.fileExists(atPath: folder.archivePath("A", "index")))
        #expect(try content(folder) == content(undisturbed))
    }
    #endif
}
