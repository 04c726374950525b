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
}
