import Papyrus
import TestSupport
import Testing

/// Several migrations of related types, in every order.
@Suite struct MigrationOrderTests {
    /// A registration, and its name.
    private struct Step: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let register: @Sendable (ThrowingPapyrus) async throws -> Void

        init<Old: Papyrus, New: Papyrus>(_ name: String, _ convert: @escaping @Sendable (Old) -> New) {
            testDescription = name
            register = { try await $0.register(migration: Migration(convert)) }
        }
    }

    private static func orders(_ steps: [Step]) -> [[Step]] {
        guard steps.count > 1 else { return [steps] }
        return steps.indices.flatMap { first in
            var rest = steps
            let step = rest.remove(at: first)
            return orders(rest).map { [step] + $0 }
        }
    }

    /// Registers the steps in each order, twice.
    /// - Parameter prepare: stores the old objects.
    private func inEachOrder(
        _ steps: [Step], prepare: (PapyrusStore) async throws -> Void,
        check: (PapyrusStore, _ order: String, _ start: Int) async throws -> Void
    ) async throws {
        for order in Self.orders(steps) {
            let place = Place()
            try await prepare(place.store)
            for start in 1...2 {
                for step in order { try await step.register(place.store.throwing) }
                try await check(place.store, "\(order.map(\.testDescription)), start \(start)", start)
            }
        }
    }

    // MARK: Types created by a migration

    private struct Person1: Papyrus {
        let id: String
        let street: String
    }

    private struct Address2: Papyrus {
        let id: String
        let street: String
    }

    private struct Person2: Papyrus {
        let id: String
        @HasOne var home: Address2?
        @HasMany var others: [Address2]
    }

    private struct Address3: Papyrus {
        let id: String
        let street: String
        let code: Int
    }

    private struct Person3: Papyrus {
        let id: String
        @HasOne var home: Address3?
        @HasMany var others: [Address3]
    }

    private static let splitting = [
        Step("p12") { (old: Person1) in
            Person2(
                id: old.id, home: Address2(id: "a", street: old.street),
                others: [Address2(id: "b", street: old.street + "b")])
        },
        Step("a23") { (old: Address2) in Address3(id: old.id, street: old.street, code: 5) },
        Step("p23") { (old: Person2) in
            func mention(_ address: Address2) -> Address3 {
                Address3(id: address.id, street: address.street, code: 0)
            }
            return Person3(id: old.id, home: old.home.map(mention), others: old.others.map(mention))
        },
    ]

    @Test("objects created by a migration are migrated by the next") func createdObjects() async throws {
        try await inEachOrder(Self.splitting) { store in
            await store.save(Person1(id: "1", street: "Main"))
        } check: { store, order, _ in
            let person = try await store.one("1", Person3.self)
            #expect(person.home?.street == "Main" && person.home?.code == 5, "\(order)")
            #expect(person.others.map(\.street) == ["Mainb"] && person.others.map(\.code) == [5], "\(order)")
            #expect(await store.all(Address2.self).isEmpty, "\(order)")
            #expect(await store.all(Address3.self).count == 2, "\(order)")
        }
    }

    /// The next version of the program runs the second migration.
    @Test("objects created by a migration are migrated later") func createdObjectsLater() async throws {
        let (first, rest) = (Self.splitting[0], Array(Self.splitting[1...]))
        try await inEachOrder(rest) { store in
            await store.save(Person1(id: "1", street: "Main"))
            try await first.register(store.throwing)
        } check: { store, order, _ in
            let person = try await store.one("1", Person3.self)
            #expect(person.home?.code == 5 && person.others.map(\.code) == [5], "\(order)")
        }
    }

    @Test("two created objects don't get one identifier") func createdDuplicates() async throws {
        let place = Place()
        await place.store.save(Person1(id: "1", street: "Main"))
        try await Self.splitting[0].register(place.store.throwing)
        for _ in 1...2 {
            await #expect(throws: PapyrusStore.QueryError.self) {
                try await place.store.throwing.register(
                    migration: Migration<Address2, Address3> { Address3(id: "x", street: $0.street, code: 5) }
                )
            }
            #expect(await place.store.all(Address3.self).map(\.street) == ["Main"])
            #expect(await place.store.all(Address2.self).map(\.street) == ["Mainb"])
        }
    }

    // MARK: Chains

    private struct Child1: Papyrus {
        let id: String
        var name: String
    }

    private struct Child2: Papyrus {
        let id: String
        var name: String
    }

    private struct Child3: Papyrus {
        let id: String
        var name: String
    }

    private struct Parent1: Papyrus {
        let id: String
        @HasMany var children: [Child1]
    }

    private struct Parent2: Papyrus {
        let id: String
        @HasMany var children: [Child2]
    }

    private struct Parent3: Papyrus {
        let id: String
        @HasMany var children: [Child3]
    }

    private static let chains = [
        Step("c12") { (old: Child1) in Child2(id: old.id, name: old.name + "!") },
        Step("c23") { (old: Child2) in Child3(id: old.id, name: old.name + "?") },
        Step("p12") { (old: Parent1) in
            Parent2(id: old.id, children: old.children.map { Child2(id: $0.id, name: "") })
        },
        Step("p23") { (old: Parent2) in
            Parent3(id: old.id, children: old.children.map { Child3(id: $0.id, name: "") })
        },
    ]

    @Test("chains of three migrations run in any order", arguments: [1, 1_100]) func chainsOfThree(
        lengthOfIdentifiers: Int
    ) async throws {
        let ids = ["c", "d"].map { String(repeating: $0, count: lengthOfIdentifiers) }
        try await inEachOrder(Self.chains) { store in
            await store.save(Parent1(id: "p", children: ids.map { Child1(id: $0, name: "n") }))
        } check: { store, order, start in
            let left = start == 1 ? ids : [ids[1]]
            let parent = try await store.one("p", Parent3.self)
            #expect(parent.children.map(\.id) == left, "\(order)")
            #expect(parent.children.allSatisfy { $0.name == "n!?" }, "\(order)")
            #expect(await store.all(Child3.self).map(\.id) == left, "\(order)")
            #expect(await store.all(Child2.self).isEmpty, "\(order)")
            await store.delete(Child3(id: ids[0], name: ""))
        }
    }

    // MARK: Three levels

    private struct Leaf<Version>: Papyrus {
        static var papyrusTypeName: String { "Leaf\(Version.self)" }
        let id: String
        var text: String
    }

    private struct Twig<Version>: Papyrus {
        static var papyrusTypeName: String { "Twig\(Version.self)" }
        let id: String
        var text: String
        @HasMany var leaves: [Leaf<Version>]
        @HasOne var last: Leaf<Version>?
    }

    private struct Tree<Version>: Papyrus {
        static var papyrusTypeName: String { "Tree\(Version.self)" }
        let id: String
        @HasMany var twigs: [Twig<Version>]
    }

    private enum V1 {}
    private enum V2 {}
    private enum V3 {}

    private static func growth<Old, New>(_: Old.Type, _: New.Type) -> [Step] {
        [
            Step("leaf \(New.self)") { (old: Leaf<Old>) in Leaf<New>(id: old.id, text: old.text + "+") },
            Step("twig \(New.self)") { (old: Twig<Old>) in
                Twig<New>(
                    id: old.id, text: old.text + "+", leaves: old.leaves.map { Leaf(id: $0.id, text: "") },
                    last: old.last.map { Leaf(id: $0.id, text: "") })
            },
            Step("tree \(New.self)") { (old: Tree<Old>) in
                Tree<New>(
                    id: old.id, twigs: old.twigs.map { Twig(id: $0.id, text: "", leaves: [], last: nil) })
            },
        ]
    }

    /// Tries every 9th of the 720 orders.
    @Test("three levels of relations are migrated through three versions in any order")
    func threeLevels() async throws {
        let steps = Self.growth(V1.self, V2.self) + Self.growth(V2.self, V3.self)
        for order in Self.orders(steps).enumerated().filter({ $0.offset % 9 == 0 }).map(\.element) {
            let (place, name) = (Place(), "\(order.map(\.testDescription))")
            let leaves = (0..<3).map { Leaf<V1>(id: "\($0)", text: "leaf") }
            let twigs = (0..<2).map { Twig<V1>(id: "\($0)", text: "twig", leaves: leaves, last: leaves[$0]) }
            await place.store.save(Tree<V1>(id: "t", twigs: twigs))
            for step in order { try await step.register(place.store.throwing) }
            let tree = try await place.store.one("t", Tree<V3>.self)
            #expect(tree.twigs.map(\.text) == ["twig++", "twig++"], "\(name)")
            for (number, twig) in tree.twigs.enumerated() {
                #expect(twig.leaves.map(\.text) == ["leaf++", "leaf++", "leaf++"], "\(name)")
                #expect(twig.last?.id == "\(number)" && twig.last?.text == "leaf++", "\(name)")
            }
            #expect(await place.store.all(Leaf<V2>.self).isEmpty, "\(name)")
            #expect(await place.store.all(Twig<V2>.self).isEmpty, "\(name)")
            #expect(await place.store.all(Leaf<V3>.self).count == 3, "\(name)")
        }
    }

    @Test(
        "a newer object isn't replaced by an older one in a chain, which may change its identifier",
        arguments: ["", "x"])
    func laterSaves(prefix: String) async throws {
        let step = Step("c12") { (old: Child1) in Child2(id: prefix + old.id, name: old.name + "!") }
        for order in Self.orders([step, Self.chains[1]]) {
            let store = Place().store
            await store.save(Child1(id: "c", name: "old"))
            await store.save(Child1(id: "d", name: "old"))
            await store.save(Child3(id: prefix + "c", name: "later"))
            for step in order + order { try await step.register(store.throwing) }
            let names = await store.all(Child3.self).map { ($0.id, $0.name) }
            let expected = [prefix + "c": "later", prefix + "d": "old!?"]
            #expect(Dictionary(uniqueKeysWithValues: names) == expected)
            // Objects that an old program saves later are newer.
            await store.save(Child1(id: "c", name: "latest"))
            for step in order { try await step.register(store.throwing) }
            #expect(try await store.one(prefix + "c", Child3.self).name == "latest!?")
        }
    }
}
