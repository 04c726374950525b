import Foundation
import Testing
import Vellum

@Suite struct KeysTests {
    private let store = TemporaryStore()

    private func note(_ key: String) -> Note { Note(key, "text of \(key)") }

    @Test("keys are sorted, and listing them counts as no access") func sortedKeys() async throws {
        let notes = try store.factory().archives(for: Note.self)
        notes.record(note("b 2"), options: .init(owner: "ada"))
        notes.record(note("a"))
        notes.record(note("b 1"))
        let before = notes.statistics
        #expect(notes.keys() == ["a", "b 1", "b 2"])
        #expect(notes.keys(withPrefix: "b") == ["b 1", "b 2"])
        #expect(notes.keys(ofOwner: "ada") == ["b 2"])
        #expect(notes.keys(limitedBy: 2) == ["a", "b 1"])
        #expect(notes.keys(after: "b 1", limitedBy: 2) == ["b 2"])
        #expect(notes.keys(limitedBy: -1) == [])
        #expect(try notes.throwing.keys(withPrefix: "a") == ["a"])
        #expect(try await notes.perform { try $0.throwing.keys(withPrefix: "a") } == ["a"])
        #expect(notes.statistics?.hits == before?.hits)
        #expect(try notes.keysByUse() == ["b 1", "a", "b 2"])
    }

    @Test("deleted and expired objects are neither counted nor contained") func countAndContains()
        async throws
    {
        let notes = try store.factory().archives(for: Note.self)
        #expect(notes.count == 0)
        for key in ["a", "b", "c"] { notes.record(note(key)) }
        notes.record(note("d"), options: .init(expiresIn: .zero))
        notes.delete(archiveWithKey: "c")
        #expect(notes.count == 2)
        #expect(try notes.throwing.count() == 2)
        #expect(notes.contains(archiveWithKey: "a") && !notes.contains(archiveWithKey: "c"))
        #expect(try notes.throwing.contains(archiveWithKey: "b"))
        #expect(!notes.contains(archiveWithKey: "d"))
        #expect(throws: StorageError.self) { try notes.throwing.contains(archiveWithKey: "") }
    }

    @Test("the totals of owners include objects without an owner") func owners() async throws {
        let notes = try store.factory().archives(for: Note.self)
        notes.record(note("a"), options: .init(owner: "ada"))
        notes.record(note("b"), options: .init(owner: "ada"))
        notes.record(note("c"))
        _ = notes.access(archiveWithKey: "a")
        let owners = notes.owners()
        #expect(owners.map(\.name) == ["ada", nil])
        #expect(owners.map(\.objects) == [2, 1])
        #expect(owners.map(\.hits) == [1, 0])
        #expect(owners.reduce(0) { $0 + $1.bytes } == notes.currentDiskSize)
        #expect(try notes.throwing.owners() == owners)
    }

    @Test("a touch counts as an access and reads no value") func touching() async throws {
        let notes = try store.factory().archives(for: Note.self, trySetMaxMemorySize: 1)
        for key in ["a", "b"] { notes.record(note(key)) }
        #expect(notes.touch(archiveWithKey: "a"))
        #expect(try notes.keysByUse() == ["a", "b"])
        #expect(notes.statistics?.hits == 1)
        #expect(!notes.touch(archiveWithKey: "absent"))
        #expect(notes.statistics?.misses == 1)
        #expect(notes.remainingLifetime(for: "a") == nil)
        #expect(notes.touch(archiveWithKey: "a", expiresIn: .seconds(36_000)))
        #expect(try notes.throwing.touch(archiveWithKey: "b", expiresIn: .seconds(36_000)))
        #expect(try notes.throwing.touch(archiveWithKey: "b"))
        let left = try #require(try notes.throwing.remainingLifetime(for: "a"))
        #expect(left > .seconds(30_000) && left < .seconds(36_001))
        #expect(try #require(try notes.throwing.remainingLifetime(for: "b")) > .seconds(30_000))
        #expect(!notes.touch(archiveWithKey: "absent", expiresIn: .seconds(36_000)))
    }

    // MARK: Lifetimes of an archive

