import Dispatch
import Foundation
import Papyrus
import StorageEngine
import TestSupport
import Testing

/// Migrations of related objects.
@Suite(.serialized) struct RelatedMigrationTests {
    private let place = Place()
    private var store: PapyrusStore { place.store }

    private struct First: Papyrus, Equatable {
        let id: Int
        var text: String
    }

    private struct Friend1: Papyrus {
        let id: String
        var name: String
        @HasMany var friends: [Friend1]
    }

    private struct Friend2: Papyrus {
        let id: String
        var name: String
        @HasMany var friends: [Friend2]
    }

    @Test("an object that another's migration refers to is migrated, too")
    func referencedObjects() async throws {
        let migration = Migration<Friend1, Friend2> {
            Friend2(
                id: $0.id, name: $0.name + "!",
                friends: $0.friends.map { Friend2(id: $0.id, name: "", friends: []) }
                    + ($0.id == "a" ? [Friend2(id: "new", name: "new", friends: [])] : []))
        }
        // More than a batch, so that the first object refers to the last and vice versa.
        let last = Friend1(id: "1100", name: "last", friends: [])
        let b = Friend1(id: "b", name: "b", friends: [last])
        await store.save(b)
        await store.save(Friend1(id: "a", name: "a", friends: [b, last]))
        for number in 0..<1_200 where number != 1_100 {
            await store.save(Friend1(id: "\(number)", name: "n", friends: number == 1_150 ? [b] : []))
        }
        let order = await store.all(Friend1.self).map(\.id)
        await store.register(migration: migration)
        #expect(await store.all(Friend1.self).isEmpty)
        let new = await store.all(Friend2.self)
        #expect(new.map(\.id).filter { $0 != "new" } == order)
        #expect(new.allSatisfy { $0.name == "new" || $0.name.hasSuffix("!") })
        #expect(new.first { $0.id == "b" }?.friends.map(\.name) == ["last!"])
        #expect(new.first { $0.id == "a" }?.friends.map(\.id) == ["b", "1100", "new"])
    }

    private struct Customer1: Papyrus {
        let id: String
        var name: String
        @HasMany var items: [First]
    }

    private struct Customer2: Papyrus {
        let id: String
        var name: String
        @HasMany var items: [First]
    }

    private struct Order1: Papyrus {
        let id: Int
        @HasMany var customers: [Customer1]
    }

    private struct Order2: Papyrus {
        let id: Int
        @HasMany var customers: [Customer2]
    }

    @Test("related types are migrated in any order", arguments: [true, false])
    func relatedTypes(ordersFirst: Bool) async throws {
        let item = First(id: 1, text: "item")
        await store.save(Order1(id: 7, customers: [Customer1(id: "c", name: "carl", items: [item])]))
        if ordersFirst { try await store.throwing.register(migration: ordersTo2) }
        try await store.throwing.register(migration: customersTo2)
        if !ordersFirst { try await store.throwing.register(migration: ordersTo2) }
        let order = try await store.one(7, Order2.self)
        #expect(order.customers.map(\.name) == ["carl!"])
        #expect(order.customers.first?.items == [item])
        #expect(await store.all(Customer2.self).map(\.name) == ["carl!"])
        #expect(await store.all(Customer1.self).isEmpty)
        // A later save isn't only a reference.
        await store.save(Customer2(id: "c", name: "changed", items: []))
        await store.save(Customer1(id: "d", name: "dora", items: []))
        try await store.throwing.register(migration: customersTo2)
        #expect(await store.all(Customer2.self).map(\.name) == ["changed", "dora!"])
    }

    @Test("an object may be referred to by its new identifier before its migration")
    func newIdentifiers() async throws {
        let count = 1_200
        let last = Friend1(id: "1100", name: "n", friends: [])
        for number in 0..<count {
            await store.save(Friend1(id: "\(number)", name: "n", friends: number == 0 ? [last] : []))
        }
        try await store.throwing.register(
            migration: Migration<Friend1, Friend2> {
                Friend2(
                    id: "user-" + $0.id, name: $0.name + "!",
                    friends: $0.friends.map { Friend2(id: "user-" + $0.id, name: "", friends: []) })
            })
        let new = await store.all(Friend2.self)
        #expect(new.count == count && new.allSatisfy { $0.name == "n!" })
        #expect(new.first { $0.id == "user-0" }?.friends.map(\.id) == ["user-1100"])
        #expect(await store.all(Friend1.self).isEmpty)
    }

