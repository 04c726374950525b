import Foundation
import Nest
import TestSupport
import Testing

/// The page's code blocks, unchanged. They run in another process with its own store, since `Nest.shared` belongs to the
/// process.
@Suite struct PageTests {
    @Test("the documented usage works") func usage() async {
        await #expect(processExitsWith: .success) {
            let store = FileManager.default.temporaryDirectory.appendingPathComponent(
                "nest-\(UUID().uuidString)")
            setenv("VELLUM_STORE", store.path, 1)
            defer { try? FileManager.default.removeItem(at: store) }
            initialization()
            add()
            addWithFilePersistance()
            try #require(Nest.shared.isPersisted("key"))
            let key = "key"

            let item = Nest.shared[key]

            try #require(item as? [String] == ["item1", "item2"])

            Nest.shared.removeItem(with: key)

            try #require(Nest.shared[key] == nil && !Nest.shared.isPersisted("key"))
            add()

            Nest.shared.clearExpired()

            try #require(Nest.shared[key] != nil)

            Nest.shared.clear()

            try #require(Nest.shared[key] == nil)
            UserController().fetchUserData()
            add()
            let owned = Nest.key(with: "UserController", parameters: ["userData", username])
            try #require(Nest.shared[owned] as? [String: Int] == userData)
            UserController().userDidLogout()
            try #require(Nest.shared[owned] == nil && Nest.shared[key] != nil)
        }
    }

    @Test("policies have the documented intervals") func policies() {
        let page: [(ExpirationPolicy, String, Double)] = [
            (.short, "short", 60), (.medium, "medium", 300), (.long, "long", 600), (.max, "max", 900),
            (.never, "never", .infinity), (.custom(2.5), "custom:2.5", 2.5),
        ]
        for (policy, name, seconds) in page {
            #expect(policy.rawValue == name && policy.interval == seconds)
            #expect(ExpirationPolicy(rawValue: name) == policy)
        }
        #expect(ExpirationPolicy(rawValue: "custom:x") == nil && ExpirationPolicy(rawValue: "Short") == nil)
        let disk: [(PersistancePolicy, String, Double)] = [
            (.disabled, "disabled", 0), (.mirror, "mirror", 0), (.short, "short", 86_400),
            (.medium, "medium", 259_200), (.long, "long", 864_000),
        ]
        for (policy, name, seconds) in disk {
            #expect(policy.rawValue == name && policy.interval == seconds)
            #expect(PersistancePolicy(rawValue: name) == policy)
        }
        #expect(PersistancePolicy(rawValue: "never") == nil)
    }

    @Test("the article shows compiled code") func articleIsCompiled() throws {
        let code = try ArticleCode("Sources/Nest/Nest.docc/Nest.md")
        #expect(code.blocks == 3)
        for block in code.missing { Issue.record("not compiled here: \(block)") }
        let read = try ArticleCode("Assets/manual/Library.md", section: "Items with their own lifetimes")
        #expect(read.blocks == 1)
        for block in read.missing { Issue.record("Library.md: not compiled here: \(block)") }
    }
}

private func initialization() {
    let _ = Nest.shared
}

private func add() {
    let item = ["item1", "item2"]
    let key = "key"

    Nest.shared.add(item: item, withKey: key, expirationPolicy: .short)
}

private func addWithFilePersistance() {
    let item = ["item1", "item2"]
    let key = "key"

    Nest.shared.add(item: item, withKey: key, expirationPolicy: .short, andPersistancePolicy: .short)
}

private let userData = ["age": 36]
private let username = "ada"

class UserController {

    let identifier = "UserController"

    func fetchUserData() {

        // fetch the data..
        // ...

        // add to cache
        let key = Nest.key(with: identifier, parameters: ["userData", username])
        Nest.shared.add(item: userData, withKey: key, expirationPolicy: .short)
    }

    func userDidLogout() {

        Nest.shared.clear(ItemsOf: identifier)
    }
}

/// The article's own code blocks.
private func settings(_ folder: URL) {
    let pictures = Nest(named: "Pictures", store: folder)
    pictures.expirationIntervals.short = 5
    pictures.persistanceIntervals.long = 30 * 86_400
}

/// The example in Assets/manual/Library.md.
private func owned() {
    let key = Nest.key(with: "UserController", parameters: ["userData", "ada"])
    Nest.shared.add(item: ["age": 36], withKey: key, expirationPolicy: .short, andPersistancePolicy: .medium)
    let item = Nest.shared[key] as? [String: Int]
    Nest.shared.clear(ItemsOf: "UserController")  // all items of this owner

    _ = item
}
