import Foundation
import StorageEngine
import TestSupport
import Testing
import Vellum

@Suite struct VersionsTests {
    private let store = TemporaryStore()

    private func old() throws -> ArchiveManager<Version0.Thing> {
        try store.factory().archives(for: Version0.Thing.self)
    }
    private func new() throws -> ArchiveManager<Version3.Thing> {
        try store.factory().archives(for: Version3.Thing.self)
    }

    @Test("objects of earlier versions are read as the current type") func earlierVersions() throws {
        try old().throwing.record(.init(primaryKey: "a", name: "first", size: 5))
        try store.factory().archives(for: Version1.Thing.self).record(.init(primaryKey: "b", title: "second"))
        let things = try new()
        things.record(.init("c", "third"))
        for _ in 0..<2 {
            #expect(things.access(archiveWithKey: "a") == .init("a", "first", width: 5))
            #expect(things.peek(archiveWithKey: "b") == .init("b", "second"))
            #expect(things.access(archiveWithKey: "c") == .init("c", "third"))
        }
        #expect(try things.core.archive.peek("a") != nil && things.statistics?.undecodable == 0)
        #expect(Set(things.accessAll().map(\.label)) == ["first!", "second!", "third!"])
        #expect(try things.modify(archiveWithKey: "b") { $0.height = 8 }?.tags == [])
        #expect(things.access(archiveWithKey: "b")?.height == 8)
    }

    private struct Rekeyed: ArchiveCodable, ArchiveVersioned {
        static var archiveName: String { "Thing" }
        static var archiveTypeName: String { "Thing" }
        static let archiveVersions = ArchiveVersions().version(1) {
            $0["primaryKey"] = .text("new " + ($0["primaryKey"]?.asString ?? ""))
        }
        var primaryKey: String
        var name: String
    }

    @Test("a step that changes an object's key leaves the object unchanged") func changedKeys() throws {
        try old().throwing.record(.init(primaryKey: "a", name: "first"))
        let before = try old().core.archive.peek("a")
        let things = try store.factory().archives(for: Rekeyed.self)
        #expect(try things.migrateAll() == ArchiveMigration(unreadable: 1))
        #expect(try things.core.archive.peek("a") == before)
    }

    @Test("values of a class are migrated") func classWithVersions() throws {
        try old().throwing.record(.init(primaryKey: "a", name: "first", size: 5))
        let things = try store.factory().archives(for: Version3.Object.self)
        #expect(things.access(archiveWithKey: "a")?.label == "first!")
        #expect(things.access(archiveWithKey: "a")?.label == "first!", "decoded from memory")
        try things.migrateAll()
        #expect(try new().access(archiveWithKey: "a") == nil, "the types have different properties")
        #expect(things.access(archiveWithKey: "a")?.label == "first!")
    }

