import Foundation
import Papyrus
import TestSupport
import Testing

/// The code blocks of the page and the article, unchanged unless a comment says why. They run in another process with its own
/// store, since the default store belongs to the process.
@Suite struct PageTests {
    @Test("the documented usage works") func usage() async {
        await #expect(processExitsWith: .success) {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
                "papyrus-\(UUID().uuidString)")
            setenv("VELLUM_STORE", folder.path, 1)
            defer { try? FileManager.default.removeItem(at: folder) }
            let store = PapyrusStore()

            await saving()
            try #require(
                try await store.object(id: "abc...", of: Saving.Car.self).execute().model == "Model S")
            await merging()
            try #require(
                await store.objects(type: Saving.Car.self).execute().map(\.id) == ["abc...", "ghi..."])

            let tesla = await relationships()
            try #require(await store.objects(type: Relations.Car.self).execute() == tesla.cars)
            try #require(await store.objects(type: Relations.Address.self).execute() == [tesla.address])
            try #require(try await fetching() == tesla)
            let cancellable = publishing()
            try #require(try await streaming() == tesla)
            cancellable.cancel()

            let manufacturers = await Manufacturers(store: store)
            try #require(await manufacturers.fetch() == [tesla])
            try #require(await manufacturers.filter() == [tesla])
            try #require(await manufacturers.sort() == [tesla])
            await manufacturers.observe()
            await manufacturers.all()
            try #require(try await manufacturers.stream() == [tesla])
            try #require(try await eventually { await manufacturers.shown == 2 })

            await store.save(objects: [tesla, Relations.ford])
            await deletingQueries()
            try #require(await store.objects(type: Manufacturer.self).execute().isEmpty)
            await store.save(tesla)
            await deletingAQuery()
            try #require(await store.objects(type: Manufacturer.self).execute().isEmpty)
            await store.save(tesla)
            await deletingByIdentifier()
            try #require(await store.objects(type: Manufacturer.self).execute().isEmpty)

            await Migrations(store: store).migrate()
            let old = await store.objects(type: Migrations.Car.self).execute()
            let new = await store.objects(type: Migrations.CarV2.self).execute()
            try #require(old.isEmpty && new.map(\.year) == [0])
        }
    }

    @Test("the article shows compiled code") func articleIsCompiled() throws {
        let code = try ArticleCode("Sources/Papyrus/Papyrus.docc/Papyrus.md")
        #expect(code.blocks == 6)
        for block in code.missing { Issue.record("not compiled here: \(block)") }
        let read = try ArticleCode("Assets/manual/Library.md", section: "Objects with relations")
        #expect(read.blocks == 1)
        for block in read.missing { Issue.record("Library.md: not compiled here: \(block)") }
    }
}

// MARK: Saving

private enum Saving {
    struct Car: Papyrus {
        let id: String
        let model: String
        let manufacturer: String
    }
}

private func saving() async {
    typealias Car = Saving.Car

    let car = Car(id: "abc...", model: "Model S", manufacturer: "Tesla")
    let store = PapyrusStore()
    await store.save(car)
}

private func merging() async {
    typealias Car = Saving.Car

    let carA = Car(id: "abc...", model: "Model S", manufacturer: "Tesla")
    let carB = Car(id: "def...", model: "Model 3", manufacturer: "Tesla")
    let carC = Car(id: "ghi...", model: "Model X", manufacturer: "Tesla")

    let store = PapyrusStore()
    // The page has it without `await`, which Swift asks for.
    await store.save(objects: [carA, carB])

    await store.merge(with: [carA, carC])
    await store
        .objects(type: Car.self)
        .execute()
    // #=> [carA, carC]
}

// MARK: Relationships

enum Relations {
    struct Manufacturer: Papyrus {
        let id: String
        let name: String
        // The page has `let`, which Swift refuses for a wrapped property.
        @HasMany var cars: [Car]
        @HasOne var address: Address
    }

    struct Car: Papyrus {
        let id: String
        let model: String
    }

    struct Address: Papyrus {
        let id: UUID
        let lineOne: String
        let lineTwo: String?
    }

    fileprivate static var ford: Manufacturer {
        Manufacturer(
            id: "xyz...", name: "Ford", cars: [], address: Address(id: UUID(), lineOne: "", lineTwo: nil))
    }
}

private typealias Manufacturer = Relations.Manufacturer

private func relationships() async -> Manufacturer {
    typealias Car = Relations.Car
    typealias Address = Relations.Address

    let modelS = Car(id: "abc...", model: "Model S")
    let address = Address(id: UUID(), lineOne: "blah blah", lineTwo: nil)
    let tesla = Manufacturer(
        id: "abc...",
        name: "Tesla",
        cars: [modelS],
        address: address
    )

    let store = PapyrusStore()
    await store.save(tesla)

    return tesla
}

// MARK: Fetching by ID

private func fetching() async throws -> Manufacturer {
    let store = PapyrusStore()
    let tesla = try await store.object(id: "abc...", of: Manufacturer.self).execute()

    return tesla
}

