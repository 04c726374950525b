import CacheSimulation
import Foundation
import StorageEngine
import StoreInspection
import Testing

@Suite("advice on an archive")
struct CacheAdvisorTests {
    private final class Folder {
        let path = FileManager.default.temporaryDirectory.path + "/vellum-advice-\(UUID().uuidString)"
        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    private static let size = 100
    private let folder = Folder()

    private func cache(_ entries: Int, _ name: String = "City") throws -> Archive {
        let store = try Store.open(at: folder.path)
        return try store.archive(
            named: name, orCreate: ArchiveConfiguration(kind: .cache, diskLimit: UInt64(entries * Self.size)))
    }

    /// Reads keys by a skewed law, and stores those that are missed. Returns the hit ratio of the second half.
    @discardableResult
    private func use(_ archive: Archive, _ requests: Int, attributes: EntryAttributes = .none) throws
        -> Double
    {
        var state: UInt64 = 1
        var hits = 0
        for number in 0..<requests {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let share = Double(state >> 11) / Double(1 << 53)
            let rank = Int(3000 * share * share * share)
            let key = "\(rank % 2 == 0 ? "even" : "odd"):\(rank)"
            if try archive.access(key) == nil {
                try archive.put([UInt8](repeating: 7, count: Self.size), forKey: key, attributes: attributes)
            } else if number >= requests / 2 {
                hits += 1
            }
        }
        return Double(hits) / Double(requests - requests / 2)
    }

    @Test("simulates the hit ratios of the archive and of one with another limit")
    func predicts() throws {
        let archive = try cache(400)
        let measured = try use(archive, 20_000)
        var advisor = CacheAdvisor(findsOptimum: true)
        let advice = try #require(try advisor.advice(on: archive))
        #expect(advice.rate == 1 && advice.limits.count == 9)
        #expect(abs(advice.measured - measured) < 0.02)
        for (entries, name) in [(200, "half"), (400, "same"), (800, "double")] {
            let real = try use(cache(entries, name), 20_000)
            let simulated = try #require(advice.hitRatio(.lru, limit: entries * Self.size))
            #expect(abs(simulated - real) < 0.02, "\(name): \(simulated), \(real)")
            #expect(try #require(advice.hitRatio(.opt, limit: entries * Self.size)) > simulated)
        }
        #expect(advice.advice?.change == .changePolicy(.s3fifo) && advice.resizeOptions == "--policy s3fifo")
        let changed = try cache(400, "policy")
        try changed.setEvictionPolicy(.s3fifo)
        #expect(abs(try #require(advice.advice?.after) - (try use(changed, 20_000))) < 0.02)
        #expect(advice.grouping == .prefix(below: "", separator: UInt8(ascii: ":")))
        #expect(Set(advice.groups.map(\.name)).isSuperset(of: ["even:", "odd:"]))
    }

    @Test("continues with the requests since the last call, and restarts with a new limit")
    func continues() throws {
        let archive = try cache(200)
        try use(archive, 4000)
        var advisor = CacheAdvisor()
        let first = try #require(try advisor.advice(on: archive))
        try use(archive, 1000)
        let second = try #require(try advisor.advice(on: archive))
        #expect(second.reads == first.reads + 1000)
        try archive.setLimits(disk: 10_000, memory: archive.configuration().memoryLimit)
        let third = try #require(try advisor.advice(on: archive))
        #expect(third.limit == 10_000 && third.limits.contains(10_000) && third.reads == 0)
        try use(archive, 1000)
        #expect(try advisor.advice(on: archive)?.reads == 1000)
    }

    @Test("counts reads of expired entries by their time to live")
    func expired() throws {
        let archive = try cache(50)
        for _ in 0..<600 {
            _ = try archive.access("a")
            try archive.put([1], forKey: "a", attributes: EntryAttributes(lifetime: .zero, owner: "Ada"))
            _ = try archive.access("b")
        }
        var advisor = CacheAdvisor()
        let advice = try #require(try advisor.advice(on: archive))
        #expect(advice.points.allSatisfy { $0.hitRatio == 0 })
        #expect(advice.measured == 0 && advice.resizeOptions == nil)
        #expect(advice.expired.map(\.timeToLive) == [1] && abs(advice.expired[0].share - 0.5) < 0.01)
    }

    @Test("continues while the share of sampled keys changes with the number of entries")
    func sampling() throws {
        let archive = try cache(20_000)
        let keys = (0..<12_000).map(String.init)
        for key in keys[..<1000] { try archive.put([1], forKey: key) }
        for key in keys[..<1000] + keys[..<1000] { _ = try archive.access(key) }
        var advisor = CacheAdvisor()
        let first = try #require(try advisor.advice(on: archive))
        #expect(first.rate == 1 && first.reads >= 1000)
        for key in keys { try archive.put([1], forKey: key) }
        let fewer = try #require(try advisor.advice(on: archive))
        #expect(fewer.rate < 1 && abs(Double(fewer.reads) / fewer.rate - Double(first.reads)) < 10)
        _ = try archive.deleteAll()
        for key in keys[..<900] { try archive.put([1], forKey: key) }
        let before = try #require(try advisor.advice(on: archive))
        let next = try #require(try archive.requestSamples()?.next)
        for key in keys[..<900] { _ = try archive.access(key) }
        var more = try #require(try archive.requestSamples(from: next))
        #expect(more.threshold == 1 << 32)
        more.lower(to: UInt64(before.rate * Double(1 << 32)))
        #expect(try advisor.advice(on: archive)?.reads == before.reads + more.requests.count)
    }

