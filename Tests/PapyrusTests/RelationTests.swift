import CBOR
import Foundation
import Papyrus
import StorageEngine
import TestSupport
import Testing

struct Address: Papyrus, Sendable {
    let id: UUID
    var lineOne: String
    var lineTwo: String?
}

struct Model: Papyrus, Sendable {
    let id: String
    var name = ""
}

struct Maker: Papyrus, Sendable {
    let id: String
    var name = ""
    @HasMany var models: [Model]
    @HasOne var address: Address
    @HasOne var office: Address?
    @HasMany var former: [Model]?
}

@Suite struct RelationTests {
    private let place = Place()
    private var store: PapyrusStore { place.store }

    private let address = Address(id: UUID(), lineOne: "Deer Creek Road")

    private func maker(_ id: String = "t", _ models: [String] = ["s", "3"]) -> Maker {
        Maker(
            id: id, models: models.map { Model(id: $0, name: "Model \($0)") }, address: address, office: nil,
            former: nil)
    }

    private func loaded(_ id: String = "t") async throws -> Maker {
        try await store.one(id, Maker.self)
    }

    @Test("a parent is saved with its children") func savingParents() async throws {
        var parent = maker()
        parent.office = Address(id: UUID(), lineOne: "Office")
        parent.former = [Model(id: "roadster")]
        await store.save(parent)
        #expect(try await loaded() == parent)
        #expect(await store.all(Maker.self) == [parent])
        #expect(await store.all(Model.self).map(\.id) == ["s", "3", "roadster"])
        #expect(try await store.one(address.id, Address.self) == address)
        let empty = Maker(id: "e", models: [], address: address, office: nil, former: [])
        await store.save(empty)
        #expect(try await loaded("e") == empty)
    }

    @Test("a parent is loaded with its present children") func changedChildren() async throws {
        await store.save(maker())
        await store.save(Model(id: "s", name: "renamed"))
        await store.save(Address(id: address.id, lineOne: "moved"))
        #expect(try await loaded().models.map(\.name) == ["renamed", "Model 3"])
        #expect(try await loaded().address.lineOne == "moved")
        // Saving an outdated parent also saves its outdated children.
        await store.save(maker())
        #expect(try await store.one("s", Model.self).name == "Model s")
    }

    @Test("a deleted child is omitted where it is optional, and otherwise kept")
    func deletedChildren() async throws {
        var parent = maker()
        parent.office = Address(id: UUID(), lineOne: "Office")
        parent.former = [Model(id: "s"), Model(id: "x")]
        await store.save(parent)
        await store.delete(id: "s", of: Model.self)
        await store.delete(id: address.id, of: Address.self)
        if let office = parent.office { await store.delete(office) }
        let now = try await loaded()
        #expect(now.models.map(\.id) == ["3"] && now.former?.map(\.id) == ["x"])
        #expect(now.office == nil)
        #expect(now.address == address, "a maker needs an address")
        await store.delete(now)
        #expect(await store.all(Model.self).map(\.id) == ["3", "x"], "children stay")
    }

    private struct Tag: Papyrus {
        let id: String
        var text: String?
    }

    private struct Tagged: Papyrus {
        let id: String
        @HasOne var tag: Tag?
    }

    @Test("a deleted child isn't rebuilt from its identifier") func deletedOptionalChild() async throws {
        await store.save(Tagged(id: "x", tag: Tag(id: "t", text: "hello")))
        await store.delete(id: "t", of: Tag.self)
        let parent = try await store.one("x", Tagged.self)
        #expect(parent.tag == nil)
        await store.save(parent)
        #expect(await store.all(Tag.self).isEmpty)
    }

    @Test("a child can move between parents") func movedChild() async throws {
        await store.save(objects: [maker("a", ["1", "2"]), maker("b", ["3"])])
        await store.save(objects: [maker("a", ["1"]), maker("b", ["3", "2"])])
        #expect(try await loaded("a").models.map(\.id) == ["1"])
        #expect(try await loaded("b").models.map(\.id) == ["3", "2"])
        #expect(await store.all(Model.self).map(\.id) == ["1", "2", "3"])
    }

    // MARK: Several levels, circles

    private struct Comment: Papyrus {
        let id: Int
        var text = ""
        @HasMany var replies: [Comment]

        init(_ id: Int, _ replies: [Comment] = [], text: String = "") {
            self.id = id
            self.text = text
            self.replies = replies
        }
    }

    private struct Friend: Papyrus {
        let id: String
        var name = ""
        @HasMany var friends: [Friend]
        @HasOne var model: Model?
    }