    @Test("the version is stored as a property") func storedVersion() throws {
        try new().throwing.record(.init("a", "first"))
        let value = try #require(try new().core.archive.peek("a"))
        // A map of seven entries: "$version", 3 …
        #expect(Array(value.prefix(11)) == [0xa7, 0x68] + Array("$version".utf8) + [3])
        try old().throwing.record(.init(primaryKey: "b", name: "second"))
        #expect(
            try #require(try old().core.archive.peek("b")).first == 0xa3,
            "absent in a type without versions")
    }

    @Test("queries find objects of all versions") func queries() throws {
        let things = try new()
        for number in 0..<50 {
            try old().throwing.record(
                .init(primaryKey: "old \(number)", name: "thing \(number % 5)", size: number))
            things.record(.init("new \(number)", "thing \(number % 5)", width: number))
        }
        let query = things.where(\.name == "thing 3" && \.width < 30)
        let expected = Set(
            things.accessAll().filter { $0.name == "thing 3" && $0.width < 30 }.map(\.primaryKey))
        #expect(expected.count == 12)
        #expect(Set(query.getResults().map(\.primaryKey)) == expected)
        let explanation = try #require(query.explain())
        #expect(explanation.encoded?.contains("not $version = 3") == true, "\(explanation)")
        #expect(things.where(\.height == 7).count() == 100)
        things.where(\.width >= 10).deleteResults()
        #expect(things.count == 20)
        // Without current values, the encoding can't be probed.
        things.where(\.primaryKey, .contains("new")).deleteResults()
        #expect(try new().where(\.name == "thing 3").count() == 2)
    }

    @Test("newer objects are neither read nor changed") func newerVersions() async throws {
        let (factory, log) = store.loggedFactory()
        let old = try factory.archives(for: Version0.Thing.self)
        try new().throwing.record(.init("a", "first"), options: .init(owner: "me"))
        let stored = try old.core.archive.peek("a")
        func expectNewer(_ body: () throws -> Void) {
            let error = #expect(throws: ArchiveError.self) { try body() }
            #expect("\(error as Any)".contains("version 3"), "\(error as Any)")
        }
        expectNewer { _ = try old.throwing.access(archiveWithKey: "a") }
        expectNewer { _ = try old.throwing.peek(archiveWithKey: "a") }
        expectNewer { try old.throwing.update(.init(primaryKey: "a", name: "mine")) }
        expectNewer { try old.modify(archiveWithKey: "a") { $0.size = 2 } }
        expectNewer {
            try old.modify(archiveWithKey: "a", default: .init(primaryKey: "a", name: "")) { $0.size = 2 }
        }
        expectNewer { _ = try old.record(.init(primaryKey: "a", name: "mine"), replacing: nil) }
        expectNewer { try old.transaction { try $0.update(.init(primaryKey: "a", name: "mine")) } }
        expectNewer { _ = try old.value(forKey: "a") { .init(primaryKey: "a", name: "mine") } }
        await #expect(throws: ArchiveError.self) {
            try await old.asynchronous.update(.init(primaryKey: "a", name: "mine"))
        }
        old.update(.init(primaryKey: "a", name: "mine"))
        #expect(old.access(archiveWithKey: "a") == nil && old.accessAll().isEmpty)
        #expect(old.where(\.name == "first").getResults().isEmpty)
        #expect(old.staleKeys().isEmpty && old.deleteStale() == 0)
        #expect(try old.migrateAll() == ArchiveMigration(newer: 1))
        #expect(log.all.contains { $0.contains("update the program") })
        // Further reads log nothing.
        try new().throwing.record(.init("b", "second"))
        let logged = log.all.count
        for key in ["a", "b", "a"] {
            #expect(old.access(archiveWithKey: key) == nil && old.peek(archiveWithKey: key) == nil)
        }
        #expect(log.all.count == logged)
        try new().delete(archiveWithKey: "b")
        #expect(old.statistics?.newer == 2 && old.statistics?.undecodable == 0)
        #expect(try old.core.archive.peek("a") == stored)
        // `record` replaces any value.
        try old.throwing.record(.init(primaryKey: "a", name: "mine"))
        #expect(try new().access(archiveWithKey: "a")?.label == "mine!")
    }

    @Test("a concurrent update doesn't overwrite a newer version") func concurrentUpdates() throws {
        let (old, new) = (try old(), try new())
        for round in 0..<200 {
            old.record(.init(primaryKey: "a", name: "old"))
            let threads = [
                Background { try? old.throwing.update(.init(primaryKey: "a", name: "mine", size: round)) },
                Background { _ = try new.modify(archiveWithKey: "a") { $0.height = round } },
            ]
            for thread in threads { try thread.wait() }
            #expect(try new.core.archive.peek("a")?.prefix(10).last == UInt8(ascii: "n"))
            #expect(new.access(archiveWithKey: "a")?.height == round)
        }
    }

    @Test("migrating all objects changes neither order nor options") func migrateAll() async throws {
        let old = try old()
        for number in 0..<600 {
            try old.throwing.record(
                .init(primaryKey: "\(number)", name: "thing", size: number == 7 ? -1 : number),
                options: .init(expiresIn: .seconds(9_000 + number), owner: "owner \(number % 3)"))
        }
        for number in stride(from: 0, to: 600, by: 7) { old.touch(archiveWithKey: "\(number)") }
        let things = try new()
        things.record(.init("new", "new"))
        try things.core.archive.put([1], forKey: "stale")
        func standing() throws -> [EntryMetadata] {
            try old.keysByUse().map {
                var metadata = try #require(try old.core.archive.metadata($0))
                (metadata.sequence, metadata.valueBytes, metadata.tier) = (0, 0, .disk)
                return metadata
            }
        }
        let before = try standing()
        #expect(
            try await things.asynchronous.migrateAll()
                == ArchiveMigration(migrated: 599, present: 1, unreadable: 2))
        #expect(try standing() == before)
        #expect(try things.migrateAll() == ArchiveMigration(present: 600, unreadable: 2))
        #expect(things.access(archiveWithKey: "11") == .init("11", "thing", width: 11))
        #expect(old.access(archiveWithKey: "11") == nil && old.access(archiveWithKey: "7")?.size == -1)
        let task = Task { try await things.asynchronous.migrateAll() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("values by key have versions") func valuesByKey() throws {
        struct Before: Codable { var volume: Int }
        struct After: Codable, ArchiveVersioned, Equatable {
            static let archiveVersions = ArchiveVersions().version(1, renaming: ["volume": "level"])
            var level: Int
        }
        let archive = try StorageEngine.Store.open(at: store.path).archive(
            named: "settings", orCreate: ArchiveConfiguration(diskLimit: 10_000))
        try archive.put([0xa1, 0x66] + Array("volume".utf8) + [5], forKey: "a")
        let settings = try store.factory().values(of: After.self, named: "settings")
        #expect(settings["a"] == After(level: 5))
        settings["b"] = After(level: 6)
        #expect(try archive.peek("b")?.first == 0xa2 && settings["b"] == After(level: 6))
    }

    @Test("a type with its own encoding can't have versions") func ownEncoding() throws {
        struct Own: ArchiveCodable, ArchiveVersioned {
            static let archiveVersions = ArchiveVersions().version(1)
            var primaryKey: String
            func archive() throws -> Data { Data("own".utf8) }
        }
        let error = #expect(throws: ArchiveError.self) {
            try store.factory().archives(for: Own.self).throwing.record(Own(primaryKey: "a"))
        }
        #expect("\(error as Any)".contains("encodes as properties"))
    }
}
