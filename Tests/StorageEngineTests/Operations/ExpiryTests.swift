import Foundation
import StorageEngine
import TestSupport
import Testing

/// TTLs (S6, S8): expired entries in each operation, and changes of the clocks.
@Suite struct ExpiryTests {
    @Test("an expired entry is absent") func expiredEntry() throws {
        try withManualClock(.cache(100_000)) { archive, _, hand in
            try archive.put([1], forKey: "a", attributes: .expiring(.seconds(60)))
            try archive.put([2], forKey: "b")
            hand.pass(.seconds(59))
            #expect(try archive.access("a") == [1])
            #expect(try archive.metadata("a")?.expires != nil)
            hand.pass(.seconds(1))
            #expect(try archive.peek("a") == nil)
            #expect(try archive.metadata("a") == nil)
            #expect(try archive.entries().keys == ["b"])
            // A peek doesn't remove it, but no count includes it; an access is a miss and removes it.
            #expect(try archive.status().entries == 1)
            #expect(try archive.status().diskBytes == 1)
            #expect(try archive.check().entries == 1)
            #expect(try archive.status().expirations == 0)
            let misses = try archive.status().misses
            #expect(try archive.access("a") == nil)
            let status = try archive.status()
            #expect(status.entries == 1)
            #expect(status.diskBytes == 1)
            #expect(status.misses == misses + 1)
            #expect(status.expirations == 1)
            #expect(try archive.invariantViolations() == [])
        }
    }

    @Test("an expired entry is deleted as absent and replaced as new") func expiredEntryAsAbsent() throws {
        try withManualClock(.cache(100_000)) { archive, _, hand in
            try archive.put([1], forKey: "a", attributes: .expiring(.seconds(1)))
            try archive.put([1], forKey: "b", attributes: .expiring(.seconds(1)))
            let created = try #require(try archive.metadata("b")).created
            hand.pass(.seconds(2))
            #expect(try !archive.delete("a"))
            #expect(try !archive.setLifetime(.seconds(9), forKey: "b"))
            try archive.update([2], forKey: "b")
            let metadata = try #require(try archive.metadata("b"))
            #expect(metadata.expires == nil)
            #expect(metadata.created > created, "an expired entry has no creation time to keep")
            #expect(try archive.entries().keys == ["b"])
        }
    }

    @Test("removes all expired entries, and notices an earlier expiry time") func removeExpired() throws {
        try withManualClock(.cache(100_000)) { archive, _, hand in
            for number in 0..<500 {
                try archive.put(
                    repeated(1, 10), forKey: "k\(number)",
                    attributes: .expiring(.seconds(number)))
            }
            #expect(try archive.removeExpired().entries == 1)
            hand.pass(.seconds(100))
            #expect(try archive.removeExpired() == Removal(entries: 100, bytes: 1000))
            #expect(try archive.removeExpired().entries == 0)
            // A nearer expiry time that is set later must be noticed.
            try archive.setLifetime(.milliseconds(500), forKey: "k499")
            hand.pass(.seconds(1))
            #expect(try archive.removeExpired().entries == 2)
            #expect(try archive.status().entries == 397)
            #expect(try archive.check().clean)
        }
    }

    @Test("expiry times survive reopening", arguments: [false, true])
    func reopenedExpiryTimes(removingIndex: Bool) throws {
        try withManualClock(.cache(100_000)) { archive, folder, hand in
            try archive.put([1], forKey: "minute", attributes: .expiring(.seconds(60)))
            try archive.put([1], forKey: "changed", attributes: .expiring(.seconds(1)))
            try archive.put([1], forKey: "freed", attributes: .expiring(.seconds(1)))
            try archive.setLifetime(.seconds(90), forKey: "changed")
            try archive.setLifetime(nil, forKey: "freed")
            let again = try folder.reopen(archive, rebuilding: removingIndex)
            hand.pass(.seconds(59))
            #expect(Set(try again.entries().keys) == ["minute", "changed", "freed"])
            hand.pass(.seconds(2))
            #expect(Set(try again.entries().keys) == ["changed", "freed"])
            hand.pass(.seconds(30))
            #expect(try again.entries().keys == ["freed"])
        }
    }

    /// Sets the wall clock by years, also between closing and opening, and before a rebuild (R9).
    @Test("setting the wall clock moves no expiry time", arguments: [Int64(-10), -1, 1, 10], [false, true])
    func setWallClock(years: Int64, removingIndex: Bool) throws {
        try withManualClock(.cache(100_000)) { archive, folder, hand in
            try archive.put([1], forKey: "a", attributes: .expiring(.seconds(60)))
            hand.setWallClock(by: years * 31_557_600_000_000)
            #expect(try archive.peek("a") != nil)
            let again = try folder.reopen(archive, rebuilding: removingIndex)
            hand.pass(.milliseconds(59_500))
            #expect(try again.peek("a") != nil)
            hand.setWallClock(by: -2 * years * 31_557_600_000_000)
            #expect(try again.peek("a") != nil)
            hand.pass(.seconds(1))
            #expect(try again.peek("a") == nil)
        }
    }

