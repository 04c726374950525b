import Foundation
import StorageEngine
import Testing

@Suite struct ShownExpiryTests {
    @Test("an expiry time is the same in each call") func stableExpiry() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try Store.open(at: folder.store).archive(named: "A", orCreate: ArchiveConfiguration())
        let before = Timestamp.now()
        try archive.put([1], forKey: "a", attributes: EntryAttributes(lifetime: .seconds(3600)))
        try archive.put([1], forKey: "b")
        let seen = try #require(try archive.metadata("b")?.sequence)
        _ = try archive.carryOut(.delete, on: [PlannedEntry(key: "b", sequence: seen)])
        var expiries: Set<Timestamp?> = []
        var ends: Set<Timestamp?> = []
        // Several ticks of the coarse clock.
        let end = Date().addingTimeInterval(0.05)
        while Date() < end {
            expiries.insert(try archive.metadata("a")?.expires)
            expiries.insert(try archive.entries().first?.expires)
            ends.insert(try archive.reversibleActions().first?.end)
        }
        #expect(expiries.count == 1)
        #expect(ends.count == 1)
        let expires = try #require(try archive.metadata("a")?.expires)
        #expect(abs(expires.secondsSince1970 - before.secondsSince1970 - 3600) < 5)
    }
}
