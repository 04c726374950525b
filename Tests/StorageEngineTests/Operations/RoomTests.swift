import Foundation
import StorageEngine
import TestSupport
import Testing

/// Room (S14): what was deleted, evicted or expired gives its room back although nobody writes.
@Suite struct RoomTests {
    private func wait(_ archive: Archive, for footprint: UInt64) async throws {
        #expect(try await eventually(within: 15) { try archive.status().footprint <= footprint })
    }

    /// What broke: a cache of a large limit kept the whole log of entries that had been deleted, one by one.
    @Test(arguments: [ArchiveKind.cache, .collection])
    func anEmptiedArchiveGivesItsRoomBack(kind: ArchiveKind) async throws {
        let folder = try TemporaryFolder()
        let archive = try Store.open(at: folder.store).archive(
            named: "Room",
            orCreate: ArchiveConfiguration(kind: kind, diskLimit: kind == .cache ? 60_000_000 : nil))
        for number in 0..<8_000 {
            try archive.put([UInt8](repeating: 1, count: 4_000), forKey: "k\(number)")
        }
        for number in 0..<8_000 where number % 100 != 0 { try archive.delete("k\(number)") }
        try await wait(archive, for: 6_000_000)
        #expect(try archive.entries().count == 80)
        #expect(try archive.invariantViolations() == [])
        #expect(try archive.check().clean)
    }

    @Test func whatExpiresGivesItsRoomBack() async throws {
        let folder = try TemporaryFolder()
        let archive = try Store.open(at: folder.store).archive(
            named: "Room", orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
        for number in 0..<4_000 {
            try archive.put(
                [UInt8](repeating: 1, count: 4_000), forKey: "k\(number)",
                attributes: EntryAttributes(lifetime: .milliseconds(1_500)))
        }
        #expect(try await eventually(within: 15) { try archive.status().expirations == 4_000 })
        try await wait(archive, for: 3_000_000)
        #expect(try archive.check().clean)
    }

    /// What broke: a process that had the archive open and did nothing never looked what others had left: neither what they
    /// had stored with a lifetime and left behind, nor the room of what they had deleted.
    @Test func whoIsIdleKeepsHouseForOthers() async throws {
        let folder = try TemporaryFolder()
        let configuration = ArchiveConfiguration(kind: .collection, diskLimit: nil)
        let idle = try Store.open(at: folder.store).archive(named: "A", orCreate: configuration)
        // As another process would: a handle of its own, closed again.
        let store = try Store.open(at: folder.store)
        let other = try store.archive(named: "A")
        for number in 0..<2_000 {
            try other.put(
                [UInt8](repeating: 1, count: 2_000), forKey: "k\(number)",
                attributes: EntryAttributes(lifetime: .milliseconds(300)))
        }
        try other.put([1], forKey: "stays")
        store.close()
        #expect(try await eventually(within: 15) { try idle.status().expirations == 2_000 })
        try await wait(idle, for: 1_500_000)
        #expect(try idle.status().entries == 1)
    }

    /// What broke: a look-up that removed what had expired owed the room of it for ever, and others left it to that look-up.
    @Test func whatALookUpOwesTheNextChangePays() async throws {
        let folder = try TemporaryFolder()
        let hand = ClockHand()
        // Without the background thread.
        try Clock.$hand.withValue(hand) {
            let archive = try withLargeEntry(in: folder, lifetime: .seconds(1))
            hand.pass(.seconds(2))
            #expect(try archive.access("large") == nil)
            #expect(try archive.status().footprint > 30_000_000)
            let other = Thread { try? archive.put([1], forKey: "one") }
            other.start()
            while !other.isFinished { usleep(1_000) }
            #expect(try archive.status().footprint < 20_000_000)
            #expect(try archive.status().entries == 2_001)
            #expect(try archive.check().clean)
        }
    }

    /// The same where nobody changes anything: the background does it at once, and rests afterwards.
    @Test func whatALookUpOwesTheBackgroundPays() async throws {
        let folder = try TemporaryFolder()
        let archive = try withLargeEntry(in: folder, lifetime: .milliseconds(50))
        while try archive.access("large") != nil { usleep(100) }
        try await wait(archive, for: 20_000_000)
        #expect(try archive.status().entries == 2_000)
        #expect(try archive.check().clean)
    }

    /// A collection of 2,000 small entries and one of 40 MB, "large", that expires.
    private func withLargeEntry(in folder: TemporaryFolder, lifetime: Duration) throws -> Archive {
        let archive = try Store.open(at: folder.store).archive(
            named: "Room", orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
        let value = [UInt8](repeating: 1, count: 4_000)
        for number in 0..<2_000 { try archive.put(value, forKey: "k\(number)") }
        try archive.put(
            [UInt8](repeating: 2, count: 40_000_000), forKey: "large",
            attributes: EntryAttributes(lifetime: lifetime))
        return archive
    }

    /// Who had read much held the archive's lock, when it next took it, until all that others had reclaimed meanwhile was
    /// unmapped: seconds for some hundred megabytes, and `busy` for everyone else.
    @Test func whatOthersReclaimedIsUnmappedBitByBit() throws {
        let folder = try TemporaryFolder(inMemory: true)
        func removedAndMapped() throws -> Int {
            // In pieces: the kernel gives some at a time, and Foundation takes the first for all of a file of no size.
            let maps = try #require(FileHandle(forReadingAtPath: "/proc/self/maps"))
            var text = Data()
            while let piece = try maps.read(upToCount: 4096), !piece.isEmpty { text += piece }
            return String(decoding: text, as: UTF8.self).split(separator: "\n").count {
                $0.contains(folder.store) && $0.hasSuffix(".segment (deleted)")
            }
        }
        // Without the background thread.
        try Clock.$hand.withValue(ClockHand()) {
            let configuration = ArchiveConfiguration(kind: .collection, diskLimit: nil)
            let reader = try Store.open(at: folder.store).archive(named: "A", orCreate: configuration)
            let writer = try Store.open(at: folder.store).archive(named: "A")
            let value = [UInt8](repeating: 1, count: 10_000)
            for number in 0..<400 { try writer.put(value, forKey: "\(number)") }
            for number in 0..<400 { #expect(try reader.peek("\(number)") == value) }
            for number in 0..<1600 { try writer.put(value, forKey: "\(number % 400)") }
            let before = try removedAndMapped()
            #expect(before > 20)
            try reader.put([1], forKey: "one")
            let after = try removedAndMapped()
            #expect(after < before && after > before - 5, "\(before), \(after)")
            reader.close()
            writer.close()
            #expect(try removedAndMapped() == 0)
        }
    }
}