private func publishing() -> AnyCancellable {
    let store = PapyrusStore()
    let cancellable = store.object(id: "abc...", of: Manufacturer.self)
        .publisher()
        .sink(
            receiveCompletion: { _ in },
            receiveValue: { _ in }
        )

    return cancellable
}

private func streaming() async throws -> Manufacturer? {
    let store = PapyrusStore()
    let stream = store.object(id: "abc...", of: Manufacturer.self).stream()

    do {
        for try await object in stream {
            return object
        }
    } catch {
        // .. Do something
    }

    return nil
}

// MARK: Fetching collections

@MainActor private final class Manufacturers {
    let store: PapyrusStore
    var cancellables: Set<AnyCancellable> = []
    var shown = 0

    init(store: PapyrusStore) { self.store = store }

    func updateUI(with manufacturers: [Manufacturer]) { shown += manufacturers.count }

    func fetch() async -> [Manufacturer] {
        let manufacturers = await self.store
            .objects(type: Manufacturer.self)
            .execute()

        return manufacturers
    }

    func filter() async -> [Manufacturer] {
        let manufacturers = await self.store
            .objects(type: Manufacturer.self)
            .filter { $0.name == "Tesla" }
            .execute()

        return manufacturers
    }

    func sort() async -> [Manufacturer] {
        let manufacturers = await self.store
            .objects(type: Manufacturer.self)
            .sort { $0.name < $1.name }
            .execute()

        return manufacturers
    }

    func observe() {
        self.store
            .objects(type: Manufacturer.self)
            .publisher()
            .subscribe(on: DispatchQueue.global())
            .receive(on: DispatchQueue.main)
            .sink { self.updateUI(with: $0) }
            .store(in: &self.cancellables)
    }

    func all() {
        self.store
            .objects(type: Manufacturer.self)
            .filter { $0.name == "Tesla" }
            .sort { $0.name < $1.name }
            .publisher()
            .subscribe(on: DispatchQueue.global())
            .receive(on: DispatchQueue.main)
            .sink { self.updateUI(with: $0) }
            .store(in: &self.cancellables)
    }

    func stream() async throws -> [Manufacturer] {
        let stream = self.store
            .objects(type: Manufacturer.self)
            .filter { $0.name == "Tesla" }
            .sort { $0.name < $1.name }
            .stream()

        do {
            for try await manufacturers in stream {
                // ... Do something with [Manufacturer].
                return manufacturers
            }
        } catch {
            // .. Do something
        }

        return []
    }
}

// MARK: Deleting

private func deletingAQuery() async {
    let store = PapyrusStore()
    let tesla = store.object(id: "abc...", of: Manufacturer.self)
    await store.delete(tesla)
}

private func deletingByIdentifier() async {
    let store = PapyrusStore()
    await store.delete(id: "abc...", of: Manufacturer.self)
}

private func deletingQueries() async {
    let store = PapyrusStore()
    let tesla = store.object(id: "abc...", of: Manufacturer.self)
    let ford = store.object(id: "xyz...", of: Manufacturer.self)
    await store.delete(objects: [tesla, ford])
}

// MARK: Migrations

private actor Migrations {
    struct Car: Papyrus {
        let id: String
        let model: String
        let manufacturer: String
    }

    struct CarV2: Papyrus {
        let id: String
        let model: String
        let manufacturer: String
        let year: Int
    }

    let store: PapyrusStore

    init(store: PapyrusStore) { self.store = store }

    func migrate() async {
        await self.store.save(Car(id: "abc...", model: "Model S", manufacturer: "Tesla"))

        let migration = Migration<Car, CarV2> { oldObject in
            CarV2(
                id: oldObject.id,
                model: oldObject.model,
                manufacturer: oldObject.manufacturer,
                year: 0
            )
        }

        await self.store.register(migration: migration)
    }
}

// MARK: The article's own

private func handled(_ store: PapyrusStore, _ car: Saving.Car) async {
    do {
        try await store.throwing.save(car)
    } catch {
        print("not saved: \(error)")
    }
}

private struct Vehicle: Papyrus {
    static let papyrusTypeName = "Garage.Car"  // what it was called
    let id: String
}

private enum Renamed {
    struct OldBoat: Papyrus {  // a release ago it was Boat
        static let papyrusTypeName = "Harbour.Boat"
        let id: String
        let name: String
    }

    struct Boat: Papyrus {
        static let papyrusTypeName = "Harbour.Boat 2"
        let id: String
        let name: String
        let length: Double
    }
}

/// The example in Assets/manual/Library.md, with its line breaks.
// swift-format-ignore
private func objectsWithRelations() async throws {
    typealias Car = Relations.Car

    struct Manufacturer: Papyrus {
        let id: String
        @HasMany var cars: [Car]
    }

    let store = PapyrusStore()
    await store.save(Manufacturer(id: "tesla", cars: [Car(id: "s", model: "Model S")]))  // both, at once
    let cars = await store.objects(type: Car.self).filter { $0.model.hasPrefix("Model") }.execute()
    await store.merge(with: Array(cars.dropLast()))  // these, and no others, atomically
    for try await manufacturers in store.objects(type: Manufacturer.self).stream() {
        print(manufacturers)  // now, and after each change
    }
}
