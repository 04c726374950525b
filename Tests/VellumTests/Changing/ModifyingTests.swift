import Foundation
import Testing
import Vellum

/// A counter in an archive lost counts: between an access and an update of it somebody else could store another.
@Suite struct ModifyingTests {
    private let store = TemporaryStore()

    private func note(_ key: String, _ text: String = "") -> Note { Note(primaryKey: key, text: text) }

    @Test func noCountIsLost() async throws {
        let handles = try (0..<2).map { _ in try store.factory().archives(for: Note.self) }
        await withThrowingTaskGroup { group in
            for worker in 0..<4 {
                let notes = handles[worker % 2]
                group.addTask {
                    for _ in 0..<250 {
                        try notes.modify(archiveWithKey: "n", default: self.note("n", "0")) {
                            $0.text = "\((Int($0.text) ?? 0) + 1)"
                        }
                    }
                }
            }
        }
        for notes in handles { #expect(notes.access(archiveWithKey: "n")?.text == "1000") }
    }

    @Test func lifetimeAndOwnerStay() async throws {
        let notes = try store.factory().archives(for: Note.self)
        notes.record(note("a", "1"), expiresIn: .seconds(36_000), inMemory: .seconds(18_000), owner: "ada")
        let before = try #require(try notes.core.archive.metadata("a"))
        #expect(try notes.modify(archiveWithKey: "a") { $0.text += "2" } == note("a", "12"))
        #expect(try notes.throwing.modify(archiveWithKey: "a") { $0.text += "3" } == note("a", "123"))
        #expect(
            try await notes.asynchronous.modify(archiveWithKey: "a") { $0.text += "4" } == note("a", "1234"))
        let after = try #require(try notes.core.archive.metadata("a"))
        #expect(after.owner == "ada" && after.expires == before.expires && after.created == before.created)
        #expect(notes.access(archiveWithKey: "a") == note("a", "1234"))
    }

    @Test func whatIsNotThereIsNotModified() async throws {
        let notes = try store.factory().archives(for: Note.self)
        #expect(try notes.modify(archiveWithKey: "a") { $0.text = "1" } == nil)
        #expect(notes.count == 0)
        let made = try await notes.asynchronous.modify(archiveWithKey: "a", default: self.note("a")) {
            $0.text += "1"
        }
        #expect(made.text == "1" && notes.access(archiveWithKey: "a")?.text == "1")
    }

    @Test func whatIsThrownChangesNothing() throws {
        let notes = try store.factory().archives(for: Note.self)
        notes.record(note("a", "1"))
        #expect(throws: CancellationError.self) {
            try notes.modify(archiveWithKey: "a") {
                $0.text = "2"
                throw CancellationError()
            }
        }
        #expect(throws: ArchiveError.self) { try notes.modify(archiveWithKey: "a") { $0.primaryKey = "b" } }
        #expect(notes.accessAll() == [note("a", "1")])
    }

    @Test func aStaleValueIsNoObjectToModify() throws {
        let notes = try store.factory().archives(for: Note.self)
        try notes.core.archive.put(Array("no note".utf8), forKey: "a")
        #expect(throws: ArchiveError.self) { try notes.modify(archiveWithKey: "a") { $0.text = "1" } }
        #expect(try notes.core.archive.peek("a") == Array("no note".utf8))
    }

    @Test func itIsStoredOnlyInPlaceOfWhatIsExpected() async throws {
        let notes = try store.factory().archives(for: Note.self)
        #expect(try notes.record(note("a", "1"), replacing: nil))
        #expect(try !notes.record(note("a", "2"), replacing: nil))
        #expect(try !notes.throwing.record(note("a", "2"), replacing: note("a", "other")))
        #expect(try notes.throwing.record(note("a", "2"), replacing: note("a", "1")))
        #expect(try await notes.asynchronous.record(note("a", "3"), replacing: note("a", "2")))
        #expect(notes.access(archiveWithKey: "a")?.text == "3")
    }

    @Test func aClassIsModifiedAsAValueIs() throws {
        let people = try store.factory().archives(for: Person.self)
        people.record(Person(name: "ada", age: 36))
        try people.modify(archiveWithKey: "ada") { $0.age += 1 }
        #expect(people.access(archiveWithKey: "ada")?.age == 37)
    }
}
