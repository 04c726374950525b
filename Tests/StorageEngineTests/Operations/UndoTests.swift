import StorageEngine
import Testing

/// Reversible actions (S12): from any process, for a time or an amount of writing, past reclaiming and rebuilding.
@Suite struct UndoTests {
    private struct Setting {
        let folder: TemporaryFolder
        let hand: ClockHand
        let archive: Archive

        func planned(_ keys: [String]) throws -> [PlannedEntry] {
            try keys.compactMap { key in
                try archive.metadata(key).map { PlannedEntry(key: key, sequence: $0.sequence) }
            }
        }
    }

    private func with(limit: UInt64?, _ body: (Setting) throws -> Void) throws {
        let hand = ClockHand()
        try Clock.$hand.withValue(hand) {
            let folder = try TemporaryFolder()
            let archive = try Store.open(at: folder.store).archive(
                named: "Undo",
                orCreate: ArchiveConfiguration(kind: limit == nil ? .collection : .cache, diskLimit: limit))
            try body(Setting(folder: folder, hand: hand, archive: archive))
        }
    }

    @Test func everythingComesBackInItsPlace() throws {
        try with(limit: 10_000) { setting in
            let archive = setting.archive
            for key in ["a", "b", "c", "d", "e"] {
                try archive.put(
                    Array(key.utf8), forKey: key,
                    attributes: EntryAttributes(lifetime: .seconds(3600), owner: "owner of \(key)"))
            }
            _ = try archive.access("a")
            let before = try archive.entries()
            let metadata = try before.indices.map { try before.metadata(at: $0) }
            let outcome = try archive.carryOut(.delete, on: setting.planned(["b", "d", "nothing"]))
            #expect(outcome.entries == 2)
            #expect(outcome.bytes == 2)
            #expect(try archive.entries().keys == ["a", "e", "c"])
            #expect(try archive.peek("b") == nil)
            #expect(try archive.status().diskBytes == 3)
            let undone = try #require(try archive.undo())
            #expect(undone.entries == 2)
            #expect(undone.skipped == [])
            let after = try archive.entries()
            #expect(try after.indices.map { try after.metadata(at: $0) } == metadata)
            #expect(try archive.undo() == nil)
            #expect(try archive.invariantViolations() == [])
        }
    }

    /// The grace ends with what is written too, and how much that may be is said.
    @Test func whatMayStillBeWrittenIsSaid() throws {
        try with(limit: 4_000_000) { setting in
            let archive = setting.archive
            try archive.put([1], forKey: "a")
            _ = try archive.carryOut(.delete, on: setting.planned(["a"]))
            func left() throws -> UInt64? { try archive.reversibleActions().first?.bytesLeft }
            let first = try #require(try left())
            #expect(first == 200_000, "what the action itself wrote doesn't count")
            try archive.put([UInt8](repeating: 1, count: 100_000), forKey: "b")
            let second = try #require(try left())
            #expect(first - second > 100_000 && first - second < 100_200)
            try archive.put([UInt8](repeating: 1, count: Int(second)), forKey: "c")
            #expect(try left() == nil)
            #expect(try archive.undo() == nil)
        }
    }

    /// What broke: the frames of a delete of very many small entries were more than may be written until its grace is
    /// over, so they were given up at once.
    @Test(arguments: [true, false])
    func veryManySmallEntriesComeBack(isWhole: Bool) throws {
        try with(limit: 1_000_000) { setting in
            let archive = setting.archive
            let keys = (0..<30_000).map { "key \($0)" }
            for key in keys { try archive.put([1], forKey: key) }
            let outcome =
                isWhole
                ? try archive.deleteAllReversibly()
                : try archive.carryOut(.delete, on: setting.planned(keys))
            #expect(outcome.entries == 30_000 && outcome.action?.bytesLeft == 65_536)
            #expect(try archive.undo()?.entries == 30_000)
            #expect(try archive.entries().count == 30_000)
            #expect(try archive.invariantViolations() == [])
        }
    }

    @Test func whatChangedSinceThePlanIsLeftAlone() throws {
        try with(limit: 10_000) { setting in
            let archive = setting.archive
            for key in ["a", "b", "c"] { try archive.put([1], forKey: key) }
            let plan = try setting.planned(["a", "b", "c"])
            try archive.put([2], forKey: "a")
            try archive.delete("b")
            let outcome = try archive.carryOut(.delete, on: plan)
            #expect(outcome.entries == 1)
            #expect(outcome.skipped == ["a", "b"])
            // A key that was recorded anew keeps its new value.
            try archive.put([3], forKey: "c")
            let undone = try #require(try archive.undo())
            #expect(undone.entries == 0)
            #expect(undone.skipped == ["c"])
            #expect(try archive.peek("c") == [3])
        }
    }

