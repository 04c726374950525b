import StorageEngine
import TestSupport
import Testing

/// Reversible actions that are stopped or lose their undo record.
@Suite struct StoppedActionTests {
    @Test("a deletion of all entries stops between two parts") func stoppedDeletion() throws {
        let folder = try TemporaryFolder()
        let archive = try folder.archive(creating: .cache())
        for number in 0..<5_000 { try archive.put([1], forKey: "\(number)") }
        let outcome = try archive.deleteAllReversibly { $0 < 1_000 }
        let left = try archive.status().entries
        #expect(outcome.entries >= 1_000 && left > 0 && outcome.entries + left == 5_000)
        #expect(try archive.undo()?.entries == outcome.entries)
        #expect(try archive.status().entries == 5_000)
    }

    @Test("a deletion of all entries of a version leaves those stored since", arguments: [false, true])
    func deletionOfVersion(removingIndex: Bool) throws {
        let folder = try TemporaryFolder()
        var archive = try folder.archive(creating: .cache())
        for key in ["a", "b", "c"] { try archive.put([1], forKey: key) }
        let version = try archive.version()
        try archive.put([2], forKey: "a")
        try archive.put([3], forKey: "d")
        #expect(try archive.access("b") != nil)
        if removingIndex { archive = try folder.reopen(archive) }
        let outcome = try archive.deleteAllReversibly(of: version) { _ in true }
        #expect(outcome.entries == 2 && outcome.storedSince == 2)
        #expect(try archive.entries().keys.sorted() == ["a", "d"])
        #expect(try archive.undo()?.entries == 2)
        #expect(try archive.check().problems == [])
    }

    /// Removes entries of 20,000 and calls `interrupt` after the first part. The later parts can be undone, and a
    /// rebuild finds the same entries.
    private func expectContinuation(
        ofAll: Bool = false, _ interrupt: (Archive, TemporaryFolder) -> Void
    ) throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(creating: .collection)
        let value = repeated(1, 20)
        for number in 0..<20_000 { try archive.put(value, forKey: "\(number)") }
        let planned = try archive.planned(stride(from: 0, to: 20_000, by: 2).map(String.init))
        var first = 0
        func shouldContinue(after done: Int) -> Bool {
            if first == 0 {
                first = done
                interrupt(archive, folder)
            }
            return true
        }
        let outcome =
            ofAll
            ? try archive.deleteAllReversibly { shouldContinue(after: $0) }
            : try archive.carryOut(.delete, on: planned) { shouldContinue(after: $0) }
        #expect(first > 0 && outcome.entries == (ofAll ? 20_000 : planned.count))
        #expect(outcome.action?.entries == outcome.entries - first)
        #expect(try archive.undo(outcome.action?.id)?.entries == outcome.entries - first)
        try archive.expectValid()
        let keys = try archive.entries().keys.sorted()
        let again = try folder.reopen(archive)
        #expect(try again.entries().keys.sorted() == keys)
        #expect(try again.check().problems == [])
    }

    @Test("a removal whose undo record a put discards continues as a new action", arguments: [false, true])
    func putDiscardsRecord(ofAll: Bool) throws {
        try expectContinuation(ofAll: ofAll) { archive, folder in
            let plan = FaultPlan(.fails(28), call: .allocate, under: folder.path, number: 1, isLasting: false)
            withFaults(plan) {
                for number in 0..<5_000 where plan.injected == 0 {
                    try? archive.put(repeated(2, 20), forKey: "new \(number)")
                }
            }
        }
    }

    @Test("a removal whose undo record another removal discards continues as a new action")
    func removalDiscardsRecord() throws {
        try expectContinuation { archive, folder in
            let planned = (try? archive.planned(stride(from: 1, to: 20_000, by: 2).map(String.init))) ?? []
            let plan = FaultPlan(.fails(28), call: .allocate, under: folder.path, number: 1, isLasting: true)
            withFaults(plan) { #expect((try? archive.carryOut(.delete, on: planned))?.isFinal == true) }
        }
    }

    @Test("a removal that is undone before its end continues as a new action")
    func undoneBeforeItsEnd() throws {
        try expectContinuation { archive, _ in #expect((try? archive.undo()) != nil) }
    }
}
