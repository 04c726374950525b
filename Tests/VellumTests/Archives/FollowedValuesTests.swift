import Foundation
import Observation
import StorageEngine
import TestSupport
import Testing
import Vellum

@Suite(.timeLimit(.minutes(10))) struct FollowedValuesTests {
    private let store = TemporaryStore()

    @Test("begins with the present value, then follows changes") func valuesOfKey() async throws {
        let notes = try store.factory().archives(for: Note.self)
        let other = try store.factory().archives(for: Note.self)
        var values = notes.values(forKey: "a").makeAsyncIterator()
        #expect(await values.next() == .some(nil), "absent")
        other.record(Note("b", "another"))
        other.record(Note("a", "1"))
        #expect(await values.next() == Note("a", "1"))
        try other.modify(archiveWithKey: "a") { $0.text = "2" }
        #expect(await values.next() == Note("a", "2"))
        other.record(all: [Note("c"), Note("a", "3")])
        #expect(await values.next() == Note("a", "3"))
        other.deleteAll()
        #expect(await values.next() == .some(nil))
        #expect(notes.statistics?.hits == 0 && notes.statistics?.misses == 0, "not counted")
    }

    @Test("follows long keys, of which events have only the beginning") func longKeys() async throws {
        let notes = try store.factory().archives(for: Note.self)
        let key = String(repeating: "long ", count: 20)
        notes.record(Note(key, "1"))
        var values = notes.values(forKey: key).makeAsyncIterator()
        #expect(await values.next() == Note(key, "1"))
        notes.record(Note(key + "er", "other"))
        notes.delete(archiveWithKey: key)
        #expect(await values.next() == .some(nil))
    }

    @Test("a slow follower skips values, but not the last") func latestValue() async throws {
        let notes = try store.factory().archives(for: Note.self)
        var values = notes.values(forKey: "a").makeAsyncIterator()
        _ = await values.next()
        for number in 1...3_000 { notes.record(Note("a", "\(number)")) }
        #expect(await values.next() == Note("a", "3000"), "a slow follower skips values")
        for round in 0..<20 {
            let writer = Task.detached {
                for number in 1...100 { notes.record(Note("a", "\(round) \(number)")) }
            }
            var texts: [String] = []
            while texts.last != "\(round) 100", let value = await values.next() {
                texts.append(value?.text ?? "none")
            }
            #expect(texts.last == "\(round) 100" && texts.count <= 100)
            await writer.value
        }
    }

    @Test("follows the results of a query") func valuesOfQuery() async throws {
        let notes = try store.factory().archives(for: Note.self)
        notes.record(Note("a", "yes"))
        let query = notes.where(\.text, .contains("yes")).sorted { $0.primaryKey(.ascending) }
        var results = query.values().makeAsyncIterator()
        #expect(await results.next()?.map(\.primaryKey) == ["a"])
        notes.record(Note("b", "no"))
        notes.record(Note("c", "yes"))
        #expect(await results.next()?.map(\.primaryKey) == ["a", "c"], "unchanged results are not repeated")
        notes.delete(archiveWithKey: "a")
        #expect(await results.next()?.map(\.primaryKey) == ["c"])
        var all = notes.values(of: []).makeAsyncIterator()
        #expect(await all.next()?.count == 2)
        notes.record(Note("d"))
        #expect(await all.next()?.count == 3)
    }

    @Test("continues in a recreated store") func recreatedStore() async throws {
        let notes = try store.factory().archives(for: Note.self)
        notes.record(Note("a", "1"))
        var values = notes.values(forKey: "a").makeAsyncIterator()
        #expect(await values.next() == Note("a", "1"))
        try removeFolderInUse(store.path)
        notes.record(Note("a", "2"))
        #expect(await values.next() == Note("a", "2"))
    }

    @Test("ends with its task and with its factory") func ends() async throws {
        let factory = store.factory()
        let notes = try factory.archives(for: Note.self)
        let begun = AsyncStream<Void>.makeStream()
        let task = Task {
            var count = 0
            for await _ in notes.values(forKey: "a") {
                count += 1
                begun.continuation.yield()
            }
            return count
        }
        for await _ in begun.stream { break }
        task.cancel()
        #expect(await task.value == 1)
        var values = notes.values(forKey: "a").makeAsyncIterator()
        _ = await values.next()
        factory.close()
        #expect(await values.next() == nil)
    }

    @MainActor @Test("gives objects of a class to the main actor") func mainActor() async throws {
        let people = try store.factory().archives(for: Person.self)
        people.record(Person(name: "ada", age: 36))
        for await person in people.values(forKey: "ada") {
            let age = try #require(person?.age)
            if age == 38 { break }
            person?.age = 0
            people.record(Person(name: "ada", age: age + 1))
        }
        #expect(people.access(archiveWithKey: "ada")?.age == 38)
    }

    @MainActor @Test("a view observes changes of all processes until it is released")
    func observation() async throws {
        let factory = store.factory()
        let notes = try factory.archives(for: Note.self)
        let other = try store.factory().archives(for: Note.self)
        other.record(Note("a", "1"))
        var value: ObservedValue<Note?>? = notes.values(forKey: "a").observed()
        #expect(value?.value == nil && value?.isKnown == false)
        for text in ["1", "2", "3"] {
            if text != "1" { other.record(Note("a", text)) }
            while let value, value.value?.text != text {
                await withCheckedContinuation { continuation in
                    withObservationTracking {
                        _ = value.value
                    } onChange: {
                        continuation.resume()
                    }
                }
                await Task.yield()
            }
        }
        #expect(value?.isKnown == true)
        let results = notes.where(\.text, .contains("3")).values().observed()
        while !results.isKnown { await Task.yield() }
        #expect(results.value.map(\.primaryKey) == ["a"])
        weak let released = value
        value = nil
        #expect(released == nil)
    }
}
