import Foundation
import StorageEngine
import Testing

/// Undo of changes of expiry times (S12).
@Suite struct UndoExpiryTests {
    private func with(_ body: (Archive, TemporaryFolder, ClockHand) throws -> Void) throws {
        try withManualClock(.collection, inMemory: true, body)
    }

    @Test("an undo skips entries that were stored again") func storedAgain() throws {
        try with { archive, _, _ in
            let hour = EntryAttributes(lifetime: .seconds(3600))
            for key in ["anew", "updated", "same"] { try archive.put([1], forKey: key, attributes: hour) }
            #expect(
                try archive.carryOut(.setLifetime(nil), on: archive.planned(["anew", "updated", "same"]))
                    .entries
                    == 3)
            try archive.put([2], forKey: "anew")
            try archive.update([2], forKey: "updated")
            let undone = try #require(try archive.undo())
            #expect(undone.entries == 1 && undone.bytes == 1)
            #expect(Set(undone.skipped) == ["anew", "updated"] && undone.skippedCount == 2)
            #expect(try archive.metadata("anew")?.expires == nil)
            #expect(try archive.metadata("updated")?.expires == nil)
            #expect(try archive.metadata("same")?.expires != nil)
        }
    }

    @Test("clearing absent expiry times is no action") func noChange() throws {
        try with { archive, _, _ in
            try archive.put([1], forKey: "never")
            let none = try archive.carryOut(.setLifetime(nil), on: archive.planned(["never"]))
            #expect(none.entries == 0 && none.unchanged == 1 && none.action == nil && none.skipped == [])
            #expect(try archive.reversibleActions() == [])
            try archive.put([1], forKey: "soon", attributes: .expiring(.seconds(60)))
            let one = try archive.carryOut(.setLifetime(nil), on: archive.planned(["never", "soon"]))
            #expect(one.entries == 1 && one.unchanged == 1 && one.action?.entries == 1)
        }
    }

    @Test("a rebuild finds an action whose entries were copied after it") func copiedEntries() throws {
        try with { archive, folder, _ in
            let keys = ["s1", "s2", "s3"]
            for key in keys { try archive.put([1], forKey: key) }
            let large = repeated(1, 100_000)
            for _ in 0..<3 { try archive.put(large, forKey: "b") }
            let outcome = try archive.carryOut(.setLifetime(.seconds(3600)), on: archive.planned(keys))
            #expect(outcome.entries == 3)
            for _ in 0..<32 { try archive.put(large, forKey: "b") }
            try #require(try !folder.files(inArchive: "A").contains("00000001.segment"))
            let again = try folder.reopen(archive)
            #expect(try again.metadata("s1")?.expires != nil)
            let known = try again.reversibleActions()
            #expect(known.count == 1 && known.first?.entries == 3)
            #expect(try again.undo()?.entries == 3)
            for key in keys { #expect(try again.metadata(key)?.expires == nil) }
            #expect(try again.check().clean)
        }
    }

    @Test("an action's own frames don't end its undo window") func ownFrames() throws {
        try with { archive, folder, _ in
            let keys = (0..<2_000).map { "key \($0)" }
            for key in keys { try archive.put([1], forKey: key) }
            let done = try archive.carryOut(.setLifetime(.seconds(60)), on: archive.planned(keys))
            #expect(done.action?.bytesLeft == 4 << 20)
            let again = try folder.reopen(archive)
            #expect(try again.reversibleActions().first?.bytesLeft == 4 << 20)
            #expect(try again.undo()?.entries == 2_000)
        }
    }

    @Test("keeps the expiry times of very many entries for an undo") func keptExpiryTimes() throws {
        try with { archive, _, hand in
            let keys = (0..<30_000).map { "key \($0)" }
            for key in keys { try archive.put([1], forKey: key) }
            let before = try archive.status().footprint
            let done = try archive.carryOut(.setLifetime(.seconds(3600)), on: archive.planned(keys))
            #expect(done.action?.entries == 30_000)
            for number in 0..<20 { try archive.put(repeated(1, 500), forKey: "n\(number)") }
            #expect(try archive.undo()?.entries == 30_000)
            #expect(try archive.metadata("key 0")?.expires == nil)
            // After the undo window the space is free again.
            _ = try archive.carryOut(.setLifetime(.seconds(3600)), on: archive.planned(keys))
            let held = try archive.status().footprint
            #expect(held > before + 2_000_000)
            hand.pass(.seconds(601))
            #expect(try archive.undo() == nil)
            for _ in 0..<400 { try archive.put(repeated(1, 50_000), forKey: "large") }
            #expect(try archive.status().footprint < held - 1_000_000)
            try archive.expectValid()
        }
    }

    @Test("a stopped undo can be completed later") func stoppedUndo() throws {
        try with { archive, _, _ in
            let keys = (0..<700).map { "key \($0)" }
            let hour = EntryAttributes(lifetime: .seconds(3600))
            for key in keys { try archive.put([1], forKey: key, attributes: hour) }
            _ = try archive.carryOut(.setLifetime(nil), on: archive.planned(keys))
            func restored() throws -> Int {
                try keys.count { try archive.metadata($0)?.expires != nil }
            }
            var restoredSoFar: [Int] = []
            let part = try #require(
                try archive.undo { share in
                    restoredSoFar.append(Int((share * 700).rounded()))
                    return restoredSoFar.count < 2
                })
            #expect(restoredSoFar == [256, 512])
            #expect(!part.isComplete && part.entries == 512)
            #expect(try restored() == 512)
            let rest = try #require(try archive.undo())
            #expect(rest.isComplete && rest.entries == 700 && rest.skippedCount == 0)
            #expect(try restored() == 700)
            #expect(try archive.undo() == nil)
            try archive.expectValid()
        }
    }

    @Test("an undo counts each entry of the action once, whatever changed it since")
    func everyEntryIsCounted() throws {
        try with { archive, _, _ in
            let keys = ["same", "back", "other", "again", "gone"]
            for key in keys { try archive.put([1], forKey: key) }
            let done = try archive.carryOut(.setLifetime(.seconds(3600)), on: archive.planned(keys))
            try archive.setLifetime(nil, forKey: "back")
            try archive.setLifetime(.seconds(60), forKey: "other")
            try archive.put([2], forKey: "again")
            try archive.delete("gone")
            let undone = try #require(try archive.undo())
            #expect(undone.entries == 2 && undone.bytes == 2 && undone.isComplete)
            #expect(Set(undone.skipped) == ["other", "again", "gone"])
            #expect(undone.entries + undone.skippedCount == done.action?.entries)
            #expect(try archive.metadata("back")?.expires == nil)
            #expect(try archive.metadata("other")?.expires != nil)
        }
    }

    @Test("handles changes between two parts of an undo") func changesBetweenParts() throws {
        try with { archive, _, hand in
            let keys = (0..<700).map { "key \($0)" }
            for key in keys { try archive.put([1], forKey: key) }
            _ = try archive.carryOut(.setLifetime(.seconds(10)), on: archive.planned(keys))
            var isFirst = true
            let outcome = try #require(
                try archive.undo { _ in
                    guard isFirst else { return true }
                    isFirst = false
                    try? archive.put([2], forKey: "key 600")
                    hand.pass(.seconds(11))
                    _ = try? archive.removeExpired()
                    return true
                })
            #expect(outcome.isComplete)
            #expect(outcome.entries == 699 && outcome.skipped == ["key 600"])
            #expect(try archive.entries().count == 700)
            #expect(try keys.allSatisfy { try archive.metadata($0)?.expires == nil })
            #expect(try archive.peek("key 600") == [2])
            try archive.expectValid()
        }
    }

    @Test("an entry with an equal expiry time isn't part of the action") func equalExpiry() throws {
        try with { archive, _, hand in
            try archive.put([1], forKey: "a")
            try archive.put([1], forKey: "b")
            _ = try archive.carryOut(.setLifetime(.seconds(10)), on: archive.planned(["a", "b"]))
            try archive.put([2], forKey: "b", attributes: .expiring(.seconds(10)))
            hand.pass(.seconds(11))
            #expect(try archive.removeExpired().entries == 2)
            let undone = try #require(try archive.undo())
            #expect(undone.entries == 1 && undone.skipped == ["b"])
            #expect(try archive.entries().keys == ["a"])
            #expect(try archive.status().entries == 1)
        }
    }

    @Test("an entry named twice counts once") func duplicateKeys() throws {
        try with { archive, _, _ in
            for key in ["a", "b", "c"] { try archive.put([1], forKey: key) }
            for action in [PlannedAction.setLifetime(.seconds(60)), .delete] {
                let once = try archive.planned(["a", "b"])
                let outcome = try archive.carryOut(action, on: once + once)
                #expect(outcome.entries == 2 && outcome.bytes == 2)
                #expect(outcome.skipped == [])
                #expect(outcome.action?.entries == 2)
            }
            #expect(try archive.undo()?.entries == 2)
            #expect(try archive.entries().count == 3)
        }
    }

    @Test(
        "reports the parts done before an error",
        arguments: [PlannedAction.delete, .setLifetime(.seconds(60))])
    func failedPart(action: PlannedAction) throws {
        try with { archive, folder, _ in
            let keys = (0..<700).map { "key \($0)" }
            for key in keys { try archive.put([1], forKey: key) }
            let planned = try archive.planned(keys)
            var done = 0
            let outcome = try archive.carryOut(action, on: planned) { reached in
                done = reached
                // Another handle removes the archive during the action.
                try? Store.open(at: folder.store).removeArchive(named: "A")
                return true
            }
            #expect(done > 0 && done < keys.count)
            #expect(outcome.entries == done && outcome.bytes == UInt64(done))
            #expect(outcome.action?.entries == done)
            #expect(outcome.failure?.isClosed == true)
            #expect("the archive is closed") {
                try archive.carryOut(action, on: planned)
            } throws: { $0.isClosed }
        }
    }

    @Test("actions with equal expiry times are kept apart") func equalActions() throws {
        try with { archive, _, hand in
            for key in ["a", "b"] { try archive.put([1], forKey: key) }
            let actions = try ["a", "b"].map { key in
                try #require(
                    try archive.carryOut(.setLifetime(.seconds(10)), on: archive.planned([key])).action)
            }
            hand.pass(.seconds(11))
            #expect(try archive.removeExpired().entries == 2)
            #expect(try archive.undo(actions[0].id)?.entries == 1)
            #expect(try archive.entries().keys == ["a"])
            #expect(try archive.undo(actions[1].id)?.entries == 1)
            #expect(Set(try archive.entries().keys) == ["a", "b"])
        }
    }
}
