import Foundation
import Logging
import Vellum

// The code of the articles in Vellum.docc; a test compares them. A block there is a part of a function here.

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
        users.record(user, expiresIn: .seconds(3_600), inMemory: .seconds(60), owner: "session 7")
        users.deleteAll(ofOwner: "session 7")
        users.deleteAllInvalidateArchives(invalidateTimeInterval: 7 * 24 * 3_600)
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
