/// The hit ratios of policies over the limits of a cache.
package struct MissRatioCurve: Sendable {
    /// What one group of keys has of a cache.
    package struct Share: Sendable, Equatable {
        package var requests = 0.0
        package var hits = 0.0
        /// Size in the cache, in the unit of the limits.
        package var size = 0.0
    }

    package struct Point: Sendable {
        package let limit: Int
        package let policy: CachePolicy
        /// 0 to 1.
        package let hitRatio: Double
        /// By the callers' number of the group; empty if groups were not recorded.
        package var groups: [Share] = []

        package var missRatio: Double { 1 - hitRatio }
    }

    /// In the order of limits, then of policies.
    package let points: [Point]
    /// Reads, sampled or not.
    package let requests: Int

    /// From a 16th to 16 times this limit, at least 1.
    package static func limits(around limit: Int) -> [Int] {
        let limits = (-4...4).map { power in
            power < 0
                ? max(1, limit >> -power)
                : limit.multipliedReportingOverflow(by: 1 << power).overflow ? Int.max : limit << power
        }
        return limits.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    /// The hit ratio of all requests from those of sampled keys: the difference between the expected and the counted number of requests
    /// consists of hits, because it is due to a few popular keys (SHARDS-adj).
    static func hitRatio(hits: Double, counted: Double, all: Int) -> Double {
        guard all > 0 else { return 0 }
        return min(1, max(0, (hits + Double(all) - counted) / Double(all)))
    }

    /// The limit of a miniature cache (Waldspurger et al., Cache Modeling and Optimization using Miniature Simulations, USENIX ATC 2017).
    static func scaled(_ limit: Int, by rate: Double) -> Int { max(1, Int((Double(limit) * rate).rounded())) }
}
