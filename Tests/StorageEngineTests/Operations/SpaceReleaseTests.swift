import Foundation
import StorageEngine
import TestSupport
import Testing

/// S14: deleted, evicted and expired entries release their space without further writes.
@Suite struct SpaceReleaseTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func wait(_ archive: Archive, for footprint: UInt64) async throws {
        #expect(
            try await eventually(within: 15) {
                let status = try archive.status()
                return status.footprint - status.requestBytes <= footprint
            })
    }

    @Test("an emptied archive releases its space", arguments: [ArchiveKind.cache, .collection])
    func emptiedArchive(kind: ArchiveKind) async throws {
        let archive = try folder.archive(
            "Room", creating: ArchiveConfiguration(kind: kind, diskLimit: kind == .cache ? 60_000_000 : nil))
        for number in 0..<8_000 { try archive.put(repeated(1, 4_000), forKey: "k\(number)") }
        for number in 0..<8_000 where number % 100 != 0 { try archive.delete("k\(number)") }
        try await wait(archive, for: 6_000_000)
        #expect(try archive.entries().count == 80)
        try archive.expectValid()
    }

    @Test("expired entries release their space") func expiredSpace() async throws {
        let archive = try folder.archive("Room", creating: .collection)
        for number in 0..<4_000 {
            try archive.put(
                repeated(1, 4_000), forKey: "k\(number)",
                attributes: .expiring(.milliseconds(1_500)))
        }
        #expect(try await eventually(within: 15) { try archive.status().expirations == 4_000 })
        try await wait(archive, for: 3_000_000)
        #expect(try archive.check().clean)
    }

    @Test("an idle process maintains the archive for others") func idleProcess() async throws {
        let configuration = ArchiveConfiguration.collection
        let idle = try folder.archive(creating: configuration)
        // Like another process: a separate handle, closed again.
        let other = try folder.archive()
        for number in 0..<2_000 {
            try other.put(repeated(1, 2_000), forKey: "k\(number)", attributes: .expiring(.milliseconds(300)))
        }
        try other.put([1], forKey: "stays")
        other.close()
        #expect(try await eventually(within: 15) { try idle.status().expirations == 2_000 })
        try await wait(idle, for: 1_500_000)
        #expect(try idle.status().entries == 1)
    }

    @Test("the next change releases the space of expired entries") func nextChange() async throws {
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

    /// A collection of 2,000 small entries and one of 40 MB, "large", that expires.
    private func withLargeEntry(in folder: TemporaryFolder, lifetime: Duration) throws -> Archive {
        let archive = try folder.archive("Room", creating: .collection)
        let value = repeated(1, 4_000)
        for number in 0..<2_000 { try archive.put(value, forKey: "k\(number)") }
        try archive.put(repeated(2, 40_000_000), forKey: "large", attributes: .expiring(lifetime))
        return archive
    }

    @Test("unmaps segments that others reclaimed step by step") func gradualUnmapping() throws {
        let folder = try TemporaryFolder(inMemory: true)
        func removedAndMapped() throws -> Int {
            // In pieces: Foundation takes the first read for the whole of a file without a size.
            let maps = try #require(FileHandle(forReadingAtPath: "/proc/self/maps"))
            var text = Data()
            while let piece = try maps.read(upToCount: 4096), !piece.isEmpty { text += piece }
            return String(decoding: text, as: UTF8.self).split(separator: "\n").count {
                $0.contains(folder.store) && $0.hasSuffix(".segment (deleted)")
            }
        }
        // Without the background thread.
        try Clock.$hand.withValue(ClockHand()) {
            let configuration = ArchiveConfiguration.collection
            let reader = try folder.archive(creating: configuration)
            let writer = try folder.archive()
            let value = repeated(1, 10_000)
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

    @Test("the background thread releases the space of expired entries")
    func backgroundRelease() async throws {
        let archive = try withLargeEntry(in: folder, lifetime: .milliseconds(50))
        while try archive.access("large") != nil { usleep(100) }
        try await wait(archive, for: 20_000_000)
        #expect(try archive.status().entries == 2_000)
        #expect(try archive.check().clean)
    }
}
