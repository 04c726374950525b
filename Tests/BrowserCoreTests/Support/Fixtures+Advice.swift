import CacheSimulation
import StoreInspection

extension Fixture {
    /// Lets `City` have recorded requests: misses fall as the limit grows, and S3-FIFO needs two thirds of the limit of LRU.
    static func addAdvice(_ source: MockSource, reads: Int = 12_345, measured: Double = 0.662) {
        source.with { state in
            guard let limit = state.summaries["City"]?.diskLimit else { return }
            state.advice["City"] = advice(limit: limit, reads: reads, measured: measured)
        }
    }

    static func advice(limit: UInt64, reads: Int = 12_345, measured: Double = 0.662) -> ArchiveAdvice {
        let needs: [CachePolicy: Double] = [.lru: 0.5, .s3fifo: 0.33, .sieve: 0.4, .wtinylfu: 0.25]
        let points = MissRatioCurve.limits(around: Int(limit)).flatMap { other in
            ArchiveAdvice.policies.map { policy in
                let share = Double(other) / Double(limit)
                return MissRatioCurve.Point(
                    limit: other, policy: policy, hitRatio: share / (share + (needs[policy] ?? 1)))
            }
        }
        let isEnough = reads >= ArchiveAdvice.leastReads
        return ArchiveAdvice(
            limit: limit, policy: .lru, rate: 0.25, reads: reads, seconds: 200, measured: measured,
            points: points,
            advice: isEnough
                ? CacheAdvice(points, limit: Int(limit), policy: .lru, policies: [.lru, .s3fifo]) : nil,
            expired: [.init(timeToLive: 300, share: 0.032), .init(timeToLive: 3600, share: 0.004)],
            groups: [
                .init(name: "import", reads: 0.05, size: 0.44, hitRatio: 0.21),
                .init(name: "web", reads: 0.61, size: 0.31, hitRatio: 0.84),
                .init(name: "search", reads: 0.24, size: 0.15, hitRatio: 0.72),
                .init(name: "mail", reads: 0.08, size: 0.07, hitRatio: 0.4),
                .init(name: "東京", reads: 0.02, size: 0.03, hitRatio: 0.3),
            ])
    }
}
