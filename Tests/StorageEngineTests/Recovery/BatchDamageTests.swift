import Foundation
import StorageEngine
import TestSupport
import Testing

/// R6: a batch that didn't reach the medium completely is dropped. One that was damaged later loses the damaged
/// entries.
@Suite struct BatchDamageTests {
    private let folder: TemporaryFolder
    private let segment: String

    /// A batch, followed by the changes of `after`.
    private init(after: (Archive) throws -> Void) throws {
        folder = try TemporaryFolder(inMemory: true)
        segment = folder.archivePath("A", "00000001.segment")
        let archive = try folder.archive(creating: .collection)
        defer { archive.close() }
        try archive.put(repeated(1, 100), forKey: "before")
        try archive.put(Array("old".utf8), forKey: "key 0")
        var batch = Batch()
        for number in 0..<20 { batch.put(repeated(200, 1000), forKey: "key \(number)") }
        batch.delete("before")
        try archive.apply(batch)
        try after(archive)
    }

    init() throws { try self.init { _ in } }

    private func change(_ range: Range<Int>, to byte: UInt8) throws {
        try overwrite(segment, at: range.lowerBound, with: repeated(byte, range.count))
    }

    /// Keys that have their values of the batch after a rebuild, with or without a repair first.
    private func found(repaired: Bool) throws -> (batch: Int, old: [UInt8]?, before: Bool, after: Bool) {
        try? folder.removeIndex("A")
        if repaired { try folder.repair() }
        let archive = try folder.archive()
        defer { archive.close() }
        let value = repeated(200, 1000)
        let present = try (0..<20).count { try archive.peek("key \($0)") == value }
        #expect(try archive.invariantViolations() == [])
        if repaired { #expect(try archive.check().clean) }
        return (
            present, try archive.peek("key 0"), try archive.peek("before") != nil,
            try archive.peek("after") != nil
        )
    }

    /// Bytes of the log, their new value, and the changes of the batch that survive: its values, and its delete.
    struct Damage: CustomStringConvertible, Sendable {
        var description: String
        var range: Range<Int>
        var byte: UInt8
        var values: Int
        var deletes: Bool
        /// Whether a check reports it while the batch is the last change.
        var isReported = false
    }

    /// The header has 64 bytes, the two puts before the batch 160 and 56.
    static let damages = [
        Damage(description: "torn", range: 9216..<9728, byte: 0, values: 0, deletes: false),
        Damage(description: "a page is missing", range: 8192..<12_288, byte: 0, values: 0, deletes: false),
        Damage(
            description: "a value", range: 9100..<9101, byte: 7, values: 19, deletes: true, isReported: true),
        Damage(
            description: "the first frame", range: 290..<291, byte: 99, values: 20, deletes: true,
            isReported: true),
        Damage(description: "the last frame", range: 22_000..<22_001, byte: 99, values: 20, deletes: false),
        // It has 80 bytes.
        Damage(
            description: "the last frame's checksum", range: 21_944..<21_948, byte: 0, values: 0,
            deletes: false),
    ]

    @Test(
        "drops an incomplete batch, and loses damaged changes of a complete one", arguments: damages,
        [false, true])
    func damagedAtTheEnd(damage: Damage, repaired: Bool) throws {
        let log = try BatchDamageTests()
        try log.change(damage.range, to: damage.byte)
        for round in 0..<4 {
            let found = try log.found(repaired: repaired)
            #expect(found.batch == damage.values && found.before != damage.deletes)
            #expect((found.old == Array("old".utf8)) == (damage.values == 0))
            #expect(found.after == (round > 1))
            if round < 2, damage.isReported {
                #expect(try log.folder.withArchive { try $0.check().clean } == repaired)
            }
            // The result is the same after further changes.
            if round == 1 { try log.folder.withArchive { try $0.put([1], forKey: "after") } }
        }
    }

    @Test("damage in an older batch loses only damaged changes", arguments: damages[1...3], [false, true])
    func damagedBehind(damage: Damage, repaired: Bool) throws {
        let log = try BatchDamageTests { try $0.put([1], forKey: "after") }
        try log.change(damage.range, to: damage.byte)
        for _ in 0..<2 {
            let found = try log.found(repaired: repaired)
            #expect(found.batch == damage.values && found.before != damage.deletes && found.after)
        }
    }

    @Test("drops two batches that share a missing page", arguments: [false, true])
    func sharedMissingPage(repaired: Bool) throws {
        let damage = try BatchDamageTests {
            var batch = Batch()
            for number in 0..<2 { batch.put([3], forKey: "next \(number)") }
            try $0.apply(batch)
        }
        try damage.change(20_480..<24_576, to: 0)
        let found = try damage.found(repaired: repaired)
        #expect(found.batch == 0 && found.before && !found.after && found.old == Array("old".utf8))
        let archive = try damage.folder.archive()
        try archive.put([1], forKey: "after")
        #expect(try archive.peek("next 0") == nil)
        if repaired { #expect(try archive.check().clean) }
        archive.close()
        for repaired in [false, repaired] {
            let later = try damage.found(repaired: repaired)
            #expect(later.batch == 0 && later.before && later.after && later.old == Array("old".utf8))
        }
    }

    @Test("a repair keeps entries of the index", arguments: [(9216..<9728, 19), (21_950..<22_100, 20)])
    func entriesOfIndex(zeros: Range<Int>, left: Int) throws {
        let damage = try BatchDamageTests()
        try damage.change(zeros, to: 0)
        #expect(try damage.folder.repair().entries >= left)
        for _ in 0..<2 {
            let found = try damage.found(repaired: false)
            #expect(found.batch == left)
            #expect(try damage.folder.check().clean)
        }
    }

    @Test("drops a batch that lacks its last bytes", arguments: [(512, 240), (4096, 3800)])
    func lostLastBytes(border: Int, least: Int) throws {
        for bytes in least..<least + 100 {
            let folder = try TemporaryFolder(inMemory: true)
            let segment = folder.archivePath("A", "00000001.segment")
            try {
                let archive = try folder.archive(creating: .collection)
                defer { archive.close() }
                var batch = Batch()
                batch.put(repeated(1, 16), forKey: "a")
                batch.put(repeated(2, bytes), forKey: "b")
                try archive.apply(batch)
            }()
            let written = try contents(of: segment)
            let end = try #require(written.lastIndex { $0 != 0 })
            try (written.prefix(border) + Data(repeating: 0, count: written.count - border)).write(
                to: URL(fileURLWithPath: segment))
            let archive = try folder.rebuilt()
            #expect(try archive.entries().count == (end < border ? 2 : 0), "\(bytes) bytes")
        }
    }

    /// Every cut of the log leaves the whole batch or nothing. Its last frame ends at byte 22,024.
    @Test("a log cut anywhere has a whole batch or nothing of it") func cutAnywhere() throws {
        let whole = try contents(of: segment)
        for cut in stride(from: 280, to: 22_020, by: 1733) {
            try (whole.prefix(cut) + Data(repeating: 0, count: whole.count - cut)).write(
                to: URL(fileURLWithPath: segment))
            #expect(try found(repaired: false).batch == 0, "cut at \(cut)")
            try whole.write(to: URL(fileURLWithPath: segment))
        }
        #expect(try found(repaired: false).batch == 20)
    }

    @Test("recovers if a batch and the header of its new segment are lost", arguments: [1, 2, 4])
    func lostHeader(pages: Int) throws {
        let folder = try TemporaryFolder(inMemory: true)
        let name = try {
            let archive = try folder.archive(creating: .collection)
            defer { archive.close() }
            try archive.put(repeated(1, 70_000), forKey: "before")
            let before = try Set(folder.files(inArchive: "A"))
            var batch = Batch()
            for number in 0..<20 { batch.put(repeated(2, 1000), forKey: "key \(number)") }
            try archive.apply(batch)
            return try #require(Set(folder.segments()).subtracting(before).first)
        }()
        try overwrite(folder.archivePath("A", name), at: 0, with: repeated(0, pages * 4096))
        try folder.removeIndex("A")
        #expect(try folder.archive(mode: .readOnly).entries().count == 1)
        for round in 0..<2 {
            let archive = try folder.archive()
            defer { archive.close() }
            #expect(try archive.status().damagedPlaces == 0, "nothing that was acknowledged is missing")
            try archive.put([3], forKey: "after \(round)")
            #expect(try archive.entries().count == 2 + round)
            #expect(try archive.check().problems == [])
        }
        try folder.removeIndex("A")
        #expect(try folder.archive().entries().count == 3)
    }
}
