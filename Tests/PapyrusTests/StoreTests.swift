import Foundation
import Papyrus
import PapyrusGoods
import StorageEngine
import Synchronization
import TestSupport
import Testing

/// The published library needs this extension for `UUID` identifiers. Here it isn't needed, but must not conflict.
extension UUID: @retroactive LosslessStringConvertible {
    public init?(_ description: String) { self.init(uuidString: description) }
}

@Suite struct StoreTests {
    private let place = Place()
    private var store: PapyrusStore { place.store }

    private func cars() async -> [String] { await store.all(Car.self).map(\.id) }

    // MARK: Saving and fetching

    @Test("saved objects are found by any store of the folder") func savedObjects() async throws {
        let car = Car(id: "a", model: "S")
        await store.save(car)
        #expect(try await PapyrusStore(url: place.url).one("a", Car.self) == car)
        let inferred: Car = try await store.object(id: "a").execute()
        #expect(inferred == car)
        await store.save(Car(id: "a", model: "3"))
        #expect(try await store.one("a", Car.self).model == "3")
        #expect(await store.all(Car.self).count == 1)
    }

    @Test("reading and deleting create no store") func readingCreatesNoStore() async throws {
        #expect(await store.all(Car.self).isEmpty)
        let error = await queryError { try await store.one("a", Car.self) }
        #expect(error?.isNotFound == true)
        await store.delete(id: "a", of: Car.self)
        try await store.deleteAll(Car.self)
        store.reset()
        #expect(!FileManager.default.fileExists(atPath: place.url.path))
    }

    @Test("objects are in the order of their creation") func creationOrder() async {
        let ids = (0..<300).map { "\(($0 * 7_919) % 1_000)" }
        await store.save(objects: ids[..<200].map { Car(id: $0) })
        for id in ids[200...] { await store.save(Car(id: id)) }
        await store.save(Car(id: ids[0], model: "new"))
        await store.delete(id: ids[1], of: Car.self)
        await store.save(Car(id: ids[1]))
        #expect(await cars() == [ids[0]] + ids[2...] + [ids[1]])
        let sorted = await store.objects(type: Car.self).sort { $0.id < $1.id }.execute().map(\.id)
        #expect(sorted == ids.sorted())
    }

    @Test("several filters are combined") func filters() async {
        await store.save(objects: (0..<50).map { Car(id: "\($0)", model: $0 % 2 == 0 ? "even" : "odd") })
        let even = store.objects(type: Car.self).filter { $0.model == "even" }
        let both = even.filter { $0.id.hasSuffix("4") }.sort { $0.id > $1.id }
        #expect(await both.execute().map(\.id) == ["44", "4", "34", "24", "14"])
        #expect(await even.execute().count == 25, "a filter doesn't change the query")
    }

    @Test("the last of several objects with one identifier is saved") func duplicates() async {
        await store.save(objects: [Car(id: "a", model: "1"), Car(id: "b"), Car(id: "a", model: "2")])
        #expect(await store.all(Car.self).map(\.model) == ["2", ""])
    }

    private struct Failing: Papyrus {
        let id: Int
        var fails = false

        func encode(to encoder: any Encoder) throws {
            if fails { throw EncodingError.invalidValue(id, .init(codingPath: [], debugDescription: "no")) }
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(id, forKey: .id)
            try container.encode(fails, forKey: .fails)
        }
    }