    @Test func theGraceEndsWithTime() throws {
        try with(limit: 10_000) { setting in
            try setting.archive.put([1], forKey: "a")
            _ = try setting.archive.carryOut(.expireNow, on: setting.planned(["a"]))
            #expect(try setting.archive.reversibleActions().map(\.kind) == [.expire])
            setting.hand.pass(.seconds(599))
            #expect(try setting.archive.reversibleActions().count == 1)
            setting.hand.pass(.seconds(1))
            #expect(try setting.archive.reversibleActions() == [])
            #expect(try setting.archive.undo() == nil)
        }
    }

    @Test func theGraceEndsWithWhatIsWritten() throws {
        try with(limit: 10_000_000) { setting in
            let archive = setting.archive
            try archive.put([1], forKey: "a")
            _ = try archive.carryOut(.delete, on: setting.planned(["a"]))
            for number in 0..<49 {
                try archive.put([UInt8](repeating: 0, count: 10_000), forKey: "k\(number)")
            }
            #expect(try archive.reversibleActions().count == 1)
            for number in 0..<2 {
                try archive.put([UInt8](repeating: 0, count: 10_000), forKey: "l\(number)")
            }
            #expect(try archive.undo() == nil)
        }
    }

    /// The frames of what was deleted are in the oldest segment, which is reclaimed before the undo.
    @Test(arguments: [false, true])
    func reclaimingCarriesOnWhatCanBeUndone(removingIndex: Bool) throws {
        try with(limit: 2_000_000) { setting in
            let archive = setting.archive
            let value = [UInt8](repeating: 7, count: 2_000)
            // As much as fits, written over and over, so that reclaiming goes on all the time.
            for number in 0..<3_000 { try archive.put(value, forKey: "k\(number % 900)") }
            let victims = Array(try archive.entries(order: .leastRecentFirst).keys.prefix(400))
            let plan = try setting.planned(victims)
            let oldest = try setting.folder.files(inArchive: "Undo").first { $0.hasSuffix(".segment") }
            let outcome = try archive.carryOut(.delete, on: plan)
            #expect(outcome.entries == 400)
            for number in 0..<40 { try archive.put(value, forKey: "new \(number)") }
            #expect(try setting.folder.files(inArchive: "Undo").first { $0.hasSuffix(".segment") } != oldest)
            #expect(try archive.invariantViolations() == [])
            #expect(try archive.check().clean)
            var again = archive
            if removingIndex {
                archive.close()
                try setting.folder.removeIndex("Undo")
                again = try Store.open(at: setting.folder.store).archive(named: "Undo")
            }
            let undone = try #require(try again.undo())
            #expect(undone.entries == 400)
            #expect(undone.skippedCount == 0)
            for key in victims.suffix(300) { #expect(try again.peek(key) == value) }
            #expect(try again.status().diskBytes <= 2_000_000)
            #expect(try again.invariantViolations() == [])
            #expect(try again.check().clean)
        }
    }

    @Test func evenADeletionOfEverything() throws {
        try with(limit: nil) { setting in
            let archive = setting.archive
            for number in 0..<5_000 { try archive.put([UInt8(number & 255)], forKey: "k\(number)") }
            let order = try archive.entries().keys
            let outcome = try archive.deleteAllReversibly()
            #expect(outcome.entries == 5_000)
            #expect(try archive.status().entries == 0)
            archive.close()
            let other = try Store.open(at: setting.folder.store).archive(named: "Undo")
            #expect(try other.undo()?.entries == 5_000)
            #expect(try other.entries().keys == order)
            #expect(try other.invariantViolations() == [])
        }
    }

    /// What a person lets expire soon is gone after that, and still comes back.
    @Test(arguments: [false, true])
    func whatExpiredByAnActionComesBack(removingIndex: Bool) throws {
        try with(limit: 100_000) { setting in
            let archive = setting.archive
            for key in ["a", "b", "c"] {
                try archive.put([1], forKey: key, attributes: EntryAttributes(lifetime: .seconds(7200)))
            }
            try archive.put([1], forKey: "own", attributes: EntryAttributes(lifetime: .seconds(5)))
            _ = try archive.carryOut(.setLifetime(.seconds(3)), on: setting.planned(["a", "b", "c"]))
            setting.hand.pass(.seconds(10))
            #expect(try archive.access("a") == nil)
            #expect(try archive.removeExpired().entries == 3)
            try archive.put([2], forKey: "c")
            #expect(try archive.entries().keys == ["c"])
            var again = archive
            if removingIndex {
                archive.close()
                try setting.folder.removeIndex("Undo")
                again = try Store.open(at: setting.folder.store).archive(named: "Undo")
            }
            let undone = try #require(try again.undo())
            #expect(undone.entries == 2)
            #expect(undone.skipped == ["c"])
            #expect(Set(try again.entries().keys) == ["a", "b", "c"])
            #expect(try again.peek("c") == [2])
            let expires = try #require(try again.metadata("a")?.expires)
            let left = expires.microseconds - Timestamp.now().microseconds
            #expect(left == 7_190_000_000)
            #expect(try again.invariantViolations() == [])
            #expect(try again.check().clean)
        }
    }

    @Test func aProgramsDeletionOfEverythingIsFinal() throws {
        try with(limit: 100_000) { setting in
            try setting.archive.put([1], forKey: "a")
            _ = try setting.archive.carryOut(.delete, on: setting.planned(["a"]))
            try setting.archive.deleteAll()
            #expect(try setting.archive.undo() == nil)
            #expect(try setting.archive.invariantViolations() == [])
        }
    }

    /// What was deleted to make room on a full disk was kept for an undo, and no put went through until that was over.
    @Test func aFullDiskEndsTheGrace() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try Store.open(at: folder.store).archive(
            named: "Full", orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
        let value = [UInt8](repeating: 1, count: 1_000)
        for number in 0..<3_000 { try archive.put(value, forKey: "k\(number)") }
        _ = try archive.deleteAllReversibly()
        let before = try archive.status().footprint
        let plan = FaultPlan(.fails(28), call: .allocate, under: folder.path, number: 1, isLasting: false)
        SystemFaults.install(plan)
        defer { SystemFaults.remove(plan) }
        var number = 0
        while plan.injected == 0, number < 5_000 {
            try archive.put(value, forKey: "new \(number)")
            number += 1
        }
        #expect(plan.injected == 1)
        #expect(try archive.reversibleActions() == [])
        #expect(try archive.status().footprint < before)
        #expect(try archive.invariantViolations() == [])
        #expect(try archive.entries().count == number)
        #expect(try archive.check().clean)
    }

    @Test func actionsAreUndoneOneByOneOrByNumber() throws {
        try with(limit: 100_000) { setting in
            let archive = setting.archive
            for key in ["a", "b", "c"] { try archive.put([1], forKey: key) }
            let first = try archive.carryOut(.delete, on: setting.planned(["a"])).action
            _ = try archive.carryOut(.delete, on: setting.planned(["b"]))
            _ = try archive.carryOut(.setLifetime(.seconds(5)), on: setting.planned(["c"]))
            #expect(try archive.reversibleActions().map(\.kind) == [.deadline, .delete, .delete])
            #expect(try archive.undo(first?.id)?.entries == 1)
            #expect(try archive.undo(first?.id) == nil)
            #expect(try archive.metadata("c")?.expires != nil)
            #expect(try archive.undo()?.action.kind == .deadline)
            #expect(try archive.metadata("c")?.expires == nil)
            #expect(try archive.undo()?.entries == 1)
            #expect(Set(try archive.entries().keys) == ["a", "b", "c"])
        }
    }

    @Test func whatNoLongerFitsIsEvictedAsAlways() throws {
        try with(limit: 1_000) { setting in
            let archive = setting.archive
            for number in 0..<10 {
                try archive.put([UInt8](repeating: 0, count: 100), forKey: "old \(number)")
            }
            _ = try archive.deleteAllReversibly()
            for number in 0..<4 {
                try archive.put([UInt8](repeating: 0, count: 100), forKey: "new \(number)")
            }
            let undone = try #require(try archive.undo())
            #expect(undone.entries == 10)
            #expect(undone.evicted == 4)
            #expect(try archive.status().diskBytes == 1_000)
            #expect(try archive.entries(order: .leastRecentFirst).keys.first == "old 4")
        }
    }
}
