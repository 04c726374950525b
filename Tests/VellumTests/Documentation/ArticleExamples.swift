import Vellum

// The code of the articles in Vellum.docc that needs only this library, compiled like a user's; a test compares the two. A
// block of an article is a part of a function here.

private enum LandingPage {
    struct User: Codable, Archivable {
        var primaryKey: String { userName }
        var userName: String
        var age: Int
    }

    static func body() throws -> User? {
        let users = try ArchivesFactory.shared.archives(for: User.self, trySetMaxDiskSize: 20.megaBytes)
        users.record(User(userName: "ada", age: 36))
        let ada = users.access(archiveWithKey: "ada")
        return ada
    }
}

private enum Articles {
    struct User: ArchiveCodable {
        struct Address: Codable {
            var city: String
        }

        var primaryKey: String { userName }
        var userName: String
        var age: Int
        var nick: String?
        var home: Address
    }

    static func terms(_ users: ArchiveManager<User>, _ user: User) {
        let options = EntryOptions(
            expiresIn: .seconds(3_600), inMemory: .seconds(60), owner: "session 7")
        users.record(user, options: options)
        users.deleteAll(ofOwner: "session 7")
        users.deleteAllInvalidateArchives(invalidateTimeInterval: 7 * 24 * 3_600)
    }

    static func updates(_ users: ArchiveManager<User>, _ user: User) {
        users.update(user, options: .init(expiresIn: .seconds(3_600)))  // keeps the owner
        users.update(user, options: .init(dropping: [.lifetime]))
    }

    static func settings() throws -> ArchiveManager<User> {
        let orders = try ArchivesFactory.shared.archives(
            for: User.self, trySetMaxMemorySize: 4.megaBytes, kind: .collection, durability: .full,
            appliesSettings: true)
        return orders
    }

    struct Page: ArchiveCodable {
        var primaryKey: String
    }

    @Sendable static func render(_ path: String) async throws -> Page { Page(primaryKey: path) }

    static func computing(_ pages: ArchiveManager<Page>) async throws -> Page {
        let page = try await pages.asynchronous.value(
            forKey: "/", options: .init(expiresIn: .seconds(60)), renewingBefore: .seconds(10)
        ) {
            try await render("/")
        }
        return page
    }

    static func composing(_ users: ArchiveManager<User>) -> ([User], Int) {
        let young = users.findWhere { $0.age(.less(than: 18)) || !$0.nick(.isNil) }
            .skipResults(by: 10).limitResults(by: 10)
        let number = users.where(\.age >= 18 && \.home.city == "Jakarta").count()
        users.where(\.userName, .contains("guest")).deleteResults()
        if let explanation = users.where(\.age >= 18).explain() { print(explanation) }
        return (young.getResults(), number)
    }

    static func failures(_ users: ArchiveManager<User>, _ user: User) {
        ArchivesFactory.shared.logger = Logger(label: "store")
        do {
            try users.throwing.record(user)
        } catch {
            print(error)  // one line that says what, where and what to do
        }
    }

    static func query(_ users: ArchiveManager<User>) -> [User] {
        let results = users.findWhere { user in
            user.userName(.contains("premium"))
                .nick(.isNotNil)
                .home.city(.isEqual(with: "Jakarta"))
        }
        .sorted { by in
            by.age(.ascending)
                .userName(.descending)
        }
        .limitResults(by: 10)
        .getResults()
        return results
    }

    static func closure(_ users: ArchiveManager<User>) -> [User] {
        let evens = users.findWhere { $0.age(.isValid { $0 % 2 == 0 }) }.getResults()
        return evens
    }
}

/// The article about changes.
private enum Changing {
    struct User: ArchiveCodable, Equatable {
        var primaryKey: String { userName }
        var userName: String
        var age: Int
    }

    struct Account: ArchiveCodable {
        var primaryKey: String
        var cents: Int
    }

    static func batches(_ users: ArchiveManager<User>, _ ada: User, _ bob: User) {
        users.record(all: [ada, bob], options: .init(expiresIn: .seconds(3_600), owner: "session 7"))
        users.delete(keys: ["ada", "bob"])
    }

