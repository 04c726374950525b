import CacheSimulation
import Testing

@Suite("sampling of keys")
struct SamplingTests {
    private static let limits = [500, 2000, 8000]
    /// Reads of 50,000 keys by Zipf's law, in three groups.
    private static let requests: [Request] = {
        var random = Random(seed: 7)
        return (0..<150_000).map { _ in
            let rank = random.rank(of: 50_000)
            var mixed = Random(seed: UInt64(rank))
            return Request(hash: mixed.next(), group: UInt16(rank % 3))
        }
    }()

    private static func record(sampling: Int) -> RecordedTrace {
        var trace = RecordedTrace(unit: .entries, sampling: sampling)
        for request in requests { trace.add(request) }
        return trace
    }

    private static let full = record(sampling: 1)

    @Test("a sampled trace has about the same hit ratios as the whole trace", arguments: CachePolicy.allCases)
    func recorded(policy: CachePolicy) {
        let sample = Self.record(sampling: 20)
        #expect(sample.rate < 0.9 && abs(sample.keys - Self.full.keys) < Self.full.keys / 20)
        for limit in Self.limits {
            let error =
                sample.point(policy, limit: limit).hitRatio - Self.full.point(policy, limit: limit).hitRatio
            #expect(abs(error) < 0.02, "\(limit): \(error)")
        }
    }

    @Test("a stream stays accurate while it lowers its sampling rate")
    func stream() {
        var simulation = PolicySimulation(limits: Self.limits, unit: .entries, mostKeys: 2048)
        for request in Self.requests { simulation.add(request) }
        let curve = simulation.curve
        #expect(simulation.rate < 0.5 && curve.requests == Self.requests.count)
        #expect(curve.points.map(\.limit) == Self.limits.flatMap { [$0, $0, $0, $0] })
        for point in curve.points {
            let error = point.hitRatio - Self.full.point(point.policy, limit: point.limit).hitRatio
            #expect(abs(error) < 0.04, "\(point.policy), \(point.limit): \(error)")
            let groups = point.groups
            #expect(groups.count == 3 && groups.reduce(0) { $0 + $1.size } <= Double(point.limit) * 1.01)
            #expect(groups.allSatisfy { $0.hits > 0 && $0.hits < $0.requests })
        }
    }

    @Test("a stream of a sampled source counts the skipped reads")
    func skipped() {
        var simulation = PolicySimulation(limits: [2000], unit: .entries, rate: 0.25)
        for request in Self.requests {
            if request.hash & 0xff_ffff < 1 << 22 {
                simulation.add(request)
            } else {
                simulation.skip(reads: 1)
            }
        }
        #expect(simulation.rate == 0.25 && simulation.curve.requests == Self.requests.count)
        for point in simulation.curve.points {
            let error = point.hitRatio - Self.full.point(point.policy, limit: 2000).hitRatio
            #expect(abs(error) < 0.04, "\(point.policy): \(error)")
        }
    }

    @Test("a stream stays accurate when its source lowers the rate")
    func lowered() {
        var simulation = PolicySimulation(limits: [2000], unit: .entries, mostKeys: .max)
        for (number, request) in Self.requests.enumerated() {
            if number == 75_000 {
                simulation.lower(toRate: 0.25)
                simulation.lower(toRate: 0.5)
            }
            if number < 75_000 || request.hash & 0xff_ffff < 1 << 22 {
                simulation.add(request)
            } else {
                simulation.skip(reads: 1)
            }
        }
        #expect(simulation.rate == 0.25 && simulation.curve.requests == Self.requests.count)
        for point in simulation.curve.points {
            let error = point.hitRatio - Self.full.point(point.policy, limit: 2000).hitRatio
            #expect(abs(error) < 0.04, "\(point.policy): \(error)")
        }
    }

    @Test("a lower rate scales the limits even if it drops no key")
    func loweredEmpty() {
        var simulation = PolicySimulation(policies: [.lru], limits: [2000], unit: .entries)
        simulation.lower(toRate: 0.25)
        for _ in 0..<2 {
            for hash: UInt64 in 0..<1000 { simulation.add(Request(hash: hash)) }
        }
        simulation.skip(reads: 6000)
        #expect(simulation.curve.points[0].hitRatio == 0)
    }

    @Test("the largest limit can be simulated", arguments: CachePolicy.allCases)
    func largest(policy: CachePolicy) {
        var trace = RecordedTrace(unit: .bytes)
        for _ in 0..<2 { trace.add(Request(hash: 1, size: 9)) }
        let points = [Int.max / 2 + 1, .max].map { trace.point(policy, limit: $0) }
        #expect(points.map(\.hitRatio) == [0.5, 0.5])
    }

    @Test("limits range from 1/16 to 16 times the limit", arguments: [(160, 9), (1, 5), (Int.max, 5)])
    func limits(around limit: Int, count: Int) {
        let limits = MissRatioCurve.limits(around: limit)
        #expect(limits.count == count && limits.contains(limit) && limits == limits.sorted())
    }

    @Test("deletions of all keys cost as much as the requests between them", .timeLimit(.minutes(1)))
    func deletions() {
        var simulation = PolicySimulation(limits: [100, 30_000], unit: .entries, mostKeys: 30_000)
        var trace = RecordedTrace(unit: .entries)
        func add(_ request: Request) {
            simulation.add(request)
            trace.add(request)
        }
        for hash: UInt64 in 0..<20_000 { add(Request(hash: hash)) }
        for round: UInt64 in 0..<20_000 {
            add(Request(hash: 0, kind: .deleteAll))
            for _ in 0..<2 { add(Request(hash: round)) }
        }
        #expect(simulation.curve.points.count == 8)
        for point in simulation.curve.points {
            #expect(abs(point.hitRatio - 1.0 / 3) < 1e-9, "\(point.policy)")
            #expect(abs(trace.point(point.policy, limit: point.limit).hitRatio - 1.0 / 3) < 1e-9)
        }
    }
}
