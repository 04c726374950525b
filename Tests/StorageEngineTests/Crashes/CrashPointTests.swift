#if DEBUG
import Foundation
import StorageEngine
import TestSupport
import Testing

/// R2: kills a process at a named point of an operation, and two more during recovery. Acknowledged changes survive,
/// and deletions stay.
@Suite(.oneAtATime) struct CrashPointTests {
    static let inRepair: [CrashPoint] = [.repairBegun, .repairRelinked, .repairReplayed, .repairSorted]
    static let inRebuild: [CrashPoint] = [.indexFileMade, .rebuildSegmentDone, .indexBuilt, .indexRenamed]
    static let inOperations = CrashPoint.allCases.filter {
        !(inRepair + [.rebuildSegmentDone]).contains($0)
    }

    /// Later passes of a point: partway through an undo, or between its parts.
    static let halfway: [(CrashPoint, passing: Int)] = [
        (.policyPrepared, 2), (.deadlineWritten, 7), (.deadlineSet, 5), (.deadlineSet, 8),
        (.restoreCommitted, 10),
        (.restoreSettled, 20),
        (.tombstoneLinked, 30), (.keptApplied, 3), (.compactMoved, 10), (.messageCounted, 200),
        (.batchEntryChanged, 9), (.batchEntryFilled, 12), (.batchHeadMoved, 3), (.batchWritten, 4),
    ]

    struct Plan: CustomStringConvertible {
        var point: CrashPoint
        var passing: Int
        var second: CrashPoint
        var third: CrashPoint
        /// The index is removed before the second process, so that it rebuilds instead of repairing.
        var removesIndex: Bool
        var locking: String

        var description: String {
            "\(point.rawValue) (\(passing)), \(second.rawValue), \(third.rawValue), \(locking)"
                + (removesIndex ? ", index removed" : "")
        }
    }

    /// Runs the plan, verifies the store and returns the points at which processes were killed.
    private func follow(_ plan: Plan) async throws -> Set<CrashPoint> {
        let folder = try TemporaryFolder(inMemory: true)
        var died: Set<CrashPoint> = []
        func worker(_ role: String, _ point: CrashPoint, _ passing: Int) async throws -> [String] {
            let worker = try folder.worker("crash", "A", role, point.rawValue, String(passing), plan.locking)
            let (status, lines) = try await worker.finish()
            if status & 0x7f == SIGKILL {
                died.insert(point)
            } else {
                #expect(status == 0 && lines.last == "done", "\(plan), \(role): \(lines.last ?? "")")
            }
            return lines
        }
        let journal = CrashJournal(try await worker("run", plan.point, plan.passing))
        if plan.removesIndex { try? folder.removeIndex("A") }
        _ = try await worker("recover", plan.second, 1)
        _ = try await worker("recover", plan.third, 1)
        for pass in ["repaired", "rebuilt"] {
            try verify(folder, journal, "\(plan), \(pass)")
            try? folder.removeIndex("A")
            try? folder.removeIndex("A%20cache")
            try? folder.removeIndex("A%20log")
        }
        return died
    }

