import Testing
import Vellum

/// The usage page's two storage algorithms, step by step.
@Suite struct StorageAlgorithmTests {
    private let store = TemporaryStore()

    private func archives() throws -> ArchiveManager<Note> {
        try store.factory().archives(for: Note.self, trySetMaxMemorySize: 250, trySetMaxDiskSize: 450)
    }

    private func memory(_ archives: ArchiveManager<Note>) -> [String] { archives.core.memory.keys }

    @Test func storing() throws {
        let notes = try archives()
        // Steps 1, 3, 4 and 6: both tiers have space.
        notes.record(Note.sized("a", 100))
        notes.record(Note.sized("b", 100))
        #expect(memory(notes) == ["b", "a"])
        #expect(try notes.keysByUse() == ["b", "a"])
        // Step 2: memory is full, so it drops the least recent object.
        #expect(notes.access(archiveWithKey: "a") != nil)
        notes.record(Note.sized("c", 100))
        #expect(memory(notes) == ["c", "a"])
        #expect(try notes.keysByUse() == ["c", "a", "b"])
        notes.record(Note.sized("d", 100))
        #expect(memory(notes) == ["d", "c"])
        #expect(try notes.keysByUse() == ["d", "c", "a", "b"])
        // Step 5: the disk is full as well, so objects are evicted.
        notes.record(Note.sized("e", 200))
        #expect(memory(notes) == ["e"])
        #expect(try notes.keysByUse() == ["e", "d", "c"])
        #expect(notes.currentMemorySize == 200 && notes.currentDiskSize == 400)
        #expect(notes.statistics?.evictions == 2)
    }

    @Test func getting() throws {
        let before = try archives()
        before.insert(Note.sized("a", 100), Note.sized("b", 100), Note.sized("c", 100))
        let notes = try archives()
        // Step 5: in no tier.
        #expect(notes.access(archiveWithKey: "none") == nil)
        #expect(notes.statistics?.misses == 1)
        // Steps 3 and 4: on disk only, then loaded into memory.
        #expect(memory(notes) == [])
        #expect(notes.access(archiveWithKey: "a") == Note.sized("a", 100))
        #expect(memory(notes) == ["a"])
        #expect(notes.statistics?.memoryHits == 0 && notes.statistics?.hits == 1)
        // Steps 1 and 2: in memory; the access counts on disk, too.
        #expect(notes.access(archiveWithKey: "b") != nil)
        #expect(notes.access(archiveWithKey: "a") == Note.sized("a", 100))
        #expect(notes.statistics?.memoryHits == 1 && notes.statistics?.hits == 3)
        #expect(memory(notes) == ["a", "b"])
        #expect(try notes.keysByUse() == ["a", "b", "c"])
        // Step 4 frees space in memory, like storing, and uses none on disk.
        #expect(notes.access(archiveWithKey: "c") != nil)
        #expect(memory(notes) == ["c", "a"])
        #expect(notes.statistics?.evictions == 0)
    }
}
