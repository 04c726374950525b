/// A recommendation for a cache's limit or policy, derived from simulated hit ratios.
package struct CacheAdvice: Sendable, Equatable {
    package enum Change: Sendable, Equatable {
        /// The smallest simulated limit from which on a larger one adds less than ``negligible``.
        case raiseLimit(Int)
        case changePolicy(CachePolicy)
        /// The smallest simulated limit that loses less than half of ``negligible``.
        case lowerLimit(Int)
        case keep
    }

    /// Hit ratios that differ by less are considered equal.
    package static let negligible = 0.01

    package let change: Change
    /// Hit ratio of the current policy at the current limit, 0 to 1.
    package let now: Double
    /// Hit ratio after the change.
    package let after: Double
    /// The smallest limit that keeps 95 % of the hits under the current policy, interpolated between simulated limits. Nil if the
    /// smallest simulated limit keeps them, or if there are no hits.
    package let sufficientLimit: Int?

    /// - Parameters:
    ///   - highestLimit: the largest limit that the cache can have.
    ///   - policies: those that the cache can change to.
    /// - Returns: nil if the current limit or policy isn't simulated.
    package init?(
        _ points: [MissRatioCurve.Point], limit: Int, policy: CachePolicy, highestLimit: Int = .max,
        policies: [CachePolicy]
    ) {
        let present = points.filter { $0.policy == policy && $0.limit <= highestLimit }.sorted {
            $0.limit < $1.limit
        }
        guard let now = present.first(where: { $0.limit == limit })?.hitRatio else { return nil }
        self.now = now
        sufficientLimit = Self.limit(reaching: now * 0.95, present)

        let highest = present.map(\.hitRatio).max() ?? now
        let larger = present.first { $0.limit > limit && highest - $0.hitRatio < Self.negligible }
        let smaller = present.first { $0.limit <= limit / 2 && now - $0.hitRatio < Self.negligible / 2 }
        let other = points.filter {
            $0.limit == limit && $0.policy != policy && policies.contains($0.policy)
        }.max { $0.hitRatio < $1.hitRatio }
        let limitGain = (larger?.hitRatio ?? 0) - now
        let policyGain = (other?.hitRatio ?? 0) - now
        let doubled = present.first { $0.limit / 2 >= limit } ?? larger
        // A policy costs no space, so half of the gain of twice the limit is enough.
        if let other, policyGain >= Self.negligible, policyGain * 2 >= (doubled?.hitRatio ?? 0) - now {
            (change, after) = (.changePolicy(other.policy), other.hitRatio)
        } else if let larger, limitGain >= Self.negligible * 2 {
            (change, after) = (.raiseLimit(larger.limit), larger.hitRatio)
        } else if let smaller, now > 0 {
            (change, after) = (.lowerLimit(smaller.limit), smaller.hitRatio)
        } else {
            (change, after) = (.keep, now)
        }
    }

    /// `points`: sorted by limit. Interpolates linearly between two limits.
    private static func limit(reaching ratio: Double, _ points: [MissRatioCurve.Point]) -> Int? {
        guard ratio > 0, let place = points.firstIndex(where: { $0.hitRatio >= ratio }), place > 0 else {
            return nil
        }
        let (low, high) = (points[place - 1], points[place])
        let share = (ratio - low.hitRatio) / (high.hitRatio - low.hitRatio)
        let added = Int(exactly: (Double(high.limit - low.limit) * share).rounded(.up)) ?? .max
        return low.limit + min(added, high.limit - low.limit)
    }
}
