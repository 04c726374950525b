import Foundation
import StorageEngine
import Synchronization
import TestSupport
import Testing

@Suite struct ListTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    @Test("lists each entry once beside a writer") func besideAWriter() throws {
        let archive = try folder.archive(creating: .collection)
        let observer = try folder.archive(mode: .readOnly)
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
                // Enough to renumber entries.
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
                // Entries whose bytes were reclaimed since have no key.
                let keyless = list.count - keys.count
                #expect(steady + keyless >= stable, "\(steady) of \(stable), \(keyless) without a key")
                lists += 1
            }
        }
        isOver.store(true, ordering: .relaxed)
        try writer.wait()
        #expect(lists > 10)
    }

    @Test("recent entries are the first of the list", arguments: [0, 1, 100, 5_000])
    func recentEntries(most: Int) throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(creating: .collection)
        for number in 0..<2_000 { try archive.put([1], forKey: "set aside \(number)") }
        _ = try archive.deleteAllReversibly()
        for number in 0..<3_000 {
            try archive.put(
                repeated(1, number % 50), forKey: "k\(number)",
                attributes: .expiring(number % 7 == 0 ? .seconds(1_000_000) : nil))
        }
        for number in 2_950..<2_990 { try archive.delete("k\(number)") }
        // Some of these accesses are applied to the order, the latest are not.
        for number in stride(from: 0, to: 2_000, by: 3) { _ = try archive.access("k\(number)") }
        let all = try archive.entries()
        let first = try archive.recentEntries(most)
        #expect(all.count == 2_960 && first.count == min(most, all.count))
        #expect(Array(first) == Array(all.prefix(most)))
    }

    @Test("a list finds entries that reclaiming moved", arguments: [false, true])
    func movedEntries(isRenumbered: Bool) throws {
        let archive = try folder.archive(creating: .collection)
        // Entries with the lowest numbers, or with the highest, which change.
        if isRenumbered { for number in 0..<6_000 { try archive.put([1], forKey: "first \(number)") } }
        let value = repeated(7, 500)
        for number in 0..<400 {
            try archive.put(value, forKey: "k\(number)", attributes: EntryAttributes(owner: "S"))
        }
        let segments = try folder.segments()
        let list = try archive.entries(order: .leastRecentFirst)
        let keys = try list.indices.map { try #require(try list.key(at: $0)) }
        let snapshot = try list.indices.map { try #require(try list.metadata(at: $0)) }
        if isRenumbered { for number in 0..<6_000 { #expect(try archive.delete("first \(number)")) } }
        _ = try archive.delete("k0")
        try archive.put([9], forKey: "k1")
        _ = try archive.access("k2")
        for number in 0..<8_000 { try archive.put(repeated(3, 2_000), forKey: "hot \(number % 50)") }
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

    @Test("a scan reads a renumbered entry that reclaiming moved") func renumberedEntry() throws {
        let archive = try folder.archive(creating: .collection)
        for number in 0..<6_000 { try archive.put([1], forKey: "first \(number)") }
        let value = repeated(7, 500)
        for number in 0..<400 { try archive.put(value, forKey: "k\(number)") }
        let segments = try folder.segments()
        let scan = try archive.scan(.recency)
        for number in 0..<6_000 { #expect(try archive.delete("first \(number)")) }
        for _ in 0..<10 { #expect(try scan.advance()) }
        for number in 0..<8_000 { try archive.put(repeated(3, 2_000), forKey: "hot \(number % 50)") }
        #expect(try segments.allSatisfy { try !folder.files(inArchive: "A").contains($0) })
        var found = 0
        repeat {
            #expect(try scan.read() == .present)
            found += 1
        } while try scan.advance()
        #expect(found == 391)
    }

    @Test("a listed entry is of one version") func oneVersion() throws {
        let archive = try folder.archive(creating: .collection)
        let isOver = Atomic(false)
        let writer = Background {
            var size = 0
            while !isOver.load(ordering: .relaxed) {
                // Each size is used once.
                size += 1
                var batch = Batch()
                let keys = size % 3 == 0 ? 1 : 2_000
                for number in 0..<keys { batch.put(repeated(1, size), forKey: "\(number)") }
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
