/// Simulates policies at several limits over an endless stream of requests, on a sample of at most ``mostKeys`` keys. A request
/// costs a comparison, or for a sampled key O(1) for each policy and limit, amortized.
package struct PolicySimulation: Sendable {
    private struct Simulated: Sendable {
        let policy: CachePolicy
        let limit: Int
        var cache: any EvictionPolicy
        var hits = 0.0
        var groupHits: [Double] = []
        /// The sum of the sizes that were added since the cache was full; nil: it never was full.
        var added: Int?
        var isWarm = false
        /// The counts when the cache became warm; until then, those before the last eighth to quarter of the reads.
        var start = Counts()
        var later = Counts()
        private static let leastReads = 512.0

        /// Until a cache is full, it lacks entries from before the recording. Then LRU has the right ones; the queues of other
        /// policies also depend on earlier evictions.
        mutating func warmUp(_ step: Step, _ reads: Double, _ recorded: Double) {
            let counts = Counts(reads: reads, hits: hits, recorded: recorded)
            let isAdded = step.size > 0 && step.action != .lookup && !cache.holds(Int(step.key))
            if isAdded, let sum = added {
                added = sum + step.size
            } else if isAdded, cache.used + step.size > cache.limit {
                added = 0
            }
            if let added, policy == .lru || added >= cache.limit {
                (isWarm, start) = (true, counts)
            } else if reads - later.reads >= max(Self.leastReads, reads / 8) {
                (start, later) = (later, counts)
            }
        }
    }

    /// Weighted numbers of reads, and of hits of the simulated and of the recorded cache.
    private struct Counts: Sendable {
        var reads = 0.0
        var hits = 0.0
        var recorded = 0.0
    }

    package static let defaultKeys = 8192

    private let mostKeys: Int
    private let recordedLimit: Int?
    private var sampler: KeySampler
    private var caches: [Simulated] = []
    private var all = 0
    private var counted = 0.0
    private var recordedHits = 0.0
    private var groupRequests: [Double] = []
    /// The group of each key's last request, by the key's number.
    private var groups: [UInt16] = []

    /// - Parameters:
    ///   - policies: the optimum is ignored.
    ///   - limits: in `unit`, at least 1.
    ///   - recordedLimit: the limit of the cache whose hits are recorded; nil: all simulated caches begin empty.
    ///   - rate: share of the keys that the source sends, selected by the lowest 24 bits of their hash.
    package init(
        policies: [CachePolicy] = CachePolicy.online, limits: [Int], unit: LimitUnit,
        recordedLimit: Int? = nil, mostKeys: Int = defaultKeys, rate: Double = 1
    ) {
        self.recordedLimit = recordedLimit
        self.mostKeys = max(16, mostKeys)
        sampler = KeySampler(rate: rate, unit: unit)
        for limit in limits {
            for policy in policies {
                guard let cache = policy.cache(limit: MissRatioCurve.scaled(limit, by: sampler.rate)) else {
                    continue
                }
                caches.append(Simulated(policy: policy, limit: limit, cache: cache))
            }
        }
    }

    /// Share of the keys that are simulated now; never increases.
    package var rate: Double { sampler.rate }

    /// Counts reads of keys that are not in the source's sample.
    package mutating func skip(reads: Int) { all += reads }

    /// Resets the counts but keeps the contents of the caches, so that earlier requests only fill them.
    package mutating func beginCounting() {
        (all, counted, recordedHits) = (0, 0, 0)
        groupRequests = groupRequests.map { _ in 0 }
        for place in caches.indices {
            caches[place].hits = 0
            (caches[place].start, caches[place].later) = (Counts(), Counts())
            caches[place].groupHits = groupRequests
        }
    }

    /// Lowers the rate, for a source that sends fewer keys from now on. A higher one is ignored.
    package mutating func lower(toRate rate: Double) {
        let before = sampler.rate
        let dropped = sampler.lower(toRate: rate)
        if sampler.rate < before { apply(dropped: dropped) }
    }

    package mutating func add(_ request: Request) {
        if request.isRead { all += 1 }
        guard sampler.isSampled(request.hash) else { return }
        let weight = 1 / sampler.rate
        let group = Int(request.group)
        if group >= groupRequests.count { addGroups(group + 1) }
        sampler.resolve(request) { step in
            let key = Int(step.key)
            while key >= groups.count { groups.append(0) }
            groups[key] = step.group
            let isCounted = step.isCounted
            if isCounted {
                counted += weight
                groupRequests[group] += weight
                if request.kind == .hit { recordedHits += weight }
            }
            for place in caches.indices {
                guard step.action != .prior || caches[place].limit >= recordedLimit ?? 1 else { continue }
                if recordedLimit != nil, !caches[place].isWarm {
                    caches[place].warmUp(step, counted, recordedHits)
                }
                guard caches[place].cache.perform(step), isCounted else { continue }
                caches[place].hits += weight
                caches[place].groupHits[group] += weight
            }
        }
        if sampler.count > mostKeys { reduce() }
    }

    private mutating func addGroups(_ count: Int) {
        let new = [Double](repeating: 0, count: count - groupRequests.count)
        groupRequests += new
        for place in caches.indices { caches[place].groupHits += new }
    }

    /// Drops the keys that no policy needs. If too many remain, lowers the sampling rate and the scaled limits.
    private mutating func reduce() {
        let fewer = mostKeys - mostKeys / 16
        sampler.forget { number in !caches.contains { $0.cache.remembers(number) } }
        guard sampler.count > fewer else { return }
        apply(dropped: sampler.lower(toKeys: fewer))
    }

    /// Removes keys that are no longer sampled, and scales the limits to the rate.
    private mutating func apply(dropped: [Int]) {
        for place in caches.indices {
            for number in dropped { caches[place].cache.remove(number) }
            caches[place].cache.limit = MissRatioCurve.scaled(caches[place].limit, by: sampler.rate)
        }
        sampler.forget { _ in false }
    }

    /// The result so far. Cost: O(keys × policies × limits).
    package var curve: MissRatioCurve {
        MissRatioCurve(
            points: caches.map { simulated in
                var shares = zip(groupRequests, simulated.groupHits).map {
                    MissRatioCurve.Share(requests: $0, hits: $1)
                }
                for (number, group) in groups.enumerated() where simulated.cache.holds(number) {
                    shares[Int(group)].size += Double(simulated.cache.size(of: number)) / sampler.rate
                }
                return MissRatioCurve.Point(
                    limit: simulated.limit, policy: simulated.policy,
                    hitRatio: hitRatio(simulated),
                    groups: shares)
            }, requests: all)
    }

    /// With a recorded cache, its ratio over all reads, and the difference of the simulated one since that became warm.
    private func hitRatio(_ simulated: Simulated) -> Double {
        let reads = counted - simulated.start.reads
        guard simulated.start.reads > 0, reads > 0 else {
            return MissRatioCurve.hitRatio(hits: simulated.hits, counted: counted, all: all)
        }
        let more = simulated.hits - simulated.start.hits - (recordedHits - simulated.start.recorded)
        let ratio = MissRatioCurve.hitRatio(hits: recordedHits, counted: counted, all: all) + more / reads
        return min(1, max(0, ratio))
    }
}
