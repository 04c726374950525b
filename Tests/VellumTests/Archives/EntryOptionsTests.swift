import Foundation
import StorageEngine
import Testing
import Vellum

@Suite struct EntryOptionsTests {
    private let store = TemporaryStore()
    private let note = Note("a", "1")

    private func terms(_ archives: ArchiveManager<Note>) throws -> EntryMetadata {
        try #require(try archives.core.archive.metadata("a"))
    }

    @Test("an update keeps owner and expiry time") func updatesKeepOptions() async throws {
        let sessions = try store.factory().archives(for: Note.self)
        sessions.record(
            note, options: .init(expiresIn: .seconds(3_600), inMemory: .milliseconds(150), owner: "ada"))
        let before = try terms(sessions)
        let later = Note("a", "2")
        sessions.update(later)
        try sessions.throwing.update(later)
        try await sessions.asynchronous.update(later)
        let after = try terms(sessions)
        #expect(after.owner == "ada" && after.created == before.created)
        #expect(after.expires == before.expires, "updates don't extend the TTL")
        #expect(sessions.core.memory.keys == ["a"])
        try await Task.sleep(for: .milliseconds(200))
        #expect(sessions.access(archiveWithKey: "a") == later, "from disk")
        sessions.deleteAll(ofOwner: "ada")
        #expect(sessions.access(archiveWithKey: "a") == nil)
    }

    @Test("an update changes only the specified options") func updatesChangeOptions() throws {
        let sessions = try store.factory().archives(for: Note.self)
        sessions.record(note, options: .init(expiresIn: .seconds(60), owner: "ada"))
        sessions.update(note, options: .init(expiresIn: .seconds(3_600)))
        let longer = try terms(sessions)
        #expect(longer.owner == "ada")
        #expect(try #require(longer.expires).secondsSince1970 > Date().timeIntervalSince1970 + 3_000)
        sessions.update(note, options: .init(owner: "charles"))
        #expect(try terms(sessions).owner == "charles")
        #expect(try terms(sessions).expires == longer.expires)
        sessions.update(note, options: .init(dropping: [.lifetime]))
        #expect(try terms(sessions).expires == nil && terms(sessions).owner == "charles")
        sessions.update(note, options: .init(dropping: [.owner]))
        #expect(try terms(sessions).owner == nil)
        sessions.update(Note("b"), options: .init(expiresIn: .seconds(60), owner: "ada"))
        #expect(try sessions.core.archive.metadata("b")?.owner == "ada", "inserted")
    }

    @Test("an update of an object in memory only keeps its options") func updatesInMemory() throws {
        let sessions = try store.factory().archives(
            for: Note.self, trySetMaxMemorySize: 2_000, trySetMaxDiskSize: 500)
        sessions.record(Note.sized("a", 800), options: .init(expiresIn: .seconds(60), owner: "ada"))
        let before = try terms(sessions)
        sessions.update(Note.sized("a", 900))
        let after = try terms(sessions)
        #expect(after.tier == .memory && after.owner == "ada" && after.expires == before.expires)
        sessions.update(Note.sized("a", 100))
        #expect(try terms(sessions).owner == "ada" && terms(sessions).tier == .both)
    }

    @Test("recording replaces owner and expiry time") func recordsReplaceOptions() async throws {
        let sessions = try store.factory().archives(for: Note.self)
        sessions.record(note, options: .init(expiresIn: .seconds(60), owner: "ada"))
        sessions.record(note)
        #expect(try terms(sessions).owner == nil && terms(sessions).expires == nil)
        sessions.insert(all: [note], options: .init(expiresIn: .seconds(60), owner: "ada"))
        #expect(try terms(sessions).owner == "ada" && terms(sessions).expires != nil)
        try sessions.throwing.insert(all: [note], options: .init(owner: "charles"))
        #expect(try terms(sessions).owner == "charles")
        try await sessions.asynchronous.insert(all: [note])
        #expect(try terms(sessions).owner == nil)
    }

    @Test("assigning to an archived property keeps owner and expiry time") func assignedProperties() throws {
        let factory = store.factory()
        let notes = try factory.archives(for: Note.self)
        notes.record(note, options: .init(expiresIn: .seconds(60), owner: "ada"))
        let property = Archived<Note>(initialPrimaryKey: "a", in: factory)
        property.wrappedValue?.text = "2"
        #expect(notes.access(archiveWithKey: "a")?.text == "2")
        #expect(try terms(notes).owner == "ada" && terms(notes).expires != nil)
    }
}
