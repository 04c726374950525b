import Foundation
import StorageEngine
import TestSupport
import Testing

/// Evictions under S3-FIFO against a plain model.
@Suite struct QueueModelTests {
    static func queues(_ limit: Int) -> ArchiveConfiguration {
        var configuration = ArchiveConfiguration.cache(UInt64(limit))
        configuration.evictionPolicy = .s3fifo
        return configuration
    }

    private func setCount(_ path: String) -> Int {
        guard let file = FileHandle(forReadingAtPath: path) else { return 1 }
        defer { try? file.close() }
        guard (try? file.seek(toOffset: 448)) != nil, let word = try? file.read(upToCount: 4) else {
            return 1
        }
        return word.reversed().reduce(0) { $0 << 8 | Int($1) } / 1024 * 111
    }

    @Test("random operations agree with a model of S3-FIFO", arguments: [UInt64(1), 2, 3, 4, 5, 6])
    func randomOperations(seed: UInt64) throws {
        let folder = try TemporaryFolder(inMemory: true)
        var random = SeededGenerator(seed: seed)
        let limit = Int.random(in: 2_000...200_000, using: &random)
        var archives = [try folder.archive(creating: QueueModelTests.queues(limit)), try folder.archive()]
        let path = folder.archivePath("A", "index")
        var model = PlainQueues(
            limit: limit,
            ghosts: PlainGhosts(limit: limit, hash: try folder.hash(of: "A")) { setCount(path) })
        let keys = (0..<Int.random(in: 40...400, using: &random)).map { "key \($0)" }
        var hidden: (id: UInt32, keys: [String])?
        for step in 0..<1_500 {
            let archive = archives[step & 1]
            // Low numbers are requested more often.
            let place = min(
                Int.random(in: 0..<keys.count, using: &random), Int.random(in: 0..<keys.count, using: &random)
            )
            let key = keys[place]
            func size() -> Int {
                let isLarge = Int.random(in: 0..<40, using: &random) == 0
                return Int.random(in: 0...(isLarge ? limit * 5 / 4 : limit / 20), using: &random)
            }
            switch Int.random(in: 0..<1000, using: &random) {
            case 0..<40:
                var batch = Batch()
                var changes: [(key: String, value: [UInt8]?)] = []
                for _ in 0..<Int.random(in: 1...8, using: &random) {
                    let key = keys[Int.random(in: 0..<keys.count, using: &random)]
                    let isDelete = Int.random(in: 0..<4, using: &random) == 0
                    let value = isDelete ? nil : repeated(UInt8(step & 255), size())
                    if let value { batch.put(value, forKey: key) } else { batch.delete(key) }
                    changes.append((key, value))
                }
                let applied = (try? archive.apply(batch)) != nil
                #expect(applied == model.apply(changes), "seed \(seed) step \(step)")
            case 40..<400:
                let value = repeated(UInt8(step & 255), size())
                let stored = (try? archive.put(value, forKey: key)) != nil
                #expect(stored == model.apply([(key, value)]), "seed \(seed) step \(step)")
            case 400..<900:
                #expect(try archive.access(key) == model.access(key), "seed \(seed) step \(step)")
            case 900..<940:
                #expect(try archive.delete(key) == model.delete(key), "seed \(seed) step \(step)")
            case 940..<942:
                _ = try archive.deleteAll()
                model.deleteAll()
                hidden = nil
            case 942..<960:
                if let former = hidden {
                    let back = former.keys.filter { model.entries[$0]?.isHidden == true }
                    let outcome = try archive.undo(former.id)
                    #expect(outcome?.entries == back.count, "seed \(seed) step \(step)")
                    if outcome != nil { model.restore(back) }
                    hidden = nil
                } else {
                    let chosen = Array(model.visible.keys.sorted().prefix(3))
                    let outcome = try archive.carryOut(.delete, on: archive.planned(chosen))
                    for key in chosen { model.hide(key) }
                    hidden = outcome.action.map { ($0.id, chosen) }
                }
            case 960..<964:
                for archive in archives { archive.close() }
                archives = [try folder.archive(), try folder.archive()]
            default:
                #expect(try archive.invariantViolations() == [], "seed \(seed) step \(step)")
            }
            if step % 20 == 0 || step > 1_480 {
                let found = try Set(archives[step & 1].entries().keys)
                try #require(found == Set(model.visible.keys), "seed \(seed) step \(step)")
                let order = try archives[step & 1].entries(order: .nextEvictedFirst).keys
                #expect(order == model.evictionOrder, "seed \(seed) step \(step)")
                for (key, value) in model.visible { #expect(try archives[step & 1].peek(key) == value) }
            }
        }
        #expect(try archives[0].status().evictions > 100)
        try archives[0].expectValid()
    }

    @Test("new keys evict entries in the listed order")
    func evictionByNewKeys() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(creating: QueueModelTests.queues(30_000))
        for number in 0..<400 {
            try archive.put(repeated(1, 100), forKey: "key \(number)")
            for _ in 0..<number % 4 { _ = try archive.access("key \(number - number % 7)") }
        }
        let listed = try archive.entries(order: .nextEvictedFirst).keys
        let states = try listed.map { try archive.metadata($0)?.queue }
        #expect(states.contains(QueueState(isSmall: true, frequency: 0)))
        #expect(states.contains { $0?.isSmall == false })
        var evicted: [String] = []
        var present = listed
        for number in 0..<60 {
            try archive.put(repeated(2, 100), forKey: "new \(number)")
            let left = Set(try archive.entries().keys)
            evicted += present.filter { !left.contains($0) }
            present.removeAll { !left.contains($0) }
        }
        #expect(evicted.count >= 30)
        #expect(evicted == Array(listed.prefix(evicted.count)))
    }

    @Test("a change to LRU evicts by the last access again")
    func backToLRU() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(creating: QueueModelTests.queues(10_000))
        for round in 0..<3 {
            for number in 0..<150 {
                if try archive.access("key \(number * (round + 1) % 90)") == nil {
                    try archive.put(repeated(1, 100), forKey: "key \(number * (round + 1) % 90)")
                }
            }
        }
        for number in 0..<30 { try archive.put(repeated(2, 100), forKey: "new \(number)") }
        try archive.expectValid()
        let order = try archive.entries(order: .leastRecentFirst).keys
        try archive.setEvictionPolicy(.lru)
        try archive.expectValid()
        #expect(try archive.entries(order: .leastRecentFirst).keys == order)
        try archive.setLimits(disk: 5_000, memory: nil)
        #expect(try archive.entries(order: .leastRecentFirst).keys == Array(order.suffix(50)))
        let index = try contents(of: folder.archivePath("A", "index"))
        #expect(index[(262_144 + 95_496)..<(262_144 + 98_304)].allSatisfy { $0 == 0 })
    }

    @Test("a scan of new keys doesn't displace entries that are used")
    func scanResistance() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(creating: QueueModelTests.queues(100_000))
        for number in 0..<80 {
            try archive.put(repeated(1, 1_000), forKey: "used \(number)")
            for _ in 0..<3 { _ = try archive.access("used \(number)") }
        }
        for number in 0..<1_000 { try archive.put(repeated(2, 1_000), forKey: "scanned \(number)") }
        #expect(try (0..<80).allSatisfy { try archive.peek("used \($0)") != nil })
        try archive.expectValid()
    }
}
