import Foundation
import StorageEngine
import Synchronization
import TestSupport
import Testing

/// A list that was made beside a writer left out what was stored anew or given another number meanwhile, and had twice what
/// was deleted and stored again.
@Suite struct ListTests {
    @Test func besideAWriterEachIsThereOnce() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let store = try Store.open(at: folder.store)
        let archive = try store.archive(
            named: "A", orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
        let observer = try Store.open(at: folder.store, mode: .readOnly).archive(named: "A")
        let stable = 500
        for number in 0..<stable { try archive.put([1], forKey: "s\(number)") }
        let isOver = Atomic(false)
        let writer = Background {
            var random = SeededGenerator.announced("a writer beside lists")
            while !isOver.load(ordering: .relaxed) {
                for _ in 0..<3_000 {
                    try archive.put([2], forKey: "s\(Int.random(in: 0..<stable, using: &random))")
                    let other = "t\(Int.random(in: 0..<3_000, using: &random))"
                    try archive.delete(other)
                    try archive.put([3], forKey: other)
                }
                // So many that entries get other numbers.
                for number in 0..<3_000 { try archive.delete("t\(number)") }
            }
        }
        let end = ContinuousClock.now + .seconds(1)
        var lists = 0
        while ContinuousClock.now < end {
            for archive in [archive, observer] {
                let list = try archive.entries()
                let keys = try list.indices.compactMap { try list.key(at: $0) }
                let steady = keys.count { $0.hasPrefix("s") }
                #expect(Set(keys).count == keys.count)
                // Those whose bytes were reclaimed since have no key any more.
                let gone = list.count - keys.count
                #expect(steady + gone >= stable, "\(steady) of \(stable), \(gone) gone")
                lists += 1
            }
        }
        isOver.store(true, ordering: .relaxed)
        try writer.wait()
        #expect(lists > 10)
    }

    /// What a large archive begins with, to be shown while all of it is listed.
    @Test(arguments: [0, 1, 100, 5_000]) func theMostRecentAreTheListsFirst(most: Int) throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try Store.open(at: folder.store).archive(
            named: "A", orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
        for number in 0..<2_000 { try archive.put([1], forKey: "set aside \(number)") }
        _ = try archive.deleteAllReversibly()
        for number in 0..<3_000 {
            try archive.put(
                [UInt8](repeating: 1, count: number % 50), forKey: "k\(number)",
                attributes: EntryAttributes(lifetime: number % 7 == 0 ? .seconds(1_000_000) : nil))
        }
        for number in 2_950..<2_990 { try archive.delete("k\(number)") }
        // Some of these uses are applied to the order, and the latest are not.
        for number in stride(from: 0, to: 2_000, by: 3) { _ = try archive.access("k\(number)") }
        let all = try archive.entries()
        let first = try archive.recentEntries(most)
        #expect(all.count == 2_960 && first.count == min(most, all.count))
        #expect(Array(first) == Array(all.prefix(most)))
    }