    /// An object in its own relations is loaded without its relations.
    @Test("saving an object loaded within a cycle keeps its relations") func cycles() async throws {
        func friend(_ id: String) async throws -> Friend {
            try await store.one(id, Friend.self)
        }
        let model = Model(id: "m", name: "Model m")
        let eve = Friend(id: "eve", friends: [], model: nil)
        let ada = Friend(id: "ada", friends: [], model: model)
        await store.save(ada)
        await store.save(Friend(id: "bob", friends: [ada], model: nil))
        var whole = try await friend("ada")
        whole.friends = [try await friend("bob"), eve]
        await store.save(whole)
        // Ada is among the friends of her friend, and is saved with him.
        var bob = try await friend("ada").friends[0]
        bob.name = "Bobby"
        await store.save(bob)
        #expect(try await friend("ada").friends.map(\.id) == ["bob", "eve"])
        #expect(try await friend("ada").model == model)
        #expect(try await friend("bob").name == "Bobby")
        // Saved directly; a friend is added to the present ones.
        var inner = try await friend("ada").friends[0].friends[0]
        #expect(inner.id == "ada" && inner.friends.isEmpty && inner.model == nil)
        inner.name = "Ada"
        inner.friends.append(Friend(id: "kim", friends: [], model: nil))
        await store.save(inner)
        #expect(try await friend("ada").friends.map(\.id) == ["bob", "eve", "kim"])
        #expect(try await friend("ada").model == model)
        // Empty relations are stored as such.
        inner.friends = []
        inner.model = nil
        await store.save(inner)
        #expect(try await friend("ada").friends.isEmpty)
        #expect(try await friend("ada").model == nil)
    }

    @Test("related objects may have relations of the same type") func relationsWithinRelations() async throws
    {
        let thread = Comment(1, [Comment(2, [Comment(3, [Comment(4)]), Comment(5)]), Comment(6)])
        await store.save(thread)
        #expect(try await store.one(1, Comment.self) == thread)
        #expect(await store.all(Comment.self).count == 6)
        await store.save(Comment(3, [Comment(7, text: "late")], text: "edited"))
        let now = try await store.one(1, Comment.self)
        #expect(now.replies[0].replies[0].text == "edited")
        #expect(now.replies[0].replies[0].replies.map(\.id) == [7])
    }

    private func chain(_ first: Int = 1, to last: Int) -> Comment {
        (first..<last).reversed().reduce(Comment(last)) { Comment($1, [$0]) }
    }

    @Test("relations may be deep up to a limit") func depthLimit() async throws {
        #if canImport(Darwin)
        let deep = chain(to: 15)
        #else
        let deep = chain(to: 60)
        #endif
        await store.save(deep)
        #expect(try await store.one(1, Comment.self) == deep)
        store.reset()
        // Too many levels are saved, but can be loaded only in parts.
        await store.save(chain(to: 1_000))
        let problem = await queryError { try await store.one(1, Comment.self) }
        #expect(problem?.schemaProblem?.contains("deep") == true)
        #expect(try await store.one(990, Comment.self) == chain(990, to: 1_000))
    }

    @Test("the outermost of several objects with one identifier is saved") func precedence() async throws {
        let within = Comment(
            1, [Comment(2, [Comment(1, text: "a copy within")], text: "two")], text: "itself")
        await store.save(within)
        let one = try await store.one(1, Comment.self)
        #expect(one.text == "itself" && one.replies.map(\.id) == [2])
        // In a cycle the second occurrence has empty relations.
        #expect(one.replies[0].replies == [Comment(1, text: "itself")])
        // An object passed to the call has precedence over related ones, at any position.
        for order in [[0, 1], [1, 0]] {
            let both = [Comment(3, [Comment(4, text: "held")]), Comment(4, text: "given")]
            await store.save(objects: order.map { both[$0] })
            #expect(try await store.one(4, Comment.self).text == "given")
        }
    }

    private final class Person: Papyrus {
        let id: Int
        @HasMany var friends: [Person]
        @HasOne var partner: Person?

        init(_ id: Int) {
            self.id = id
            friends = []
            partner = nil
        }

        static func == (left: Person, right: Person) -> Bool { left.id == right.id }
    }

    @Test("objects that refer to each other are saved and loaded") func mutualReferences() async throws {
        let people = (0..<20).map { Person($0) }
        for person in people {
            person.friends = people.filter { $0 !== person }
            person.partner = people[person.id ^ 1]
        }
        defer {
            for person in people {
                person.friends = []
                person.partner = nil
            }
        }
        await store.save(people[0])
        let all = await store.all(Person.self)
        #expect(Set(all.map(\.id)) == Set(0..<20))
        for person in all {
            #expect(person.friends.map(\.id) == (0..<20).filter { $0 != person.id })
            #expect(person.partner?.id == person.id ^ 1)
        }
        let one = try await store.one(7, Person.self)
        #expect(one.friends.count == 19 && one.friends[0].friends.count == 19)
    }

    private final class Egg: Papyrus {
        let id: Int
        @HasOne var hen: Hen
        init(_ id: Int, _ hen: Hen) {
            self.id = id
            self.hen = hen
        }
        static func == (left: Egg, right: Egg) -> Bool { left.id == right.id }
    }

    private final class Hen: Papyrus {
        let id: Int
        var egg: Egg?
        init(_ id: Int) { self.id = id }