    private func verify(_ folder: TemporaryFolder, _ journal: CrashJournal, _ comment: String) throws {
        let store = try Store.open(at: folder.store)
        defer { store.close() }
        let archive = try store.archive(named: "A", orCreate: .collection)
        #expect(journal.complaints == [], "\(comment)")
        var found: [String: [UInt8]] = [:]
        for key in journal.keys {
            found[key] = try archive.peek(key)
            #expect(journal.allows(found[key], under: key), "\(comment): \(key)")
        }
        #expect(!journal.isTorn(found), "\(comment): a change is partial")
        let known = journal.keys
        #expect(try archive.entries().keys.allSatisfy(known.contains), "\(comment)")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.store).allSatisfy {
                !$0.hasSuffix(".removed")
            }, "\(comment)")
        for name in try store.archiveNames() {
            let archive = try store.archive(named: name)
            try archive.expectValid("\(comment), \(name)")
            let status = try archive.status()
            #expect(status.diskBytes <= status.configuration.diskLimit ?? .max, "\(comment), \(name)")
            if name == "A cache" { try verify(cache: archive, journal, comment) }
            if name == "A log" { try verify(log: archive, journal, comment) }
        }
        // The workload changes four expiry times at once; replay must not count them twice.
        for action in try archive.reversibleActions() where action.kind == .deadline {
            #expect(action.entries <= 4, "\(comment)")
        }
        // An unacknowledged undo can be repeated, and then restores everything.
        if let undo = journal.underWay, undo.undone != 0 {
            _ = try archive.undo(undo.undone)
            for (key, value) in undo.changes {
                #expect(try archive.peek(key) == value, "\(comment): \(key) after undoing again")
            }
        }
        guard comment.hasSuffix("rebuilt") else { return }
        var undone = 0
        while undone < 64, try archive.undo() != nil { undone += 1 }
        let report = try archive.check()
        #expect(report.clean && undone < 64, "\(comment), all undone: \(report.problems)")
        #expect(try archive.invariantViolations() == [], "\(comment), all undone")
    }

    private func verify(cache: Archive, _ journal: CrashJournal, _ comment: String) throws {
        for (key, values) in journal.cached {
            guard let found = try cache.peek(key) else { continue }
            #expect(values.contains(found), "\(comment): \(key)")
        }
    }

    private func verify(log: Archive, _ journal: CrashJournal, _ comment: String) throws {
        let found = try log.messages(most: .max).messages.map(\.bytes)
        #expect(
            journal.allows(messages: found),
            "\(comment): \(found.count) messages, acknowledged \(journal.messages.messages.count)")
        let status = try log.status()
        #expect(status.entries == found.count, "\(comment): messages counted")
        #expect(status.diskBytes == UInt64(found.reduce(0) { $0 + $1.count }), "\(comment)")
    }

    private func plan(_ number: Int, point: CrashPoint, passing: Int) -> Plan {
        let removesIndex = number % 3 == 2
        let points = removesIndex ? CrashPointTests.inRebuild : CrashPointTests.inRepair
        return Plan(
            point: point, passing: passing, second: points[number % points.count],
            third: points[number / 2 % points.count], removesIndex: removesIndex,
            locking: number % 2 == 0 ? "robust" : "file")
    }

    @Test("recovers from a crash at every point and from two more during recovery")
    func everyPoint() async throws {
        var died: Set<CrashPoint> = []
        let first = CrashPointTests.inOperations.map { ($0, passing: 1) }
        for (number, (point, passing)) in (first + CrashPointTests.halfway).enumerated() {
            died.formUnion(try await follow(plan(number, point: point, passing: passing)))
        }
        let missed = CrashPoint.allCases.filter { !died.contains($0) }.map(\.rawValue)
        #expect(missed == [], "points that no process reached")
    }

    @Test("an observer hides the entries of a segment whose removal was interrupted")
    func interruptedRemoval() async throws {
        let folder = try TemporaryFolder(inMemory: true)
        let worker = try folder.worker("crash", "A", "run", CrashPoint.segmentDropped.rawValue, "1", "robust")
        #expect(try await worker.finish().status & 0x7f == SIGKILL)
        let name = "A full"
        let archive = try folder.archive(name, mode: .readOnly)
        let found = try (0..<90).map { try archive.peek("\($0)")?.count }
        #expect(found[0] == nil && found.contains { $0 != nil })
        #expect(try archive.entries().keys.allSatisfy { found[try #require(Int($0))] != nil })
        #expect(try archive.snapshot().count == found.count { $0 != nil })
        #expect(try archive.check().problems == [])
    }

    @Test("an undo restores all or nothing after a process died while it discarded the record")
    func diesWhileDiscarding() async throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(creating: .collection)
        for number in 0..<200 { try archive.put(repeated(1, 100), forKey: "\(number)") }
        let planned = try archive.planned(stride(from: 0, to: 200, by: 2).map(String.init))
        #expect(try archive.carryOut(.delete, on: planned).action?.entries == 100)
        archive.close()
        let worker = try folder.worker("discard", "A", "1", CrashPoint.tombstoneDropped.rawValue, "50")
        #expect(try await worker.finish().status & 0x7f == SIGKILL)
        let again = try folder.archive()
        let undone = try again.undo()?.entries
        #expect(undone == nil || undone == 100)
        try again.expectValid()
        let keys = try again.entries().keys.sorted()
        #expect(try folder.reopen(again).entries().keys.sorted() == keys)
    }

    @Test(.enabled(if: Soak.seconds > 0, "runs for a share of VELLUM_SOAK_SECONDS seconds"))
    func crashPointsSoak() async throws {
        let end = Soak.end(share: 0.25)
        var random = SeededGenerator(seed: Soak.seed)
        var plans = 0
        var deaths = 0
        while Date() < end {
            guard let point = CrashPointTests.inOperations.randomElement(using: &random) else { return }
            let passing = Int.random(in: 1...40, using: &random)
            let number = Int.random(in: 0..<1000, using: &random)
            deaths += try await follow(plan(number, point: point, passing: passing)).count
            plans += 1
        }
        Figures(
            "R2 crash points",
            ["sequences of crashes": plans, "points died at": deaths, "seed": "\(Soak.seed)"]
        ).report()
    }
}
#endif
