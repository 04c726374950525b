#if DEBUG
import Foundation
import StorageEngine
import TestSupport
import Testing

/// A process that is stopped between the looks at an entry's frame and at its line finds nothing that was not there at
/// some moment of its look-up. What broke: the line had been given up meanwhile, and a line that is free is neither set
/// aside nor expired, so that what had been deleted, or had expired, was found.
@Suite(.oneAtATime) struct StoppedLookUpTests {
    private func archive(_ folder: TemporaryFolder) throws -> Archive {
        try Store.open(at: folder.store)
            .archive(named: "A", orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
    }

    /// What a process says that looks `key` up and was stopped on the way, while `meanwhile` is done.
    private func looked(
        up key: String, _ folder: TemporaryFolder, meanwhile: () throws -> Void
    ) async throws -> [String] {
        let worker = try Worker(
            ["peek", folder.store, "A", "1", CrashPoint.frameFound.rawValue, key], in: folder)
        try #require(try await worker.process.isStopped(within: 30), "\(worker.linesSoFar())")
        try meanwhile()
        worker.signal(SIGCONT)
        return try await worker.finish().lines
    }

    @Test func whatWasSetAsideIsNotFound() async throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try archive(folder)
        try archive.put([1, 2, 3], forKey: "key")
        let sequence = try #require(try archive.metadata("key")?.sequence)
        let plan = [PlannedEntry(key: "key", sequence: sequence)]
        #expect(try archive.carryOut(.delete, on: plan).action != nil)
        #expect(try await looked(up: "key", folder) { try archive.deleteAll() } == ["nothing"])
    }

    @Test(arguments: [false, true])
    func whatHasExpiredIsNotFound(otherTakesTheLine: Bool) async throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try archive(folder)
        try archive.put([1, 2, 3], forKey: "key", attributes: EntryAttributes(lifetime: .milliseconds(300)))
        let said = try await looked(up: "key", folder) {
            usleep(400_000)
            _ = try archive.removeExpired()
            if otherTakesTheLine { try archive.put([4], forKey: "other") }
        }
        #expect(said == ["nothing"])
    }

    /// What broke: what an undo had brought back was in no snapshot, and so in no backup, until all of it was settled.
    @Test func whatCameBackIsInASnapshot() async throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try archive(folder)
        for number in 0..<600 { try archive.put([1, 2, 3], forKey: "\(number)") }
        let plan = try (0..<500).map { number in
            PlannedEntry(
                key: "\(number)", sequence: try #require(try archive.metadata("\(number)")?.sequence))
        }
        #expect(try archive.carryOut(.delete, on: plan).action != nil)
        #expect(try archive.snapshot().count == 100)
        let worker = try Worker(
            ["undo", folder.store, "A", "1", CrashPoint.restoreCommitted.rawValue], in: folder)
        try #require(try await worker.process.isStopped(within: 30), "\(worker.linesSoFar())")
        #expect(try archive.entries().count == 600)
        #expect(try archive.snapshot().count == 600)
        worker.signal(SIGKILL)
        _ = try await worker.finish()
        #expect(try archive.snapshot().count == 600)
        #expect(try archive.check().clean)
    }

    /// An entry that was stored anew is found, old or new.
    @Test func whatWasStoredAnewIsFound() async throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try archive(folder)
        try archive.put([1, 2, 3], forKey: "key", attributes: EntryAttributes(lifetime: .seconds(1000)))
        let said = try await looked(up: "key", folder) { try archive.put([1, 2], forKey: "key") }
        #expect(said == ["found 3"] || said == ["found 2"])
    }
}
#endif
