import CacheSimulation
import StorageEngine
import Synchronization

/// Simulates a cache from the requests that the engine records, and continues with each call.
package struct CacheAdvisor: Sendable {
    /// The largest limit that an archive can have.
    static let highestLimit = Int(clamping: ArchiveConfiguration.maximumDiskLimit)

    private let limits: [Int]?
    private let findsOptimum: Bool
    private var simulation: CacheReplay?

    /// - Parameters:
    ///   - limits: simulated in addition to the current one; nil: 1/16 to 16 times the current one.
    ///   - findsOptimum: also simulates Belady's optimum, which needs memory for each request.
    package init(limits: [Int]? = nil, findsOptimum: Bool = false) {
        (self.limits, self.findsOptimum) = (limits, findsOptimum)
    }

    /// Advice from all requests so far; nil if none are recorded. The first call reads the whole trace, up to 131,072 requests, and
    /// counts its second half; a simulated cache that isn't full by then is compared with the archive later. Later ones read what was added. The simulation begins again with a new trace, while the trace is
    /// short, after a gap of more requests than were read, when all recorded requests are of a larger sample, and after a change
    /// of limit or policy. Only requests after the last such change count.
    package mutating func advice(on archive: Archive) throws(SourceError) -> ArchiveAdvice? {
        let configuration = try SourceError.translating { () throws(StorageError) in
            try archive.configuration()
        }
        if let reason = Self.unsupportedReason(for: configuration, named: archive.name) {
            throw SourceError(reason)
        }
        let limit = Int(clamping: configuration.diskLimit ?? 0)
        let policy = CachePolicy(configuration.evictionPolicy)
        if let present = simulation, present.limit != limit || present.policy != policy { simulation = nil }
        guard var samples = try Self.read(archive, from: simulation?.next) else { return nil }
        if let present = simulation {
            let isNew = samples.trace != present.trace || present.next < CacheReplay.shortTrace
            let begins = isNew || samples.lost > samples.requests.count
            if begins || samples.threshold > present.threshold {
                guard let all = try Self.read(archive, from: nil) else { return nil }
                if begins || all.threshold > present.threshold {
                    (simulation, samples) = (nil, all)
                } else {
                    samples.lower(to: present.threshold)
                }
            }
        }
        let isFirst = simulation == nil
        // Taken out, so that no array is copied.
        var replay =
            simulation.take()
            ?? CacheReplay(
                limit: limit, policy,
                limits.map { Set($0 + [limit]).sorted() }
                    ?? MissRatioCurve.limits(around: limit).filter { $0 <= Self.highestLimit },
                samples, groups: AdviceGroups(archive, samples.requests), findsOptimum: findsOptimum)
        replay.add(samples, of: archive, warmUp: isFirst ? samples.requests.count / 2 : nil)
        simulation = replay
        return replay.advice
    }

    /// Why an archive can't be simulated; nil if it can.
    package static func unsupportedReason(for configuration: ArchiveConfiguration, named name: String)
        -> String?
    {
        if configuration.kind == .log { return "\(name) is a log; only a cache has a hit ratio" }
        return (configuration.diskLimit ?? 0) == 0 ? "\(name) has no disk limit, so it evicts nothing" : nil
    }

    private static func read(_ archive: Archive, from first: UInt64?) throws(SourceError) -> RequestSamples? {
        let (samples, problem) = try SourceError.translating { () throws(StorageError) in
            let samples = try archive.requestSamples(from: first)
            return (samples, samples == nil ? try archive.requestsProblem() : nil)
        }
        if let problem { throw SourceError(problem) }
        return samples
    }
}

/// A ``CacheAdvisor`` for several threads. A call during another one begins a new simulation.
package final class SharedAdvisor: Sendable {
    private let advisor = Mutex<CacheAdvisor?>(nil)

    package init() {}

    package func advice(on archive: Archive) throws(SourceError) -> ArchiveAdvice? {
        // Taken out, so that a simulation doesn't hold the lock.
        var present = advisor.withLock { $0.take() } ?? CacheAdvisor()
        defer { advisor.withLock { $0 = present } }
        return try present.advice(on: archive)
    }
}

