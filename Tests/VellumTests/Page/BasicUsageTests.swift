import Foundation
import Testing
import Vellum

/// The usage page's blocks that use the program's own store. Each test is a process, since a program has one such store.
@Suite struct BasicUsageTests {
    private struct MyArchivable: ArchiveCodable, Equatable {
        var primaryKey: String
        var text: String
    }

    private struct User: Codable, Archivable, Equatable {
        var primaryKey: String { userName }
        var userName: String
        var fullName: String
        var age: Int
    }

    @Test func recordAndAccess() async {
        await #expect(processExitsWith: .success) {
            try withProgramStore {
                let myObject = MyArchivable(primaryKey: "object_key", text: "hello")

                let archives = try! ArchivesFactory.shared.archives(
                    for: MyArchivable.self,
                    trySetMaxMemorySize: 10.megaByte,
                    trySetMaxDiskSize: 20.megaByte
                )

                // will insert object
                archives.record(myObject)

                let object = archives.access(archiveWithKey: "object_key")

                #expect(object == myObject)
                #expect(archives.maxSize == 30 * 1_024 * 1_024)
                #expect(archives.access(archiveWithKey: "another") == nil)
            }
        }
    }

    @Test func archivesOfTheFactory() async {
        await #expect(processExitsWith: .success) {
            try withProgramStore {
                let archives = try! ArchivesFactory.shared.archives(
                    for: User.self,
                    trySetMaxMemorySize: 10.kiloByte,
                    trySetMaxDiskSize: 20.kiloByte
                )

                // or not explicit
                let sameArchives: ArchiveManager<User> = try! ArchivesFactory.shared.archives(
                    trySetMaxMemorySize: 10.kiloByte,
                    trySetMaxDiskSize: 20.kiloByte
                )

                #expect(archives === sameArchives)
                #expect(archives.maxMemorySize == 10_240 && archives.maxDiskSize == 20_480)
                let ignoring = try ArchivesFactory.shared.archives(
                    for: User.self, trySetMaxMemorySize: 1.megaByte, trySetMaxDiskSize: 1.megaByte)
                #expect(ignoring.maxSize == 30_720, "sizes apply to the first creation only")
                let byDefault = try ArchivesFactory.shared.archives(for: MyArchivable.self)
                #expect(byDefault.maxMemorySize == 1.megaBytes && byDefault.maxDiskSize == 2.megaBytes)
            }
        }
    }

    private final class Screen {
        @Archived var user: User?
    }

    @Test func archivedProperty() async {
        await #expect(processExitsWith: .success) {
            try withProgramStore {
                @Archived var user: User?

                #expect(user == nil)
                user = User(userName: "some", fullName: "One", age: 1)
                let archives = try ArchivesFactory.shared.archives(for: User.self)
                #expect(archives.peek(archiveWithKey: "some")?.fullName == "One")

                let screen = Screen()
                screen.user = User(userName: "other", fullName: "Two", age: 2)
                screen.user?.age = 3
                #expect(archives.peek(archiveWithKey: "other")?.age == 3)
            }
        }
    }

    @Test func archivedPropertyWithAnInitialKey() async {
        await #expect(processExitsWith: .success) {
            try withProgramStore {
                try ArchivesFactory.shared.archives(for: User.self)
                    .record(User(userName: "some", fullName: "One", age: 1))

                @Archived(initialPrimaryKey: "some") var user: User?

                #expect(user?.fullName == "One")
                @Archived(initialPrimaryKey: "none") var nobody: User?
                #expect(nobody == nil)
            }
        }
    }
}

/// Runs `body` in a process whose own store is an empty folder.
private func withProgramStore(_ body: () throws -> Void) throws {
    let store = TemporaryStore()
    setenv("VELLUM_STORE", store.path, 1)
    try #require(ArchivesFactory.shared.storePath == store.path)
    try body()
}
