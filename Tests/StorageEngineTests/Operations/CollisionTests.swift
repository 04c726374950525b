import Foundation
import StorageEngine
import TestSupport
import Testing

/// R11: colliding and similar keys.
@Suite(.serialized) struct CollisionTests {
    @inline(__always)
    private func tag(_ key: String, _ hash: KeyHash) -> UInt32 {
        var key = key
        return key.withUTF8 { UInt32(truncatingIfNeeded: hash(UnsafeRawBufferPointer($0))) }
    }

    private func archive(_ folder: TemporaryFolder) throws -> Archive {
        try folder.archive("Collide", creating: .collection)
    }

    /// Keys with equal tags under the mask.
    private func colliding(_ count: Int, mask: UInt32, _ hash: KeyHash, prefix: String = "c") -> [String] {
        let wanted = tag("\(prefix)0", hash) & mask
        var keys: [String] = []
        var number = 0
        while keys.count < count {
            let key = "\(prefix)\(number)"
            if tag(key, hash) & mask == wanted { keys.append(key) }
            number += 1
        }
        return keys
    }

    /// Pairs of keys whose hashes agree in all 32 bits that the index uses.
    private func equal(among count: Int, _ hash: KeyHash) -> [String] {
        let tags = (0..<count).map { (tag: tag("c\($0)", hash), number: $0) }.sorted { $0.tag < $1.tag }
        var keys: [String] = []
        for (one, next) in zip(tags, tags.dropFirst()) where one.tag == next.tag {
            keys += ["c\(one.number)", "c\(next.number)"]
        }
        return keys
    }

    enum Collision: CaseIterable {
        /// One bucket for all keys, with a long chain.
        case bucket
        /// Equal bucket and tag: only the keys differ.
        case wholeTag
    }

    @Test("keys with equal hashes keep their values", arguments: Collision.allCases)
    func collidingKeys(_ collision: Collision) throws {
        _ = try operate(on: collision, seed: 4) { $0 < 6000 }
    }

    @Test(.enabled(if: Soak.seconds > 0, "runs in a soak"), arguments: Collision.allCases)
    func collidingKeysSoak(_ collision: Collision) throws {
        // Finding the keys takes a while, so the time starts afterwards.
        var end: Date?
        let operations = try operate(on: collision, seed: Soak.seed) { _ in
            let until = end ?? Soak.end(share: 0.02)
            end = until
            return Date() < until
        }
        #expect(operations > 0)
        Figures(
            "R11 colliding keys, \(collision)",
            ["seed": "\(Soak.seed)", "operations": operations, "wrong answers": 0]
        ).report()
    }

