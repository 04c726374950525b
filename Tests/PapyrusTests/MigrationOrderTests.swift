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
        _ steps: [Step], reports: Bool = false, prepare: (PapyrusStore) async throws -> Void,
        check: (PapyrusStore, _ order: String, _ start: Int) async throws -> Void
    ) async throws {
        for order in Self.orders(steps) {
            let place = Place()
            try await prepare(place.store)
            for start in 1...2 {
                for step in order {
                    do {
                        try await step.register(place.store.throwing)
                    } catch {
                        // What it lacks may come with a later one.
                        #expect(
                            reports && start == 1, "\(order.map(\.testDescription)), start \(start): \(error)"
                        )
                    }
                }
                try await check(place.store, "\(order.map(\.testDescription)), start \(start)", start)
            }
        }
    }

    // MARK: A type that a migration makes

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

    /// What broke: an object that only a migration had made was lost to its parent, or stayed as it was mentioned, for it was not
    /// put aside, and what converts it had been registered before.
    @Test func whatAMigrationMadeIsConverted() async throws {
        try await inEachOrder(Self.splitting) { store in
            await store.save(Person1(id: "1", street: "Main"))
        } check: { store, order, _ in
            let person = try await store.object(id: "1", of: Person3.self).execute()
            #expect(person.home?.street == "Main" && person.home?.code == 5, "\(order)")
            #expect(person.others.map(\.street) == ["Mainb"] && person.others.map(\.code) == [5], "\(order)")
            #expect(await store.objects(type: Address2.self).execute().isEmpty, "\(order)")
            #expect(await store.objects(type: Address3.self).execute().count == 2, "\(order)")
        }
    }

    /// The next version of the program does the rest.
    @Test func whatAMigrationMadeIsConvertedLater() async throws {
        let (first, rest) = (Self.splitting[0], Array(Self.splitting[1...]))
        try await inEachOrder(rest) { store in
            await store.save(Person1(id: "1", street: "Main"))
            try await first.register(store.throwing)
        } check: { store, order, _ in
            let person = try await store.object(id: "1", of: Person3.self).execute()
            #expect(person.home?.code == 5 && person.others.map(\.code) == [5], "\(order)")
        }
    }

    /// What broke: the second of them replaced the first at the next start.
    @Test func twoThatWereMadeDoNotGetOneIdentifier() async throws {
        let place = Place()
        await place.store.save(Person1(id: "1", street: "Main"))
        try await Self.splitting[0].register(place.store.throwing)
        for _ in 1...2 {
            await #expect(throws: PapyrusStore.QueryError.self) {
                try await place.store.throwing.register(
                    migration: Migration<Address2, Address3> { Address3(id: "x", street: $0.street, code: 5) }
                )
            }
            #expect(await place.store.objects(type: Address3.self).execute().map(\.street) == ["Main"])
            #expect(await place.store.objects(type: Address2.self).execute().map(\.street) == ["Mainb"])
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

    /// What broke: in some orders what was mentioned stayed behind, and came back at the next start when what it stood for had been
    /// deleted.
    @Test(arguments: [1, 1_100]) func chainsOfThree(lengthOfIdentifiers: Int) async throws {
        let ids = ["c", "d"].map { String(repeating: $0, count: lengthOfIdentifiers) }
        try await inEachOrder(Self.chains) { store in
            await store.save(Parent1(id: "p", children: ids.map { Child1(id: $0, name: "n") }))
        } check: { store, order, start in
            let left = start == 1 ? ids : [ids[1]]
            let parent = try await store.object(id: "p", of: Parent3.self).execute()
            #expect(parent.children.map(\.id) == left, "\(order)")
            #expect(parent.children.allSatisfy { $0.name == "n!?" }, "\(order)")
            #expect(await store.objects(type: Child3.self).execute().map(\.id) == left, "\(order)")
            #expect(await store.objects(type: Child2.self).execute().isEmpty, "\(order)")
            await store.delete(Child3(id: ids[0], name: ""))
        }
    }

    // MARK: One type name

    private static let child = "PapyrusTests.MigrationOrderTests.Child"
    private static let parent = "PapyrusTests.MigrationOrderTests.Parent"

    private struct SameChild1: Papyrus {
        static let papyrusTypeName = MigrationOrderTests.child
        let id: String
        let a: String
    }

    private struct SameChild2: Papyrus {
        static let papyrusTypeName = MigrationOrderTests.child
        let id: String
        let b: String
    }

    private struct SameChild3: Papyrus {
        static let papyrusTypeName = MigrationOrderTests.child
        let id: String
        let c: String
    }

    private struct SameParent1: Papyrus {
        static let papyrusTypeName = MigrationOrderTests.parent
        let id: String
        let a: Int
        @HasMany var children: [SameChild1]
        @HasOne var child: SameChild1?
    }

    private struct SameParent2: Papyrus {
        static let papyrusTypeName = MigrationOrderTests.parent
        let id: String
        let b: Int
        @HasMany var children: [SameChild2]
        @HasOne var child: SameChild2?
    }

    private struct SameParent3: Papyrus {
        static let papyrusTypeName = MigrationOrderTests.parent
        let id: String
        let c: Int
        @HasMany var children: [SameChild3]
        @HasOne var child: SameChild3?
    }

    /// What broke: parents stayed for ever what only a child's form of before last could be read with.
    @Test func chainsUnderOneTypeName() async throws {
        let steps = [
            Step("c12") { (old: SameChild1) in SameChild2(id: old.id, b: old.a + "!") },
            Step("c23") { (old: SameChild2) in SameChild3(id: old.id, c: old.b + "?") },
            Step("p12") { (old: SameParent1) in
                SameParent2(
                    id: old.id, b: old.a + 1, children: old.children.map { SameChild2(id: $0.id, b: "") },
                    child: old.child.map { SameChild2(id: $0.id, b: "") })
            },
            Step("p23") { (old: SameParent2) in
                SameParent3(
                    id: old.id, c: old.b + 1, children: old.children.map { SameChild3(id: $0.id, c: "") },
                    child: old.child.map { SameChild3(id: $0.id, c: "") })
            },
        ]
        try await inEachOrder(steps, reports: true) { store in
            let child = SameChild1(id: "c", a: "n")
            await store.save(SameParent1(id: "p", a: 1, children: [child], child: child))
        } check: { store, order, _ in
            let parents = await store.objects(type: SameParent3.self).execute()
            #expect(parents.map(\.c) == [3], "\(order)")
            #expect(parents.first?.children.map(\.c) == ["n!?"], "\(order)")
            #expect(parents.first?.child?.c == "n!?", "\(order)")
            #expect(await store.objects(type: SameChild3.self).execute().map(\.c) == ["n!?"], "\(order)")
        }
    }
}