    @Test("several objects are saved as a whole or not at all") func batchesAreAtomic() async {
        await #expect(throws: EncodingError.self) {
            try await store.throwing.save(objects: [
                Failing(id: 1), Failing(id: 2, fails: true), Failing(id: 3),
            ])
        }
        #expect(await store.all(Failing.self).isEmpty)
        store.logLevel = .off
        await store.save(objects: [Failing(id: 4), Failing(id: 5, fails: true)])
        #expect(await store.all(Failing.self).isEmpty)
        await #expect(throws: StorageError.self) {
            let large = (0..<5).map { Car(id: "\($0)", model: String(repeating: "x", count: 11 << 20)) }
            try await store.throwing.save(objects: large)
        }
        #expect(await cars().isEmpty)
    }

    // MARK: Deleting

    @Test("every form of delete removes its objects") func everyWayToDelete() async throws {
        let ids = (0..<10).map { "\($0)" }
        await store.save(objects: ids.map { Car(id: $0) })
        await store.save(Failing(id: 1))
        await store.delete(Car(id: "0"))
        await store.delete(id: "1", of: Car.self)
        await store.delete(objects: [Car(id: "2"), Car(id: "3"), Car(id: "none")])
        await store.delete(store.object(id: "4", of: Car.self))
        await store.delete(
            objects: [store.object(id: "5", of: Car.self), store.object(id: "6", of: Car.self)])
        #expect(await cars() == ["7", "8", "9"])
        await store.delete(objects: [Car]())
        try await store.deleteAll(Car.self)
        #expect(await cars().isEmpty)
        #expect(await store.all(Failing.self).count == 1, "other types stay")
        await store.save(Car(id: "x"))
        store.reset()
        #expect(await cars().isEmpty)
        #expect(await store.all(Failing.self).isEmpty)
        await store.save(Car(id: "y"))
        #expect(await cars() == ["y"])
    }

    // MARK: Identifiers and types

    @Test("any text is an identifier") func anyTextIsAnIdentifier() async throws {
        let ids = [
            "", "\0", "a\0b", "/", "a/b", "Car/", "🚗", "👨‍👩‍👧‍👦", "e", "\u{e9}", "..", " ", "\n", "~",
            String(repeating: "k", count: 10_240), String(repeating: "k", count: 10_241),
            String(repeating: "é", count: 900), String(repeating: "k", count: 1_000),
        ]
        await store.save(objects: ids.map { Car(id: $0, model: "\($0.utf8.count)") })
        #expect(await store.all(Car.self).map(\.id) == ids)
        for id in ids {
            #expect(try await store.one(id, Car.self).id == id)
            await store.delete(id: id, of: Car.self)
        }
        #expect(await cars().isEmpty)
    }

    @Test("shortened keys don't collide") func shortenedKeys() async throws {
        // Lengths around the limit of keys, and a text equal to another's shortened key.
        let archive = { try Store.open(at: place.url.path).archive(named: "Papyrus") }
        await store.save(Car(id: String(repeating: "k", count: 5_000)))
        let key = try #require(try archive().keys().keys.first)
        #expect(key.utf8.count == 1_024)
        #expect(key.hasSuffix("~622b8b1d5094d382aa519349554c0ea84a43c90b4aad7ddfae8f338690c7f7ea"))
        let forged = String(try #require(key.split(separator: "/", maxSplits: 1).last))
        await store.save(Car(id: forged, model: "forged"))
        for count in 900...1_030 { await store.save(Car(id: String(repeating: "n", count: count))) }
        #expect(await store.all(Car.self).count == 133)
        #expect(try await store.one(forged, Car.self).model == "forged")
    }

    @Test("equal Swift strings are one identifier") func equalIdentifiers() async throws {
        let (one, two) = ("caf\u{e9}", "cafe\u{301}")
        try #require(one == two)
        await store.save(Car(id: one, model: "one"))
        await store.save(Car(id: two, model: "two"))
        #expect(await store.all(Car.self).map(\.model) == ["two"])
        #expect(try await store.one(one, Car.self).model == "two")
    }

    private struct Address: Papyrus {
        let id: UUID
        var line = ""
    }

    @Test("the published library's names are available") func publishedNames() async throws {
        let store = PapyrusStore(url: place.url, logLevel: .off)
        #expect(store.logLevel == .off && PapyrusStore(url: place.url).logLevel == .error)
        #expect(PapyrusStore(logLevel: .fault).logLevel == .fault)
        let one: ObjectQuery<Car> = store.object(id: "a")
        let all: CollectionQuery<Car> = store.objects(type: Car.self)
        await store.save(Car(id: "a"))
        #expect(try await [one.execute()] == all.execute())
    }

    private struct Numbered: Papyrus {
        let id: Double
    }

    @Test("identifiers may be UUIDs and numbers") func identifiersOfOtherTypes() async throws {
        let address = Address(id: UUID(), line: "1 Main Street")
        await store.save(address)
        #expect(try await store.one(address.id, Address.self) == address)
        #expect(try await store.one(address.id.uuidString, Address.self) == address)
        let ticket = Ticket(id: address.id, text: "return")
        await store.save(ticket)
        #expect(try await store.one(address.id.uuidString, Ticket.self) == ticket)
        let numbers = [0.1, -0.0, 1e300, .infinity].map { Numbered(id: $0) }
        await store.save(objects: numbers)
        #expect(await store.all(Numbered.self) == numbers)
    }

    enum North {
        struct Car: Papyrus { let id: String }
    }

    enum South {
        struct Car: Papyrus {
            let id: String
            var wheels = 4
        }
    }

    private struct Renamed: Papyrus {
        static let papyrusTypeName = "Shop/Car"
        let id: String
    }

    private struct SameRenamed: Papyrus {
        static let papyrusTypeName = "Shop/Car"
        let id: String
    }

    @Test("types of one name in different scopes are separate") func typesOfOneName() async throws {
        func local() async -> Int {
            struct Car: Papyrus { let id: String }
            await store.save(Car(id: "local"))
            return await store.all(Car.self).count
        }
        await store.save(Car(id: "a"))
        await store.save(North.Car(id: "a"))
        await store.save(South.Car(id: "a"))
        #expect(await local() == 1)
        #expect(await store.all(Car.self) == [Car(id: "a")])
        #expect(await store.all(North.Car.self) == [North.Car(id: "a")])
        try await store.deleteAll(North.Car.self)
        #expect(try await store.one("a", South.Car.self).wheels == 4)
        #expect(await cars() == ["a"])
        #expect(await local() == 1, "the same type again")
        await store.save(Renamed(id: "r"))
        #expect(await store.all(SameRenamed.self) == [SameRenamed(id: "r")])
        #expect(Car.papyrusTypeName == "PapyrusTests.Car")
        #expect(South.Car.papyrusTypeName == "PapyrusTests.StoreTests.South.Car")
    }

    private struct Box<Content: Codable & Equatable & SendableMetatype>: Papyrus {
        let id: Int
        var content: Content
    }

    private enum Mode: String, Papyrus {
        case on, off
        var id: String { rawValue }
    }

    private final class Counter: Papyrus {
        let id: Int
        var count: Int
        init(id: Int, count: Int) {
            self.id = id
            self.count = count
        }
        static func == (left: Counter, right: Counter) -> Bool {
            left.id == right.id && left.count == right.count
        }
    }

    @Test("generic types, enumerations and classes are stored") func genericTypesEnumerationsAndClasses()
        async throws
    {
        await store.save(Box(id: 1, content: "text"))
        await store.save(Box(id: 1, content: [1, 2]))
        #expect(try await store.one(1, Box<String>.self).content == "text")
        #expect(try await store.one(1, Box<[Int]>.self).content == [1, 2])
        await store.save(objects: [Mode.off, .on])
        #expect(await store.all(Mode.self) == [.off, .on])
        let counter = Counter(id: 1, count: 1)
        await store.save(counter)
        counter.count = 2
        #expect(try await store.one(1, Counter.self).count == 1)
    }

    // MARK: Values of another shape

    private enum Old {
        struct Car: Papyrus {
            static let papyrusTypeName = "shape"
            let id: Int
            var model = "S"
        }
    }

    private enum New {
        struct Car: Papyrus {
            static let papyrusTypeName = "shape"
            let id: Int
            var year: Int
        }
        struct Lenient: Papyrus {
            static let papyrusTypeName = "shape"
            let id: Int
            var year: Int?
        }
    }

    @Test("objects of a former form are reported") func changedTypes() async throws {
        await store.save(Old.Car(id: 1))
        await store.save(New.Car(id: 2, year: 2_024))
        let problem = await queryError { try await store.one(1, New.Car.self) }
        #expect(problem?.schemaProblem?.contains("year") == true)
        store.logLevel = .off
        #expect(await store.all(New.Car.self).map(\.id) == [2])
        let thrown = await queryError {
            try await store.throwing.execute(store.objects(type: New.Car.self))
        }
        #expect(thrown?.schemaProblem?.contains("year") == true)
        let streamed = await queryError { for try await _ in store.objects(type: New.Car.self).stream() {} }
        #expect(streamed?.schemaProblem != nil)
        // Missing optional properties and unknown ones are allowed.
        #expect(await store.all(New.Lenient.self).map(\.year) == [nil, 2_024])
    }

    // MARK: The folder

    @Test("a removed folder is recreated") func removedFolder() async throws {
        let store = store
        await store.save(Car(id: "a"))
        try removeFolderInUse(place.url.path)
        #expect(await cars().isEmpty)
        await store.save(Car(id: "b"))
        try removeFolderInUse(place.url.path)
        await store.save(Car(id: "c"))
        #expect(await cars() == ["c"])
        #expect(await PapyrusStore(url: place.url).all(Car.self) == [Car(id: "c")])
    }

    @Test("a file or a remote URL as folder is an error") func invalidFolders() async throws {
        try Data("x".utf8).write(to: place.url)
        await #expect(throws: StorageError.self) { try await store.throwing.save(Car(id: "a")) }
        store.logLevel = .off
        await store.save(Car(id: "a"))
        #expect(await cars().isEmpty)
        let elsewhere = PapyrusStore(url: try #require(URL(string: "https://example.org/cars")))
        await #expect(throws: StorageError.self) { try await elsewhere.throwing.save(Car(id: "a")) }
        #expect(!FileManager.default.fileExists(atPath: "/cars"))
    }

    @Test("failed calls are logged") func logging() throws {
        try Data("x".utf8).write(to: place.url)
        let worker = try ChildProcess.program(named: "PapyrusWorker")
        let refused = try ChildProcess.run(worker, ["log", place.url.path])
        #expect(refused.status == 0)
        // At the default level, at `fault`, and at the most verbose level.
        #expect(refused.errors.split(separator: "\n").count == 3, "\(refused.errors)")
        #expect(refused.errors.contains("cannot save an object of PapyrusGoods.Draft: \(place.url.path)"))
        try FileManager.default.removeItem(at: place.url)
        let saved = try ChildProcess.run(worker, ["log", place.url.path])
        #expect(saved.errors.split(separator: "\n").count == 1 && saved.errors.contains("saved 1 object"))
    }

    @Test("an archive of another kind is refused") func otherKind() async throws {
        _ = try Store.open(at: place.url.path).archive(
            named: "Papyrus", orCreate: ArchiveConfiguration(kind: .cache))
        await #expect(throws: StorageError.self) { try await store.throwing.save(Car(id: "a")) }
    }

    // MARK: Actors

    private actor Garage {
        let store: PapyrusStore
        init(_ store: PapyrusStore) { self.store = store }

        func fill() async -> Int {
            await store.save(objects: [Counter(id: 1, count: 1), Counter(id: 2, count: 2)])
            return await store.objects(type: Counter.self).filter { $0.count > 1 }.execute().count
        }
    }

    @MainActor private func fromTheMainActor(_ store: PapyrusStore) async throws -> Int {
        await store.save(Counter(id: 3, count: 3))
        let counter: Counter = try await store.object(id: 3).execute()
        return counter.count
    }

    @Test("objects that aren't Sendable can be passed to actors") func actors() async throws {
        #expect(await Garage(store).fill() == 1)
        #expect(try await fromTheMainActor(store) == 3)
    }

    @Test("tasks may save and merge concurrently") func concurrentTasks() async throws {
        let store = store
        let merged = (0..<200).map { Car(id: "m\($0)") }
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<40 {
                        await store.save(Car(id: "s\(task)-\(number)"))
                        if number % 10 == 0 { await store.delete(id: "s\(task)-\(number)", of: Car.self) }
                    }
                }
            }
            group.addTask { for _ in 0..<10 { await store.merge(with: merged) } }
        }
        let ids = Set(await cars())
        #expect(ids.isSuperset(of: merged.map(\.id)))
        #expect(ids.isDisjoint(with: (0..<8).map { "s\($0)-10" }))
        await store.merge(with: merged)
        #expect(await cars().sorted() == merged.map(\.id).sorted())
    }
}