    /// Runs random operations against a dictionary, up to the first difference. Returns the number of operations.
    private func operate(on collision: Collision, seed: UInt64, shouldContinue: (Int) -> Bool) throws -> Int {
        let folder = try TemporaryFolder()
        let archive = try archive(folder)
        let hash = try folder.hash(of: "Collide")
        let keys =
            collision == .bucket ? colliding(200, mask: 0x3ff, hash) : equal(among: 300_000, hash)
        // The probability of fewer than one pair is e⁻¹⁰.
        try #require(keys.count >= 2)
        var model: [String: [UInt8]] = [:]
        var random = SeededGenerator(seed: seed)
        var step = 0
        while shouldContinue(step) {
            defer { step += 1 }
            let key = keys[Int.random(in: 0..<keys.count, using: &random)]
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let value = repeated(UInt8(step & 255), step % 50)
                try archive.put(value, forKey: key)
                model[key] = value
            case 5..<7:
                try #require(
                    try archive.delete(key) == (model.removeValue(forKey: key) != nil),
                    "seed \(seed) step \(step)")
            default:
                try #require(try archive.access(key) == model[key], "seed \(seed) step \(step) \(key)")
            }
            if step % 500 == 499 {
                try #require(try archive.invariantViolations() == [], "seed \(seed) step \(step)")
            }
        }
        for key in keys { #expect(try archive.peek(key) == model[key]) }
        let again = try folder.reopen(archive)
        for key in keys { try #require(try again.peek(key) == model[key]) }
        return step
    }

    @Test("lists don't confuse colliding keys") func listsOfColliding() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try archive(folder)
        for number in 0..<6_000 { try archive.put([1], forKey: "first \(number)") }
        let keys = equal(among: 300_000, try folder.hash(of: "Collide"))
        try #require(keys.count >= 2)
        for (place, key) in keys.enumerated() {
            try archive.put(repeated(7, 500 + (place / 2 % 2) * (place % 2)), forKey: key)
        }
        let list = try archive.entries(order: .leastRecentFirst)
        let listed = try list.indices.map { try #require(try list.key(at: $0)) }
        for number in 0..<6_000 { try archive.delete("first \(number)") }
        // One key of the first pair is deleted, one of the second accessed, both of the fourth, and so on.
        for (pair, place) in stride(from: 0, to: keys.count, by: 2).enumerated() {
            if pair % 4 == 0 { try archive.delete(keys[place]) }
            if pair % 4 == 1 { _ = try archive.access(keys[place]) }
            if pair % 4 == 3 { for key in keys[place..<place + 2] { _ = try archive.access(key) } }
        }
        for number in 0..<8_000 { try archive.put(repeated(3, 2_000), forKey: "hot \(number % 50)") }
        var found = 0
        for (place, key) in listed.enumerated() where !key.hasPrefix("first") {
            let isThere = try archive.peek(key) != nil
            let metadata = try list.metadata(at: place)
            #expect(metadata == nil || metadata?.key == key && isThere, "\(key)")
            #expect(list.isCurrent(at: place) == (metadata != nil), "\(key)")
            for name in [try list.key(at: place), try list.presentKey(at: place)] {
                #expect(name == nil || name == key, "\(key)")
            }
            if metadata != nil { found += 1 }
        }
        // All present keys, except accessed ones of pairs.
        let accessed = (0..<keys.count / 2).map { $0 % 4 == 1 ? 1 : $0 % 4 == 3 ? 2 : 0 }.reduce(0, +)
        let deleted = (keys.count / 2 + 3) / 4
        #expect(found >= keys.count - deleted - accessed, "\(found) of \(keys.count)")
    }

    /// Similar keys that an attacker can produce without the secret.
    private static let families: [(name: String, key: @Sendable (Int) -> String)] = [
        ("same long prefix", { String(repeating: "p", count: 200) + "\($0 + 100_000)" }),
        ("same long ending", { "\($0 + 100_000)" + String(repeating: "s", count: 200) }),
        (
            "differing in few bits",
            { number in
                String((0..<16).map { number >> $0 & 1 == 1 ? "A" : "a" })
            }
        ),
        ("lengths of one letter", { String(repeating: "x", count: $0 % 1024 + 1) }),
        // They collide under h = 31 h + c ("Aa" and "BB").
        (
            "equal under a weak hash",
            { number in
                (0..<16).map { number >> $0 & 1 == 1 ? "Aa" : "BB" }.joined()
            }
        ),
        ("multiples of a power of two", { "\($0 << 20)" }),
    ]

    @Test("similar keys spread over the buckets like random ones") func similarKeys() throws {
        let folder = try TemporaryFolder()
        _ = try archive(folder)
        let hash = try folder.hash(of: "Collide")
        for family in CollisionTests.families {
            var buckets: [UInt32: Int] = [:]
            for key in Set((0..<2_000).map(family.key)) { buckets[tag(key, hash) & 511, default: 0] += 1 }
            // 2,000 keys thrown at random into 512 buckets: about 4 in each, above 22 in 1 of 10⁶ runs.
            #expect(buckets.values.max() ?? 0 <= 22, "\(family.name)")
        }
    }

    @Test("each archive has its own random secret") func secretsDiffer() throws {
        let one = try TemporaryFolder()
        let other = try TemporaryFolder()
        _ = try archive(one)
        _ = try archive(other)
        let keys = colliding(50, mask: 0x3ff, try one.hash(of: "Collide"))
        let otherHash = try other.hash(of: "Collide")
        #expect(Set(keys.map { tag($0, otherHash) & 0x3ff }).count > 40)
    }

    @Test("finds every key of a long chain") func longChain() throws {
        // One bucket for all keys; their other bits differ.
        try KeyHash.$maskInTests.withValue(~0xffff) {
            let folder = try TemporaryFolder(inMemory: true)
            let archive = try folder.archive(creating: .collection)
            let count = 4_600
            for number in 0..<count { try archive.put([UInt8(number & 255)], forKey: "k\(number)") }
            for number in 0..<count {
                try #require(try archive.peek("k\(number)") == [UInt8(number & 255)], "\(number)")
            }
            #expect(try archive.peek("none") == nil)
            #expect(try archive.check().clean)
            for number in stride(from: 0, to: count, by: 50) { #expect(try archive.delete("k\(number)")) }
            #expect(try archive.entries().count == count - 92)
            #expect(try archive.invariantViolations() == [])
        }
    }

    @Test("a rebuilt index has another salt") func newSalt() throws {
        let folder = try TemporaryFolder(inMemory: true)
        var salts: Set<[UInt8]> = []
        for round in 0..<3 {
            let archive = try folder.archive(creating: .cache())
            try archive.put([1], forKey: "k\(round)")
            for earlier in 0...round { #expect(try archive.peek("k\(earlier)") == [1]) }
            archive.close()
            let index = try contents(of: folder.archivePath("A", "index"))
            salts.insert(Array(index[888..<896]))
            try folder.removeIndex("A")
        }
        #expect(salts.count == 3)
    }
}
