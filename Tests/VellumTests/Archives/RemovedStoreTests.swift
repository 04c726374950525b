import Foundation
import StorageEngine
import TestSupport
import Testing
import Vellum

/// A program continues after its store's folder was removed.
@Suite struct RemovedStoreTests {
    private let store = TemporaryStore()
    private let log = LoggedMessages()

    private func notes(_ factory: ArchivesFactory) throws -> ArchiveManager<Note> {
        factory.logger = log.logger
        return try factory.archives(for: Note.self)
    }

    private func note(_ key: String) -> Note { Note(key, "text of \(key)") }

    /// Reads with a new factory.
    private func found(_ key: String) throws -> Note? {
        try store.factory().archives(for: Note.self).peek(archiveWithKey: key)
    }

    private func removeStore() throws { try removeFolderInUse(store.path) }

    /// An archive that contained the note "a" when its store was removed.
    private func removedNotes() throws -> ArchiveManager<Note> {
        let notes = try notes(store.factory())
        notes.record(note("a"))
        try removeStore()
        return notes
    }

    @Test("the next call recreates the store") func recreatingTheStore() async throws {
        let factory = store.factory()
        let notes = try notes(factory)
        notes.record(note("before"))
        try removeStore()
        notes.record(note("after"))
        #expect(try found("after") == note("after"), "readable by others")
        #expect(notes.access(archiveWithKey: "before") == nil, "removed with the folder")
        try removeStore()
        try notes.throwing.record(note("thrown"))
        #expect(try found("thrown") == note("thrown"))
        try removeStore()
        try await notes.asynchronous.record(note("awaited"))
        #expect(try found("awaited") == note("awaited"))
        #expect(try notes === factory.archives(for: Note.self), "the archive object stays valid")
        #expect(log.all.count { $0.contains("removed while it was open") } == 3, "\(log.all)")
        #expect(!log.all.contains { $0.contains("cannot") })
    }

    @Test("every call recreates a removed store", arguments: 0..<8) func everyCallDetectsRemoval(_ call: Int)
        throws
    {
        let notes = try removedNotes()
        switch call {
        case 0: #expect(notes.access(archiveWithKey: "absent") == nil)
        case 1: notes.delete(archiveWithKey: "a")
        case 2: notes.deleteAll()
        case 3: #expect(notes.accessAll() == [])
        case 4: #expect(notes.findWhere { $0.text(.contains("a")) }.getResults() == [])
        case 5: #expect(try notes.value(forKey: "b") { note("b") } == note("b"))
        case 6: #expect(notes.statistics?.objects == 0)
        default: #expect(notes.latestAccessedTime(for: "a") == nil)
        }
        #expect(try Store.isStore(at: store.path))
        notes.record(note("c"))
        #expect(try found("c") == note("c"))
    }

    @Test("hits in memory detect the removal soon, without checking files each time")
    func memoryHitsDetectRemoval() throws {
        let notes = try removedNotes()
        var hits = 0
        while notes.access(archiveWithKey: "a") != nil, hits < 10_000 { hits += 1 }
        #expect(hits < 300)
    }

    @Test("other processes continue in the recreated store") func otherProcesses() throws {
        let one = try notes(store.factory())
        let other = try notes(store.factory())
        one.record(note("a"))
        #expect(other.access(archiveWithKey: "a") != nil)
        try removeStore()
        one.record(note("b"))
        #expect(other.access(archiveWithKey: "a") == nil, "also from memory")
        #expect(other.access(archiveWithKey: "b") == note("b"))
        other.record(note("c"))
        #expect(one.access(archiveWithKey: "c") == note("c"))
    }

    @Test("a removed archive is recreated") func removedArchive() throws {
        let notes = try notes(store.factory())
        notes.record(note("a"))
        let other = try Store.open(at: store.path)
        try other.removeArchive(named: "Note")
        #expect(notes.access(archiveWithKey: "a") == nil)
        notes.record(note("b"))
        #expect(try found("b") == note("b"))
    }

    @Test("the store is recreated in an emptied folder") func emptiedFolder() throws {
        let notes = try notes(store.factory())
        notes.record(note("a"))
        for name in try FileManager.default.contentsOfDirectory(atPath: store.path) {
            try FileManager.default.removeItem(atPath: store.path + "/" + name)
        }
        notes.record(note("b"))
        #expect(try found("b") == note("b"))
    }

    @Test("the reason why the store can't be recreated is logged") func failedRecreation() throws {
        let notes = try removedNotes()
        try Data("a file".utf8).write(to: URL(fileURLWithPath: store.path))
        #expect(throws: StorageError.self) { try notes.throwing.record(note("b")) }
        notes.record(note("c"))
        #expect(
            log.all.contains { $0.contains("cannot record") && $0.contains("it is a file, not a folder") })
        try removeStore()
        notes.record(note("d"))
        #expect(try found("d") == note("d"), "recreated when possible")
    }

    @Test("many threads recreate the store once") func concurrentRecreation() async throws {
        let notes = try removedNotes()
        await withTaskGroup { group in
            for thread in 0..<8 {
                group.addTask {
                    for number in 0..<50 { notes.record(self.note("\(thread) \(number)")) }
                }
            }
        }
        let others = try store.factory().archives(for: Note.self)
        #expect(others.statistics?.objects == 400)
        #expect(log.all.count { $0.contains("removed while it was open") } == 1, "\(log.all)")
    }

    // MARK: Closing

    @Test("the next call opens a closed factory") func reopening() async throws {
        let factory = store.factory()
        let notes = try notes(factory)
        notes.record(note("a"))
        var changes = notes.changes.makeAsyncIterator()
        factory.close()
        #expect(await changes.next() == nil, "its loop ends")
        #expect(notes.access(archiveWithKey: "a") == note("a"))
        factory.close()
        factory.close()
        #expect(try factory.archives(for: Note.self) === notes)
        #expect(notes.statistics?.objects == 1)
        #expect(log.all == [])
    }

    @Test("the store's path can be set before its first use only") func storePath() throws {
        let factory = ArchivesFactory(storePath: store.path + "/never")
        try factory.useStore(at: store.path)
        #expect(factory.storePath == store.path)
        try notes(factory).record(note("a"))
        #expect(try found("a") == note("a"))
        try factory.useStore(at: store.path)
        let error = #expect(throws: ArchiveError.self) { try factory.useStore(at: store.path + "2") }
        #expect("\(try #require(error))".contains("too late"))
    }

    @Test("a recreated archive has its former kind and durability") func recreatedSettings() throws {
        let factory = store.factory()
        let notes = try factory.archives(for: Note.self, kind: .collection, durability: .full)
        notes.record(note("a"))
        #expect(try factory.archives(for: Note.self) === notes)
        try removeFolderInUse(store.path)
        for number in 0..<400 { try notes.throwing.record(.sized("\(number)", 10_000)) }
        #expect(notes.count == 400)
        let configuration = try notes.core.archive.configuration()
        #expect(configuration.kind == .collection && configuration.diskLimit == nil)
        #expect(configuration.durability == .full)
    }
}
