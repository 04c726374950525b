import Foundation
import Testing
import Vellum

@Suite struct SettingsTests {
    private let store = TemporaryStore()

    @Test("limits that differ from those of an existing archive are logged once")
    func differingLimits() throws {
        _ = try store.factory().archives(for: Note.self, trySetMaxMemorySize: 1_000, trySetMaxDiskSize: 2_000)
        let (factory, messages) = store.loggedFactory()
        let notes = try factory.archives(for: Note.self, trySetMaxMemorySize: 1_000, trySetMaxDiskSize: 9_000)
        #expect(notes.maxDiskSize == 2_000)
        #expect(messages.all.count == 1)
        #expect(messages.all[0].contains("disk limit") && messages.all[0].contains("asked: 9000, has: 2000"))
        _ = try factory.archives(for: Note.self, trySetMaxMemorySize: 1_000, trySetMaxDiskSize: 9_000)
        #expect(messages.all.count == 1, "logged once")
        _ = try factory.archives(for: Note.self, durability: .full)
        #expect(messages.all.count == 2 && messages.all[1].contains("durability"))
        _ = try factory.archives(for: Note.self)
        #expect(messages.all.count == 2, "unspecified settings don't differ")
    }

    @Test("new archives have the factory's default limits, and existing ones keep theirs")
    func defaultLimits() throws {
        let factory = store.factory()
        #expect(factory.defaultMaxMemorySize == 1.megaBytes && factory.defaultMaxDiskSize == 2.megaBytes)
        factory.defaultMaxMemorySize = 3_000
        factory.defaultMaxDiskSize = 4_000
        let notes = try factory.archives(for: Note.self)
        #expect(notes.maxMemorySize == 3_000 && notes.maxDiskSize == 4_000)
        let others = try factory.archives(for: Note.self, named: "others", trySetMaxDiskSize: 5_000)
        #expect(others.maxMemorySize == 3_000 && others.maxDiskSize == 5_000)
        #expect(try store.factory().archives(for: Note.self).maxDiskSize == 4_000)
    }

    @Test("the published names are the types of this library") func publishedNames() {
        #expect(ArchiveManager<Note>.Archive.self == Note.self)
        let error: any Error = VellumError.noText
        #expect(error.localizedDescription == "the bytes are not UTF-8")
    }

    @Test("settings are applied to an existing archive on request") func appliesSettings() throws {
        let first = try store.factory().archives(
            for: Note.self, trySetMaxMemorySize: 1_000, trySetMaxDiskSize: 2_000)
        let (factory, messages) = store.loggedFactory()
        _ = try factory.archives(
            for: Note.self, trySetMaxDiskSize: 9_000, durability: .interval(seconds: 2),
            evictionPolicy: .s3fifo, appliesSettings: true)
        #expect(first.maxDiskSize == 9_000 && first.maxMemorySize == 1_000 && messages.all.isEmpty)
        #expect(try first.core.archive.configuration().durability == .interval(seconds: 2))
        #expect(try first.core.archive.configuration().evictionPolicy == .s3fifo)
    }

    @Test("a collection evicts nothing") func collections() throws {
        let notes = try store.factory().archives(
            for: Note.self, trySetMaxMemorySize: 500, kind: .collection, durability: .full)
        for number in 0..<60 { notes.record(Note.sized("\(number)", 50_000)) }
        #expect(notes.statistics?.objects == 60 && notes.statistics?.evictions == 0)
        #expect(try notes.core.archive.configuration().durability == .full)
        #expect(throws: ArchiveError.self) {
            try store.factory().archives(for: Note.self, kind: .cache)
        }
        #expect(throws: StorageError.self) {
            try store.factory().archives(for: Citizen.self, trySetMaxDiskSize: 1, kind: .collection)
        }
        #expect(try store.factory().archives(for: Note.self).accessAll(limitedBy: 1).count == 1)
    }

    private enum Other { struct Note: ArchiveCodable { var primaryKey: String } }
    private enum Renamed {
        struct Note: ArchiveCodable {
            static var archiveTypeName: String { VellumTests.Note.archiveTypeName }
            var primaryKey: String
        }
    }

    @Test("another type of the same name is refused") func otherTypes() throws {
        _ = try store.factory().archives(for: Note.self)
        let error = #expect(throws: ArchiveError.self) {
            try store.factory().archives(for: Other.Note.self)
        }
        #expect("\(try #require(error))".contains("archiveTypeName"))
        #expect("\(try #require(error))".contains("VellumTests.Note"))
        _ = try store.factory().archives(for: Renamed.Note.self)
    }
}
