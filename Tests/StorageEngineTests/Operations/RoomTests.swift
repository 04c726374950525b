import StorageEngine
import Testing

/// Room (S14): what was deleted, evicted or expired gives its room back although nobody writes.
@Suite struct RoomTests {
    private func wait(_ archive: Archive, for footprint: UInt64) async throws {
        for _ in 0..<1_500 where try archive.status().footprint > footprint {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(try archive.status().footprint <= footprint)
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
        try await wait(archive, for: 3_000_000)
        #expect(try archive.status().expirations == 4_000)
        #expect(try archive.check().clean)
    }
}
