import Foundation
import StorageEngine
import TestSupport
import Testing

/// What is left of a batch that didn't come to the medium as a whole, and of one that was damaged later: the first
/// never happened, the second loses what was hit (R6).
@Suite struct BatchDamageTests {
    private let folder: TemporaryFolder
    private let segment: String

    /// Batch 1, and behind it what `after` puts there.
    private init(after: (Archive) throws -> Void) throws {
        folder = try TemporaryFolder(inMemory: true)
        segment = folder.archivePath("A", "00000001.segment")
        let store = try Store.open(at: folder.store)
        defer { store.close() }
        let archive = try store.archive(
            named: "A", orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
        try archive.put([UInt8](repeating: 1, count: 100), forKey: "before")
        try archive.put(Array("old".utf8), forKey: "key 0")
        var batch = Batch()
        for number in 0..<20 { batch.put([UInt8](repeating: 200, count: 1000), forKey: "key \(number)") }
        batch.delete("before")
        try archive.apply(batch)
        try after(archive)
    }

    init() throws { try self.init { _ in } }

    private func change(_ range: Range<Int>, to byte: UInt8) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: segment))
        try file.seek(toOffset: UInt64(range.lowerBound))
        try file.write(contentsOf: [UInt8](repeating: byte, count: range.count))
        try file.close()
    }

    /// Keys of the batch that are there with its values after the index was made anew, `repaired` first or not.
    private func found(repaired: Bool) throws -> (batch: Int, old: [UInt8]?, before: Bool, after: Bool) {
        try? folder.removeIndex("A")
        if repaired {
            let store = try Store.open(at: folder.store)
            _ = try store.repair(archiveNamed: "A")
            store.close()
        }
        let store = try Store.open(at: folder.store)
        defer { store.close() }
        let archive = try store.archive(named: "A")
        let value = [UInt8](repeating: 200, count: 1000)
        let present = try (0..<20).count { try archive.peek("key \($0)") == value }
        #expect(try archive.invariantViolations() == [])
        if repaired { #expect(try archive.check().clean) }
        return (
            present, try archive.peek("key 0"), try archive.peek("before") != nil,
            try archive.peek("after") != nil
        )
    }

    /// Whoever crashes leaves the end of the log torn: nothing of the batch there counts.
    @Test(arguments: [false, true])
    func atTheEndOfTheLog(repaired: Bool) throws {
        let damage = try BatchDamageTests()
        try damage.change(9216..<9728, to: 0)
        let found = try damage.found(repaired: repaired)
        #expect(found.batch == 0 && found.before && found.old == Array("old".utf8))
        // And it doesn't come back when something follows.
        let store = try Store.open(at: damage.folder.store)
        try store.archive(named: "A").put([1], forKey: "after")
        store.close()
        let later = try damage.found(repaired: repaired)
        #expect(later.batch == 0 && later.before && later.after)
    }

    /// What broke: a flipped byte in a value of the last batch cost all of it, and the first who made the index anew cleared it.
    @Test(arguments: [false, true])
    func damageOfLongAgoAtTheEndOfTheLog(repaired: Bool) throws {
        let damage = try BatchDamageTests()
        try damage.change(9100..<9101, to: 7)
        for _ in 0..<2 {
            let found = try damage.found(repaired: repaired)
            #expect(found.batch == 19 && !found.before)
            guard !repaired else { continue }
            let store = try Store.open(at: damage.folder.store)
            defer { store.close() }
            let problems = try store.archive(named: "A").check().problems
            #expect(problems.count == 1 && problems[0].contains("hold no valid entry"), "\(problems)")
        }
        let store = try Store.open(at: damage.folder.store)
        try store.archive(named: "A").put([1], forKey: "after")
        store.close()
        let later = try damage.found(repaired: repaired)
        #expect(later.batch == 19 && !later.before && later.after)
    }

    /// Where the last frame is damaged, its checksum, which is written last, tells that its writer came to an end.
    @Test(arguments: [false, true]) func damageOfTheLastFrame(repaired: Bool) throws {
        let damage = try BatchDamageTests()
        try damage.change(22_000..<22_001, to: 99)
        for _ in 0..<3 {
            let found = try damage.found(repaired: repaired)
            #expect(found.batch == 20 && found.before)
        }
        let store = try Store.open(at: damage.folder.store)
        try store.archive(named: "A").put([1], forKey: "after")
        store.close()
        for _ in 0..<2 {
            let later = try damage.found(repaired: repaired)
            #expect(later.batch == 20 && later.before && later.after)
        }
    }

    /// A writer that died in the middle of the last frame hasn't written its checksum.
    @Test func theLastFrameWasNeverFinished() throws {
        let damage = try BatchDamageTests()
        // It has 80 bytes.
        try damage.change(21_944..<21_948, to: 0)
        let found = try damage.found(repaired: false)
        #expect(found.batch == 0 && found.before)
    }

    /// A page that never came to the medium, while pages behind it did: the batch was not whole when the power went.
    @Test(arguments: [false, true])
    func aPageIsMissing(repaired: Bool) throws {
        let damage = try BatchDamageTests { try $0.put([1], forKey: "after") }
        try damage.change(8192..<12_288, to: 0)
        let found = try damage.found(repaired: repaired)
        #expect(found.batch == 0 && found.before && found.after && found.old == Array("old".utf8))
        let again = try damage.found(repaired: false)
        #expect(again.batch == 0 && again.before && again.after)
    }

    /// What broke: where the page was shared with the batch behind, that one was given up, the log went on directly behind the
    /// first, and what was left of this one counted when the index was made anew again.
    @Test(arguments: [false, true])
    func aPageThatTwoBatchesShareIsMissing(repaired: Bool) throws {
        let damage = try BatchDamageTests {
            var batch = Batch()
            for number in 0..<2 { batch.put([3], forKey: "next \(number)") }
            try $0.apply(batch)
        }
        try damage.change(20_480..<24_576, to: 0)
        let found = try damage.found(repaired: repaired)
        #expect(found.batch == 0 && found.before && !found.after && found.old == Array("old".utf8))
        let store = try Store.open(at: damage.folder.store)
        let archive = try store.archive(named: "A")
        try archive.put([1], forKey: "after")
        #expect(try archive.peek("next 0") == nil)
        if repaired { #expect(try archive.check().clean) }
        store.close()
        for repaired in [false, repaired] {
            let later = try damage.found(repaired: repaired)
            #expect(later.batch == 0 && later.before && later.after && later.old == Array("old".utf8))
        }
    }

    /// A flipped byte in a batch of long ago costs the one entry that it hit.
    @Test(arguments: [false, true])
    func damageOfLongAgo(repaired: Bool) throws {
        let damage = try BatchDamageTests { try $0.put([1], forKey: "after") }
        try damage.change(9100..<9101, to: 7)
        for _ in 0..<2 {
            let found = try damage.found(repaired: repaired)
            #expect(found.batch == 19 && !found.before && found.after)
        }
    }

    /// The same in the batch's first frame, which only says how much is behind it.
    @Test(arguments: [false, true])
    func damageOfTheFirstFrame(repaired: Bool) throws {
        let damage = try BatchDamageTests { try $0.put([1], forKey: "after") }
        // Header 64, two puts of 160 and 56 bytes.
        try damage.change(290..<291, to: 99)
        let found = try damage.found(repaired: repaired)
        #expect(found.batch == 20 && !found.before && found.after)
    }

    /// What broke: at the end of the log that cost all of the batch, without a word.
    @Test(arguments: [false, true])
    func damageOfTheFirstFrameAtTheEndOfTheLog(repaired: Bool) throws {
        let damage = try BatchDamageTests()
        try damage.change(290..<291, to: 99)
        for _ in 0..<2 {
            let found = try damage.found(repaired: repaired)
            #expect(found.batch == 20 && !found.before)
            let store = try Store.open(at: damage.folder.store)
            defer { store.close() }
            #expect(try store.archive(named: "A").check().clean == repaired)
        }
    }

    /// What broke: a sector of zeros looks as if the batch had never come to the medium, and a repair gave up entries that the
    /// index still led to.
    @Test(arguments: [(9216..<9728, 19), (21_950..<22_100, 20)])
    func aRepairKeepsWhatTheIndexNames(zeros: Range<Int>, left: Int) throws {
        let damage = try BatchDamageTests()
        try damage.change(zeros, to: 0)
        let store = try Store.open(at: damage.folder.store)
        #expect(try store.repair(archiveNamed: "A").entries >= left)
        store.close()
        for _ in 0..<2 {
            let found = try damage.found(repaired: false)
            #expect(found.batch == left)
            let store = try Store.open(at: damage.folder.store)
            defer { store.close() }
            #expect(try store.archive(named: "A").check().clean)
        }
    }

    /// What broke: where a batch ended shortly behind the border of a page or sector, the end of the one before was asked
    /// whether it had come as well, and it had.
    @Test(arguments: [(512, 240), (4096, 3800)]) func theLastBytesDidNotCome(border: Int, least: Int) throws {
        for bytes in least..<least + 100 {
            let folder = try TemporaryFolder(inMemory: true)
            let segment = folder.archivePath("A", "00000001.segment")
            try {
                let store = try Store.open(at: folder.store)
                defer { store.close() }
                let archive = try store.archive(
                    named: "A", orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
                var batch = Batch()
                batch.put([UInt8](repeating: 1, count: 16), forKey: "a")
                batch.put([UInt8](repeating: 2, count: bytes), forKey: "b")
                try archive.apply(batch)
            }()
            let written = try Data(contentsOf: URL(fileURLWithPath: segment))
            let end = try #require(written.lastIndex { $0 != 0 })
            try (written.prefix(border) + Data(repeating: 0, count: written.count - border)).write(
                to: URL(fileURLWithPath: segment))
            try folder.removeIndex("A")
            let archive = try Store.open(at: folder.store).archive(named: "A")
            #expect(try archive.entries().count == (end < border ? 2 : 0), "\(bytes) bytes")
        }
    }

    /// Every cut of the log leaves all of a batch or nothing. Its last frame ends at byte 22,024.
    @Test func cutAnywhere() throws {
        let whole = try Data(contentsOf: URL(fileURLWithPath: segment))
        for cut in stride(from: 280, to: 22_020, by: 1733) {
            try (whole.prefix(cut) + Data(repeating: 0, count: whole.count - cut)).write(
                to: URL(fileURLWithPath: segment))
            #expect(try found(repaired: false).batch == 0, "cut at \(cut)")
            try whole.write(to: URL(fileURLWithPath: segment))
        }
        #expect(try found(repaired: false).batch == 20)
    }

    /// What broke: where a batch had begun a segment, and power went before the segment's first page came to the medium, its
    /// frames were cleared, and what was left had no header and took no put.
    @Test(arguments: [1, 2, 4]) func theBatchThatBeganASegmentIsLostWithItsHeader(pages: Int) throws {
        let folder = try TemporaryFolder(inMemory: true)
        let name = try {
            let store = try Store.open(at: folder.store)
            defer { store.close() }
            let archive = try store.archive(
                named: "A", orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
            try archive.put([UInt8](repeating: 1, count: 70_000), forKey: "before")
            let before = try Set(folder.files(inArchive: "A"))
            var batch = Batch()
            for number in 0..<20 { batch.put([UInt8](repeating: 2, count: 1000), forKey: "key \(number)") }
            try archive.apply(batch)
            return try #require(
                Set(folder.files(inArchive: "A")).subtracting(before).first { $0.hasSuffix(".segment") })
        }()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: folder.archivePath("A", name)))
        try file.write(contentsOf: [UInt8](repeating: 0, count: pages * 4096))
        try file.close()
        try folder.removeIndex("A")
        #expect(try Store.open(at: folder.store, mode: .readOnly).archive(named: "A").entries().count == 1)
        for round in 0..<2 {
            let store = try Store.open(at: folder.store)
            defer { store.close() }
            let archive = try store.archive(named: "A")
            #expect(try archive.status().damagedPlaces == 0, "nothing that was acknowledged is missing")
            try archive.put([3], forKey: "after \(round)")
            #expect(try archive.entries().count == 2 + round)
            #expect(try archive.check().problems == [])
        }
        try folder.removeIndex("A")
        #expect(try Store.open(at: folder.store).archive(named: "A").entries().count == 3)
    }
}
