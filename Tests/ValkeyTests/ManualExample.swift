#if Valkey  // The example of Assets/manual/Library.md; a test compares the two.
import Vellum
import VellumRemote
import VellumValkey

func example() async throws {
    let tier = try ValkeyTier("valkey://cache.example:6379/0")  // connects and reconnects
    let users: RemoteArchives<User> = try ArchivesFactory.shared.archives(
        remote: tier, whenUntracked: .serveStale(for: .seconds(60)), trySetMaxDiskSize: 200.megaByte)

    let user = User(userName: "ada", fullName: "Ada Lovelace", age: 36)
    try users.record(user, options: .init(expiresIn: .seconds(3600)))  // server, disk, memory
    let ada = try await users.asynchronous.access("ada")  // memory, disk, server; fills the nearer ones
    try users.delete("ada")  // for all machines
    print(ada ?? "none", try users.statistics().health)
}
#endif
