import Foundation
import Testing
import Vellum

/// Objects behave as values: changing an instance changes neither the archive nor other callers' instances.
@Suite struct CopyTests {
    private let store = TemporaryStore()

    /// A class that encodes itself.
    private class Page: Archivable {
        var primaryKey: String
        var text: String

        init(_ key: String, _ text: String) {
            primaryKey = key
            self.text = text
        }

        func archive() throws -> Data { Data("\(primaryKey) \(text)".utf8) }

        static func deArchive(fromData data: Data) throws -> Archivable {
            let words = String(decoding: data, as: UTF8.self).split(separator: " ", maxSplits: 1).map(
                String.init)
            return Page(words[0], words[1])
        }
    }

    @Test("changing a recorded instance doesn't change the archive") func changesAfterRecording() throws {
        let people = try store.factory().archives(for: Person.self)
        let ada = Person(name: "ada", age: 36)
        people.record(ada)
        ada.age = 99
        #expect(people.core.memory.keys == ["ada"], "read from memory")
        #expect(people.access(archiveWithKey: "ada")?.age == 36)
        #expect(people.peek(archiveWithKey: "ada")?.age == 36)
        #expect(people.accessAll().map(\.age) == [36])
        people.update(ada)
        #expect(people.access(archiveWithKey: "ada")?.age == 99)
    }

    @Test("changing an accessed instance doesn't change the archive") func changesAfterAccess() throws {
        let people = try store.factory().archives(for: Person.self)
        people.record(Person(name: "ada", age: 36))
        let first = try #require(people.access(archiveWithKey: "ada"))
        first.age = 1
        let second = try #require(people.access(archiveWithKey: "ada"))
        #expect(second !== first && second.age == 36)
        second.age = 2
        #expect(people.findWhere { $0.age(.isEqual(with: 36)) }.getResults().map(\.age) == [36])

        // Read from disk into memory.
        let elsewhere = try store.factory().archives(for: Person.self)
        let read = try #require(elsewhere.access(archiveWithKey: "ada"))
        #expect(elsewhere.core.memory.keys == ["ada"])
        read.age = 3
        #expect(elsewhere.access(archiveWithKey: "ada")?.age == 36)
    }

    @Test("instances of a class with its own encoding are copied") func classWithOwnEncoding() throws {
        let pages = try store.factory().archives(for: Page.self)
        let page = Page("index", "one")
        pages.record(page)
        page.text = "two"
        let read = try #require(pages.access(archiveWithKey: "index"))
        #expect(read.text == "one" && read !== page)
        read.text = "three"
        #expect(pages.access(archiveWithKey: "index")?.text == "one")
        let elsewhere = try store.factory().archives(for: Page.self)
        try #require(elsewhere.access(archiveWithKey: "index")).text = "four"
        #expect(elsewhere.access(archiveWithKey: "index")?.text == "one")
    }

    @Test("a structure is copied if any of its parts is a reference") func structureWithReferences() throws {
        let teams = try store.factory().archives(for: Team.self)
        let (leader, member) = (Person(name: "ada", age: 36), Person(name: "charles", age: 45))
        teams.record(Team(primaryKey: "t", leader: leader, members: [member]))
        leader.age = 1
        member.age = 2
        let read = try #require(teams.access(archiveWithKey: "t"))
        #expect(read.leader.age == 36 && read.members.map(\.age) == [45])
        read.members[0].age = 3
        #expect(teams.access(archiveWithKey: "t")?.members[0].age == 45)
        let elsewhere = try store.factory().archives(for: Team.self)
        try #require(elsewhere.access(archiveWithKey: "t")).leader.age = 4
        #expect(elsewhere.access(archiveWithKey: "t")?.leader.age == 36)
    }

    @Test("a structure of values is kept without copying") func structureOfValues() throws {
        let notes = try store.factory().archives(for: Note.self)
        notes.record(Note("a", "one"))
        var read = try #require(notes.access(archiveWithKey: "a"))
        read.text = "two"
        #expect(notes.access(archiveWithKey: "a")?.text == "one")
    }
}