    @Test("extreme TTLs are clamped") func extremeTTLs() throws {
        try withManualClock(.cache(100_000)) { archive, folder, hand in
            let attributes = EntryAttributes(
                lifetime: Duration(secondsComponent: .max, attosecondsComponent: 0))
            try archive.put([1], forKey: "longest", attributes: attributes)
            try archive.put([1], forKey: "gone", attributes: .expiring(.seconds(-5)))
            try archive.put([1], forKey: "zero", attributes: .expiring(.zero))
            // Durations beyond 64 bits of seconds must not trap.
            let beyond = Duration.seconds(Int64.max) * 2
            try archive.put([1], forKey: "gone", attributes: .expiring(.zero - beyond))
            #expect(try archive.entries().keys == ["longest"])
            try archive.put([1], forKey: "longest", attributes: .expiring(beyond))
            hand.pass(.seconds(100 * 31_557_600))
            #expect(try archive.peek("longest") == [1])
            archive.close()
            #expect(try folder.rebuilt().peek("longest") == [1])
        }
    }

    @Test("idle entries are those not accessed for longer") func idleEntries() throws {
        try withManualClock(.cache(100_000)) { archive, _, hand in
            try archive.put([1], forKey: "old")
            try archive.put([1], forKey: "used")
            hand.pass(.seconds(100))
            _ = try archive.access("used")
            try archive.put([1], forKey: "new")
            #expect(try archive.deleteIdle(longerThan: .seconds(100)).entries == 0)
            #expect(try archive.deleteIdle(longerThan: .seconds(50)) == Removal(entries: 1, bytes: 1))
            #expect(Set(try archive.entries().keys) == ["used", "new"])
        }
    }

    @Test("reclaiming keeps expiry times and owners") func reclaimedOptions() throws {
        try withManualClock(.cache(200_000)) { archive, folder, hand in
            let attributes = EntryAttributes(lifetime: .seconds(60), memoryLifetime: .seconds(5), owner: "me")
            try archive.put([7], forKey: "kept", attributes: attributes)
            for number in 0..<400 { try archive.put(repeated(1, 10_000), forKey: "k\(number % 10)") }
            // By now the first segment, with the entry's first frame, is reclaimed.
            #expect(try !folder.files(inArchive: "A").contains("00000001.segment"))
            let metadata = try #require(try archive.metadata("kept"))
            #expect(metadata.owner == "me")
            #expect(metadata.expires != nil)
            let again = try folder.reopen(archive)
            #expect(try again.metadata("kept")?.owner == "me")
            let held = try again.access(toHold: "kept")
            #expect(held?.memoryInterval == 5_000_000)
            hand.pass(.seconds(61))
            #expect(try again.peek("kept") == nil)
        }
    }

    @Test("entries are summed and deleted by owner") func entriesByOwner() throws {
        try withManualClock(.cache(100_000)) { archive, folder, _ in
            for number in 0..<30 {
                let owner = number % 3 == 0 ? nil : "owner \(number % 3)"
                try archive.put(
                    repeated(0, number), forKey: "k\(number)",
                    attributes: EntryAttributes(owner: owner))
            }
            let owners = try archive.owners()
            #expect(owners.map(\.owner) == ["owner 2", "owner 1", nil])
            #expect(owners.map(\.entries) == [10, 10, 10])
            #expect(owners.map(\.bytes) == [155, 145, 135])
            #expect(try archive.deleteEntries(ofOwner: "owner 1") == Removal(entries: 10, bytes: 145))
            #expect(try archive.deleteEntries(ofOwner: "nobody").entries == 0)
            archive.close()
            #expect(try folder.rebuilt().entries().count == 20)
            #expect(throws: StorageError.self) {
                try folder.archive().put(
                    [], forKey: "k", attributes: EntryAttributes(owner: String(repeating: "x", count: 256)))
            }
        }
    }

    @Test("an expiry time is the same in each call") func stableExpiry() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(creating: .cache())
        let before = Timestamp.now()
        try archive.put([1], forKey: "a", attributes: .expiring(.seconds(3600)))
        try archive.put([1], forKey: "b")
        _ = try archive.carryOut(.delete, on: archive.planned(["b"]))
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
