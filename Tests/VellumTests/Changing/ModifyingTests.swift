import Foundation
import StorageEngine
import TestSupport
import Testing
import Vellum

@Suite struct ModifyingTests {
    private let store = TemporaryStore()
    private let notes: ArchiveManager<Note>

    init() throws { notes = try store.factory().archives(for: Note.self) }

    @Test("concurrent increments are all counted") func concurrentIncrements() async throws {
        let handles = try (0..<2).map { _ in try store.factory().archives(for: Note.self) }
        await withThrowingTaskGroup { group in
            for worker in 0..<4 {
                let notes = handles[worker % 2]
                group.addTask {
                    for _ in 0..<250 {
                        try notes.modify(archiveWithKey: "n", default: Note("n", "0")) {
                            $0.text = "\((Int($0.text) ?? 0) + 1)"
                        }
                    }
                }
            }
        }
        for notes in handles { #expect(notes.access(archiveWithKey: "n")?.text == "1000") }
    }

    @Test("modifying keeps owner and expiry time") func modifyKeepsOptions() async throws {
        notes.record(
            Note("a", "1"),
            options: .init(expiresIn: .seconds(36_000), inMemory: .seconds(18_000), owner: "ada"))
        let before = try #require(try notes.core.archive.metadata("a"))
        #expect(try notes.modify(archiveWithKey: "a") { $0.text += "2" } == Note("a", "12"))
        #expect(try notes.modify(archiveWithKey: "a") { $0.text += "3" } == Note("a", "123"))
        #expect(
            try await notes.perform { try $0.modify(archiveWithKey: "a") { $0.text += "4" } }
                == Note("a", "1234"))
        let after = try #require(try notes.core.archive.metadata("a"))
        #expect(after.owner == "ada" && after.expires == before.expires && after.created == before.created)
        #expect(notes.access(archiveWithKey: "a") == Note("a", "1234"))
    }

