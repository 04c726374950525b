import Foundation
import StorageEngine
import Synchronization
import Testing

import Vellum

@Suite struct ArchiveManagerTests {
    private struct Unencodable: ArchiveCodable {
        struct Refusal: Error {}
        var primaryKey: String
        func encode(to encoder: any Encoder) throws { throw Refusal() }
    }

    @Test("sizes apply only to the creation of an archive") func sizesOfNewArchives() throws {
        let store = TemporaryStore()
        let factory = store.factory()
        let archives = try factory.archives(
            for: Note.self, trySetMaxMemorySize: 10.kiloByte, trySetMaxDiskSize: 20.kiloByte)
        let same: ArchiveManager<Note> = try factory.archives(
            trySetMaxMemorySize: 1.megaByte, trySetMaxDiskSize: 2.megaByte)
        #expect(archives === same)
        #expect(archives.maxMemorySize == 10_240 && archives.maxDiskSize == 20_480)
        #expect(archives.maxSize == 30_720)
        let elsewhere = try store.factory().archives(for: Note.self, trySetMaxDiskSize: 7.megaByte)
        #expect(elsewhere.maxSize == 30_720)
        elsewhere.resize(memory: 1_000, disk: 2_000)
        #expect(archives.maxSize == 3_000)
    }

    @Test("a name belongs to one type") func oneTypeForAName() throws {
        enum Other { struct Note: ArchiveCodable { var primaryKey: String } }
        let factory = TemporaryStore().factory()
        _ = try factory.archives(for: Note.self)
        let error = #expect(throws: ArchiveError.self) { try factory.archives(for: Other.Note.self) }
        #expect("\(try #require(error))".contains("archiveName"))
    }

    @Test(arguments: ["a/b", "..", "a\0b", "👩‍👩‍👧", "é", "e\u{301}", String(repeating: "k", count: 1_024)])
    func keysOfAnyKind(key: String) throws {
        let store = TemporaryStore()
        let archives = try store.factory().archives(for: Note.self)
        archives.record(Note(key, "1"))
        #expect(archives.access(archiveWithKey: key)?.text == "1")
        let elsewhere = try store.factory().archives(for: Note.self)
        #expect(elsewhere.access(archiveWithKey: key)?.text == "1")
        #expect(elsewhere.accessAll().map(\.primaryKey) == [key])
        archives.delete(archiveWithKey: key)
        #expect(elsewhere.access(archiveWithKey: key) == nil)
    }

    @Test("keys that differ in bytes are different") func keysAreBytes() throws {
        let archives = try TemporaryStore().factory().archives(for: Note.self)
        archives.insert(Note("é", "1"), Note("e\u{301}", "2"))
        #expect(archives.access(archiveWithKey: "é")?.text == "1")
        #expect(archives.access(archiveWithKey: "e\u{301}")?.text == "2")
    }

