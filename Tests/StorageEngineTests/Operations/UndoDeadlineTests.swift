import Foundation
import StorageEngine
import Testing

/// Taking back changes of deadlines (S12).
@Suite struct UndoDeadlineTests {
    private func with(_ body: (Archive, TemporaryFolder) throws -> Void) throws {
        let folder = try TemporaryFolder(inMemory: true)
        let store = try Store.open(at: folder.store)
        defer { store.close() }
        let archive = try store.archive(
            named: "A", orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
        try body(archive, folder)
    }

    private func planned(_ archive: Archive, _ keys: [String]) throws -> [PlannedEntry] {
        try keys.map { key in
            PlannedEntry(key: key, sequence: try #require(try archive.metadata(key)?.sequence))
        }
    }

    /// What broke: the entry that was recorded anew after the action got the old one's deadline.
    @Test func whatWasRecordedAnewKeepsItsDeadline() throws {
        try with { archive, _ in
            let hour = EntryAttributes(lifetime: .seconds(3600))
            for key in ["anew", "updated", "same"] { try archive.put([1], forKey: key, attributes: hour) }
            #expect(
                try archive.carryOut(.setLifetime(nil), on: planned(archive, ["anew", "updated", "same"]))
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

    @Test func anEntryThatIsNamedTwiceCountsOnce() throws {
        try with { archive, _ in
            for key in ["a", "b", "c"] { try archive.put([1], forKey: key) }
            for action in [PlannedAction.setLifetime(.seconds(60)), .delete] {
                let once = try planned(archive, ["a", "b"])
                let outcome = try archive.carryOut(action, on: once + once)
                #expect(outcome.entries == 2 && outcome.bytes == 2)
                #expect(outcome.skipped == [])
                #expect(outcome.action?.entries == 2)
            }
            #expect(try archive.undo()?.entries == 2)
            #expect(try archive.entries().count == 3)
        }
    }

    /// What broke: an error in a later part lost what was known of the earlier ones, and how to take them back.
    @Test(arguments: [PlannedAction.delete, .setLifetime(.seconds(60))])
    func whatWasDoneBeforeAnErrorIsTold(action: PlannedAction) throws {
        try with { archive, folder in
            let keys = (0..<700).map { "key \($0)" }
            for key in keys { try archive.put([1], forKey: key) }
            let planned = try planned(archive, keys)
            var done = 0
            let outcome = try archive.carryOut(action, on: planned) { reached in
                done = reached
                // Somebody takes the archive away in the middle of it.
                try? Store.open(at: folder.store).removeArchive(named: "A")
                return true
            }
            #expect(done > 0 && done < keys.count)
            #expect(outcome.entries == done && outcome.bytes == UInt64(done))
            #expect(outcome.action?.entries == done)
            guard case .closed? = outcome.failure else {
                Issue.record("\(String(describing: outcome.failure))")
                return
            }
            #expect("nothing is done any more") {
                try archive.carryOut(action, on: planned)
            } throws: {
                guard case .closed? = $0 as? StorageError else { return false }
                return true
            }
        }
    }
}
