import Testing
import Vellum

/// Archivable properties are stored in the object and in their own archives.
@Suite struct PropertyTests {
    private let factory: ArchivesFactory
    private let engines: ArchiveManager<Engine>
    private let store = TemporaryStore()

    init() throws {
        factory = store.factory()
        engines = try factory.archives(for: Engine.self)
    }

    @Test("absent properties are inserted, present ones stay") func insertingProperties() throws {
        let cars = try factory.archives(for: Car.self)
        cars.record(
            Car(
                primaryKey: "c", engine: Engine(primaryKey: "v8", power: 300),
                spare: Engine(primaryKey: "v6", power: 200), engines: [Engine(primaryKey: "v4", power: 100)]))
        #expect(engines.access(archiveWithKey: "v8")?.power == 300)
        #expect(engines.access(archiveWithKey: "v6")?.power == 200)
        #expect(engines.peek(archiveWithKey: "v4") == nil, "elements of collections are not stored")

        cars.record(Car(primaryKey: "c", engine: Engine(primaryKey: "v8", power: 301), spare: nil))
        #expect(engines.access(archiveWithKey: "v8")?.power == 300, "the default keeps the present object")
        #expect(cars.access(archiveWithKey: "c")?.engine.power == 301, "the object keeps its copy")
        #expect(engines.access(archiveWithKey: "v6")?.power == 200)
    }

    @Test("properties replace present objects on request") func replacingProperties() throws {
        let cars = try factory.archives(for: ReplacingCar.self)
        engines.record(Engine(primaryKey: "v8", power: 1))
        let created = try engines.core.archive.metadata("v8")?.created
        cars.record(ReplacingCar(primaryKey: "c", engine: Engine(primaryKey: "v8", power: 2)))
        #expect(engines.access(archiveWithKey: "v8")?.power == 2)
        #expect(try engines.core.archive.metadata("v8")?.created == created, "updated, not inserted")
    }

    @Test("properties are not stored on request") func ignoringProperties() throws {
        let cars = try factory.archives(for: IgnoringCar.self)
        cars.record(IgnoringCar(primaryKey: "c", engine: Engine(primaryKey: "v8", power: 2)))
        #expect(engines.accessAll().isEmpty)
        #expect(cars.access(archiveWithKey: "c")?.engine.power == 2)
    }

    @Test("an object stays complete when the entries of its properties are deleted")
    func deletedProperties() throws {
        let small = TemporaryStore().factory()
        let engines = try small.archives(for: Engine.self, trySetMaxMemorySize: 100, trySetMaxDiskSize: 100)
        let cars = try small.archives(for: Car.self)
        cars.record(Car(primaryKey: "c", engine: Engine(primaryKey: "v8", power: 300)))
        engines.delete(archiveWithKey: "v8")
        #expect(cars.access(archiveWithKey: "c")?.engine.power == 300)
        cars.record(Car(primaryKey: "d", engine: Engine(primaryKey: "v8", power: 8)))
        #expect(engines.peek(archiveWithKey: "v8")?.power == 8, "inserted again after the deletion")
        for number in 0..<20 { engines.record(Engine(primaryKey: "other \(number)", power: number)) }
        #expect(engines.peek(archiveWithKey: "v8") == nil, "evicted")
        #expect(cars.access(archiveWithKey: "c")?.engine.power == 300)
        #expect(cars.access(archiveWithKey: "d")?.engine.power == 8)
        cars.deleteAll()
        #expect(!engines.accessAll().isEmpty, "stay after the objects are deleted")
    }

    @Test("archivable properties of superclasses are stored") func propertiesOfSuperclasses() throws {
        let vehicles = try factory.archives(for: Vehicle.self)
        vehicles.record(Vehicle("bus", engine: Engine(primaryKey: "diesel", power: 400)))
        vehicles.record(Vehicle("cart", engine: nil))
        #expect(engines.accessAll().map(\.primaryKey) == ["diesel"])
        let trucks = try factory.archives(for: Truck.self)
        trucks.record(Truck("truck", engine: Engine(primaryKey: "turbo", power: 500), load: 7))
        #expect(engines.peek(archiveWithKey: "turbo")?.power == 500)
        let read = trucks.access(archiveWithKey: "truck")
        #expect(read?.engine?.power == 500 && read?.load == 7)
    }

    @Test("a stored property is a copy of the instance's") func propertiesOfClasses() throws {
        let teams = try factory.archives(for: Team.self)
        teams.record(
            Team(
                primaryKey: "t", leader: Person(name: "ada", age: 36),
                members: [Person(name: "charles", age: 45)]))
        let people = try factory.archives(for: Person.self)
        #expect(people.accessAll().map(\.name) == ["ada"])
        try #require(teams.access(archiveWithKey: "t")).leader.age = 1
        #expect(people.access(archiveWithKey: "ada")?.age == 36)
    }

    @Test("an object is stored even if a property can't be stored, which is logged")
    func failedProperties() throws {
        let messages = LoggedMessages()
        factory.logger = messages.logger
        let cars = try factory.archives(for: Car.self)
        cars.record(Car(primaryKey: "c", engine: Engine(primaryKey: "", power: 300)))
        #expect(cars.access(archiveWithKey: "c")?.engine.power == 300)
        #expect(messages.all.count == 1)
        #expect(messages.all.first?.contains("record a property") == true)
    }
}

private final class Truck: Vehicle {
    let load: Int

    init(_ key: String, engine: Engine?, load: Int) {
        self.load = load
        super.init(key, engine: engine)
    }

    private enum Key: CodingKey { case load }

    required init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        load = try values.decode(Int.self, forKey: .load)
        try super.init(from: values.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(load, forKey: .load)
        try super.encode(to: values.superEncoder())
    }
}
