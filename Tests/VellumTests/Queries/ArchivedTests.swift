import Foundation
import Logging
import Observation
import Synchronization
import Testing
import Vellum

@Suite struct ArchivedTests {
    private let shelf = Shelf<Citizen>()
    private let messages = LoggedMessages()

    private func property(_ key: String? = nil, fallback: Citizen? = nil) -> Archived<Citizen> {
        Archived(initialPrimaryKey: key, fallback: fallback, logger: { messages.logger }) { shelf }
    }

    @Test("assigning records the object") func assignments() {
        let property = property()
        #expect(property.wrappedValue == nil)
        #expect(shelf.calls == [])
        property.wrappedValue = Citizen(name: "ann", age: 1)
        property.wrappedValue?.age = 2
        #expect(property.wrappedValue == Citizen(name: "ann", age: 2))
        #expect(shelf.calls == [.record("ann"), .record("ann")])
        #expect(shelf.peek("ann")?.age == 2)
    }

    @Test("an initial value is recorded") func initialValue() {
        #expect(property(fallback: Citizen(name: "ann")).wrappedValue?.name == "ann")
        #expect(shelf.calls == [.record("ann")])
    }

    @Test("assigning nil deletes the entry once") func assigningNil() {
        let property = property()
        property.wrappedValue = nil
        #expect(shelf.calls == [])
        property.wrappedValue = Citizen(name: "ann")
        property.wrappedValue = nil
        property.wrappedValue = nil
        #expect(property.wrappedValue == nil)
        #expect(shelf.calls == [.record("ann"), .delete("ann")])
    }

    @Test("the entry of a former key stays") func formerKeys() {
        let property = property()
        property.wrappedValue = Citizen(name: "ann")
        property.wrappedValue?.name = "bob"
        #expect(shelf.keys == ["ann", "bob"])
        property.wrappedValue = nil
        #expect(shelf.keys == ["ann"])
    }

    @Test("an initial key is looked up once, when read") func initialKey() {
        shelf.record(Citizen(name: "some", age: 7))
        let property = property("some")
        #expect(shelf.calls == [.record("some")])
        #expect(property.wrappedValue?.age == 7)
        shelf.delete(archiveWithKey: "some")
        #expect(property.wrappedValue?.age == 7)
        #expect(shelf.calls == [.record("some"), .access("some"), .delete("some")])
    }

    @Test("an absent key is looked up once") func absentKey() {
        let property = property("some")
        #expect(property.wrappedValue == nil)
        shelf.record(Citizen(name: "some"))
        #expect(property.wrappedValue == nil)
        #expect(shelf.calls == [.access("some"), .record("some")])
    }

    @Test("a value assigned before the first read needs no look-up") func assignedBeforeReading() {
        shelf.record(Citizen(name: "some"))
        let assigned = property("some")
        assigned.wrappedValue = Citizen(name: "other")
        #expect(assigned.wrappedValue?.name == "other")
        let cleared = property("some")
        cleared.wrappedValue = nil
        #expect(cleared.wrappedValue == nil)
        #expect(shelf.calls == [.record("some"), .record("other"), .delete("some")])
    }

    @Test("assigning nil deletes a loaded object") func loadedValue() {
        shelf.record(Citizen(name: "some"))
        let property = property("some")
        #expect(property.wrappedValue?.name == "some")
        property.wrappedValue = nil
        #expect(shelf.keys == [])
    }

    @Test("the fallback applies only to an absent entry") func fallback() {
        shelf.record(Citizen(name: "some", age: 7))
        #expect(property("some", fallback: Citizen(name: "some", age: 1)).wrappedValue?.age == 7)
        #expect(shelf.calls == [.record("some"), .access("some")])
        #expect(property("none", fallback: Citizen(name: "guest")).wrappedValue?.name == "guest")
        #expect(shelf.keys == ["guest", "some"])
    }

    private final class Item: ArchiveCodable {
        var primaryKey: String
        init(_ key: String) { primaryKey = key }
    }

    @Test("an object is deleted by the key under which it was recorded") func changedKey() {
        let items = Shelf<Item>()
        let property = Archived<Item>(initialPrimaryKey: nil, logger: { messages.logger }) { items }
        let item = Item("first")
        property.wrappedValue = item
        item.primaryKey = "second"
        #expect(property.wrappedValue === item)
        property.wrappedValue = nil
        #expect(items.calls == [.record("first"), .delete("first")])
    }

    private struct Unreachable: Error {}