/// The simulation of one trace at one limit.
private struct CacheReplay: Sendable {
    /// Number of requests below which a trace is short: its second half has too few, and owners may be unknown.
    static let shortTrace = 2000
    /// Maximum number of recorded expiry times. They are then all dropped.
    private static let mostExpiries = 65_536

    let limit: Int
    /// The archive's policy.
    let policy: CachePolicy
    let trace: UInt64
    private(set) var next: UInt64 = 0
    private(set) var threshold: UInt64
    private var rate: Double { RequestSamples.rate(ofThreshold: threshold) }
    private var policies: PolicySimulation
    private var optimum: RecordedTrace?
    private var groups: AdviceGroups
    /// Time to live of each key's last put, in seconds, by its tag. `seen`: a removal or a miss since.
    private var expiries: [UInt32: (timeToLive: UInt32, seen: SampledRequest.Kind?)] = [:]
    /// Reads of expired entries, by time to live in seconds.
    private var expired: [UInt32: Int] = [:]
    /// Reads of keys below the threshold. Earlier reads under a higher threshold are scaled.
    private var reads = 0
    private var hits = 0
    /// Time of the first request that was read.
    private var since: Int64?
    private var isAfterChange = false
    private var start: Int64 = 0
    private var end: Int64 = 0

    init(
        limit: Int, _ policy: CachePolicy, _ limits: [Int], _ samples: RequestSamples, groups: AdviceGroups,
        findsOptimum: Bool
    ) {
        (self.limit, self.policy, self.groups) = (limit, policy, groups)
        (trace, threshold) = (samples.trace, samples.threshold)
        policies = PolicySimulation(
            policies: ArchiveAdvice.policies, limits: limits, unit: .bytes,
            recordedLimit: limit, mostKeys: 32_768, rate: samples.rate)
        optimum =
            findsOptimum ? RecordedTrace(unit: .bytes, recordedLimit: limit, rate: samples.rate) : nil
    }

    /// - Parameter warmUp: number of samples that only fill the simulated caches before a new count begins; nil continues the
    ///   count.
    mutating func add(_ samples: RequestSamples, of archive: Archive, warmUp: Int?) {
        if samples.threshold < threshold {
            let share = Double(samples.threshold) / Double(threshold)
            func scaled(_ count: Int) -> Int { Int((Double(count) * share).rounded()) }
            (reads, hits, expired) = (scaled(reads), scaled(hits), expired.mapValues(scaled))
            threshold = samples.threshold
            policies.lower(toRate: samples.rate)
        }
        var before = warmUp == nil ? reads : 0
        for (place, sample) in samples.requests.enumerated() {
            if place == warmUp || sample.kind == .resize {
                beginCounting(sample.time)
                before = 0
            }
            if sample.kind == .resize {
                isAfterChange = true
            } else if place == warmUp {
                isAfterChange = false
            }
            // The hits before a change of the limit are those of another cache.
            if sample.kind != .resize { add(sample, archive) }
        }
        next = samples.next
        // The rate is exact: reads of other keys are assumed to be in proportion.
        let skipped = Int((Double(reads - before) / rate).rounded()) - (reads - before)
        policies.skip(reads: skipped)
        optimum?.skip(reads: skipped)
    }

    private mutating func beginCounting(_ moment: Int64) {
        (reads, hits, expired, start) = (0, 0, [:], moment)
        policies.beginCounting()
        optimum?.beginCounting()
    }

