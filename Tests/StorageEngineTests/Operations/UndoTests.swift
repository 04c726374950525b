import StorageEngine
import Synchronization
import TestSupport
import Testing

/// Reversible actions (S12): from any process, within the undo window and byte budget, despite reclaiming and rebuilds.
@Suite struct UndoTests {
    private func with(
        limit: UInt64?, _ body: (Archive, TemporaryFolder, ClockHand) throws -> Void
    ) throws {
        try withManualClock(limit == nil ? .collection : .cache(limit), body)
    }

    @Test("an undo restores entries with metadata and order") func fullUndo() throws {
        try with(limit: 10_000) { archive, _, _ in
            for key in ["a", "b", "c", "d", "e"] {
                try archive.put(
                    Array(key.utf8), forKey: key,
                    attributes: EntryAttributes(lifetime: .seconds(3600), owner: "owner of \(key)"))
            }
            _ = try archive.access("a")
            let before = try archive.entries()
            let metadata = try before.indices.map { try before.metadata(at: $0) }
            let outcome = try archive.carryOut(.delete, on: archive.planned(["b", "d", "nothing"]))
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

    @Test("the undo window lasts in a small busy cache", arguments: [false, true])
    func smallCache(removingIndex: Bool) throws {
        try with(limit: 1_000_000) { opened, folder, hand in
            var archive = opened
            let value = repeated(7, 2_000)
            for number in 0..<400 { try archive.put(value, forKey: "k\(number)") }
            let keys = (0..<300).map { "k\($0)" }
            let outcome = try archive.carryOut(.delete, on: archive.planned(keys))
            #expect(outcome.action?.bytesLeft == nil)
            for number in 0..<5_000 { try archive.put(value, forKey: "new \(number % 450)") }
            hand.pass(.seconds(599))
            #expect(try archive.reversibleActions().count == 1)
            let cost = UInt64(300 * (2_000 + 56 + 128))
            let bound = 1.25 * Double(1_000_000 + cost + 128 * 800) + 1_048_576
            #expect(try Double(archive.status().footprint) < bound)
            if removingIndex { archive = try folder.reopen(archive) }
            let undone = try #require(try archive.undo())
            #expect(undone.entries == 300 && undone.skippedCount == 0 && undone.displaced == 0)
            for key in keys { #expect(try archive.peek(key) == value) }
            #expect(try archive.status().diskBytes <= 1_000_000)
            try archive.expectValid()
        }
    }

    @Test("an action above the budget states its remaining bytes") func largerThanBudget() throws {
        try with(limit: 12_000_000) { archive, _, _ in
            let value = repeated(7, 500_000)
            for number in 0..<24 { try archive.put(value, forKey: "k\(number)") }
            #expect(try archive.undoBudget().values == 12_000_000)
            #expect(try archive.undoBudget().valuesLeft == 12_000_000)
            #expect(try archive.undoBudget().space == 64 << 20)
            let first = try archive.carryOut(.delete, on: archive.planned((0..<10).map { "k\($0)" }))
            #expect(first.action?.bytesLeft == nil)
            #expect(try archive.undoBudget().valuesLeft == 7_000_000)
            let spaceLeft = try archive.undoBudget().spaceLeft
            #expect(spaceLeft < 62_108_864 && spaceLeft > 62_100_000)
            for number in 0..<10 { try archive.put(value, forKey: "n\(number)") }
            let second = try archive.deleteAllReversibly()
            #expect(second.entries == 24)
            #expect(second.action?.bytesLeft == 600_000, "the action's own frames don't count")
            try archive.put(repeated(1, 600_000), forKey: "b")
            // The first action is within the budget.
            #expect(try archive.reversibleActions().map(\.id) == [first.action?.id])
            #expect(try archive.undo()?.entries == 10)
            #expect(try archive.invariantViolations() == [])
        }
    }

    @Test("restores very many small entries", arguments: [true, false], [1_000_000, 12_000_000])
    func manySmallEntries(isWhole: Bool, limit: UInt64) throws {
        try with(limit: limit) { archive, _, _ in
            let keys = (0..<(limit < 2_000_000 ? 30_000 : 120_000)).map { "key \($0)" }
            let value = repeated(1, limit < 2_000_000 ? 1 : 100)
            for key in keys { try archive.put(value, forKey: key) }
            let bytes = try archive.status().diskBytes
            #expect(try archive.undoBudget().holds(entries: keys.count, valueBytes: bytes))
            let outcome =
                isWhole
                ? try archive.deleteAllReversibly()
                : try archive.carryOut(.delete, on: archive.planned(keys))
            #expect(outcome.entries == keys.count && outcome.action?.bytesLeft == nil)
            for number in 0..<3_000 { try archive.put(repeated(2, 1_000), forKey: "n\(number % 50)") }
            #expect(try archive.undo()?.entries == keys.count)
            for key in keys { try #require(try archive.peek(key) == value) }
            #expect(try archive.invariantViolations() == [])
        }
    }

    @Test("an action on too many small entries states its remaining bytes") func tooManyEntries() throws {
        try with(limit: 1_000_000) { archive, _, _ in
            let batch = 50_000
            for number in 0..<8 * batch { try archive.put([1], forKey: "key \(number)") }
            #expect(try !archive.undoBudget().holds(entries: 8 * batch, valueBytes: UInt64(8 * batch)))
            let outcome = try archive.deleteAllReversibly()
            #expect(outcome.entries == 8 * batch && outcome.action?.bytesLeft == 65_536)
            #expect(try archive.undo()?.entries == 8 * batch)
        }
    }

    @Test("a large delete in a collection leaves as many bytes as the budget states before it")
    func exceededBudgetOfCollection() throws {
        try with(limit: nil) { archive, _, _ in
            let value = repeated(1, 600)
            for number in 0..<100_000 { try archive.put(value, forKey: "key \(number)") }
            let budget = try archive.undoBudget()
            #expect(!budget.holds(entries: 100_000, valueBytes: 60_000_000))
            #expect(budget.exceededBytes == 3_000_000)
            #expect(try archive.deleteAllReversibly().action?.bytesLeft == 3_000_000)
        }
    }

    @Test("an undo skips a key that was stored again", arguments: [false, true], [false, true])
    func storedAgain(removingIndex: Bool, isReclaimed: Bool) throws {
        try with(limit: 200_000) { opened, folder, _ in
            var archive = opened
            for key in ["again", "back"] { try archive.put([1], forKey: key) }
            _ = try archive.carryOut(.delete, on: archive.planned(["again", "back"]))
            try archive.put([2], forKey: "again")
            try archive.delete("again")
            if isReclaimed {
                for number in 0..<400 { try archive.put(repeated(1, 10_000), forKey: "k\(number % 10)") }
                #expect(try !folder.files(inArchive: "A").contains("00000001.segment"))
            }
            if removingIndex { archive = try folder.reopen(archive) }
            let undone = try #require(try archive.undo())
            #expect(undone.entries == 1)
            if !isReclaimed { #expect(undone.skipped == ["again"]) }
            #expect(try archive.peek("again") == nil)
            #expect(try archive.peek("back") == [1])
            try archive.expectValid()
        }
    }

    @Test("after a rebuild, a discarded action lists its remaining entries; an undo skips the others")
    func discardedRecord() throws {
        try with(limit: nil) { archive, folder, _ in
            let value = repeated(1, 250)
            for number in 0..<20_000 { try archive.put(value, forKey: "k\(number)") }
            let planned = try archive.planned(stride(from: 0, to: 20_000, by: 4).map { "k\($0)" })
            #expect(try archive.carryOut(.delete, on: planned).entries == 5_000)
            try archive.compact(givingUpUndo: true)
            #expect(try archive.undo() == nil)
            let again = try folder.reopen(archive)
            let listed = try #require(try again.reversibleActions().first)
            let undone = try #require(try again.undo())
            #expect(listed.entries == undone.entries && listed.bytes == undone.bytes)
            #expect(listed.bytes == UInt64(listed.entries) * 250)
            #expect(undone.entries > 0 && undone.skippedCount > 0)
            #expect(undone.entries + undone.skippedCount == 5_000)
            #expect(try again.status().entries == 15_000 + undone.entries)
            #expect(try again.check().clean)
        }
    }

    @Test("readers see an undo completely or not at all") func atomicUndo() throws {
        let folder = try TemporaryFolder()
        let archive = try folder.archive(creating: .collection)
        for number in 0..<6_000 { try archive.put([1], forKey: "k\(number)") }
        let observer = try folder.archive(mode: .readOnly)
        let isDone = Atomic<Bool>(false)
        let seen = Guarded<Set<Int>>([])
        for _ in 0..<4 {
            #expect(try archive.deleteAllReversibly().entries == 6_000)
            isDone.store(false, ordering: .relaxed)
            let reader = Background {
                while !isDone.load(ordering: .relaxed) {
                    let counts = [
                        try observer.entries().count, try observer.scan(.location).count,
                        try observer.status().entries,
                    ]
                    seen.withLock { $0.formUnion(counts) }
                }
            }
            #expect(try archive.undo()?.entries == 6_000)
            isDone.store(true, ordering: .relaxed)
            try reader.wait()
        }
        #expect(seen.withLock { $0 }.isSubset(of: [0, 6_000]), "\(seen.withLock { $0 })")
        #expect(try archive.invariantViolations() == [])
    }

    @Test("others write during an undo") func concurrentWriter() throws {
        let folder = try TemporaryFolder()
        let archive = try folder.archive(creating: .collection)
        for number in 0..<4_000 { try archive.put([1], forKey: "k\(number)") }
        let other = try folder.archive()
        for round in 0..<3 {
            let isDone = Atomic<Bool>(false)
            let written = Guarded<[String: [UInt8]?]>([:])
            let writer = Background {
                var number = 0
                while !isDone.load(ordering: .relaxed) {
                    let key = "k\(number % 4_000)"
                    let value: [UInt8]? = number % 3 == 0 ? nil : [UInt8(round + 2)]
                    if let value { try other.put(value, forKey: key) } else { _ = try other.delete(key) }
                    written.withLock { $0[key] = .some(value) }
                    number += 7
                }
            }
            _ = try archive.deleteAllReversibly()
            _ = try archive.undo()
            isDone.store(true, ordering: .relaxed)
            try writer.wait()
            // Since its last write, only the actions may have deleted and restored a key.
            for (key, value) in written.withLock({ $0 }) where value != nil {
                if let found = try archive.peek(key) { #expect(found == value) }
            }
            try archive.expectValid()
        }
    }

    @Test("skips entries that changed since the plan") func changedSincePlan() throws {
        try with(limit: 10_000) { archive, _, _ in
            for key in ["a", "b", "c"] { try archive.put([1], forKey: key) }
            let plan = try archive.planned(["a", "b", "c"])
            try archive.put([2], forKey: "a")
            try archive.delete("b")
            let outcome = try archive.carryOut(.delete, on: plan)
            #expect(outcome.entries == 1)
            #expect(outcome.skipped == ["a", "b"])
            // A key stored again keeps its new value.
            try archive.put([3], forKey: "c")
            let undone = try #require(try archive.undo())
            #expect(undone.entries == 0)
            #expect(undone.skipped == ["c"])
            #expect(try archive.peek("c") == [3])
        }
    }

    @Test("reports the reason for each skipped entry") func skipReasons() throws {
        try with(limit: 10_000) { archive, _, hand in
            for key in ["changed", "gone", "expired", "idle", "used"] {
                try archive.put(
                    [1], forKey: key,
                    attributes: .expiring(key == "expired" ? .seconds(60) : nil))
            }
            let plan = try archive.planned(["changed", "gone", "expired", "idle", "used"])
            hand.pass(.seconds(100))
            let before = Timestamp.now()
            try archive.put([2], forKey: "changed")
            try archive.delete("gone")
            // The access is still pending in the ring of touches.
            _ = try archive.access("used")
            let outcome = try archive.carryOut(.expireIdle(before: before), on: plan)
            #expect(outcome.entries == 1 && outcome.action?.entries == 1)
            #expect(
                outcome.skips == [
                    PlanSkip(key: "changed", reason: .changed), PlanSkip(key: "gone", reason: .absent),
                    PlanSkip(key: "expired", reason: .absent), PlanSkip(key: "used", reason: .used),
                ])
            #expect(try archive.entries().keys == ["used", "changed"])
            #expect(try archive.undo()?.entries == 1)
            #expect(try archive.peek("idle") == [1])
            #expect(try archive.invariantViolations() == [])
        }
    }

    @Test("an action that skips all entries uses no number") func allInUse() throws {
        try with(limit: 10_000) { archive, _, _ in
            for key in ["a", "b"] { try archive.put([1], forKey: key) }
            let plan = try archive.planned(["a", "b"])
            _ = try archive.access("a")
            _ = try archive.access("b")
            let outcome = try archive.carryOut(.expireIdle(before: Timestamp(microseconds: 0)), on: plan)
            #expect(outcome.entries == 0 && outcome.action == nil)
            #expect(outcome.skips.map(\.reason) == [.used, .used])
            #expect(try archive.reversibleActions() == [])
        }
    }

    @Test("a plan skips entries that are accessed during it") func usedDuringPlan() throws {
        try with(limit: 1_000_000) { archive, _, hand in
            let keys = (0..<2000).map { "key \($0)" }
            for key in keys { try archive.put([1], forKey: key) }
            let plan = try archive.planned(keys)
            hand.pass(.seconds(1))
            var used: [String] = []
            let outcome = try archive.carryOut(.expireIdle(before: .now()), on: plan) { done in
                // Between two parts, and so after the plan began.
                if done < keys.count, (try? archive.access(keys[keys.count - 1 - done / 7])) != nil {
                    used.append(keys[keys.count - 1 - done / 7])
                }
                return true
            }
            #expect(!used.isEmpty)
            #expect(Set(outcome.skips.filter { $0.reason == .used }.map(\.key)).isSubset(of: Set(used)))
            for key in used { #expect(try archive.peek(key) == [1], "\(key)") }
            #expect(outcome.entries == keys.count - Set(used).count)
        }
    }

    @Test("the undo window ends after ten minutes") func undoWindow() throws {
        try with(limit: 10_000) { archive, _, hand in
            try archive.put([1], forKey: "a")
            _ = try archive.carryOut(.expireNow, on: archive.planned(["a"]))
            #expect(try archive.reversibleActions().map(\.kind) == [.expire])
            hand.pass(.seconds(599))
            #expect(try archive.reversibleActions().count == 1)
            hand.pass(.seconds(1))
            #expect(try archive.reversibleActions() == [])
            #expect(try archive.undo() == nil)
        }
    }

    @Test("an undo restores reclaimed entries", arguments: [false, true])
    func reclaimedEntries(removingIndex: Bool) throws {
        try with(limit: 2_000_000) { archive, folder, _ in
            let value = repeated(7, 2_000)
            // As much as fits, overwritten repeatedly to cause reclaiming.
            for number in 0..<3_000 { try archive.put(value, forKey: "k\(number % 900)") }
            let victims = Array(try archive.entries(order: .leastRecentFirst).keys.prefix(400))
            let plan = try archive.planned(victims)
            let oldest = try folder.segments().first
            let outcome = try archive.carryOut(.delete, on: plan)
            #expect(outcome.entries == 400)
            for number in 0..<800 { try archive.put(value, forKey: "new \(number % 40)") }
            #expect(try folder.segments().first != oldest)
            try archive.expectValid()
            var again = archive
            if removingIndex { again = try folder.reopen(archive) }
            let undone = try #require(try again.undo())
            #expect(undone.entries == 400)
            #expect(undone.skippedCount == 0)
            for key in victims.suffix(300) { #expect(try again.peek(key) == value) }
            #expect(try again.status().diskBytes <= 2_000_000)
            try again.expectValid()
        }
    }

    @Test("another handle undoes a deletion of all entries") func deletionOfAll() throws {
        try with(limit: nil) { archive, folder, _ in
            for number in 0..<5_000 { try archive.put([UInt8(number & 255)], forKey: "k\(number)") }
            let order = try archive.entries().keys
            let outcome = try archive.deleteAllReversibly()
            #expect(outcome.entries == 5_000)
            #expect(try archive.status().entries == 0)
            archive.close()
            let other = try folder.archive()
            #expect(try other.undo()?.entries == 5_000)
            #expect(try other.entries().keys == order)
            #expect(try other.invariantViolations() == [])
        }
    }

    @Test("an undo doesn't count expired entries as restored") func expiredInBetween() throws {
        try with(limit: 100_000) { archive, _, hand in
            for key in ["a", "b"] {
                try archive.put([1, 2], forKey: key, attributes: .expiring(.seconds(60)))
            }
            try archive.put([1], forKey: "c")
            _ = try archive.carryOut(.delete, on: archive.planned(["a", "b", "c"]))
            hand.pass(.seconds(61))
            let undone = try #require(try archive.undo())
            #expect(undone.entries == 1 && undone.bytes == 1)
            #expect(undone.expired == 2 && undone.skippedCount == 0)
            #expect(try archive.entries().keys == ["c"])
            try archive.put([1], forKey: "d", attributes: .expiring(.seconds(60)))
            _ = try archive.carryOut(.setLifetime(.seconds(120)), on: archive.planned(["d"]))
            hand.pass(.seconds(61))
            #expect(try archive.peek("d") == [1])
            let second = try #require(try archive.undo())
            #expect(second.entries == 0 && second.expired == 1)
            #expect(try archive.peek("d") == nil)
        }
    }

    @Test("an undo restores entries that expired by the action", arguments: [false, true])
    func expiredByAction(removingIndex: Bool) throws {
        try with(limit: 100_000) { archive, folder, hand in
            for key in ["a", "b", "c"] {
                try archive.put([1], forKey: key, attributes: .expiring(.seconds(7200)))
            }
            try archive.put([1], forKey: "own", attributes: .expiring(.seconds(5)))
            _ = try archive.carryOut(.setLifetime(.seconds(3)), on: archive.planned(["a", "b", "c"]))
            hand.pass(.seconds(10))
            #expect(try archive.access("a") == nil)
            #expect(try archive.removeExpired().entries == 3)
            try archive.put([2], forKey: "c")
            #expect(try archive.entries().keys == ["c"])
            var again = archive
            if removingIndex { again = try folder.reopen(archive) }
            let undone = try #require(try again.undo())
            #expect(undone.entries == 2)
            #expect(undone.skipped == ["c"])
            #expect(Set(try again.entries().keys) == ["a", "b", "c"])
            #expect(try again.peek("c") == [2])
            let expires = try #require(try again.metadata("a")?.expires)
            let left = expires.microseconds - Timestamp.now().microseconds
            #expect(left == 7_190_000_000)
            try again.expectValid()
        }
    }

    @Test("a deletion of all entries by a program is final") func finalDeletion() throws {
        try with(limit: 100_000) { archive, _, _ in
            try archive.put([1], forKey: "a")
            _ = try archive.carryOut(.delete, on: archive.planned(["a"]))
            try archive.deleteAll()
            #expect(try archive.undo() == nil)
            #expect(try archive.invariantViolations() == [])
        }
    }

    @Test("a full disk ends the undo window") func fullDisk() throws {
        let folder = try TemporaryFolder(inMemory: true)
        var options = StoreOptions()
        // The first failing allocation is not that of the request trace.
        options.recordsRequests = false
        let archive = try Store.open(at: folder.store, options: options).archive(
            named: "Full", orCreate: .collection)
        let value = repeated(1, 1_000)
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

    @Test("actions are undone one by one or by number") func byNumber() throws {
        try with(limit: 100_000) { archive, _, _ in
            for key in ["a", "b", "c"] { try archive.put([1], forKey: key) }
            let first = try archive.carryOut(.delete, on: archive.planned(["a"])).action
            _ = try archive.carryOut(.delete, on: archive.planned(["b"]))
            _ = try archive.carryOut(.setLifetime(.seconds(5)), on: archive.planned(["c"]))
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

    @Test("an undo evicts entries that no longer fit") func evictedByUndo() throws {
        try with(limit: 1_000) { archive, _, _ in
            for number in 0..<10 { try archive.put(repeated(0, 100), forKey: "old \(number)") }
            _ = try archive.deleteAllReversibly()
            for number in 0..<4 { try archive.put(repeated(0, 100), forKey: "new \(number)") }
            let undone = try #require(try archive.undo())
            #expect(undone.entries == 10 && undone.displaced == 0)
            #expect(undone.evicted == 4)
            #expect(try archive.status().diskBytes == 1_000)
            #expect(try archive.entries(order: .leastRecentFirst).keys == (0..<10).map { "old \($0)" })
        }
    }

    @Test("an undo that can't fit evicts nothing and can be repeated", arguments: [true, false])
    func largeValue(isAll: Bool) throws {
        try with(limit: 200_000) { archive, _, _ in
            let big = repeated(9, 90_000)
            try archive.put(big, forKey: "big")
            for number in 0..<5 { try archive.put(repeated(1, 9_000), forKey: "k\(number)") }
            _ =
                isAll
                ? try archive.deleteAllReversibly()
                : try archive.carryOut(.delete, on: archive.planned(["big"]))
            try archive.setLimits(disk: 60_000, memory: nil)
            #expect(throws: StorageError.valueTooLarge(bytes: 90_000, limit: 60_000, archive: "A")) {
                try archive.undo()
            }
            #expect(try archive.entries().count == (isAll ? 0 : 5))
            try archive.setLimits(disk: 200_000, memory: nil)
            #expect(try archive.undo()?.entries == (isAll ? 6 : 1))
            #expect(try archive.entries().count == 6 && archive.peek("big") == big)
            #expect(try archive.invariantViolations() == [])
        }
    }

    @Test("an action without entries uses no number") func noNumber() throws {
        try with(limit: 1_000_000) { archive, _, _ in
            for number in 0..<64 {
                try archive.put([UInt8(number)], forKey: "k\(number)")
                _ = try archive.carryOut(.delete, on: archive.planned(["k\(number)"]))
            }
            #expect(try archive.reversibleActions().count == 64)
            let gone = [PlannedEntry(key: "k0", sequence: 1), PlannedEntry(key: "none", sequence: 1)]
            for action in [PlannedAction.delete, .expireNow, .setLifetime(.seconds(60))] {
                #expect(try archive.carryOut(action, on: []).action == nil)
                let outcome = try archive.carryOut(action, on: gone)
                #expect(outcome.skipped == ["k0", "none"] && outcome.action == nil && outcome.entries == 0)
            }
            #expect(try archive.deleteAllReversibly().action == nil)
            let oldest = try #require(try archive.reversibleActions().last)
            #expect(try archive.reversibleActions().count == 64)
            #expect(try archive.undo(oldest.id)?.entries == 1)
            #expect(try archive.peek("k0") == [0])
        }
    }
}
