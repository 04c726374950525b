/// The requests of a whole trace, or those of sampled keys, in memory; 16 bytes each. Simulates one policy at a time over them.
package struct RecordedTrace: Sendable {
    private static let leastKeys = 16_384

    private let leastThreshold: UInt32
    private let mostKeys: Int
    private let recordedLimit: Int
    private var sampler: KeySampler
    private var steps: [Step] = []
    /// Index of the first step that is counted.
    private var start = 0
    /// Number of reads, including those of keys that are not sampled.
    package private(set) var requests = 0

    /// - Parameters:
    ///   - sampling: records one key out of this number, but at least 16,384 keys if the trace has them; 1 records all.
    ///   - recordedLimit: the limit of the cache whose hits are recorded.
    ///   - rate: share of the keys that the source sends, selected by the lowest 24 bits of their hash.
    package init(unit: LimitUnit, sampling: Int = 1, recordedLimit: Int = 1, rate: Double = 1) {
        self.recordedLimit = recordedLimit
        leastThreshold = max(1, KeySampler.modulus / UInt32(clamping: max(1, sampling)))
        mostKeys = sampling > 1 ? Self.leastKeys : .max
        sampler = KeySampler(rate: rate, unit: unit)
    }

    package mutating func add(_ request: Request) {
        if request.isRead { requests += 1 }
        guard sampler.isSampled(request.hash) else { return }
        sampler.resolve(request) { steps.append($0) }
        // Without the margin, each new key would filter all requests.
        if mostKeys < .max, sampler.threshold > leastThreshold, sampler.count > mostKeys + mostKeys / 4 {
            reduce()
        }
    }

    private mutating func reduce() {
        guard !sampler.lower(toKeys: mostKeys, least: leastThreshold).isEmpty else { return }
        start = steps[..<start].count { sampler.isSampled(number: Int($0.key)) }
        steps.removeAll { !sampler.isSampled(number: Int($0.key)) }
    }

    /// Counts reads from here on: earlier requests only fill the caches.
    package mutating func beginCounting() {
        start = steps.count
        requests = 0
    }

    /// Counts reads of keys that are not in the source's sample.
    package mutating func skip(reads: Int) { requests += reads }

    package var rate: Double { sampler.rate }
    /// Number of distinct keys; an estimate if not all are sampled.
    package var keys: Int { Int((Double(sampler.count) / sampler.rate).rounded()) }
    /// The sum of the sizes of all keys, in the unit of the limits; an estimate if not all are sampled.
    package var workingSet: Int { Int((Double(sampler.totalSize) / sampler.rate).rounded()) }

    /// Simulates one policy. Cost: O(1) per recorded request, O(log requests) for the optimum.
    package func point(_ policy: CachePolicy, limit: Int) -> MissRatioCurve.Point {
        let scaled = MissRatioCurve.scaled(limit, by: sampler.rate)
        var hits = 0
        let isLarge = limit >= recordedLimit
        if let cache = policy.cache(limit: scaled) {
            hits = Self.hits(cache, steps, from: start, withPrior: isLarge)
        } else {
            hits = OptimalPolicy.hits(steps, limit: scaled, from: start, withPrior: isLarge)
        }
        let counted = steps[start...].count { $0.isCounted }
        return MissRatioCurve.Point(
            limit: limit, policy: policy,
            hitRatio: MissRatioCurve.hitRatio(
                hits: Double(hits) / sampler.rate, counted: Double(counted) / sampler.rate, all: requests))
    }

    private static func hits(
        _ cache: some EvictionPolicy, _ steps: [Step], from start: Int, withPrior: Bool
    ) -> Int {
        var cache = cache
        var hits = 0
        for (place, step) in steps.enumerated() where withPrior || step.action != .prior {
            if cache.perform(step), place >= start, step.isCounted { hits += 1 }
        }
        return hits
    }
}
