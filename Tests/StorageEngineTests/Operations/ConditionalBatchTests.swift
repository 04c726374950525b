import StorageEngine
import Testing

/// Batches that depend on entries that the caller has read.
@Suite struct ConditionalBatchTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    private func archive() throws -> Archive {
        try Store.open(at: folder.store).archive(named: "a", orCreate: ArchiveConfiguration())
    }

    private func sequence(_ archive: Archive, _ key: String) throws -> UInt64? {
        try archive.current(key)?.sequence
    }

    @Test("applies a batch only if the entries seen are unchanged") func unchangedEntries() throws {
        let archive = try archive()
        let other = try self.archive()
        try archive.put([1], forKey: "seen")
        try archive.put([1], forKey: "gone")
        let seen = [
            SeenEntry(key: "seen", sequence: try sequence(archive, "seen")),
            SeenEntry(key: "absent", sequence: nil),
        ]
        let gone = SeenEntry(key: "gone", sequence: try sequence(archive, "gone"))
        var batch = Batch()
        batch.put([2], forKey: "b")
        batch.delete("seen")
        try other.delete("gone")
        #expect(try archive.apply(batch, ifUnchanged: seen + [gone]) == nil, "deleted")
        try other.put([1], forKey: "absent")
        #expect(try archive.apply(batch, ifUnchanged: seen) == nil, "added")
        try other.delete("absent")
        try other.put([1], forKey: "expired", attributes: EntryAttributes(lifetime: .zero))
        #expect(try archive.peek("b") == nil && archive.peek("seen") == [1])
        let expired = SeenEntry(key: "expired", sequence: nil)
        #expect(try archive.apply(batch, ifUnchanged: seen + [expired]) == [.stored, .deleted])
        #expect(try archive.apply(batch, ifUnchanged: seen) == nil, "changed by this batch")
        #expect(try archive.apply(Batch(), ifUnchanged: [SeenEntry(key: "seen", sequence: nil)]) == [])
        #expect(try archive.check().clean)
    }

    @Test("keeps attributes of the present entry") func keptAttributes() throws {
        let archive = try archive()
        try archive.put(
            [1], forKey: "a",
            attributes: EntryAttributes(
                lifetime: .seconds(60), memoryLifetime: .seconds(5), owner: "ada"))
        let before = try #require(try archive.metadata("a"))
        var batch = Batch()
        let terms = EntryAttributes(lifetime: .seconds(9), owner: "bob")
        batch.update(
            [2], forKey: "a", encoding: .cbor, attributes: terms,
            keeping: [.lifetime, .memoryLifetime, .owner])
        batch.update([2], forKey: "new", encoding: .cbor, attributes: terms, keeping: [.lifetime, .owner])
        try archive.apply(batch)
        let after = try #require(try archive.metadata("a"))
        #expect(after.owner == "ada" && after.expires == before.expires && after.created == before.created)
        #expect(try archive.access(toHold: "a")?.memoryInterval == 5_000_000)
        let new = try #require(try archive.metadata("new"))
        #expect(new.owner == "bob" && new.expires != nil, "no attributes to keep")
        #expect(try archive.check().clean)
    }
}
