import CacheSimulation
import Testing

@Suite("advice from a curve")
struct CacheAdviceTests {
    private static let limits = [100, 200, 400, 800, 1600]

    private func advice(
        _ lru: [Double], s3fifo: [Double]? = nil, _ policies: [CachePolicy] = [.lru, .s3fifo]
    ) -> CacheAdvice? {
        var points: [MissRatioCurve.Point] = []
        for (place, limit) in Self.limits.enumerated() {
            points.append(MissRatioCurve.Point(limit: limit, policy: .lru, hitRatio: lru[place]))
            if let s3fifo {
                points.append(MissRatioCurve.Point(limit: limit, policy: .s3fifo, hitRatio: s3fifo[place]))
            }
        }
        return CacheAdvice(
            points, limit: 400, policy: .lru, policies: policies)
    }

    @Test("a limit below the working set is raised until a larger one adds no hits")
    func raise() {
        let advice = advice([0.1, 0.2, 0.4, 0.795, 0.8], s3fifo: [0.1, 0.2, 0.45, 0.8, 0.8])
        #expect(advice?.change == .raiseLimit(800) && advice?.now == 0.4 && advice?.after == 0.795)
    }

    @Test("a supported policy is preferred if it gains at least half as much as twice the limit")
    func policy() {
        let ratios = (lru: [0.1, 0.2, 0.4, 0.5, 0.51], s3fifo: [0.2, 0.3, 0.46, 0.5, 0.51])
        let advised = advice(ratios.lru, s3fifo: ratios.s3fifo)
        #expect(advised?.change == .changePolicy(.s3fifo) && advised?.after == 0.46)
        #expect(advice(ratios.lru, s3fifo: ratios.s3fifo, [.lru])?.change == .raiseLimit(1600))
    }

    @Test("a limit is lowered if half of it is enough")
    func lower() {
        let advised = advice([0.5, 0.897, 0.9, 0.9, 0.9])
        #expect(advised?.change == .lowerLimit(200) && advised?.after == 0.897)
    }

    @Test("a limit is kept if neither direction helps, or if there are no hits")
    func keep() {
        #expect(advice([0.5, 0.8, 0.9, 0.905, 0.91])?.change == .keep)
        #expect(advice([0, 0, 0, 0, 0])?.change == .keep)
    }

    @Test("the sufficient limit keeps 95 % of the hits")
    func sufficient() {
        // 95 % of 0.8 is 0.76, four fifths of the way from 0.6.
        #expect(advice([0.1, 0.6, 0.8, 0.8, 0.8])?.sufficientLimit == 360)
        #expect(advice([0.8, 0.8, 0.8, 0.8, 0.8])?.sufficientLimit == nil)
        #expect(advice([0, 0, 0, 0, 0])?.sufficientLimit == nil)
    }

    @Test("the sufficient limit is between the largest ones")
    func largest() {
        let points = [(Int.max / 2 + 1, 0.5), (Int.max, 1.0)].map {
            MissRatioCurve.Point(limit: $0, policy: .lru, hitRatio: $1)
        }
        let limit = CacheAdvice(points, limit: .max, policy: .lru, policies: [])?.sufficientLimit
        #expect(limit.map { $0 > Int.max / 2 } == true)
    }

    @Test("a limit that wasn't simulated has no advice")
    func absent() {
        let points = [MissRatioCurve.Point(limit: 1, policy: .lru, hitRatio: 1)]
        #expect(CacheAdvice(points, limit: 2, policy: .lru, policies: []) == nil)
    }

    @Test("a limit that the cache can't have isn't recommended", arguments: [(800, 0.7), (400, 0.4)])
    func highest(limit: Int, after: Double) {
        let points = zip(Self.limits, [0.1, 0.2, 0.4, 0.7, 0.9]).map {
            MissRatioCurve.Point(limit: $0, policy: .lru, hitRatio: $1)
        }
        let advised = CacheAdvice(
            points, limit: 400, policy: .lru, highestLimit: limit, policies: [.lru])
        #expect(advised?.change == (limit == 800 ? .raiseLimit(800) : .keep) && advised?.after == after)
    }
}