    @Test("objects without a TTL get the archive's") func defaultTTL() throws {
        let notes = try store.factory().archives(for: Note.self, lifetime: .seconds(10_000))
        func left(_ key: String) throws -> Duration { try #require(notes.remainingLifetime(for: key)) }
        notes.record(note("a"))
        notes.update(note("b"))
        notes.record(all: [note("c")])
        try notes.modify(archiveWithKey: "d", default: note("d")) { _ in }
        for key in ["a", "b", "c", "d"] { #expect(try left(key) > .seconds(9_000)) }
        notes.record(note("a"), options: .init(expiresIn: .seconds(100_000)))
        notes.update(note("a"))
        #expect(try left("a") > .seconds(90_000), "an update keeps the TTL")
        notes.update(note("a"), options: .init(dropping: [.lifetime]))
        #expect(notes.remainingLifetime(for: "a") == nil)
        #expect(notes.access(archiveWithKey: "b") != nil)
        #expect(try left("b") < .seconds(10_001), "it doesn't slide")
    }

    @Test("the TTL requested last applies") func latestDefaultTTL() throws {
        let factory = store.factory()
        for (seconds, slides) in [(6_000, false), (1_000, true), (6_000, false), (1_000, true)] {
            let notes = try factory.archives(for: Note.self, lifetime: .seconds(seconds), slides: slides)
            notes.record(note("a"))
            let left = try #require(notes.remainingLifetime(for: "a"))
            // A sliding TTL may be an eighth longer.
            #expect(left > .seconds(seconds - 500) && left < .seconds(seconds + 500))
        }
    }

    @Test("an explicit TTL isn't renewed by the same call") func explicitTTL() throws {
        let notes = try store.factory().archives(for: Note.self, lifetime: .seconds(1_000), slides: true)
        func expect(_ key: String, location: SourceLocation = #_sourceLocation) {
            let left = notes.remainingLifetime(for: key) ?? .zero
            #expect(left > .seconds(1) && left < .seconds(6), "\(key): \(left)", sourceLocation: location)
        }
        for key in ["updated", "modified"] { notes.record(note(key)) }
        notes.update(note("updated"), options: .init(expiresIn: .seconds(5)))
        expect("updated")
        _ = try notes.modify(archiveWithKey: "modified", options: .init(expiresIn: .seconds(5))) {
            $0.text = "m"
        }
        expect("modified")
        notes.record(all: [note("all")], options: .init(expiresIn: .seconds(5)))
        expect("all")
        notes.record(note("new"), options: .init(expiresIn: .seconds(5)))
        expect("new")
        notes.update(note("new"))
        #expect(
            try #require(notes.remainingLifetime(for: "new")) > .seconds(900),
            "slides without an explicit TTL")
    }

    @Test("an access in memory renews a short TTL") func renewedTTL() throws {
        let notes = try store.factory().archives(for: Note.self, lifetime: .seconds(1_000), slides: true)
        for key in ["recorded", "updated", "touched", "batch"] { notes.record(note(key)) }
        notes.record(note("recorded"), options: .init(expiresIn: .seconds(5)))
        notes.update(note("updated"), options: .init(expiresIn: .seconds(5)))
        #expect(notes.touch(archiveWithKey: "touched", expiresIn: .seconds(5)))
        notes.record(all: [note("batch")], options: .init(expiresIn: .seconds(5)))
        for key in ["recorded", "updated", "touched", "batch"] {
            #expect(try #require(notes.remainingLifetime(for: key)) < .seconds(6), "\(key)")
            #expect(notes.access(archiveWithKey: key) != nil)
            #expect(try #require(notes.remainingLifetime(for: key)) > .seconds(900), "\(key)")
        }
    }

    @Test("each access renews a sliding TTL") func slidingTTL() async throws {
        let notes = try store.factory().archives(for: Note.self, lifetime: .seconds(8_000), slides: true)
        func left(_ key: String) throws -> Duration { try #require(notes.remainingLifetime(for: key)) }
        for key in ["used", "updated", "touched", "found", "left"] { notes.record(note(key)) }
        notes.record(note("longer"), options: .init(expiresIn: .seconds(100_000)))
        for key in ["used", "updated", "touched", "found", "left"] {
            #expect(try left(key) > .seconds(7_000))
            // As if recorded some time ago.
            try notes.core.archive.setLifetime(.seconds(4_000), forKey: key)
        }
        let other = try store.factory().archives(for: Note.self, lifetime: .seconds(8_000), slides: true)
        #expect(other.access(archiveWithKey: "used") == note("used"))
        #expect(other.access(archiveWithKey: "longer") != nil)
        other.update(note("updated"))
        #expect(other.touch(archiveWithKey: "touched"))
        // Queries and `accessAll` renew, too.
        #expect(other.where(\.primaryKey == "found").getResults().count == 1)
        #expect(other.accessAll(limitedBy: 1).map(\.primaryKey) == ["found"])
        for key in ["used", "updated", "touched", "found"] { #expect(try left(key) > .seconds(6_000)) }
        #expect(try left("left") <= .seconds(4_001))
        #expect(try left("longer") > .seconds(90_000))
    }

    @Test("a TTL of zero or less expires at once", arguments: [Int64.min, -1, 0])
    func expiredTTL(seconds: Int64) throws {
        let notes = try store.factory().archives(for: Note.self, lifetime: .seconds(seconds), slides: true)
        notes.record(note("a"))
        #expect(notes.access(archiveWithKey: "a") == nil)
    }

    /// For a new archive, 0 means the default size.
    @Test("a disk size of zero or less is refused", arguments: [0, -1, .min])
    func invalidSizes(disk: Int) throws {
        let notes = try store.factory().archives(for: Note.self)
        notes.record(note("a"))
        let before = notes.maxDiskSize
        notes.resize(disk: disk)
        #expect(throws: StorageError.self) { try notes.throwing.resize(memory: 1, disk: disk) }
        #expect(throws: StorageError.self) { try notes.throwing.resize(memory: -1) }
        #expect(notes.maxDiskSize == before && notes.contains(archiveWithKey: "a"))
        notes.resize(memory: 0)
        #expect(notes.maxMemorySize == 0 && notes.access(archiveWithKey: "a") == note("a"))
    }

    @Test("an access renews the TTL of an object in memory only") func slidingTTLInMemory() async throws {
        let notes = try store.factory().archives(
            for: Note.self, trySetMaxMemorySize: 1_000_000, trySetMaxDiskSize: 4, lifetime: .seconds(8_000),
            slides: true)
        notes.record(note("a"))
        let uses: [() async throws -> Note?] = [
            { notes.access(archiveWithKey: "a") },
            { try notes.value(forKey: "a") { note("b") } },
            { try await notes.asynchronous.access(archiveWithKey: "a") },
        ]
        for use in uses {
            try notes.core.archive.setLifetime(.seconds(4_000), forKey: "a")
            #expect(try await use() == note("a"))
            #expect(try #require(notes.remainingLifetime(for: "a")) > .seconds(6_000))
        }
    }

    @Test("hits in memory renew the TTL after an eighth of it") func slidingTTLOfMemoryHits() throws {
        let notes = try store.factory().archives(for: Note.self, lifetime: .seconds(40), slides: true)
        notes.record(note("a"))
        try notes.core.archive.setLifetime(.seconds(35), forKey: "a")
        // A sleeping task may be resumed much later.
        Thread.sleep(forTimeInterval: 5.5)
        #expect(notes.access(archiveWithKey: "a") != nil, "read from disk after an eighth of the TTL")
        #expect(try #require(notes.remainingLifetime(for: "a")) > .seconds(35))
    }

    @Test("hits in memory don't write each time") func memoryHitsWriteNothing() throws {
        let notes = try store.factory().archives(for: Note.self, lifetime: .seconds(3_600), slides: true)
        notes.record(note("a"))
        let mark = try notes.core.archive.changeMark()
        for _ in 0..<1_000 { #expect(notes.access(archiveWithKey: "a") != nil) }
        #expect(try notes.core.archive.changeMark() == mark)
        #expect(notes.statistics?.memoryHits == 1_000)
    }

    // MARK: The latest

    @Test("reading the latest objects visits only those") func latestObjects() throws {
        let notes = try store.factory().archives(for: Note.self, trySetMaxDiskSize: 10.megaBytes)
        notes.record(all: (0..<20_000).map { Note("\($0)") })
        let latest = try notes.core.latest(10)
        #expect(latest.visited == 10)
        #expect(latest.objects.map(\.object.primaryKey) == (19_990..<20_000).reversed().map { "\($0)" })
        #expect(notes.accessAll(limitedBy: 3).map(\.primaryKey) == ["19999", "19998", "19997"])
        #expect(notes.access(archiveWithKey: "7") != nil)
        for key in 19_000..<20_000 { notes.delete(archiveWithKey: "\(key)") }
        #expect(notes.accessAll(limitedBy: 2).map(\.primaryKey) == ["7", "18999"])
        #expect(notes.accessAll(limitedBy: 600).count == 600)
        #expect(notes.accessAll(limitedBy: 0) == [])
    }

    @Test("the latest objects are of both tiers, without expired or undecodable ones")
    func latestOfBothTiers() throws {
        let notes = try store.factory().archives(
            for: Note.self, trySetMaxMemorySize: 1_000, trySetMaxDiskSize: 400)
        let other = try store.factory().archives(for: Note.self)
        notes.record(.sized("disk", 100))
        notes.record(.sized("memory", 500))
        other.record(.sized("elsewhere", 600))
        notes.record(.sized("expired", 64), options: .init(expiresIn: .zero))
        try notes.core.archive.put(Array("no note".utf8), forKey: "stale")
        #expect(notes.accessAll(limitedBy: 10).map(\.primaryKey) == ["memory", "disk"])
        #expect(notes.accessAll(limitedBy: 2).map(\.primaryKey) == ["memory", "disk"])
        #expect(notes.accessAll(limitedBy: 1).map(\.primaryKey) == ["memory"])
        #expect(notes.accessAll().map(\.primaryKey) == ["memory", "disk"])
    }
}
