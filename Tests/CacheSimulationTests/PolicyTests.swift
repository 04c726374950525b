import CacheSimulation
import Testing

@Suite("eviction policies")
struct PolicyTests {
    private func hits(_ requests: [Request], _ policy: CachePolicy, limit: Int, unit: LimitUnit) -> Int {
        var trace = RecordedTrace(unit: unit)
        for request in requests { trace.add(request) }
        return Int((trace.point(policy, limit: limit).hitRatio * Double(trace.requests)).rounded())
    }

    @Test("a policy equals its naive model", arguments: CachePolicy.allCases, [1, 7, 40, 160])
    func equalsModel(policy: CachePolicy, limit: Int) {
        for unit in LimitUnit.allCases {
            var random = Random(seed: UInt64(limit))
            let limit = unit == .bytes ? limit * 5 : limit
            let requests = (0..<1500).map { random.request(number: $0) }
            #expect(
                hits(requests, policy, limit: limit, unit: unit)
                    == NaiveReplay.hits(requests, policy, limit: limit, unit: unit), "\(unit)")
        }
    }

    @Test(
        "hits of an example are as computed by hand",
        arguments: [
            // c evicts b, b evicts c.
            (CachePolicy.lru, 2, "abacab", 2),
            // d evicts b and passes a; e and f evict those inserted after it.
            (.sieve, 3, "abcadefa", 2),
            // k moves a to the main queue and evicts b, which returns from the ghosts to the main queue.
            (.s3fifo, 10, "aaabcdefghijkabb", 4),
            // Keys read once don't replace those read twice.
            (.wtinylfu, 10, "aabbccddeeffgghhiijj12345abcdefghi", 19),
            // c isn't read again.
            (.opt, 2, "abcab", 2),
        ])
    func example(policy: CachePolicy, limit: Int, keys: String, expected: Int) {
        let requests = keys.utf8.map { Request(hash: Request.hash([$0])) }
        #expect(hits(requests, policy, limit: limit, unit: .entries) == expected)
    }

    @Test("a read of an expired or deleted value is a miss", arguments: CachePolicy.allCases)
    func expiry(policy: CachePolicy) {
        let requests = [
            Request(hash: 1, kind: .write, expiry: 10), Request(hash: 1, time: 9), Request(hash: 1, time: 10),
            Request(hash: 1, time: 11), Request(hash: 1, kind: .delete, time: 11), Request(hash: 1, time: 12),
        ]
        #expect(hits(requests, policy, limit: 5, unit: .entries) == 2)
    }

    @Test("a recorded miss adds nothing until its value is written", arguments: CachePolicy.allCases)
    func miss(policy: CachePolicy) {
        let kinds: [Request.Kind] = [.miss, .miss, .write, .miss, .read]
        let requests = kinds.map { Request(hash: 1, size: 3, kind: $0) }
        #expect(hits(requests, policy, limit: 5, unit: .bytes) == 2)
    }

    @Test(
        "a recorded hit of a new key is also a hit in caches that are at least as large",
        arguments: CachePolicy.allCases)
    func prior(policy: CachePolicy) {
        let kinds: [Request.Kind] = [.hit, .hit, .delete, .hit]
        var trace = RecordedTrace(unit: .entries, recordedLimit: 8)
        var stream = PolicySimulation(policies: [policy], limits: [4, 8], unit: .entries, recordedLimit: 8)
        for kind in kinds {
            trace.add(Request(hash: 1, kind: kind))
            stream.add(Request(hash: 1, kind: kind))
        }
        let expected = [1.0 / 3, 2.0 / 3]
        #expect([4, 8].map { trace.point(policy, limit: $0).hitRatio } == expected)
        #expect(policy == .opt || stream.curve.points.map(\.hitRatio) == expected)
    }

    @Test(
        "a recording of 2,000 reads rates another limit like 40,000 reads of caches that were full before",
        arguments: [50, 100, 200])
    func coldStart(limit: Int) {
        var random = Random(seed: 5)
        var recent: [UInt64] = []
        var long = PolicySimulation(policies: [.lru], limits: [limit], unit: .entries)
        var short = PolicySimulation(policies: [.lru], limits: [limit], unit: .entries, recordedLimit: 100)
        for number in 0..<42_000 {
            let hash = Request.hash("\(random.rank(of: 1000))".utf8)
            if number == 2_000 { long.beginCounting() }
            long.add(Request(hash: hash))
            let place = recent.firstIndex(of: hash)
            if let oldest = place ?? (recent.count < 100 ? nil : 0) { recent.remove(at: oldest) }
            recent.append(hash)
            guard number >= 40_000 else { continue }
            short.add(Request(hash: hash, kind: place == nil ? .miss : .hit))
            if place == nil { short.add(Request(hash: hash, kind: .write)) }
        }
        #expect(abs(short.curve.points[0].hitRatio - long.curve.points[0].hitRatio) < 0.02)
    }

    @Test("a key whose expiry time changes is stored, with its own group", arguments: CachePolicy.online)
    func firstChange(policy: CachePolicy) {
        var stream = PolicySimulation(policies: [policy], limits: [8], unit: .entries)
        for hash: UInt64 in 1...2 {
            stream.add(Request(hash: hash, kind: .expire, group: UInt16(hash)))
            stream.add(Request(hash: hash, kind: .hit, group: UInt16(hash)))
        }
        let point = stream.curve.points[0]
        #expect(point.hitRatio == 1 && point.groups.map(\.size) == [0, 1, 1])
    }

    @Test("requests before counting begins only fill the cache", arguments: CachePolicy.allCases)
    func warmUp(policy: CachePolicy) {
        var random = Random(seed: 3)
        let requests = (0..<600).map { random.request(number: $0) }
        var trace = RecordedTrace(unit: .entries)
        for (number, request) in requests.enumerated() {
            if number == 400 { trace.beginCounting() }
            trace.add(request)
        }
        let counted = (trace.point(policy, limit: 40).hitRatio * Double(trace.requests)).rounded()
        #expect(trace.requests == requests[400...].count { $0.isRead })
        #expect(
            Int(counted) == NaiveReplay.hits(requests, policy, limit: 40, unit: .entries)
                - NaiveReplay.hits(Array(requests[..<400]), policy, limit: 40, unit: .entries)
                || policy == .opt && counted > 0)
    }

    @Test("a value that exceeds the limit isn't admitted", arguments: CachePolicy.allCases)
    func large(policy: CachePolicy) {
        let requests = [101, 101, 100, 100].enumerated().map { Request(hash: UInt64($0 / 2), size: $1) }
        #expect(hits(requests, policy, limit: 100, unit: .bytes) == (policy == .wtinylfu ? 0 : 1))
    }
}

/// SplitMix64.
struct Random: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A rank from 1, by a law close to Zipf's with exponent 1.
    mutating func rank(of count: Int) -> Int {
        var share = Double.random(in: 0..<1, using: &self)
        var rank = 1.0
        // count to the power of share, by repeated square roots.
        var factor = Double(count)
        while share > 0, factor > 1.0001 {
            factor = factor.squareRoot()
            share *= 2
            if share >= 1 {
                rank *= factor
                share -= 1
            }
        }
        return Int(rank)
    }

    /// A request of a few keys, whose sizes and expiry times vary.
    mutating func request(number: Int) -> Request {
        let kinds: [Request.Kind] = [.read, .read, .read, .read, .miss, .miss, .write, .delete, .expire]
        let kind = next() % 400 == 0 ? .deleteAll : kinds[Int(next() % 9)]
        let expiry = next() % 6 == 0 ? Int64(number) + Int64(next() % 200) : nil
        return Request(
            hash: kind == .deleteAll ? 0 : UInt64(rank(of: 300)),
            size: next() % 4 == 0 ? 0 : Int(next() % 20 + 1), kind: kind,
            time: Int64(number), expiry: expiry)
    }
}
