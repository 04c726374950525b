import Foundation
import Testing
import Vellum

@Suite struct AsynchronousTests {
    private let store = TemporaryStore()

    @MainActor private final class Screen {
        var visited: [String] = []

        func use(_ people: ArchiveManager<Person>) async throws {
            let ada = Person(name: "ada", age: 36)
            try await people.asynchronous.record(ada)
            ada.age = 99
            let read = try await people.asynchronous.access(archiveWithKey: "ada")
            #expect(read?.age == 36 && read !== ada)
            try await people.asynchronous.insert(
                all: [Person(name: "bob", age: 1)], options: .init(owner: "o"))
            // The condition is tested on the caller's actor.
            let found = try await people.asynchronous.findWhere { person in
                person.name(
                    .isValid { [self] name in
                        MainActor.assertIsolated()
                        visited.append(name)
                        return true
                    })
            }
            .sorted { $0.age(.ascending) }.getResults()
            #expect(found.map(\.age) == [1, 36] && visited.sorted() == ["ada", "bob"])
            #expect(try await people.asynchronous.where(\.age > 1).count() == 1)
            #expect(try await people.asynchronous.where(\.age > 1).firstResult()?.name == "ada")
        }
    }

    private actor Service {
        func use(_ people: ArchiveManager<Person>) async throws {
            let ada = Person(name: "ada", age: 36)
            try await people.asynchronous.update(ada)
            #expect(try await people.asynchronous.peek(archiveWithKey: "ada")?.age == 36)
            #expect(try await people.perform { try $0.throwing.accessAll() }.count == 1)
            #expect(try await people.perform { $0.latestAccessedTime(for: "ada") } != nil)
            #expect(try await people.perform { try $0.throwing.statistics() }.objects == 1)
            try await people.asynchronous.delete(archiveWithKey: "ada")
            #expect(try await people.perform { try $0.throwing.accessAll() }.isEmpty)
            await #expect(throws: StorageError.self) {
                try await people.asynchronous.access(archiveWithKey: "")
            }
            await #expect(throws: StorageError.self) {
                try await people.perform { try $0.throwing.peek(archiveWithKey: "") }
            }
        }
    }

    @Test("asynchronous calls work on the main actor") func fromTheMainActor() async throws {
        try await Screen().use(store.factory().archives(for: Person.self))
    }

    @Test("asynchronous calls work on an actor") func fromAnActor() async throws {
        try await Service().use(store.factory().archives(for: Person.self))
    }

    @Test("performed calls run on a thread that may block") @MainActor func performedCalls() async throws {
        let notes = try store.factory().archives(for: Note.self)
        let isMain = try await notes.perform { notes in
            notes.record(Note("a", "1"))
            return Thread.isMainThread
        }
        #expect(!isMain && notes.count == 1)
    }

    @Test("a hit in memory stays on the caller's thread") func memoryHitsDontSwitchThreads() async throws {
        let notes = try store.factory().archives(for: Note.self)
        notes.record(Note("a", "1"))
        let hits = Task { @MainActor in
            var elsewhere = 0
            for _ in 0..<1_000 {
                let thread = unsafeThread()
                _ = try await notes.asynchronous.access(archiveWithKey: "a")
                if thread != unsafeThread() { elsewhere += 1 }
            }
            return elsewhere
        }
        #expect(try await hits.value == 0)
        #expect(notes.statistics?.memoryHits == 1_000)
    }

    /// More than one batch of objects, with the limit in the second.
    @Test("asynchronous queries of several batches have all results and can be cancelled")
    func queriesOfManyObjects() async throws {
        let notes = try store.factory().archives(for: Note.self)
        for number in 0..<600 { notes.record(Note("\(number)", "\(number % 7)")) }
        let query = notes.asynchronous.findWhere { $0.text(.isValid { $0 == "3" }) }
        #expect(try await query.count() == 86)
        #expect(try await query.limitResults(by: 60).getResults().count == 60)
        #expect(try await notes.asynchronous.where(\.text == "3").lastResult() != nil)
        let both = try await notes.asynchronous.skipResults(by: 590).getResults().count
        #expect(both == 10)
        let task = Task { try await query.getResults().count }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

private func unsafeThread() -> ObjectIdentifier { ObjectIdentifier(Thread.current) }
