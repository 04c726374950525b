import Foundation
import StorageEngine
import TestSupport
import Testing

/// Damage in the index of an open archive: acknowledged entries aren't overwritten or dropped, calls end, and present
/// entries aren't reported as absent. Offsets: OnDiskFormat, "The index".
@Suite struct OpenIndexDamageTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    private func bytes(of folder: TemporaryFolder) throws -> Data {
        try contents(of: folder.archivePath("A", "index"))
    }

    private func write(_ bytes: [UInt8], at offset: Int, _ folder: TemporaryFolder) throws {
        try overwrite(folder.archivePath("A", "index"), at: offset, with: bytes)
    }

    private func delete(_ keys: [String], from archive: Archive) throws -> PlanOutcome {
        try archive.carryOut(.delete, on: archive.planned(keys))
    }

    /// Moved back by whole frames, into the middle of one, and into the last one.
    @Test("a log tail moved back overwrites nothing", arguments: [16 * 8, 50, 4], [false, true])
    func movedTail(
        words: UInt32, inBatch: Bool
    ) throws {
        let archive = try folder.archive(creating: .collection)
        // Frames of 128 bytes: header, a key of 2 bytes and the value.
        for number in 10..<50 { try archive.put(repeated(7, 60), forKey: "\(number)") }
        let before = try bytes(of: folder)[512..<516].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        try write(little(before - words), at: 512, folder)
        #expect(throws: StorageError.self) { try put([1], "new", into: archive, inBatch: inBatch) }
        let again = try folder.reopen(archive, rebuilding: false)
        try again.put([2], forKey: "new")
        #expect(try again.entries().count == 41)
        #expect(try again.check().problems == [])
    }

    private func put(_ value: [UInt8], _ key: String, into archive: Archive, inBatch: Bool) throws {
        guard inBatch else { return try archive.put(value, forKey: key) }
        var batch = Batch()
        batch.put(value, forKey: key)
        try archive.apply(batch)
    }

    /// Offsets: OnDiskFormat, "The table of reversible actions".
    @Test("a damaged sum evicts nothing") func damagedSum() throws {
        let archive = try folder.archive(creating: .cache(100_000))
        for number in 0..<40 { try archive.put(repeated(1, 500), forKey: "\(number)") }
        let action = try #require(try delete(["1", "2"], from: archive).action)
        let pendingBytes = 245_760 + 64 * Int(action.id % 64) + 8
        try write([32], at: pendingBytes + 4, folder)
        let problems = try archive.check().problems
        #expect(problems.contains { $0.contains("entries to restore") }, "\(problems)")
        let error = #expect(throws: StorageError.self) { try archive.undo(action.id) }
        #expect("\(String(describing: error))".contains("its totals exceed its entries"))
        #expect(try archive.entries().count == 38)
        let again = try folder.reopen(archive, rebuilding: false)
        #expect(try again.entries().count == 38)
        #expect(try again.undo(action.id)?.entries == 2)
        #expect(try again.check().problems == [])
    }

    @Test("an invalid log tail overwrites nothing", arguments: [0, 1 << 32] as [UInt64], [false, true])
    func invalidTail(head: UInt64, inBatch: Bool) throws {
        let archive = try folder.archive(creating: .collection)
        for number in 10..<50 { try archive.put([7], forKey: "\(number)") }
        try write(little(head), at: 512, folder)
        if head == 0 { #expect(throws: StorageError.self) { try archive.snapshot() } }
        #expect(throws: StorageError.self) { try put([1], "10", into: archive, inBatch: inBatch) }
        let again = try folder.reopen(archive, rebuilding: false)
        #expect(try again.entries().count == 40)
        #expect(try again.peek("10") == [7])
        #expect(try again.check().problems == [])
    }

    @Test("a collection has no limit") func noLimit() throws {
        let archive = try folder.archive(creating: .collection)
        for number in 10..<50 { try archive.put([7], forKey: "\(number)") }
        try write(little(UInt64(1)), at: 576, folder)
        try put([1, 2], "new", into: archive, inBatch: true)
        try archive.put([1, 2, 3], forKey: "other")
        #expect(try archive.entries().count == 42)
    }

    @Test("a damaged oldest message drops no messages", arguments: [(720, repeated(0, 8)), (722, [64])])
    func damagedOldest(offset: Int, bytes: [UInt8]) throws {
        let archive = try folder.archive(creating: .log(100_000))
        for number in 0..<100 { try archive.append([UInt8(number)]) }
        try write(bytes, at: offset, folder)
        #expect(throws: StorageError.self) { try archive.append([1]) }
        let again = try folder.reopen(archive, rebuilding: false)
        try again.append([1])
        #expect(try again.messages(most: .max).messages.count == 101)
        #expect(try again.check().problems == [])
    }

    @Test("the search for a counted but missing mark ends", arguments: [false, true])
    func countedMark(isAnyTombstoned: Bool)
        throws
    {
        // With a manual clock, since maintenance repairs the sums every second.
        try Clock.$hand.withValue(ClockHand()) {
            let folder = try TemporaryFolder(inMemory: true)
            let archive = try folder.archive(creating: .collection)
            for number in 0..<40 { try archive.put([1], forKey: "\(number)") }
            let first = try #require(try delete(["1", "2"], from: archive).action)
            if !isAnyTombstoned { _ = try archive.undo(first.id) }
            for line in 0..<64 where line != Int(first.id % 64) {
                try write(little(UInt64(line % 3 + 1)), at: 245_760 + 64 * line + 24, folder)
            }
            let problems = try archive.check().problems
            #expect(problems.contains { $0.contains("have its mark") }, "\(problems)")
            for number in 3..<10 {
                let action = try #require(try delete(["\(number)"], from: archive).action)
                #expect(try archive.undo(action.id)?.entries == 1)
            }
            if isAnyTombstoned { #expect(try archive.undo(first.id)?.entries == 2) }
            #expect(try archive.entries().count == 40)
            #expect(try folder.reopen(archive, rebuilding: false).entries().count == 40)
        }
    }

    @Test("a deletion mark without a commit deletes nothing") func loneMark() throws {
        var archive = try folder.archive(creating: .collection)
        for number in 0..<40 { try archive.put([1], forKey: "\(number)") }
        #expect(try delete(["1", "2"], from: archive).entries == 2)
        // Entry 31, as if by action 40, also in the sums.
        try write([0x80 | 40], at: 262_144 + 94_208 + 30, folder)
        try write(little(UInt64(1)), at: 245_760 + 64 * 40 + 24, folder)
        for _ in 0..<64 {
            guard let action = try? delete(["5"], from: archive).action else { break }
            _ = try? archive.undo(action.id)
        }
        archive = try folder.reopen(archive, rebuilding: false)
        #expect(try archive.peek("30") == [1])
        #expect(try archive.check().problems == [])
    }

    @Test("notices a changed salt") func changedSalt() throws {
        let archive = try folder.archive(creating: .collection)
        for number in 0..<40 { try archive.put([1], forKey: "\(number)") }
        let salt = try bytes(of: folder)[888]
        try write([salt ^ 4], at: 888, folder)
        #expect(try folder.withArchive(mode: .readOnly) { try $0.peek("7") } == [1])
        #expect(throws: StorageError.self) { try folder.archive().put([2], forKey: "7") }
        try archive.put([3], forKey: "8")
        #expect(try archive.peek("8") == [3])
        let again = try folder.reopen(archive, rebuilding: false)
        #expect(try again.peek("7") == [1] && again.peek("8") == [3])
        #expect(try again.entries().count == 40)
        #expect(try again.check().problems == [])
    }

    @Test("ignores an older index in the same file") func olderIndex() throws {
        var archive = try folder.archive(creating: .collection)
        for number in 0..<5 { try archive.put([1], forKey: "\(number)") }
        archive.close()
        let older = try bytes(of: folder)
        archive = try folder.archive()
        try archive.put([2], forKey: "0")
        try archive.delete("4")
        archive.close()
        for mode in [AccessMode.readOnly, .readWrite] {
            try write(Array(older), at: 0, folder)
            try folder.withArchive(mode: mode) { (again) throws in
                #expect(try again.peek("0") == [2] && again.peek("4") == nil && again.entries().count == 4)
                #expect(try again.check().problems == [])
            }
        }
        #expect(try folder.archive().delete("1"))
    }

    @Test("recovers after a crash of the lock owner without a call") func recoveryWithoutCalls() async throws
    {
        let archive = try folder.archive(creating: .collection)
        defer { archive.close() }
        try archive.put([1], forKey: "stays")
        try archive.put([1], forKey: "goes", attributes: .expiring(.milliseconds(300)))
        // A lock owner that isn't alive.
        try write(little(UInt64(99_999_999)), at: 192, folder)
        #expect(
            try await eventually {
                let header = try bytes(of: folder).prefix(480)
                return header[192] == 0 && header[472] == 1
            })
        #expect(try archive.events(from: 0).events.contains { $0.kind == .expiry })
    }
}