    static func transactions(_ accounts: ArchiveManager<Account>) throws {
        try accounts.transaction { transaction in
            guard var from = try transaction.access(archiveWithKey: "ada"),
                var to = try transaction.access(archiveWithKey: "bob")
            else { return }
            from.cents -= 100
            to.cents += 100
            try transaction.update(from)
            try transaction.update(to)
        }
    }

    static func modifying(
        _ users: ArchiveManager<User>, _ ada: User, _ guest: User
    ) throws -> (User?, User, Bool) {
        let older = try users.modify(archiveWithKey: "ada") { $0.age += 1 }
        let visits = try users.modify(
            archiveWithKey: "guest", default: guest, options: .init(owner: "session 7")
        ) { $0.age += 1 }
        let isMine = try users.record(ada, replacing: nil)  // only if there is none
        return (older, visits, isMine)
    }

    static func keys(_ users: ArchiveManager<User>) throws -> (Duration?, ArchiveManager<User>) {
        for key in users.keys(withPrefix: "guest", limitedBy: 100) where !users.touch(archiveWithKey: key) {
            print("deleted since:", key)
        }
        for owner in users.owners() { print(owner.name ?? "nobody", owner.objects, owner.bytes) }
        let left = users.remainingLifetime(for: "ada")

        let sessions = try ArchivesFactory.shared.archives(
            for: User.self, named: "sessions", lifetime: .seconds(1_800), slides: true)
        return (left, sessions)
    }

    static func following(_ users: ArchiveManager<User>) async {
        for await user in users.values(forKey: "ada") {
            print(user?.age ?? 0)
        }
        for await adults in users.where(\.age >= 18).values() {
            print(adults.count)
        }
    }

    @MainActor static func observing(_ users: ArchiveManager<User>) -> String {
        let ada = users.values(forKey: "ada").observed()
        let adults = users.where(\.age >= 18).values().observed()
        let title = "\(ada.value?.userName ?? "nobody") and \(adults.value.count) adults"
        return title
    }

    static func values(_ bytes: Data) throws -> (ArchiveManager<User>, Data?) {
        let drafts = try ArchivesFactory.shared.archives(for: User.self, named: "drafts")
        let images = try ArchivesFactory.shared.values(of: Data.self, named: "images")
        images.record(bytes, forKey: "logo.png", options: .init(expiresIn: .seconds(3_600)))
        let logo = images["logo.png"]
        return (drafts, logo)
    }

    static func valuesAlone(_ texts: ArchiveOfValues<String>) async throws -> String {
        let greeting = try texts.value(forKey: "/") { "hello" }
        try texts.modify(forKey: "/") { $0 += "!" }
        texts.record(all: ["/a": "one", "/b": "two"])
        for await text in texts.values(forKey: "/") {
            print(text ?? "none")
        }
        return greeting
    }

    struct Picture: Archivable {
        var primaryKey: String
        var pixels: [UInt8]

        func archive() throws -> Data { Data(pixels) }

        static func deArchive(fromData data: Data, forKey key: String) throws -> Archivable {
            Picture(primaryKey: key, pixels: [UInt8](data))
        }
    }

    static func closing() throws {
        try ArchivesFactory.shared.useStore(at: "/var/lib/app/store")  // before its first use, else it throws
        ArchivesFactory.shared.close()
    }
}

/// The article about types that change.
private enum Versions {
    struct Account: ArchiveCodable, ArchiveVersioned {
        static let archiveVersions = ArchiveVersions()
            .version(1, renaming: ["name": "userName"], adding: ["age": 18])
            .version(2) { account in
                account["isAdult"] = .boolean((account["age"]?.asInt64 ?? 0) >= 18)
            }

        var primaryKey: String { userName }
        var userName: String
        var age: Int
        var isAdult: Bool
    }

    static func migrating(_ accounts: ArchiveManager<Account>) throws {
        let outcome = try accounts.migrateAll()
        print(outcome.migrated, outcome.unreadable)
    }
}
