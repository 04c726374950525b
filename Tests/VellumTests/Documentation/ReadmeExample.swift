// The example of README.md, identical below this line; a test compares the two.
import Vellum

struct User: ArchiveCodable {
    var primaryKey: String { userName }
    var userName: String
    var fullName: String
    var age: Int
}

func keepUsers() throws {
    let users = try ArchivesFactory.shared.archives(
        for: User.self, trySetMaxMemorySize: 10.megaBytes, trySetMaxDiskSize: 20.megaBytes)

    users.record(User(userName: "ada", fullName: "Ada Lovelace", age: 36))
    users.record(User(userName: "guest", fullName: "", age: 0), options: .init(expiresIn: .seconds(60)))
    let ada = users.access(archiveWithKey: "ada")  // from memory, else from disk; now the most recent
    print(ada?.fullName ?? "none")

    try users.throwing.delete(archiveWithKey: "guest")  // users.delete logs errors instead
}