    @Test("relations are kept with concurrent writers and over several runs")
    func concurrentWriters() async throws {
        let count = 1_500
        for number in 0..<count {
            let friend = Friend1(id: "\((7 * number + 13) % count)", name: "n", friends: [])
            await store.save(Friend1(id: "\(number)", name: "n", friends: [friend]))
        }
        // Relations saved with an object replace the former ones.
        let empty = await store.all(Friend1.self).filter(\.friends.isEmpty).count
        let other = PapyrusStore(url: place.url)
        let conversions = Guarded(0)
        let migration = Migration<Friend1, Friend2> {
            if conversions.withLock({ number in
                number += 1; return number % 200 == 0
            }) {
                // Another process changes an object of this batch.
                let (changed, isOver) = ($0, DispatchSemaphore(value: 0))
                Task {
                    await other.save(changed); isOver.signal()
                }
                isOver.wait()
            }
            return Friend2(
                id: $0.id, name: $0.name,
                friends: $0.friends.map { Friend2(id: $0.id, name: "", friends: []) })
        }
        try await store.throwing.register(migration: migration)
        let new = await store.all(Friend2.self)
        #expect(new.count == count)
        #expect(new.filter(\.friends.isEmpty).count == empty)
        #expect(new.allSatisfy { $0.name == "n" })
    }

    private struct Customer3: Papyrus {
        let id: String
        var name: String
        @HasMany var items: [First]
    }

    private struct Order3: Papyrus {
        let id: Int
        @HasMany var customers: [Customer3]
    }

    private let customersTo2 = Migration<Customer1, Customer2> {
        Customer2(id: $0.id, name: $0.name + "!", items: $0.items)
    }
    private let customersTo3 = Migration<Customer2, Customer3> {
        Customer3(id: $0.id, name: $0.name + "?", items: $0.items)
    }
    private let ordersTo2 = Migration<Order1, Order2> {
        Order2(id: $0.id, customers: $0.customers.map { Customer2(id: $0.id, name: "", items: []) })
    }
    private let ordersTo3 = Migration<Order2, Order3> {
        Order3(id: $0.id, customers: $0.customers.map { Customer3(id: $0.id, name: "", items: []) })
    }

    @Test("a reference by a former type doesn't replace an object")
    func referencesReplaceNothing() async throws {
        let item = First(id: 1, text: "item")
        await store.save(Order1(id: 7, customers: [Customer1(id: "c", name: "carl", items: [item])]))
        for _ in 0..<3 {
            try await store.throwing.register(migration: customersTo2)
            try await store.throwing.register(migration: customersTo3)
            if await store.all(Order1.self).count == 1 {
                var customer = try await store.one("c", Customer3.self)
                #expect(customer.name == "carl!?")
                customer.name = "edited"
                await store.save(customer)
            }
            try await store.throwing.register(migration: ordersTo2)
            try await store.throwing.register(migration: ordersTo3)
            let order = try await store.one(7, Order3.self)
            #expect(order.customers.map(\.name) == ["edited"])
            #expect(order.customers.first?.items == [item])
        }
        #expect(await store.all(Customer2.self).isEmpty)
    }

    @Test("a migration doesn't restore deleted objects") func deletedObjects() async throws {
        let customers = ["c", "d"].map { Customer1(id: $0, name: $0, items: []) }
        await store.save(Order1(id: 7, customers: customers))
        try await store.throwing.register(migration: customersTo2)
        await store.delete(Customer2(id: "c", name: "", items: []))
        try await store.throwing.register(migration: ordersTo2)
        let order = try await store.one(7, Order2.self)
        #expect(order.customers.map(\.name) == ["d!"])
        #expect(await store.all(Customer2.self).map(\.id) == ["d"])
    }
}
