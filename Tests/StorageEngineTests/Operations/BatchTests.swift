import Foundation
import StorageEngine
import TestSupport
import Testing

/// S15: a batch is one change.
@Suite struct BatchTests {
    private let folder: TemporaryFolder
    private let store: Store

    init() throws {
        folder = try TemporaryFolder(inMemory: true)
        store = try Store.open(at: folder.store)
    }

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// Checks the archive before and after a rebuild of its index.
    private func survivesRebuild(_ name: String, _ check: (Archive) throws -> Void) throws {
        let before = try store.archive(named: name)
        try check(before)
        let archive = try folder.reopen(before)
        defer { archive.close() }
        try check(archive)
        try archive.expectValid()
    }

    @Test("a check in parts handles large batches") func checkInParts() throws {
        let archive = try store.archive(named: "P", orCreate: .collection)
        for number in 0..<2_000 { try archive.put(bytes("old \(number)"), forKey: "\(number)") }
        _ = try archive.deleteAllReversibly()
        for round in 0..<3 {
            var batch = Batch()
            for number in 0..<2_000 {
                if (number + round) % 7 == 0 {
                    batch.delete("\(number)")
                } else {
                    batch.put(bytes("value \(number) \(round)"), forKey: "\(number)")
                }
            }
            try archive.apply(batch)
        }
        let whole = try archive.check()
        let entries = try archive.status().entries
        #expect(whole.clean && whole.entries == entries, "\(whole.problems)")
        for most in [41, 150, 1_999] { #expect(try archive.check(most: most) == whole, "parts of \(most)") }
    }

    @Test("a batch makes changes of all kinds") func changesOfAllKinds() throws {
        let archive = try store.archive(named: "A", orCreate: .collection)
        try archive.put(bytes("old"), forKey: "replaced")
        try archive.put(bytes("first"), forKey: "updated")
        try archive.put(bytes("gone"), forKey: "deleted")
        try archive.put(bytes("brief"), forKey: "expired", attributes: .expiring(.zero))
        let created = try #require(try archive.metadata("updated")).created
        var batch = Batch()
        batch.put(bytes("new"), forKey: "replaced", encoding: .text)
        batch.update(bytes("second"), forKey: "updated")
        batch.delete("deleted")
        batch.delete("never there")
        batch.put(
            bytes("kept"), forKey: "owned", attributes: EntryAttributes(lifetime: .seconds(3600), owner: "me")
        )
        batch.put(bytes("lost"), forKey: "twice")
        batch.delete("expired")
        batch.put(bytes("counts"), forKey: "twice")
        let results = try archive.apply(batch)
        #expect(results == [.replaced, .replaced, .deleted, .absent, .stored, .superseded, .absent, .stored])
        try survivesRebuild("A") { (archive) throws in
            #expect(try archive.peek("replaced") == bytes("new"))
            #expect(try archive.metadata("replaced")?.encoding == .text)
            #expect(try archive.peek("updated") == bytes("second"))
            #expect(try archive.metadata("updated")?.created == created)
            #expect(try archive.peek("deleted") == nil)
            #expect(try archive.peek("expired") == nil)
            #expect(try archive.peek("twice") == bytes("counts"))
            let owned = try #require(try archive.metadata("owned"))
            #expect(owned.owner == "me" && owned.expires != nil)
            #expect(try archive.entries().keys == ["twice", "owned", "updated", "replaced"])
            #expect(try archive.status().entries == 4)
        }
    }

    @Test("empty batches and deletes of absent keys change nothing") func noChange() throws {
        let archive = try store.archive(named: "A", orCreate: .cache())
        #expect(try archive.apply(Batch()) == [])
        var batch = Batch()
        batch.delete("nothing")
        #expect(try archive.apply(batch) == [.absent])
        #expect(try archive.entries().isEmpty)
        var wrong = Batch()
        wrong.put([1], forKey: "a")
        wrong.put([1], forKey: "")
        #expect(throws: StorageError.self) { try archive.apply(wrong) }
        #expect(try archive.peek("a") == nil)
        let log = try store.archive(named: "L", orCreate: ArchiveConfiguration(kind: .log))
        #expect(throws: StorageError.self) { try log.apply(batch) }
    }

    @Test("keys with equal text but other bytes are two entries") func equalText() throws {
        let archive = try store.archive(named: "A", orCreate: .cache())
        var batch = Batch()
        batch.put([1], forKey: "caf\u{e9}")
        batch.put([2], forKey: "cafe\u{301}")
        #expect(try archive.apply(batch) == [.stored, .stored])
        #expect(try archive.peek("caf\u{e9}") == [1])
        #expect(try archive.peek("cafe\u{301}") == [2])
    }

    @Test("the limit applies to the batch as a whole") func limitOfBatch() throws {
        let archive = try store.archive(named: "A", orCreate: .cache(10_000))
        for number in 0..<10 { try archive.put(repeated(1, 1000), forKey: "\(number)") }
        var tooMuch = Batch()
        for number in 0..<11 { tooMuch.put(repeated(2, 1000), forKey: "new \(number)") }
        #expect(throws: StorageError.batchTooLarge(bytes: 11_000, limit: 10_000, archive: "A")) {
            try archive.apply(tooMuch)
        }
        #expect(try archive.status().entries == 10)
        #expect(try archive.status().rejections == 1)
        var batch = Batch()
        batch.put(repeated(2, 1500), forKey: "0")
        batch.delete("3")
        batch.put(repeated(2, 2500), forKey: "new")
        try archive.apply(batch)
        // 10,000 + 500 − 1,000 + 2,500: 1 and 2 go.
        try survivesRebuild("A") { (archive) throws in
            #expect(try Set(archive.entries().keys) == ["0", "4", "5", "6", "7", "8", "9", "new"])
            #expect(try archive.status().diskBytes == 10_000)
        }
    }