    @Test("an archive that was empty at the first call gets owners and the time of its requests")
    func empty() throws {
        let archive = try cache(2000)
        var advisor = CacheAdvisor()
        #expect(try advisor.advice(on: archive)?.reads == 0)
        try use(archive, 3000, attributes: EntryAttributes(owner: "Ada"))
        let advice = try #require(try advisor.advice(on: archive))
        #expect(advice.grouping == .owner && advice.seconds < 3600 && advice.reads < 3000)
    }

    @Test("an entry whose owner changes counts in the new owner's group")
    func owners() throws {
        let archive = try cache(2000)
        for owner in ["Ada", "Bob"] {
            for number in 0..<1500 {
                try archive.put([1], forKey: "\(number)", attributes: EntryAttributes(owner: owner))
            }
        }
        var advisor = CacheAdvisor()
        _ = try advisor.advice(on: archive)
        for number in 0..<1500 {
            try archive.put([1], forKey: "\(number)", attributes: EntryAttributes(owner: "Eve"))
        }
        #expect(try advisor.advice(on: archive)?.groups.map(\.name) == ["Eve"])
    }

    @Test("empty values are hits in every simulated cache")
    func emptyValues() throws {
        let archive = try cache(400)
        for _ in 0..<12 {
            for number in 0..<100 where try archive.access("\(number)") == nil {
                try archive.put([], forKey: "\(number)")
            }
        }
        var advisor = CacheAdvisor()
        let advice = try #require(try advisor.advice(on: archive))
        #expect(advice.measured == 1 && advice.points.allSatisfy { $0.hitRatio == 1 })
    }

    @Test("a read after the expiry time counts if the entry expired, not if it was evicted before")
    func evicted() throws {
        let hand = ClockHand()
        try Clock.$hand.withValue(hand) {
            let archive = try cache(10)
            let value = [UInt8](repeating: 7, count: Self.size)
            for _ in 0..<60 {
                for key in ["a", "b"] {
                    _ = try archive.access(key)
                    let attributes = EntryAttributes(lifetime: .seconds(key == "a" ? 60 : 90))
                    try archive.put(value, forKey: key, attributes: attributes)
                    for other in 0..<(key == "a" ? 9 : 20) { try archive.put(value, forKey: "\(other)") }
                    hand.pass(.seconds(100))
                    if key == "a" { _ = try archive.access(key) }
                }
            }
            var advisor = CacheAdvisor()
            #expect(try advisor.advice(on: archive)?.expired.map(\.timeToLive) == [60])
        }
    }

    @Test("refuses a log, and an archive without a limit")
    func refusals() throws {
        let store = try Store.open(at: folder.path)
        for kind in [ArchiveKind.log, .collection] {
            var configuration = ArchiveConfiguration(kind: kind)
            if kind == .collection { configuration.diskLimit = nil }
            let archive = try store.archive(named: "\(kind)", orCreate: configuration)
            var advisor = CacheAdvisor()
            #expect(throws: SourceError.self) { try advisor.advice(on: archive) }
        }
    }

    @Test("has no advice for an archive without requests")
    func unused() throws {
        let archive = try cache(10)
        var advisor = CacheAdvisor()
        #expect(try advisor.advice(on: archive)?.advice == nil)
    }

    @Test("measures only hits since the last change of limit or policy", arguments: [true, false])
    func measuresSinceChange(ofLimit: Bool) throws {
        let archive = try cache(100)
        try use(archive, 6000)
        if ofLimit {
            try archive.setLimits(disk: 400_000, memory: archive.configuration().memoryLimit)
        } else {
            try archive.setEvictionPolicy(.s3fifo)
        }
        var advisor = CacheAdvisor()
        let empty = try #require(try advisor.advice(on: archive))
        #expect(empty.reads == 0 && empty.isAfterChange)
        #expect(empty.limits.allSatisfy { empty.hitRatio(.lru, limit: $0) == nil })
        for _ in 0..<600 { _ = try archive.access("none") }
        for later in [false, true] {
            if later { advisor = CacheAdvisor() }
            let advice = try #require(try advisor.advice(on: archive))
            #expect(advice.reads == 600 && advice.measured == 0 && advice.isAfterChange)
        }
    }

    @Test("an owner with the name of a group without an owner has its own group")
    func confusingOwner() throws {
        let archive = try cache(2000)
        for number in 0..<300 {
            let owner = number % 3 == 0 ? "(none)" : number % 3 == 1 ? "(others)" : nil
            try archive.put([1], forKey: "\(number)", attributes: EntryAttributes(owner: owner))
        }
        for number in 0..<300 { _ = try archive.access("\(number)") }
        var advisor = CacheAdvisor()
        let groups = try #require(try advisor.advice(on: archive)).groups
        #expect(groups.count == 3 && groups.contains { $0.name == "(none)" })
        #expect(groups.allSatisfy { abs($0.reads - 1.0 / 3) < 1e-6 })
    }

    @Test("recommends no limit that an archive can't have, and states since when requests are recorded")
    func highestLimit() throws {
        let before = Timestamp.now()
        let archive = try cache(100)
        try use(archive, 6000)
        var advisor = CacheAdvisor(limits: [Int(ArchiveConfiguration.maximumDiskLimit) * 2])
        let advice = try #require(try advisor.advice(on: archive))
        #expect(advice.limits.count == 2 && advice.resizeOptions?.hasPrefix("--disk") != true)
        #expect(try #require(advice.since) >= before && advice.seconds > 0)
        let memory = try archive.configuration().memoryLimit
        try archive.setLimits(disk: ArchiveConfiguration.maximumDiskLimit, memory: memory)
        advisor = CacheAdvisor()
        #expect(try advisor.advice(on: archive)?.limits.last == Int(ArchiveConfiguration.maximumDiskLimit))
    }
}