    @Test("empty and too long keys are refused", arguments: ["", String(repeating: "k", count: 1_025)])
    func invalidKeys(key: String) throws {
        let (factory, messages) = TemporaryStore().loggedFactory()
        let archives = try factory.archives(for: Note.self)
        let error = #expect(throws: StorageError.self) { try archives.throwing.record(Note(key)) }
        #expect("\(try #require(error))".contains("1,024"))
        #expect(throws: StorageError.self) { try archives.throwing.access(archiveWithKey: key) }
        #expect(throws: StorageError.self) { try archives.throwing.peek(archiveWithKey: key) }
        #expect(throws: StorageError.self) { try archives.throwing.delete(archiveWithKey: key) }
        #expect(throws: StorageError.self) { try archives.throwing.latestAccessedTime(for: key) }
        #expect(messages.all.isEmpty, "thrown errors are not logged")
        archives.record(Note(key))
        archives.update(Note(key))
        #expect(archives.access(archiveWithKey: key) == nil && archives.peek(archiveWithKey: key) == nil)
        #expect(archives.latestAccessedTime(for: key) == nil)
        archives.delete(archiveWithKey: key)
        #expect(archives.statistics?.failedCalls == 6 && messages.all.count == 6)
        #expect(
            messages.all.allSatisfy {
                $0.hasPrefix("warning vellum: cannot ") && $0.contains("archive: Note")
            })
        #expect(archives.currentSize == 0)
    }

    @Test("an object that can't be encoded is logged and counted") func unencodableObjects() async throws {
        let (factory, messages) = TemporaryStore().loggedFactory()
        let archives = try factory.archives(for: Unencodable.self)
        #expect(throws: ArchiveError.self) { try archives.throwing.record(Unencodable(primaryKey: "k")) }
        archives.record(Unencodable(primaryKey: "k"))
        let statistics = try archives.throwing.statistics()
        #expect(statistics.unencodable == 2 && statistics.rejections == 2 && statistics.failedCalls == 1)
        #expect(messages.all.count == 1 && messages.all[0].contains("Refusal"))
        #expect(archives.currentSize == 0)
        let history = try archives.core.archive.history(of: "k").events
        #expect(history.map(\.kind) == [.rejection, .rejection] && history[0].cause == .unencodable)
    }

    @Test("a value that can't be decoded is a miss, and stays") func undecodableValues() throws {
        enum Old { struct Thing: ArchiveCodable { var primaryKey: String; var number: String } }
        enum New {
            struct Thing: ArchiveCodable {
                static var archiveTypeName: String { Old.Thing.archiveTypeName }
                var primaryKey: String
                var number: Int
            }
        }
        let store = TemporaryStore()
        try store.factory().archives(for: Old.Thing.self).throwing.record(
            .init(primaryKey: "k", number: "one"))
        let (factory, messages) = store.loggedFactory()
        let archives = try factory.archives(for: New.Thing.self)
        #expect(archives.access(archiveWithKey: "k") == nil)
        #expect(archives.accessAll().isEmpty)
        #expect(messages.all.count == 1 && messages.all[0].contains("number"))
        let statistics = try archives.throwing.statistics()
        #expect(statistics.undecodable == 1 && statistics.misses == 1 && statistics.hits == 0)
        #expect(statistics.objects == 1)
        #expect(
            try store.factory().archives(for: Old.Thing.self).access(archiveWithKey: "k")?.number == "one")
        archives.record(.init(primaryKey: "k", number: 1))
        #expect(archives.access(archiveWithKey: "k")?.number == 1)
    }

    @Test("an object that exceeds the disk limit stays in memory") func valuesBeyondTheDiskLimit() throws {
        let store = TemporaryStore()
        let archives = try store.factory().archives(
            for: Note.self, trySetMaxMemorySize: 1_000, trySetMaxDiskSize: 500)
        let small = Note.sized("small", 100)
        archives.record(small)
        let forMemory = Note.sized("memory", 800)
        archives.record(forMemory)
        #expect(archives.access(archiveWithKey: "memory") == forMemory)
        #expect(archives.access(archiveWithKey: "small") == small, "nothing was evicted for it")
        #expect(archives.currentDiskSize == 100 && archives.currentMemorySize == 900)
        let elsewhere = try store.factory().archives(for: Note.self)
        #expect(elsewhere.access(archiveWithKey: "memory") == nil, "not visible to other processes")
        #expect(throws: StorageError.self) { try archives.throwing.record(.sized("none", 1_200)) }
        #expect(archives.access(archiveWithKey: "small") == small)
        #expect(archives.currentMemorySize == 900)
        archives.record(Note.sized("other", 400))
        archives.record(Note.sized("third", 400))
        #expect(archives.access(archiveWithKey: "memory") == nil, "lost when evicted from memory")
        #expect(try archives.core.archive.metadata("memory") == nil)
    }

    @Test("an object in memory only can be overwritten") func overwritingInMemory() throws {
        let archives = try TemporaryStore().factory().archives(
            for: Note.self, trySetMaxMemorySize: 2_000, trySetMaxDiskSize: 500)
        archives.record(Note.sized("a", 800))
        archives.record(Note.sized("a", 900))
        #expect(archives.access(archiveWithKey: "a") == Note.sized("a", 900))
        #expect(try archives.core.archive.metadata("a")?.tier == .memory)
        archives.record(Note.sized("a", 100))
        #expect(archives.access(archiveWithKey: "a") == Note.sized("a", 100))
        #expect(try archives.core.archive.metadata("a")?.tier == .both)
        #expect(archives.currentMemorySize == 100 && archives.currentDiskSize == 100)
    }

    @Test("calls for several objects and keys act on each of them") func convenienceCalls() throws {
        let archives = try TemporaryStore().factory().archives(for: Note.self)
        let notes = (0..<6).map { Note("\($0)") }
        archives.insert(notes[0], notes[1])
        archives.insert(all: Array(notes[2...]))
        #expect(archives.accessAll().count == 6)
        let time = try #require(archives.latestAccessedTime(for: notes[0]))
        #expect(abs(time.timeIntervalSinceNow) < 5)
        archives.delete(notes[0])
        archives.delete(notes[1], notes[2])
        archives.delete(keys: "3", "4")
        #expect(archives.accessAll().map(\.primaryKey) == ["5"])
        archives.delete(allKeys: ["5"])
        #expect(archives.accessAll().isEmpty && archives.latestAccessedTime(for: "5") == nil)
    }

    @Test("an owner's objects are deleted, and expired ones are absent") func ownersAndExpiry() throws {
        let archives = try TemporaryStore().factory().archives(for: Note.self)
        archives.record(Note("a"), options: .init(owner: "ada"))
        archives.record(Note("b"), options: .init(expiresIn: .seconds(3_600), owner: "ada"))
        archives.record(Note("c"), options: .init(expiresIn: .milliseconds(50)))
        archives.record(Note("d"))
        #expect(try archives.core.archive.metadata("b")?.owner == "ada")
        #expect(try archives.core.archive.metadata("b")?.expires != nil)
        Thread.sleep(forTimeInterval: 0.1)
        #expect(archives.access(archiveWithKey: "c") == nil, "absent from memory, too")
        archives.deleteAll(ofOwner: "ada")
        #expect(archives.accessAll().map(\.primaryKey) == ["d"])
        #expect(archives.core.memory.keys == ["d"])
    }

    @Test("an empty owner is refused") func emptyOwner() throws {
        let archives = try TemporaryStore().factory().archives(for: Note.self)
        archives.record(Note("a"))
        let isRefused = { (error: any Error) in
            if case StorageError.invalidOwner = error { true } else { false }
        }
        #expect(performing: { try archives.throwing.deleteAll(ofOwner: "") }, throws: isRefused)
        #expect(performing: { try archives.throwing.keys(ofOwner: "") }, throws: isRefused)
        #expect(
            performing: {
                try archives.throwing.record(Note("b"), options: .init(owner: ""))
            },
            throws: isRefused)
        archives.deleteAll(ofOwner: "")
        #expect(archives.keys() == ["a"] && archives.keys(ofOwner: "").isEmpty)
    }

    @Test("reading renews the TTL in memory") func memoryTTL() throws {
        let archives = try TemporaryStore().factory().archives(for: Note.self)
        archives.record(Note("a", "1"), options: .init(expiresIn: .seconds(60), inMemory: .milliseconds(60)))
        #expect(archives.core.memory.keys == ["a"])
        Thread.sleep(forTimeInterval: 0.1)
        #expect(archives.peek(archiveWithKey: "a")?.text == "1")
        #expect(archives.core.memory.keys == [], "expired in memory")
        #expect(archives.access(archiveWithKey: "a")?.text == "1")
        #expect(archives.core.memory.keys == ["a"])
    }

    @Test("peeking changes neither statistics nor LRU order") func peeking() throws {
        let store = TemporaryStore()
        try store.factory().archives(for: Note.self).throwing.record(Note("a", "1"))
        let archives = try store.factory().archives(for: Note.self)
        archives.record(Note("b", "2"))
        let before = try archives.throwing.statistics()
        #expect(archives.peek(archiveWithKey: "a")?.text == "1")
        #expect(archives.peek(archiveWithKey: "b")?.text == "2")
        #expect(archives.peek(archiveWithKey: "c") == nil)
        #expect(try archives.throwing.statistics() == before)
        #expect(try archives.keysByUse() == ["b", "a"])
    }

    @Test("any TTL is accepted, an invalid owner is refused") func extremeOptions() throws {
        let archives = try TemporaryStore().factory().archives(for: Note.self)
        let note = Note("a")
        archives.record(note, options: .init(expiresIn: .seconds(-1)))
        #expect(archives.access(archiveWithKey: "a") == nil, "expired when recorded")
        archives.record(note, options: .init(expiresIn: .microseconds(Int64.max)))
        #expect(archives.access(archiveWithKey: "a") == note)
        #expect(throws: StorageError.self) {
            try archives.throwing.record(note, options: .init(owner: String(repeating: "o", count: 256)))
        }
    }

    @Test func statistics() throws {
        let store = TemporaryStore()
        let archives = try store.factory().archives(
            for: Note.self, trySetMaxMemorySize: 250, trySetMaxDiskSize: 450)
        for name in ["a", "b", "c", "d"] { archives.record(Note.sized(name, 100)) }
        archives.record(Note.sized("e", 200))
        _ = archives.access(archiveWithKey: "e")
        _ = archives.access(archiveWithKey: "d")
        _ = archives.access(archiveWithKey: "none")
        archives.delete(archiveWithKey: "c")
        archives.record(Note.sized("brief", 80), options: .init(expiresIn: .zero))
        _ = archives.access(archiveWithKey: "brief")
        archives.record(Note.sized("large", 500))
        let found = try #require(archives.statistics)
        #expect(found.objects == 2 && found.memoryObjects == 1)
        #expect(found.memoryBytes == 100 && found.diskBytes == 300 && found.footprint > 300)
        #expect(found.hits == 2 && found.memoryHits == 1 && found.misses == 2)
        #expect(found.records == 6 && found.deletes == 1 && found.evictions == 2 && found.expirations == 1)
        #expect(found.rejections == 1 && found.failedCalls == 1)
        #expect(found.unencodable == 0 && found.undecodable == 0)
        let elsewhere = try store.factory().archives(for: Note.self)
        #expect(elsewhere.statistics?.hits == 2 && elsewhere.statistics?.memoryHits == 0)
        #expect(elsewhere.statistics?.failedCalls == 0)
    }

    /// An object during whose decoding another process records it again.
    private struct Overwritten: Archivable, Codable, Sendable {
        /// The archive of that process.
        final class Writer: Sendable {
            let archives: ArchiveManager<Overwritten>

            init(_ archives: ArchiveManager<Overwritten>) { self.archives = archives }
        }

        @TaskLocal static var writer: Writer?
        var primaryKey = "a"

        init() {}

        init(from decoder: any Decoder) throws {
            primaryKey = try decoder.singleValueContainer().decode(String.self)
            Self.writer?.archives.record(Overwritten())
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(primaryKey)
        }
    }

    @Test("an object overwritten during its access is a hit") func concurrentOverwrite() throws {
        let store = TemporaryStore()
        let archives = try store.factory().archives(for: Overwritten.self)
        archives.record(Overwritten())
        let others = try store.factory().archives(for: Overwritten.self)
        let found = Overwritten.$writer.withValue(Overwritten.Writer(archives)) {
            others.access(archiveWithKey: "a")
        }
        #expect(found != nil)
        let statistics = try #require(others.statistics)
        #expect(statistics.hits == 1 && statistics.misses == 0 && statistics.records == 2)
    }

}
