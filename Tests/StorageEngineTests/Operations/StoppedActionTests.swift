import StorageEngine
import TestSupport
import Testing

/// Actions of users that are stopped.
@Suite struct StoppedActionTests {
    @Test("a deletion of all entries stops between two parts") func stoppedDeletion() throws {
        let folder = try TemporaryFolder()
        let archive = try Store.open(at: folder.store).archive(named: "A", orCreate: ArchiveConfiguration())
        for number in 0..<5_000 { try archive.put([1], forKey: "\(number)") }
        let outcome = try archive.deleteAllReversibly { $0 < 1_000 }
        let left = try archive.status().entries
        #expect(outcome.entries >= 1_000 && left > 0 && outcome.entries + left == 5_000)
        #expect(try archive.undo()?.entries == outcome.entries)
        #expect(try archive.status().entries == 5_000)
    }
}