    @Test("without an archive the value is kept, and the error logged once") func unavailableArchive() {
        var isReachable = false
        let property = Archived<Citizen>(initialPrimaryKey: "some", logger: { messages.logger }) {
            if !isReachable { throw Unreachable() }
            return shelf
        }
        #expect(property.wrappedValue == nil)
        property.wrappedValue = Citizen(name: "ann")
        #expect(property.wrappedValue?.name == "ann")
        #expect(messages.all.count == 1)
        #expect(messages.all.first?.contains("archive: Citizen") == true)
        isReachable = true
        property.wrappedValue?.age = 3
        #expect(shelf.calls == [.record("ann")])
        #expect(messages.all.count == 1)
    }

    @Test("a failed look-up is repeated") func repeatedLookUp() {
        shelf.record(Citizen(name: "some"))
        var isReachable = false
        let property = Archived<Citizen>(initialPrimaryKey: "some", logger: { messages.logger }) {
            if !isReachable { throw Unreachable() }
            return shelf
        }
        #expect(property.wrappedValue == nil)
        isReachable = true
        #expect(property.wrappedValue?.name == "some")
    }

    @Test("the archive is opened on first use") func lazyOpening() {
        var opened = 0
        let property = Archived<Citizen>(initialPrimaryKey: nil, logger: { messages.logger }) {
            opened += 1
            return shelf
        }
        _ = property.wrappedValue
        #expect(opened == 0)
        property.wrappedValue = Citizen(name: "ann")
        property.wrappedValue = nil
        #expect(opened == 1)
    }

    private struct Model {
        @Archived var user: Citizen?
    }

    @Test("copies of a structure share the value") func sharedValue() {
        let model = Model(user: property())
        let copy = model
        model.user = Citizen(name: "ann")
        #expect(copy.user?.name == "ann")
    }

    @Test("a type may read the property while it is recorded") func readingDuringRecording() {
        let property = property()
        var seen: String?
        shelf.whileRecording = { seen = property.wrappedValue?.name }
        property.wrappedValue = Citizen(name: "ann")
        shelf.whileRecording = {}
        #expect(seen == "ann")
    }

    @Test("values assigned by many threads are recorded in order") func manyThreads() {
        shelf.record(Citizen(name: "one", age: -1))
        let property = property("one")
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for number in 0..<500 {
                property.wrappedValue = Citizen(name: "one", age: thread * 1_000 + number)
                // Any thread reads one of the assigned values.
                guard let age = property.wrappedValue?.age, age >= 0, age % 1_000 < 500 else {
                    Issue.record("no value that was assigned")
                    return
                }
            }
        }
        #expect(shelf.calls.count == 4_001)
        #expect(property.wrappedValue?.age == shelf.peek("one")?.age)
    }

    private final class Screen {
        @Archived var citizen: Citizen?
        @Archived var friend: Citizen?

        init(_ factory: ArchivesFactory) {
            _citizen = Archived(in: factory)
            _friend = Archived(initialPrimaryKey: "ann", in: factory)
        }
    }

    @Test("an archived property reads and stores its object") func propertiesInAStore() throws {
        let store = TemporaryStore()
        let citizens = try store.factory().archives(for: Citizen.self)
        let screen = Screen(store.factory())
        #expect(screen.citizen == nil)
        screen.citizen = Citizen(name: "ann", age: 1)
        #expect(citizens.peek(archiveWithKey: "ann")?.age == 1)
        screen.citizen?.age = 2
        #expect(citizens.peek(archiveWithKey: "ann")?.age == 2)

        #expect(Screen(store.factory()).friend?.age == 2)
        #expect(screen.$citizen?.findWhere { $0.age(.isEqual(2)) }.firstResult()?.name == "ann")

        screen.citizen = nil
        #expect(citizens.peek(archiveWithKey: "ann") == nil)
        #expect(Screen(store.factory()).friend == nil)
    }
}

@Suite struct ObservedPropertyTests {
    private static let store = TemporaryStore()
    private static let factory = store.factory()

    @Observable final class Model {
        @ObservationIgnored @Archived(in: ObservedPropertyTests.factory) var note: Note?
        var other = 0
    }

    @Test("an archived property notifies observers of its model") func observation() {
        let model = Model()
        let changes = Atomic(0)
        func watch() -> String? {
            withObservationTracking {
                model.note?.text
            } onChange: {
                changes.add(1, ordering: .relaxed)
            }
        }
        #expect(watch() == nil)
        model.other = 1
        #expect(changes.load(ordering: .relaxed) == 0)
        model.note = Note("a", "1")
        #expect(changes.load(ordering: .relaxed) == 1)
        #expect(watch() == "1")
        model.note?.text = "2"
        #expect(changes.load(ordering: .relaxed) == 2 && model.note?.text == "2")
    }
}
