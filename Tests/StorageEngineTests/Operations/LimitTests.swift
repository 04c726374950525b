import Foundation
import StorageEngine
import TestSupport
import Testing

/// R10: adversarial sizes against limits (S3). Values fit the limit after each call. File blocks stay within the bound,
/// measured here and in another process.
@Suite(.serialized, .oneAtATime) struct LimitTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    enum Pattern: String, CaseIterable {
        /// 0, 1, limit − 1, limit, limit + 1.
        case edges
        /// One entry that grows and shrinks among others.
        case growing
        case tinyAndHuge
        /// Many tiny entries, then one of the whole limit.
        case manyTinyThenHuge
        case random
        case longKeys
        case movingLimit
    }

    /// Worst ratios seen.
    private struct Worst {
        var size = 0.0
        var footprint = 0.0
        var calls = 0
    }

    private static func bound(limit: Int, entries: Int, keyBytes: Int) -> Double {
        // 128 bytes cover frame header, slot and padding of an entry with a key of up to eight bytes.
        let each = 128 + max(0, keyBytes - 8)
        return 1.25 * Double(limit + entries * each) + 1_048_576
    }

    /// One archive under one pattern.
    private struct Attack {
        let pattern: Pattern
        let archive: Archive
        var limit: Int
        var random: SeededGenerator
        var worst = Worst()
        var keyBytes: Int { pattern == .longKeys ? 1024 : 12 }

        init(_ pattern: Pattern, _ archive: Archive, limit: Int, seed: UInt64) {
            self.pattern = pattern
            self.archive = archive
            self.limit = limit
            random = SeededGenerator(seed: seed)
        }

        mutating func key(of count: Int) -> String {
            let number = "\(Int.random(in: 0..<count, using: &random))"
            return pattern == .longKeys
                ? number + String(repeating: "k", count: 1024 - number.utf8.count) : number
        }

        mutating func put(_ size: Int, _ key: String) throws {
            do {
                try archive.put(repeated(3, size), forKey: key)
                #expect(size <= limit, "a value above the limit was stored")
            } catch {
                switch error {
                case .valueTooLarge where size > limit: break
                default: throw error
                }
            }
            try look()
        }

        mutating func look() throws {
            let status = try archive.status()
            worst.calls += 1
            worst.size = max(worst.size, Double(status.diskBytes) / Double(limit))
            let bound = LimitTests.bound(limit: limit, entries: status.entries, keyBytes: keyBytes)
            worst.footprint = max(worst.footprint, Double(status.footprint - status.requestBytes) / bound)
        }

        mutating func step(_ step: Int) throws {
            switch pattern {
            case .edges:
                let sizes = [0, 1, limit - 1, limit, limit + 1, limit / 2, limit / 2 + 1]
                try put(sizes[Int.random(in: 0..<sizes.count, using: &random)], key(of: 50))
            case .growing:
                try put(step % 64 * limit / 63, "grows")
                try put(limit / 200, key(of: 400))
            case .tinyAndHuge:
                try put(
                    step % 2 == 0 ? Int.random(in: 0...2, using: &random) : limit - step % 5, key(of: 3000))
            case .manyTinyThenHuge:
                for _ in 0..<400 { try archive.put([1], forKey: key(of: 60_000)) }
                try look()
                if step % 50 == 49 { try put(limit, "huge") }
            case .random, .longKeys:
                let largest = Int.random(in: 0..<30, using: &random) == 0 ? limit : limit / 40
                try put(Int.random(in: 0...largest, using: &random), key(of: 300))
            case .movingLimit:
                if step % 20 == 0 {
                    limit = Int.random(in: 1000...3_000_000, using: &random)
                    try archive.setLimits(disk: UInt64(limit), memory: nil)
                    try look()
                }
                try put(Int.random(in: 0...limit / 3, using: &random), key(of: 200))
            }
        }
    }

    private static let givesIndexBlocksBack = ConditionTrait.enabled(
        if: FileSystem.givesIndexBlocksBack, "an open index keeps its blocks on this file system, as on tmpfs"
    )

    @Test(
        "disk usage stays within the limit for each pattern of writes", givesIndexBlocksBack,
        arguments: Pattern.allCases)
    func usageWithinLimit(pattern: Pattern) async throws {
        try await attack(pattern, limit: 700_000, seed: 5) { $0 < 150 }
    }

    @Test(.enabled(if: Soak.seconds > 0, "runs in a soak"), arguments: Pattern.allCases)
    func limitsSoak(pattern: Pattern) async throws {
        let limit = pattern == .movingLimit || Soak.seed % 2 == 0 ? 700_000 : 20_000_000
        let end = Soak.end(share: 0.012)
        try await attack(pattern, limit: limit, seed: Soak.seed) { _ in Date() < end }
    }

    private func attack(_ pattern: Pattern, limit: Int, seed: UInt64, shouldContinue: (Int) -> Bool)
        async throws
    {
        let folder = try TemporaryFolder()
        let archive = try folder.archive("Limits", creating: .cache(UInt64(limit)))
        var attack = Attack(pattern, archive, limit: limit, seed: seed)
        let sampler = try folder.worker("sample", "Limits", "\(attack.keyBytes)", folder.stopFile, "\(limit)")
        #expect(try await sampler.hasSaid("ready"))
        var step = 0
        while shouldContinue(step) {
            try attack.step(step)
            step += 1
        }
        _ = FileManager.default.createFile(atPath: folder.stopFile, contents: nil)
        let (status, lines) = try await sampler.finish()
        let words = lines.last?.split(separator: " ").compactMap { Double($0) } ?? []
        try #require(status == 0 && words.count == 4, "\(lines)")
        var figures = Figures("R10 limits, \(pattern.rawValue)")
        figures.add("seed", text: "\(seed)")
        figures.add("limit", limit)
        figures.add("calls", attack.worst.calls)
        figures.add("largest size/limit", ratio: attack.worst.size)
        figures.add("footprint/bound", ratio: attack.worst.footprint)
        figures.add("samples elsewhere", Int(words[0]))
        // While limits change, another process cannot pair a size with its limit.
        figures.add(
            "their size/limit", text: pattern == .movingLimit ? "-" : String(format: "%.3f", words[1] / 1e6))
        figures.add(
            "their footprint/bound",
            text: pattern == .movingLimit ? "-" : String(format: "%.3f", words[2] / 1e6))
        figures.add(
            "and the value under way and the index",
            text: pattern == .movingLimit ? "-" : String(format: "%.3f", words[3] / 1e6))
        figures.report()
        #expect(attack.worst.size <= 1, "seed \(seed)")
        #expect(attack.worst.footprint <= 1, "seed \(seed)")
        if pattern != .movingLimit {
            #expect(words[1] <= 1e6, "seed \(seed), seen from another process")
            #expect(words[3] <= 1e6, "seed \(seed), seen from another process")
        }
        #expect(words[0] > 0 && attack.worst.calls > 10)
        try archive.expectValid()
    }

    @Test("deleting all entries shrinks the index", givesIndexBlocksBack) func deleteAllShrinksIndex() throws
    {
        let archive = try folder.archive("Limits", creating: .cache(100_000))
        let other = try folder.archive("Limits")
        for round in 0..<2 {
            for number in 0..<30_000 { try archive.put([1], forKey: "\(round) \(number)") }
            #expect(try other.peek("\(round) 29999") == [1])
            #expect(try archive.status().footprint > 2_000_000)
            let list = try other.entries()
            try archive.deleteAll()
            let status = try archive.status()
            let footprint = Double(status.footprint - status.requestBytes)
            #expect(footprint <= LimitTests.bound(limit: 100_000, entries: 0, keyBytes: 8))
            // The other handle forgets the old index and continues.
            #expect(try other.peek("\(round) 29999") == nil && list.metadata(at: 0) == nil)
            try other.put([2], forKey: "other")
            #expect(try archive.peek("other") == [2])
            try archive.expectValid()
        }
    }

    @Test("a compaction frees about the reported bytes")
    func reclaimableBytes() throws {
        let archive = try folder.archive(
            "A", creating: ArchiveConfiguration(diskLimit: 4 << 20, memoryLimit: nil))
        for number in 0..<400 { try archive.put(repeated(1, 5_000), forKey: "\(number)") }
        for number in 0..<300 { try archive.delete("\(number)") }
        let before = try archive.status()
        try archive.compact()
        let after = try archive.status()
        let freed = before.footprint - min(before.footprint, after.footprint)
        #expect(before.reclaimableBytes > 1_000_000)
        #expect(before.reclaimableBytes.distance(to: freed).magnitude < 300_000, "\(freed) of \(before)")
        #expect(after.reclaimableBytes == 0, "\(after)")
    }

    @Test("a smaller limit shrinks the long segment of an empty log", arguments: [false, true])
    func emptyLog(compacting: Bool) throws {
        let log = try folder.archive("L", creating: .log(1_000_000_000))
        for _ in 0..<4 { try log.append(repeated(1, 900_000)) }
        if compacting {
            _ = try log.deleteAllMessages()
            _ = try log.compact()
        }
        try log.setLimits(disk: 100, memory: nil)
        #expect(try log.status().entries == 0)
        #expect(try Double(log.status().footprint) <= LimitTests.bound(limit: 100, entries: 0, keyBytes: 0))
        try log.append([1, 2, 3])
        #expect(try log.check().clean)
        let again = try folder.reopen(log)
        #expect(try again.status().entries == 1)
        #expect(try again.check().clean)
    }

    @Test("a smaller limit shrinks a long segment") func longSegment() throws {
        let archive = try folder.archive(creating: .cache(1_000_000_000))
        for _ in 0..<12 { try archive.put(repeated(1, 100_000), forKey: "large") }
        try archive.delete("large")
        for number in 0..<3 { try archive.put(repeated(1, 100), forKey: "k\(number)") }
        #expect(try archive.status().footprint > 1_100_000)
        try archive.setLimits(disk: 10_000, memory: nil)
        #expect(
            try Double(archive.status().footprint) <= LimitTests.bound(limit: 10_000, entries: 3, keyBytes: 2)
        )
        #expect(try archive.entries().keys == ["k2", "k1", "k0"])
        #expect(try archive.check().clean)
        let again = try folder.reopen(archive)
        #expect(try again.entries().keys == ["k2", "k1", "k0"])
        #expect(try again.check().clean)
    }

    /// A collection has no limit; its bound is 1.5 times its values.
    @Test("disk usage of a collection stays within 1.5 times its values") func usageOfCollection() throws {
        let archive = try folder.archive("Limits", creating: .collection)
        var random = SeededGenerator(seed: 2)
        var worst = 0.0
        for step in 0..<3000 {
            let key = "\(Int.random(in: 0..<150, using: &random))"
            let size = Int.random(in: 0...(step % 40 == 0 ? 100_000 : 5000), using: &random)
            if step % 7 == 0 {
                try archive.delete(key)
            } else {
                try archive.put(repeated(1, size), forKey: key)
            }
            let status = try archive.status()
            let bound = LimitTests.bound(
                limit: Int(status.diskBytes) * 3 / 2, entries: status.entries, keyBytes: 8)
            worst = max(worst, Double(status.footprint - status.requestBytes) / bound)
        }
        Figures("R10 limits, collection", ["calls": 3000, "footprint/bound": worst]).report()
        #expect(worst <= 1)
    }

    @Test("disk usage shrinks with deletions", givesIndexBlocksBack, arguments: [1, 500])
    func footprintShrinks(atOnce: Int) throws {
        let archive = try folder.archive(creating: .collection)
        let count = 60_000
        for number in 0..<count { try archive.put(repeated(1, 200), forKey: "k\(number)") }
        var worst = 0.0
        for start in stride(from: 0, to: count - 100, by: atOnce) {
            let keys = (start..<min(start + atOnce, count - 100)).map { "k\($0)" }
            if atOnce == 1 {
                try archive.delete(keys[0])
            } else {
                var batch = Batch()
                for key in keys { batch.delete(key) }
                try archive.apply(batch)
            }
            guard start % 500 == 0 || start + atOnce >= count - 100 else { continue }
            let status = try archive.status()
            let bound = 1.25 * (1.5 * Double(status.diskBytes) + 128 * Double(status.entries)) + 1_048_576
            worst = max(worst, Double(status.footprint - status.requestBytes) / bound)
        }
        #expect(worst <= 1, "\(worst)")
    }
}
