import Foundation
import Papyrus
import PapyrusGoods
import StorageEngine
import TestSupport
import Testing

@Suite(.serialized) struct MigrationTests {
    private let place = Place()
    private var store: PapyrusStore { place.store }

    private struct First: Papyrus {
        let id: Int
        var text: String
    }

    private struct Second: Papyrus {
        let id: Int
        var text: String
        var year: Int
    }

    private struct Third: Papyrus {
        let id: String
        var year: Int
    }

    private let toSecond = Migration<First, Second> { Second(id: $0.id, text: $0.text, year: 2_000 + $0.id) }
    private let toThird = Migration<Second, Third> { Third(id: "\($0.id)", year: $0.year) }

    @Test("migrated objects keep their order") func migratedObjects() async throws {
        let first = (0..<1_200).map { First(id: ($0 * 7) % 1_200, text: "\($0)") }
        await store.save(objects: first)
        await store.register(migration: toSecond)
        #expect(await store.all(First.self).isEmpty)
        let second = await store.all(Second.self)
        #expect(second == first.map { Second(id: $0.id, text: $0.text, year: 2_000 + $0.id) })
        await store.register(migration: toSecond)
        #expect(await store.all(Second.self) == second)
        let archive = try Store.open(at: place.url.path).archive(named: "Papyrus")
        // The old objects are kept for a while.
        #expect(try archive.entries().count == 2_400)
    }