    @Test("modifying sets the specified options") func modifySetsOptions() async throws {
        let made = Note("a", "1")
        try notes.modify(
            archiveWithKey: "a", default: made,
            options: .init(
                expiresIn: .seconds(36_000), inMemory: .seconds(60),
                owner: "ada")
        ) { $0.text += "2" }
        let first = try #require(try notes.core.archive.metadata("a"))
        #expect(first.owner == "ada")
        let left = try #require(notes.remainingLifetime(for: "a"))
        #expect(left > .seconds(35_900) && left <= .seconds(36_001))
        try notes.modify(archiveWithKey: "a", options: .init(owner: "eve")) { $0.text += "3" }
        let second = try #require(try notes.core.archive.metadata("a"))
        #expect(second.owner == "eve" && second.expires == first.expires)
        try notes.modify(archiveWithKey: "a", options: .init(expiresIn: .seconds(7_200))) { $0.text += "4" }
        let third = try #require(try notes.core.archive.metadata("a"))
        #expect(third.owner == "eve" && third.expires != first.expires)
        #expect(try notes.record(Note("a", "5"), replacing: Note("a", "1234"), options: .init(owner: "ada")))
        let fourth = try #require(try notes.core.archive.metadata("a"))
        #expect(fourth.owner == "ada" && fourth.expires == third.expires)
        let expected: Note? = nil
        #expect(
            try notes.record(
                Note("b", "1"), replacing: expected, options: .init(expiresIn: .seconds(7_200), owner: "o")))
        #expect(try notes.core.archive.metadata("b")?.owner == "o")
    }

    @Test("changing an object within its own change throws") func nestedChanges() async throws {
        notes.record(Note("a", "1"))
        notes.record(Note("b", "1"))
        func expectRefusal(_ change: () throws -> Void) {
            #expect {
                try change()
            } throws: { error in
                if case ArchiveError.changesItself(key: "a") = error { true } else { false }
            }
        }
        expectRefusal {
            try notes.modify(archiveWithKey: "a") { note in
                note.text += "2"
                try notes.modify(archiveWithKey: "a") { $0.text += "3" }
            }
        }
        #expect(notes.access(archiveWithKey: "a")?.text == "13")
        expectRefusal {
            try notes.transaction { changes in
                guard let present = try changes.access(archiveWithKey: "a") else { return }
                try changes.update(present)
                // In another transaction, within the change of another key.
                try notes.modify(archiveWithKey: "b") { _ in
                    try notes.transaction { try $0.record(Note("a", "4")) }
                }
            }
        }
        #expect(notes.access(archiveWithKey: "a")?.text == "4")
        expectRefusal {
            try notes.modify(archiveWithKey: "a") { note in
                note.text += "5"
                notes.record(Note("a", "4"))
            }
        }
        expectRefusal {
            try notes.modify(archiveWithKey: "a", default: Note("a", "4")) { note in
                note.text += "5"
                notes.delete(archiveWithKey: "a")
                notes.record(Note("a", "4"))
            }
        }
        #expect(notes.access(archiveWithKey: "a")?.text == "4")
        // Changing another object or archive is allowed.
        let others = try store.factory().archives(for: Note.self, named: "others")
        try notes.modify(archiveWithKey: "a") { note in
            note.text += "5"
            try notes.modify(archiveWithKey: "b") { $0.text += "2" }
            try others.modify(archiveWithKey: "a", default: Note("a")) { $0.text += "6" }
        }
        #expect(
            notes.access(archiveWithKey: "a")?.text == "45" && notes.access(archiveWithKey: "b")?.text == "12"
        )
        #expect(others.access(archiveWithKey: "a")?.text == "6")
    }

    @Test("an absent object isn't modified without a default") func absentObjects() async throws {
        #expect(try notes.modify(archiveWithKey: "a") { $0.text = "1" } == nil)
        #expect(notes.count == 0)
        let made = try notes.modify(archiveWithKey: "a", default: Note("a")) { $0.text += "1" }
        #expect(made.text == "1" && notes.access(archiveWithKey: "a")?.text == "1")
    }

    @Test("a change that throws changes nothing") func failedChanges() throws {
        notes.record(Note("a", "1"))
        #expect(throws: CancellationError.self) {
            try notes.modify(archiveWithKey: "a") {
                $0.text = "2"
                throw CancellationError()
            }
        }
        #expect(throws: ArchiveError.self) { try notes.modify(archiveWithKey: "a") { $0.primaryKey = "b" } }
        #expect(notes.accessAll() == [Note("a", "1")])
    }

    @Test("an undecodable value can't be modified") func undecodableValues() throws {
        try notes.core.archive.put(Array("no note".utf8), forKey: "a")
        #expect(throws: ArchiveError.self) { try notes.modify(archiveWithKey: "a") { $0.text = "1" } }
        #expect(try notes.core.archive.peek("a") == Array("no note".utf8))
    }

    @Test("the default replaces an undecodable value") func undecodableValuesWithDefault() throws {
        let (factory, log) = store.loggedFactory()
        let notes = try factory.archives(for: Note.self)
        try notes.core.archive.put(Array("no note".utf8), forKey: "a", attributes: .init(owner: "me"))
        #expect(
            try notes.modify(archiveWithKey: "a", default: Note("a", "0")) { $0.text += "1" }.text == "01")
        #expect(notes.access(archiveWithKey: "a")?.text == "01" && notes.owners().map(\.name) == ["me"])
        #expect(log.all.count == 1 && log.all[0].contains("cannot read a value"))
    }

    @Test("an object in memory only can be modified") func modifyingInMemory() throws {
        let notes = try TemporaryStore().factory().archives(for: Note.self, trySetMaxDiskSize: 1_000)
        let large = Note.sized("a", 3_000)
        #expect(try notes.record(large, replacing: nil))
        #expect(try !notes.record(large, replacing: nil))
        #expect(try notes.modify(archiveWithKey: "a") { $0.text += "1" }?.text == large.text + "1")
        #expect(notes.access(archiveWithKey: "a")?.text == large.text + "1")
        #expect(try notes.modify(archiveWithKey: "a") { $0.text = "small" }?.text == "small")
        #expect(try notes.core.archive.peek("a") != nil)
        try notes.modify(archiveWithKey: "a") { $0.text = large.text }
        #expect(try notes.core.archive.peek("a") == nil && notes.access(archiveWithKey: "a") == large)
        #expect(throws: StorageError.self) {
            try notes.transaction {
                try $0.update(large)
                try $0.update(Note("b"))
            }
        }
    }

    @Test("concurrent changes of an object in memory only are all kept")
    func concurrentChangesInMemory() throws {
        let notes = try TemporaryStore().factory().archives(for: Note.self, trySetMaxDiskSize: 200)
        notes.record(.sized("a", 300, filler: "x"))
        let length = try #require(notes.access(archiveWithKey: "a")).text.count
        let threads = (0..<4).map { _ in
            Background { for _ in 0..<250 { try notes.modify(archiveWithKey: "a") { $0.text += "1" } } }
        }
        for thread in threads { try thread.wait() }
        #expect(notes.access(archiveWithKey: "a")?.text.count == length + 1_000)
    }

    @Test("an object is stored only if it replaces the expected one") func compareAndSwap() async throws {
        #expect(try notes.record(Note("a", "1"), replacing: nil))
        #expect(try !notes.record(Note("a", "2"), replacing: nil))
        #expect(try !notes.record(Note("a", "2"), replacing: Note("a", "other")))
        #expect(try notes.record(Note("a", "2"), replacing: Note("a", "1")))
        #expect(notes.access(archiveWithKey: "a")?.text == "2")
    }

    @Test("instances of classes are modified like values") func classes() throws {
        let people = try store.factory().archives(for: Person.self)
        people.record(Person(name: "ada", age: 36))
        try people.modify(archiveWithKey: "ada") { $0.age += 1 }
        #expect(people.access(archiveWithKey: "ada")?.age == 37)
    }
}
