#if Valkey  // The example of Assets/manual/Library.md; a test compares the two.
import Vellum
import VellumRemote
import VellumValkey

func example() async throws {
    let tier = try ValkeyTier("valkey://cache.example:6379/0")  // connects, and again whenever it must
    let users: RemoteArchives<User> = try ArchivesFactory.shared.archives(
        remote: tier, whenUncovered: .serveStale(for: .seconds(60)), trySetMaxDiskSize: 200.megaByte)

    try users.record(User(userName: "ada", age: 36), expiresIn: .seconds(3600))  // server, disk, memory
    let ada = try await users.asynchronous.access("ada")  // memory, disk, server; fills the nearer ones
    try users.delete("ada")  // for all machines
    print(ada ?? "none", try users.statistics().health)
}
#endif