    private mutating func add(_ sample: SampledRequest, _ archive: Archive) {
        if since == nil { since = sample.time }
        if start == 0 { start = sample.time }
        end = max(end, sample.time)
        let kind = Self.kind(sample.kind)
        // Empty stored values are simulated with one byte, because 0 means an unknown size.
        let least = kind == .hit || kind == .write ? 1 : 0
        // Expiry times are rounded up to seconds, so a miss in the last second is a read of an expired entry.
        let moment = sample.time + (kind == .miss ? 1_000_000 : 0)
        var request = Request(
            hash: UInt64(sample.tag >> 8) | UInt64(sample.tag & 0xff) << 24, size: max(least, sample.bytes),
            kind: kind, time: moment, expiry: sample.expiry.map { sample.time + Int64($0) * 1_000_000 })
        if request.kind == .deleteAll {
            request.hash = 0
        } else {
            request.group = groups.group(of: sample, in: archive)
        }
        count(sample, kind)
        policies.add(request)
        optimum?.add(request)
    }

    private mutating func count(_ sample: SampledRequest, _ kind: Request.Kind) {
        if kind == .hit || kind == .miss {
            reads += 1
            if kind == .hit { hits += 1 }
        }
        switch kind {
        case .miss: countExpired(sample)
        case .write, .expire:
            if expiries.count >= Self.mostExpiries { expiries = [:] }
            expiries[sample.tag] = sample.expiry.map { ($0, nil) }
        case .delete: if sample.kind == .expiry { countExpired(sample) } else { expiries[sample.tag] = nil }
        case .deleteAll: expiries = [:]
        case .hit, .read: break
        }
    }

    /// Counts the miss of an expired entry, which the engine removes before the read or directly after it. Misses of evicted
    /// entries have no such removal.
    private mutating func countExpired(_ sample: SampledRequest) {
        guard let last = expiries[sample.tag] else { return }
        guard let seen = last.seen, seen != sample.kind else {
            expiries[sample.tag]?.seen = sample.kind
            return
        }
        expiries[sample.tag] = nil
        expired[last.timeToLive, default: 0] += 1
    }

    private static func kind(_ kind: SampledRequest.Kind) -> Request.Kind {
        switch kind {
        case .hit, .memoryHit: .hit
        case .miss: .miss
        // An object that is only in memory exceeds the disk limit. Only simulated caches with a larger limit store it.
        case .put, .memoryPut, .restore: .write
        case .delete, .expiry: .delete
        case .deadline: .expire
        // A change of the limit is no request.
        case .deleteAll, .resize: .deleteAll
        }
    }

    var advice: ArchiveAdvice {
        var points = policies.curve.points
        let present = points.first { $0.limit == limit && $0.policy == policy }
        if let optimum {
            // It begins with less than the others, whose counts exclude the time before they were full.
            points += Dictionary(grouping: points, by: \.limit).map { limit, others in
                let ratio = others.map(\.hitRatio).max() ?? 0
                return .init(
                    limit: limit, policy: .opt,
                    hitRatio: max(ratio, optimum.point(.opt, limit: limit).hitRatio))
            }
        }
        points.sort {
            ($0.limit, ArchiveAdvice.place($0.policy)) < ($1.limit, ArchiveAdvice.place($1.policy))
        }
        return ArchiveAdvice(
            limit: UInt64(limit), policy: policy, rate: rate, reads: reads,
            isAfterChange: isAfterChange, since: since.map(Timestamp.init(microseconds:)),
            seconds: Double(max(0, end - start)) / 1_000_000,
            measured: reads > 0 ? Double(hits) / Double(reads) : 0, points: points,
            advice: reads < ArchiveAdvice.leastReads
                ? nil
                : CacheAdvice(
                    points, limit: limit, policy: policy, highestLimit: CacheAdvisor.highestLimit,
                    policies: EvictionPolicy.allCases.map(CachePolicy.init)),
            expired: expired.map {
                .init(timeToLive: Double($0.key), share: Double($0.value) / Double(max(1, reads)))
            },
            grouping: groups.grouping, groups: groups.shares(present?.groups ?? []))
    }
}