    @Test("applies large batches and refuses too large ones") func largeBatches() throws {
        let archive = try store.archive(named: "A", orCreate: .collection)
        var batch = Batch()
        for number in 0..<20_000 { batch.put(bytes("value \(number)"), forKey: "key \(number)") }
        try archive.apply(batch)
        var tooLarge = Batch()
        for number in 0..<50 { tooLarge.put(repeated(1, 1 << 20), forKey: "\(number)") }
        #expect(throws: StorageError.self) { try archive.apply(tooLarge) }
        var removing = Batch()
        for number in 0..<20_000 where number % 3 != 0 { removing.delete("key \(number)") }
        try archive.apply(removing)
        try survivesRebuild("A") { (archive) throws in
            #expect(try archive.status().entries == 6667)
            #expect(try archive.peek("key 3") == bytes("value 3"))
            #expect(try archive.peek("key 4") == nil)
        }
    }

    @Test("segments of batches are reclaimed") func reclaimedBatches() throws {
        let archive = try store.archive(named: "A", orCreate: .collection)
        for round in 0..<60 {
            var batch = Batch()
            for number in 0..<20 { batch.put(repeated(UInt8(round), 5000), forKey: "large \(number)") }
            batch.put(bytes("\(round)"), forKey: "kept \(round)")
            try archive.apply(batch)
        }
        #expect(try archive.status().footprint < 3_000_000)
        try survivesRebuild("A") { (archive) throws in
            for round in 0..<60 { #expect(try archive.peek("kept \(round)") == bytes("\(round)")) }
            #expect(try archive.peek("large 7") == repeated(59, 5000))
        }
    }

    @Test("each change of a batch has its event") func batchEvents() throws {
        let archive = try store.archive(named: "A", orCreate: .cache(10))
        try archive.put([1, 2, 3, 4, 5], forKey: "evicted")
        try archive.put([1], forKey: "deleted")
        var batch = Batch()
        batch.put([1, 2, 3, 4, 5, 6, 7], forKey: "stored")
        batch.delete("deleted")
        try archive.apply(batch)
        let events = try archive.events(from: 2).events
        #expect(events.map(\.kind) == [.eviction, .record, .delete])
        #expect(events.compactMap(\.key) == ["evicted", "stored", "deleted"])
    }

    @Test("applies a batch only if the entries seen are unchanged") func unchangedEntries() throws {
        let archive = try folder.archive(creating: .cache())
        let other = try folder.archive()
        try archive.put([1], forKey: "seen")
        try archive.put([1], forKey: "gone")
        let seen = [
            SeenEntry(key: "seen", sequence: try archive.current("seen")?.sequence),
            SeenEntry(key: "absent", sequence: nil),
        ]
        let gone = SeenEntry(key: "gone", sequence: try archive.current("gone")?.sequence)
        var batch = Batch()
        batch.put([2], forKey: "b")
        batch.delete("seen")
        try other.delete("gone")
        #expect(try archive.apply(batch, ifUnchanged: seen + [gone]) == nil, "deleted")
        try other.put([1], forKey: "absent")
        #expect(try archive.apply(batch, ifUnchanged: seen) == nil, "added")
        try other.delete("absent")
        try other.put([1], forKey: "expired", attributes: .expiring(.zero))
        #expect(try archive.peek("b") == nil && archive.peek("seen") == [1])
        let expired = SeenEntry(key: "expired", sequence: nil)
        #expect(try archive.apply(batch, ifUnchanged: seen + [expired]) == [.stored, .deleted])
        #expect(try archive.apply(batch, ifUnchanged: seen) == nil, "changed by this batch")
        #expect(try archive.apply(Batch(), ifUnchanged: [SeenEntry(key: "seen", sequence: nil)]) == [])
        #expect(try archive.check().clean)
    }

    @Test("keeps attributes of the present entry") func keptAttributes() throws {
        let archive = try folder.archive(creating: .cache())
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
