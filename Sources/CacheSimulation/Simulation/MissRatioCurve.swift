/// The hit ratios of policies over the limits of a cache.
package struct MissRatioCurve: Sendable {
    /// The requests, hits and cached size of one group of keys.
    package struct Share: Sendable, Equatable {
        package var requests = 0.0
        package var hits = 0.0
        /// Size in the cache, in the unit of the limits.
        package var size = 0.0
    }

    package struct Point: Sendable {
        package let limit: Int
        package let policy: CachePolicy
        /// Hits divided by reads, 0 to 1.
        package let hitRatio: Double
        /// Indexed by ``Request/group``; empty if groups were not recorded.
        package var groups: [Share]

        package init(limit: Int, policy: CachePolicy, hitRatio: Double, groups: [Share] = []) {
            (self.limit, self.policy, self.hitRatio, self.groups) = (limit, policy, hitRatio, groups)
        }

        package var missRatio: Double { 1 - hitRatio }
    }

    /// Sorted by limit, then by policy.
    package let points: [Point]
    /// Number of reads, including those of keys that are not sampled.
    package let requests: Int

    /// This limit times each power of two from 1/16 to 16, at least 1.
    package static func limits(around limit: Int) -> [Int] {
        let limits = (-4...4).map { power in
            power < 0
                ? max(1, limit >> -power)
                : limit.multipliedReportingOverflow(by: 1 << power).overflow ? Int.max : limit << power
        }
        return limits.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    /// Estimates the hit ratio of all requests from those of sampled keys. The difference between the expected and the counted
    /// number of requests is due to a few popular keys, and counts as hits (SHARDS-adj).
    static func hitRatio(hits: Double, counted: Double, all: Int) -> Double {
        guard all > 0 else { return 0 }
        return min(1, max(0, (hits + Double(all) - counted) / Double(all)))
    }

    /// The limit of a miniature cache (Waldspurger et al., Cache Modeling and Optimization using Miniature Simulations, USENIX ATC 2017).
    static func scaled(_ limit: Int, by rate: Double) -> Int {
        max(1, Int(exactly: (Double(limit) * rate).rounded()) ?? .max)
    }
}
