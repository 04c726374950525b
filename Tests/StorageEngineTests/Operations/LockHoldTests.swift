#if DEBUG
import Foundation
import StorageEngine
import TestSupport
import Testing

/// Changes of many entries release the lock every few hundred entries.
@Suite struct LockHoldTests {
    private static let count = 12_000
    /// Entries between two releases of the lock; while a log is copied, the frames in 64 KiB and a batch of 16.
    private static let slice = 256
    private static let copied = 65_536 / 64 + 16

    private let folder: TemporaryFolder
    private let archive: Archive

    init() throws {
        folder = try TemporaryFolder(inMemory: true)
        archive = try folder.archive(creating: .cache(8_000_000))
    }

    /// Expects the largest slice within its limit, with a margin for reclaimed segments.
    private func expectSlices(
        _ archive: Archive, _ what: String, entries: Int = slice + copied
    ) throws {
        let most = try archive.mostUnderOneHold()
        #expect(most.entries > 0 && most.entries <= entries, "\(what): \(most.entries) entries")
        #expect(most.files <= 16, "\(what): \(most.files) files")
        #expect(most.chunks <= 32, "\(what): \(most.chunks) chunks")
    }

    private func fill(_ archive: Archive, _ lifetime: Duration? = nil, owner: String? = nil) throws {
        let attributes = EntryAttributes(lifetime: lifetime, owner: owner)
        for number in 0..<Self.count {
            try archive.put(repeated(1, 20), forKey: "\(number)", attributes: attributes)
        }
        _ = try archive.mostUnderOneHold()
    }

    @Test("a reversible deletion and its undo hold the lock in slices") func deletingReversiblyAndUndo()
        throws
    {
        try fill(archive)
        let outcome = try archive.deleteAllReversibly()
        #expect(outcome.entries == Self.count)
        try expectSlices(archive, "delete")
        #expect(try archive.undo()?.entries == Self.count)
        try expectSlices(archive, "undo")
        #expect(try archive.status().entries == Self.count)
    }

    /// With a manual clock, so that nothing expires in the background.
    @Test("removing expired entries holds the lock in slices") func expiring() throws {
        let hand = ClockHand()
        try Clock.$hand.withValue(hand) {
            let archive = try folder.archive("Life", creating: .cache(8_000_000))
            try fill(archive, .seconds(60))
            hand.pass(.seconds(61))
            #expect(try archive.removeExpired().entries == Self.count)
            try expectSlices(archive, "expiry")
            #expect(try archive.invariantViolations() == [])
        }
    }

    @Test("deleting the entries of an owner holds the lock in slices") func deletingAnOwner() throws {
        try fill(archive, owner: "one")
        #expect(try archive.deleteEntries(ofOwner: "one").entries == Self.count)
        try expectSlices(archive, "owner")
        #expect(try archive.invariantViolations() == [])
    }

    /// All slots are cleared in one step; the work of the file system is sliced.
    @Test("deleting all entries removes files in slices") func deletingAll() throws {
        try fill(archive)
        for number in 0..<40 { try archive.put(repeated(2, 180_000), forKey: "large \(number)") }
        let before = try archive.status().footprint
        _ = try archive.mostUnderOneHold()
        try archive.deleteAll()
        let most = try archive.mostUnderOneHold()
        #expect(most.files == 1, "\(most.files) files")
        #expect(most.chunks <= 32, "\(most.chunks) chunks")
        let status = try archive.status()
        #expect(
            status.footprint - status.requestBytes < min(before / 4, 2_000_000),
            "the space is released on return")
        try archive.expectValid()
    }

    @Test("a shrinking ring drops messages in slices and files one by one") func shrinkingRing() throws {
        let log = try folder.archive("Ring", creating: .log(4_000_000))
        for number in 0..<10_000 { try log.append(repeated(UInt8(number & 255), 380)) }
        _ = try log.mostUnderOneHold()
        try log.setLimits(disk: 40_000, memory: nil)
        var most = try log.mostUnderOneHold()
        #expect(most.entries > 0 && most.entries <= Self.slice, "\(most.entries) messages")
        #expect(most.files == 1, "\(most.files) files")
        #expect(try log.messages(most: .max).messages.count == 40_000 / 380)
        #expect(try log.status().footprint < 1_000_000)
        for number in 0..<100 { try log.append(repeated(UInt8(number), 380)) }
        _ = try log.mostUnderOneHold()
        try log.deleteAll()
        most = try log.mostUnderOneHold()
        #expect(most.files <= 1)
        #expect(try log.messages(most: .max).messages.isEmpty)
        #expect(try log.check().clean)
    }
}
#endif