    @Test("objects migrated to the same identifier stay, except the first")
    func duplicateIdentifiers() async throws {
        let migration = Migration<First, Third> { Third(id: $0.text, year: $0.id) }
        await store.save(Third(id: "there", year: 1))
        let first =
            (0..<600).map { First(id: $0, text: $0 < 3 ? "same" : "\($0)") }
            + [First(id: 600, text: "same"), First(id: 601, text: "there")]
        await store.save(objects: first)
        for _ in 0..<2 {
            await #expect(throws: PapyrusStore.QueryError.self) {
                try await store.throwing.register(migration: migration)
            }
            #expect(await store.all(First.self).map(\.id) == [1, 2, 600, 601])
            let third = await store.all(Third.self)
            #expect(third.count == 599)
            #expect(third.first { $0.id == "same" }?.year == 0)
            #expect(third.first { $0.id == "there" }?.year == 1)
        }
    }

    @Test("an object that keeps its identifier has precedence", arguments: [true, false])
    func keptIdentifiers(isFirst: Bool) async throws {
        let migration = Migration<First, Second> {
            // Two get the identifiers of others: 5 keeps its own; 7 becomes 8, so 7 is free.
            Second(id: $0.id == 1 ? 5 : $0.id == 7 ? 8 : $0.id == 9 ? 7 : $0.id, text: $0.text, year: 0)
        }
        let first = [1, 5, 7, 9].map { First(id: $0, text: "was \($0)") }
        for object in isFirst ? first : first.reversed() { await store.save(object) }
        for _ in 0..<3 {
            let problem = await queryError { try await store.throwing.register(migration: migration) }
            #expect(problem?.schemaProblem?.contains("another object has its new identifier") == true)
            #expect(await store.all(First.self).map(\.text) == ["was 1"])
            let second = await store.objects(type: Second.self).sort { $0.id < $1.id }.execute()
            #expect(second.map(\.id) == [5, 7, 8])
            #expect(second.map(\.text) == ["was 5", "was 9", "was 7"])
        }
    }

    @Test("a migration ends although another task saves objects") func savesDuringMigration() async throws {
        let count = 600
        await store.save(objects: (0..<count).map { First(id: $0, text: "t") })
        let store = store
        let isOver = Guarded(false)
        let calls = Guarded(0)
        async let saving: Void = {
            while !isOver.withLock({ $0 }) {
                await store.save(First(id: 3, text: "again"))
                try? await Task.sleep(for: .milliseconds(5))
            }
        }()
        let migration = Migration<First, Second> {
            calls.withLock { $0 += 1 }
            usleep(100)
            return Second(id: $0.id, text: $0.text, year: 0)
        }
        await store.register(migration: migration)
        isOver.withLock { $0 = true }
        await saving
        await store.register(migration: migration)
        #expect(await store.all(Second.self).count == count)
        #expect(calls.withLock { $0 } < 10 * count)
    }

    @Test("chains of migrations run in any order", arguments: [true, false])
    func chains(isForward: Bool) async {
        await store.save(objects: (0..<10).map { First(id: $0, text: "t") })
        if isForward { await store.register(migration: toSecond) }
        await store.register(migration: toThird)
        if !isForward { await store.register(migration: toSecond) }
        #expect(await store.all(Third.self) == (0..<10).map { Third(id: "\($0)", year: 2_000 + $0) })
        #expect(await store.all(Second.self).isEmpty)
        // Saved by an older program.
        await store.save(First(id: 77, text: "late"))
        await store.register(migration: toSecond)
        #expect(await store.all(Third.self).last == Third(id: "77", year: 2_077))
    }

    @Test("the newer of an old and a new object is kept") func newerObjects() async throws {
        await store.save(objects: [First(id: 1, text: "old"), First(id: 2, text: "old")])
        await store.save(Second(id: 1, text: "newer", year: 1))
        await store.save(First(id: 3, text: "old"))
        await store.save(Second(id: 4, text: "older", year: 1))
        await store.save(First(id: 4, text: "saved since"))
        await store.register(migration: toSecond)
        let texts = await store.objects(type: Second.self).sort { $0.id < $1.id }.execute().map(\.text)
        #expect(texts == ["newer", "old", "old", "saved since"])
        #expect(await store.all(First.self).isEmpty)
    }

    private struct Wagon: Papyrus, Equatable { let id: String }
    private let toWagon = Migration<Car, Wagon> { Wagon(id: $0.id) }

    /// Flips a bit of the byte before the end of a text in the store's log.
    private func flipBit(before text: String) throws {
        let segment = place.url.appendingPathComponent("Papyrus.archive/00000001.segment")
        let bytes = try Data(contentsOf: segment)
        let place = try #require(bytes.range(of: Data(text.utf8))).lowerBound - 1
        let file = try FileHandle(forUpdating: segment)
        try file.seek(toOffset: UInt64(place))
        try file.write(contentsOf: [bytes[place] ^ 1])
        try file.close()
    }

    @Test("damaged objects stay, and calls for other objects work", arguments: [true, false])
    func damagedObjects(keyIsDamaged: Bool) async throws {
        let cars = ["alpha", "bravo", "delta"].map { Car(id: $0, model: "the model of \($0)") }
        await store.save(objects: cars)
        try flipBit(before: keyIsDamaged ? "/bravo" : "model of bravo")
        store.logLevel = .off
        let problem = await queryError {
            _ = try await store.throwing.execute(store.objects(type: Car.self))
        }
        #expect(problem?.schemaProblem?.contains("damaged") == true)
        #expect(await store.all(Car.self) == [cars[0], cars[2]])
        await store.merge(with: [cars[0], Car(id: "echo")])
        #expect(await store.all(Car.self).map(\.id) == ["alpha", "echo"])
        let loss = await queryError { try await store.throwing.register(migration: toWagon) }
        #expect(
            (loss?.schemaProblem?.contains("damaged") == true) == keyIsDamaged, "the value is not read")
        #expect(await store.all(Wagon.self) == [Wagon(id: "alpha"), Wagon(id: "echo")])
        try await store.throwing.deleteAll(Wagon.self)
        #expect(await store.all(Wagon.self).isEmpty)
    }

    @Test("a damaged object isn't migrated") func damagedOldObjects() async throws {
        await store.save(
            objects: ["alpha", "bravo", "delta"].map { Car(id: $0, model: "the model of \($0)") })
        try flipBit(before: "model of bravo")
        store.logLevel = .off
        let loss = await queryError { try await store.throwing.register(migration: toWagon) }
        #expect(loss?.schemaProblem?.contains("not converted") == true)
        #expect(await store.all(Wagon.self) == [Wagon(id: "alpha"), Wagon(id: "delta")])
        try await store.throwing.deleteAll(Car.self)
        #expect(await store.all(Car.self).isEmpty)
    }

    @Test("a damaged entry under a new key stops the migration of its old object only")
    func damagedNewObjects() async throws {
        await store.save(Wagon(id: "bravo"))
        try flipBit(before: "bravo")
        store.logLevel = .off
        let cars = ["alpha", "bravo", "delta"].map { Car(id: $0) }
        await store.save(objects: cars)
        let loss = await queryError { try await store.throwing.register(migration: toWagon) }
        // The old object is left, and an entry that may have been another.
        #expect(loss?.schemaProblem?.hasPrefix("2 objects, ") == true)
        let outcome = " not converted into \(Wagon.papyrusTypeName)"
        #expect(loss?.schemaProblem?.contains(outcome) == true)
        #expect(await store.all(Car.self) == [cars[1]])
        #expect(await store.all(Wagon.self).map(\.id) == ["alpha", "delta"])
    }

    private struct Odd: Papyrus {
        static let papyrusTypeName = "PapyrusTests.MigrationTests.Odd"
        let id: Int
        var other: Bool
    }

    private struct Even: Papyrus {
        static let papyrusTypeName = "PapyrusTests.MigrationTests.Odd"
        let id: Int
        var text: String
    }

    @Test("objects of another form stay") func otherObjects() async throws {
        await store.save(Odd(id: 1, other: true))
        await store.save(Even(id: 2, text: "t"))
        let migration = Migration<Even, Second> { Second(id: $0.id, text: $0.text, year: 1) }
        let problem = await queryError { try await store.throwing.register(migration: migration) }
        #expect(problem?.schemaProblem?.contains("Odd/1") == true)
        #expect(await store.all(Second.self).map(\.id) == [2])
        #expect(try await store.one(1, Odd.self).other)
    }

    @Test("a migration between types of one name is refused") func sameName() async throws {
        await store.save(Odd(id: 1, other: true))
        await store.save(Even(id: 2, text: "t"))
        await #expect {
            try await store.throwing.register(migration: Migration<Odd, Even> { Even(id: $0.id, text: "") })
        } throws: { "\($0)".contains("\"\(Odd.papyrusTypeName)\"") && $0 is MigrationError }
        await #expect(throws: MigrationError.self) {
            try await store.throwing.register(migration: Migration<Odd, Odd> { $0 })
        }
        #expect(try await store.one(1, Odd.self).other)
        #expect(try await store.one(2, Even.self).text == "t")
    }

    private struct Failing: Papyrus {
        let id: Int
        var text: String
        func encode(to encoder: any Encoder) throws {
            if id == 2 { throw EncodingError.invalidValue(id, .init(codingPath: [], debugDescription: "no")) }
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(id, forKey: .id)
            try container.encode(text, forKey: .text)
        }
    }

    @Test("objects that can't be converted stay") func failedConversions() async throws {
        await store.save(objects: (1...3).map { First(id: $0, text: "t") })
        let migration = Migration<First, Failing> { Failing(id: $0.id, text: $0.text) }
        let problem = await queryError { try await store.throwing.register(migration: migration) }
        #expect(problem?.schemaProblem?.contains("/2 not converted into") == true)
        #expect(await store.all(First.self).map(\.id) == [2])
        #expect(await store.all(Failing.self).map(\.id) == [1, 3])
    }

    @Test("large objects are migrated in smaller batches") func largeObjects() async throws {
        let text = String(repeating: "x", count: 1 << 20)
        for id in 0..<60 { await store.save(First(id: id, text: text)) }
        try await store.throwing.register(migration: toSecond)
        #expect(await store.all(Second.self).map(\.id) == Array(0..<60))
        #expect(await store.all(First.self).isEmpty)
    }

    private struct OldMaker: Papyrus {
        let id: String
        @HasMany var models: [Model]
    }

    private struct NewMaker: Papyrus {
        let id: String
        @HasMany var models: [Model]
        @HasOne var first: Model?
    }

    @Test("relations are migrated with their objects") func relations() async throws {
        let models = [Model(id: "s", name: "S"), Model(id: "3", name: "3")]
        await store.save(OldMaker(id: "t", models: models))
        await store.register(
            migration: Migration<OldMaker, NewMaker> {
                NewMaker(id: $0.id, models: $0.models, first: Model(id: "x", name: "new"))
            })
        let maker = try await store.one("t", NewMaker.self)
        #expect(maker.models == models && maker.first?.name == "new")
        #expect(await store.all(Model.self).map(\.id) == ["s", "3", "x"])
    }

    @Test("a killed migration continues") func killedMigrations() async throws {
        let count = 3_000
        var generator = SeededGenerator.announced("migrations that are killed")
        let program = try ChildProcess.program(named: "PapyrusWorker")
        await store.save(objects: (0..<count).map { Draft(id: $0, text: "draft \($0)") })
        for _ in 0..<6 {
            let worker = try ChildProcess(program, ["migrate", place.url.path])
            try await Task.sleep(for: .milliseconds(Int.random(in: 5...120, using: &generator)))
            worker.signal(SIGKILL)
            worker.waitForEnd()
            // Each object exists once, with either type.
            let drafts = await store.all(Draft.self).map(\.id)
            let letters = await store.all(Letter.self).map(\.id)
            #expect(Set(drafts + letters).count == count && drafts.count + letters.count == count)
        }
        let last = try ChildProcess.run(program, ["migrate", place.url.path])
        #expect(last.status == 0, "\(last.text)")
        let letters = await store.all(Letter.self)
        #expect(letters == (0..<count).map { Letter(id: $0, text: "draft \($0)", pages: $0 % 9) })
        #expect(await store.all(Draft.self).isEmpty)
    }
}