    /// What broke: what reclaiming had moved since a list was made counted as gone. Lists of keys, exports and removals of
    /// an owner's entries left out thousands of a busy archive, without a word.
    @Test(arguments: [false, true])
    func whatWasMovedIsThere(isRenumbered: Bool) throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try Store.open(at: folder.store).archive(
            named: "A", orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
        // They have the lowest numbers, or the highest, which others give up.
        if isRenumbered { for number in 0..<6_000 { try archive.put([1], forKey: "first \(number)") } }
        let value = [UInt8](repeating: 7, count: 500)
        for number in 0..<400 {
            try archive.put(value, forKey: "k\(number)", attributes: EntryAttributes(owner: "S"))
        }
        let segments = try folder.files(inArchive: "A").filter { $0.hasSuffix(".segment") }
        let list = try archive.entries(order: .leastRecentFirst)
        let keys = try list.indices.map { try #require(try list.key(at: $0)) }
        let snapshot = try list.indices.map { try #require(try list.metadata(at: $0)) }
        if isRenumbered { for number in 0..<6_000 { #expect(try archive.delete("first \(number)")) } }
        _ = try archive.delete("k0")
        try archive.put([9], forKey: "k1")
        _ = try archive.access("k2")
        for number in 0..<8_000 {
            try archive.put([UInt8](repeating: 3, count: 2_000), forKey: "hot \(number % 50)")
        }
        #expect(try segments.allSatisfy { try !folder.files(inArchive: "A").contains($0) })
        for index in list.indices {
            switch keys[index] {
            case "k0":
                #expect(try list.metadata(at: index) == nil && list.key(at: index) == nil)
                #expect(try list.presentMetadata(at: index) == nil && !list.isCurrent(at: index))
            case "k1":
                #expect(try list.metadata(at: index) == nil && !list.isCurrent(at: index))
                #expect(try list.presentMetadata(at: index)?.valueBytes == 1)
                #expect(try list.presentContent(at: index)?.value == [9])
            case let key where key.hasPrefix("k"):
                try #require(try list.key(at: index) == key)
                try #require(try list.metadata(at: index) == snapshot[index])
                try #require(list.isCurrent(at: index))
                try #require(try list.presentContent(at: index)?.value == value)
                try #require(try list.withValue(at: index) { Array($0) } == value)
            default: try #require(try list.metadata(at: index) == nil)
            }
        }
    }

    /// What broke: an entry that a walk had reached under a new number, and that reclaiming moved before it was read, was taken
    /// for gone: the walk had already been given that number.
    @Test func aRenumberedEntryIsReadWhereItWasMoved() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try Store.open(at: folder.store).archive(
            named: "A", orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
        for number in 0..<6_000 { try archive.put([1], forKey: "first \(number)") }
        let value = [UInt8](repeating: 7, count: 500)
        for number in 0..<400 { try archive.put(value, forKey: "k\(number)") }
        let segments = try folder.files(inArchive: "A").filter { $0.hasSuffix(".segment") }
        let scan = try archive.scan(.recency)
        for number in 0..<6_000 { #expect(try archive.delete("first \(number)")) }
        for _ in 0..<10 { #expect(try scan.advance()) }
        for number in 0..<8_000 {
            try archive.put([UInt8](repeating: 3, count: 2_000), forKey: "hot \(number % 50)")
        }
        #expect(try segments.allSatisfy { try !folder.files(inArchive: "A").contains($0) })
        var found = 0
        repeat {
            #expect(try scan.read() == .present)
            found += 1
        } while try scan.advance()
        #expect(found == 391)
    }

    /// What broke: of a version that was under way when a list began, or came while it was made, the list had the former one's
    /// size and last use, and the new one's metadata and sequence: a removal that was planned by what the list said removed a
    /// version that nobody had seen.
    @Test func aListedEntryIsOfOneVersion() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try Store.open(at: folder.store).archive(
            named: "A", orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
        let isOver = Atomic(false)
        let writer = Background {
            var size = 0
            while !isOver.load(ordering: .relaxed) {
                // Never the same twice.
                size += 1
                var batch = Batch()
                let keys = size % 3 == 0 ? 1 : 2_000
                for number in 0..<keys {
                    batch.put([UInt8](repeating: 1, count: size), forKey: "\(number)")
                }
                try archive.apply(batch)
            }
        }
        defer { isOver.store(true, ordering: .relaxed) }
        var mixed = 0
        var told = 0
        let end = ContinuousClock.now + .seconds(2)
        while ContinuousClock.now < end {
            let list = try archive.entries()
            for (place, listed) in list.enumerated() {
                guard let metadata = try list.metadata(at: place) else { continue }
                told += 1
                if metadata.valueBytes != Int(listed.valueBytes) { mixed += 1 }
            }
        }
        isOver.store(true, ordering: .relaxed)
        try writer.wait()
        #expect(told > 0)
        #expect(mixed == 0, "of \(told)")
    }
}