        private enum Key: CodingKey { case id, egg }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            id = try container.decode(Int.self, forKey: .id)
            egg = try container.decode(HasOne<Egg>.self, forKey: .egg).wrappedValue
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(id, forKey: .id)
            if let egg { try container.encode(HasOne(wrappedValue: egg), forKey: .egg) }
        }

        static func == (left: Hen, right: Hen) -> Bool { left.id == right.id }
    }

    @Test("a cycle of required relations is an error") func requiredCycles() async throws {
        let hen = Hen(1)
        hen.egg = Egg(2, hen)
        defer { hen.egg = nil }
        await store.save(hen)
        let problem = await queryError { try await store.one(2, Egg.self) }
        #expect(problem?.schemaProblem?.contains("make one optional") == true)
    }

    private struct Back: Papyrus {
        let id: Int
        @HasOne var maker: Maker
    }

    @Test("a shared child is stored once") func sharedChildren() async throws {
        let backs = (0..<500).map { Back(id: $0, maker: maker()) }
        await store.save(objects: backs)
        #expect(await store.all(Maker.self) == [maker()])
        #expect(await store.all(Model.self).count == 2)
        #expect(await store.all(Back.self) == backs)
    }

    @Test("a parent may have 10,000 children") func manyChildren() async throws {
        let parent = maker("big", (0..<10_000).map { "\($0)" })
        await store.save(parent)
        #expect(try await loaded("big") == parent)
        #expect(await store.all(Model.self).count == 10_000)
        await store.save(maker("big", ["1"]))
        #expect(try await loaded("big").models.count == 1)
    }

    // MARK: Snapshots

    /// Each call saves a parent and its children with the same number.
    @Test("a parent and its children are loaded from one snapshot") func snapshots() async throws {
        let store = store
        @Sendable func numbered(_ number: Int) -> Comment {
            Comment(1, (2..<8).map { Comment($0, text: "\(number)") }, text: "\(number)")
        }
        await store.save(numbered(0))
        let writer = Task {
            var number = 1
            while !Task.isCancelled {
                await store.save(numbered(number))
                number += 1
            }
        }
        for look in 0..<100 {
            let found =
                look % 2 == 0
                ? try await store.one(1, Comment.self)
                : try #require(await store.objects(type: Comment.self).filter { $0.id == 1 }.execute().first)
            #expect(Set([found.text] + found.replies.map(\.text)).count == 1)
        }
        writer.cancel()
        await writer.value
    }

    // MARK: Other coders, other shapes

    @Test("other coders write relations as objects") func otherCoders() throws {
        let json = """
            {"id": "t", "name": "Tesla", "models": [{"id": "s", "name": "S"}],
             "address": {"id": "E621E1F8-C36C-495A-93FC-0C247A3E6E5F", "lineOne": "Deer Creek Road"}}
            """
        let maker = try JSONDecoder().decode(Maker.self, from: Data(json.utf8))
        #expect(maker.models == [Model(id: "s", name: "S")] && maker.office == nil && maker.former == nil)
        let again = try JSONDecoder().decode(Maker.self, from: JSONEncoder().encode(maker))
        #expect(again == maker)
        #expect(try CBORDecoder().decode(Maker.self, from: CBOREncoder().encode(maker)) == maker)
    }

    private struct Embedded: Papyrus {
        static let papyrusTypeName = "embedding"
        let id: String
        var models: [Model]
        var address: Address
    }

    private struct Related: Papyrus {
        static let papyrusTypeName = "embedding"
        let id: String
        @HasMany var models: [Model]
        @HasOne var address: Address
        @HasOne var office: Address?
        @HasMany var former: [Model]?
    }

    @Test("an embedded object that became a relation is read") func embeddedObjects() async throws {
        let models = [Model(id: "s", name: "S"), Model(id: "3", name: "3")]
        await store.save(Embedded(id: "t", models: models, address: address))
        let related = try await store.one("t", Related.self)
        #expect(related.models == models && related.address == address && related.office == nil)
        await store.save(related)
        #expect(await store.all(Model.self) == models)
        #expect(try await store.one("t", Related.self) == related)
    }

    // MARK: The browser

    @Test("vellum lists objects by their types") func objectsInVellum() async throws {
        await store.save(maker())
        func vellum(_ arguments: String...) throws -> String {
            let outcome = try ChildProcess.run(
                ChildProcess.program(named: "vellum"), arguments + ["--store", place.url.path])
            #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
            return outcome.text
        }
        #expect(try vellum("ls").hasPrefix("Papyrus\tcollection\tPapyrus\t4\t"))
        #expect(try vellum("keys", "Papyrus").contains("PapyrusTests.Model/s\t"))
        let value = try vellum("get", "Papyrus", "PapyrusTests.Maker/t", "--json")
        #expect(value.contains(#""models":["s","3"]"#) && value.contains(#""lineOne":"Deer Creek Road""#))
        let found = try vellum(
            "query", "Papyrus", #"find @owner = "PapyrusTests.Model" and name = "Model 3" | select id"#,
            "--json")
        #expect(found == "{\"id\":\"3\"}\n")
    }
}
