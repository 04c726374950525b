import Foundation
import Nest
import Papyrus
import TestSupport
import Testing

/// An object that only Foundation can archive.
final class Parcel: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    override init() {}
    init?(coder: NSCoder) {}
    func encode(with coder: NSCoder) { coder.encode(3, forKey: "weight") }
    override func isEqual(_ other: Any?) -> Bool { other is Parcel }
}

/// How `vellum` shows data of the other products.
@Suite struct OtherLibrariesTests {
    struct City: Codable {
        var name: String
        var people: Int
    }

    @Test func showsItemsOfNest() throws {
        let folder = TemporaryFolder()
        let nest = Nest(named: "Nest", store: URL(fileURLWithPath: folder / "store"))
        for (name, people) in [("Graz", 300_000), ("Linz", 210_000)] {
            nest.add(
                item: City(name: name, people: people), withKey: Nest.key(with: "Cities", parameters: [name]),
                expirationPolicy: .short, andPersistancePolicy: .medium)
        }
        nest.add(item: "in memory only", withKey: "own", expirationPolicy: .never)
        nest.add(
            item: [NSNumber(value: 7), NSSet(object: "inside")] as [Any], withKey: "list",
            expirationPolicy: .never,
            andPersistancePolicy: .long)
        nest.add(item: Parcel(), withKey: "parcel", expirationPolicy: .never, andPersistancePolicy: .long)
        #expect(nest.isPersisted("list") && nest.isPersisted("parcel"))
        func run(_ arguments: String...) throws -> Vellum.Result {
            let result = try Vellum.run(arguments + ["--store", folder / "store"]).expect(0)
            return result
        }
        let value = try run("get", "Nest", "Cities-Graz", "--json").text
        #expect(value.contains(#""item":{"name":"Graz","people":300000}"#) && value.contains(#""memory":60"#))
        let found = try run(
            "query", "Nest", #"find @owner = "Cities" and item.people > 250000 | select @key, item.name"#)
        #expect(found.text.contains("Graz") && !found.text.contains("Linz"))
        #expect(try run("get", "Nest", "list", "--json").text.contains(#""item":[7,["inside"]]"#))
        let all = try run("keys", "Nest").text
        #expect(all.contains("Cities-Linz") && !all.contains("own"), "an item in memory only was shown")
        let screen = try Vellum.run([
            "browse", "--size", "100x40", "--keys", "<enter><enter>", "--store", folder / "store",
        ]).expect(0)
        // The last item, a keyed archive, as a tree.
        #expect(
            screen.text.contains("$archiver") && screen.text.contains("NSKeyedArchiver"), "\(screen.text)")
    }

    struct Car: Papyrus {
        let id: String
        var model: String
    }

    @Test func findsObjectsOfPapyrus() async throws {
        let folder = TemporaryFolder()
        let store = PapyrusStore(url: URL(fileURLWithPath: folder / "store"))
        await store.save(objects: [Car(id: "s", model: "Model S"), Car(id: "3", model: "Model 3")])
        let type = "VellumCommandTests.OtherLibrariesTests.Car"
        let found = try Vellum.run([
            "query", "Papyrus", "find @owner = \"\(type)\" and model = \"Model 3\"", "--store",
            folder / "store",
        ]).expect(0)
        #expect(found.text.contains("\(type)/3") && !found.text.contains("\(type)/s"))
    }
}
