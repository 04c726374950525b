import CacheSimulation
import StorageEngine

/// Hit ratios of a cache at other limits and under other policies, simulated from its recorded requests.
package struct ArchiveAdvice: Sendable {
    /// Reads of entries that had expired, by the expiry time that was set.
    package struct ExpiredReads: Sendable, Equatable {
        /// Time from the put to the expiry, in seconds.
        package let timeToLive: Double
        /// Share of all reads, 0 to 1.
        package let share: Double

        package init(timeToLive: Double, share: Double) {
            (self.timeToLive, self.share) = (timeToLive, share)
        }
    }

    /// The requests and the cached size of an owner or of a key prefix.
    package struct Group: Sendable, Equatable {
        package let name: String
        /// Shares of all groups, 0 to 1.
        package let reads: Double
        package let size: Double
        package let hitRatio: Double

        package init(name: String, reads: Double, size: Double, hitRatio: Double) {
            (self.name, self.reads, self.size, self.hitRatio) = (name, reads, size, hitRatio)
        }
    }

    /// The simulated policies, those of the engine first.
    package static let policies: [CachePolicy] = [.lru, .s3fifo, .sieve, .wtinylfu]
    /// Minimum sampled reads for advice. The second half of the shortest trace has this number even if all reads miss.
    package static let leastReads = 500
    package static let mostExpired = 5

    /// The current limit, in bytes of values.
    package let limit: UInt64
    package let policy: CachePolicy
    /// The share of keys whose requests were recorded, 0 to 1.
    package let rate: Double
    /// Number of counted sampled reads; earlier ones only filled the simulated caches.
    package let reads: Int
    /// Whether the reads follow a change of the limit or the policy.
    package let isAfterChange: Bool
    /// Time of the oldest request that was read; nil if unknown.
    package let since: Timestamp?
    /// The time that these reads took.
    package let seconds: Double
    /// Hit ratio of these reads in the archive, 0 to 1.
    package let measured: Double
    /// Sorted by limit, then by policy.
    package let points: [MissRatioCurve.Point]
    /// Nil with too few reads.
    package let advice: CacheAdvice?
    /// At most ``mostExpired``, largest share first; those below a thousandth are left out.
    package let expired: [ExpiredReads]
    /// How keys are grouped.
    package let grouping: Grouping
    /// Largest size first.
    package let groups: [Group]

    package init(
        limit: UInt64, policy: CachePolicy, rate: Double, reads: Int, isAfterChange: Bool = false,
        since: Timestamp? = nil, seconds: Double, measured: Double, points: [MissRatioCurve.Point],
        advice: CacheAdvice?,
        expired: [ExpiredReads] = [],
        grouping: Grouping = .owner, groups: [Group] = []
    ) {
        (self.limit, self.policy, self.rate, self.reads) = (limit, policy, rate, reads)
        (self.since, self.seconds, self.measured) = (since, seconds, measured)
        (self.points, self.advice, self.isAfterChange) = (points, advice, isAfterChange)
        self.expired = Array(
            expired.filter { $0.share >= 0.001 }.sorted {
                ($1.share, $0.timeToLive) < ($0.share, $1.timeToLive)
            }.prefix(Self.mostExpired))
        (self.grouping, self.groups) = (grouping, groups)
    }

    /// Position of a policy's column.
    static func place(_ policy: CachePolicy) -> Int { policies.firstIndex(of: policy) ?? policies.count }

    /// The simulated limits, ascending.
    package var limits: [Int] { points.reduce(into: []) { if $0.last != $1.limit { $0.append($1.limit) } } }

    /// Nil if the limit isn't simulated, or without reads.
    package func hitRatio(_ policy: CachePolicy, limit: Int) -> Double? {
        reads == 0 ? nil : points.first { $0.policy == policy && $0.limit == limit }?.hitRatio
    }

    /// Hits per second that a limit and policy gain over the current ones; nil if unknown.
    package func gain(_ policy: CachePolicy, limit: Int) -> Double? {
        guard readsPerSecond > 0, let ratio = hitRatio(policy, limit: limit),
            let now = hitRatio(self.policy, limit: Int(clamping: self.limit))
        else { return nil }
        return (ratio - now) * readsPerSecond
    }

    /// Reads of all keys per second; 0 if unknown.
    package var readsPerSecond: Double { seconds > 0 ? Double(reads) / rate / seconds : 0 }
}
