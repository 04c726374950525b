import Foundation
import Testing
import Vellum

/// The usage page's list of an archive's methods and properties: signatures and results.
@Suite struct ManagerListTests {
    private struct User: Codable, Archivable, Equatable {
        var primaryKey: String { userName }
        var userName: String
        var age = 0
    }

    private typealias Manager = ArchiveManager<User>

    @Test func signatures() {
        let _: KeyPath<Manager, Int> = \.maxSize
        let _: KeyPath<Manager, Int> = \.currentSize
        let _: (Manager) -> (String) -> Date? = Manager.latestAccessedTime(for:)
        let _: (Manager) -> (TimeInterval) -> Void = Manager.deleteAllInvalidateArchives(
            invalidateTimeInterval:)
        let _: (Manager) -> (User) -> Void = Manager.record(_:)
        let _: (Manager) -> (User) -> Void = Manager.update(_:)
        let _: (Manager) -> (String) -> User? = Manager.access(archiveWithKey:)
        let _: (Manager) -> (Int) -> [User] = Manager.accessAll(limitedBy:)
        let _: (Manager) -> () -> [User] = Manager.accessAll
        let _: (Manager) -> (String) -> Void = Manager.delete(archiveWithKey:)
        let _: (Manager) -> () -> Void = Manager.deleteAll
        let _: (Manager) -> ([Query<User>]) -> [User] = Manager.process(queries:)
        let _: (ArchivesFactory) -> (User.Type, Int, Int) throws -> Manager =
            ArchivesFactory.archives(for:trySetMaxMemorySize:trySetMaxDiskSize:)
    }

    @Test func sizes() throws {
        let users = try TemporaryStore().factory().archives(
            for: User.self, trySetMaxMemorySize: 10.kiloByte, trySetMaxDiskSize: 20.kiloByte)
        #expect(users.maxSize == 30.kiloBytes && users.currentSize == 0)
        let ada = User(userName: "ada")
        users.record(ada)
        #expect(users.currentSize == 2 * (try ada.archive().count), "it is in both tiers")
    }

    @Test func recordingUpdatingAndTimes() throws {
        let users = try TemporaryStore().factory().archives(for: User.self)
        #expect(users.latestAccessedTime(for: "ada") == nil)
        users.update(User(userName: "ada", age: 1))
        #expect(users.access(archiveWithKey: "ada")?.age == 1, "an update inserts absent objects")
        let first = try #require(users.latestAccessedTime(for: "ada"))
        let created = try #require(try users.core.archive.metadata("ada")).created
        Thread.sleep(forTimeInterval: 0.02)
        users.update(User(userName: "ada", age: 2))
        #expect(users.access(archiveWithKey: "ada")?.age == 2)
        #expect(try #require(users.latestAccessedTime(for: "ada")) > first)
        #expect(try users.core.archive.metadata("ada")?.created == created)
        users.record(User(userName: "ada", age: 3))
        #expect(users.access(archiveWithKey: "ada")?.age == 3)
        #expect(try #require(try users.core.archive.metadata("ada")).created > created)
    }

    @Test func accessingAll() throws {
        let users = try TemporaryStore().factory().archives(for: User.self)
        users.insert(all: (0..<5).map { User(userName: "\($0)") })
        #expect(users.accessAll(limitedBy: 2).map(\.userName) == ["4", "3"])
        #expect(users.accessAll(limitedBy: 0).isEmpty && users.accessAll(limitedBy: -1).isEmpty)
        #expect(users.accessAll().map(\.userName) == ["4", "3", "2", "1", "0"])
    }

    @Test func deleting() throws {
        let users = try TemporaryStore().factory().archives(for: User.self)
        users.insert(all: (0..<5).map { User(userName: "\($0)") })
        users.delete(archiveWithKey: "3")
        users.delete(archiveWithKey: "none")
        #expect(users.access(archiveWithKey: "3") == nil)
        #expect(users.accessAll().count == 4)
        users.deleteAll()
        #expect(users.accessAll().isEmpty && users.currentSize == 0)
    }
}
