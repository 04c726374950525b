import CacheSimulation
import StorageEngine

/// Simulates a cache from the requests that the engine records, and continues with each call.
package struct CacheAdvisor: Sendable {
    private let limits: [Int]?
    private let findsOptimum: Bool
    private var simulation: CacheReplay?

    /// - Parameters:
    ///   - limits: simulated in addition to the present one; nil: a 16th to 16 times that.
    ///   - findsOptimum: also simulates Belady's optimum, which takes memory for each request.
    package init(limits: [Int]? = nil, findsOptimum: Bool = false) {
        (self.limits, self.findsOptimum) = (limits, findsOptimum)
    }

    /// Advice from all requests so far; nil if none are recorded. The first call reads the whole trace, up to 65,536 requests, and
    /// counts its second half. Later ones read what was added. After a change of the limit the simulation begins again.
    package mutating func advice(on archive: Archive) throws(SourceError) -> ArchiveAdvice? {
        let configuration = try SourceError.translating { () throws(StorageError) in
            try archive.configuration()
        }
        if let reason = Self.objection(to: configuration, named: archive.name) { throw SourceError(reason) }
        let limit = Int(clamping: configuration.diskLimit ?? 0)
        if simulation?.limit != limit { simulation = nil }
        guard var samples = try Self.read(archive, from: simulation?.next) else { return nil }
        if let present = simulation, samples.trace != present.trace || samples.threshold > present.threshold {
            simulation = nil
            guard let all = try Self.read(archive, from: nil) else { return nil }
            samples = all
        }
        var replay =
            simulation
            ?? CacheReplay(
                limit: limit,
                limits.map { Set($0 + [limit]).sorted() } ?? MissRatioCurve.limits(around: limit),
                samples, groups: AdviceGroups(archive, samples.requests), findsOptimum: findsOptimum)
        replay.add(samples, of: archive, isFirst: simulation == nil)
        simulation = replay
        return replay.advice
    }

    /// Why an archive can't be simulated; nil if it can.
    package static func objection(to configuration: ArchiveConfiguration, named name: String) -> String? {
        if configuration.kind == .log { return "\(name) is a log; only a cache has a hit ratio" }
        return (configuration.diskLimit ?? 0) == 0 ? "\(name) has no disk limit, so it evicts nothing" : nil
    }

    private static func read(_ archive: Archive, from first: UInt64?) throws(SourceError) -> RequestSamples? {
        try SourceError.translating { () throws(StorageError) in try archive.requestSamples(from: first) }
    }
}

/// The simulation of one trace at one limit.
private struct CacheReplay: Sendable {
    let limit: Int
    let trace: UInt64
    private(set) var next: UInt64 = 0
    private(set) var threshold: UInt64
    private var rate: Double { Double(threshold) / Double(UInt64(1) << 32) }
    private var policies: PolicySimulation
    private var optimum: RecordedTrace?
    private var groups: AdviceGroups
    /// Expiry time and time to live of each key's last put, in microseconds, by its tag.
    private var expiries: [UInt32: (moment: Int64, timeToLive: Int64)] = [:]
    /// Reads of expired entries, by time to live in seconds.
    private var expired: [Int64: Int] = [:]
    private var reads = 0
    private var hits = 0
    private var start: Int64 = 0
    private var end: Int64 = 0

    init(
        limit: Int, _ limits: [Int], _ samples: RequestSamples, groups: AdviceGroups, findsOptimum: Bool
    ) {
        (self.limit, trace, threshold, self.groups) = (limit, samples.trace, samples.threshold, groups)
        policies = PolicySimulation(
            policies: ArchiveAdvice.policies, limits: limits, unit: .bytes,
            recordedLimit: limit, mostKeys: 32_768, rate: samples.rate)
        optimum =
            findsOptimum ? RecordedTrace(unit: .bytes, recordedLimit: limit, rate: samples.rate) : nil
    }

    mutating func add(_ samples: RequestSamples, of archive: Archive, isFirst: Bool) {
        if samples.threshold < threshold {
            threshold = samples.threshold
            policies.lower(toRate: samples.rate)
        }
        let warmUp = isFirst ? samples.requests.count / 2 : 0
        let before = reads
        for (place, sample) in samples.requests.enumerated() {
            if isFirst, place == warmUp { beginCounting(sample.time) }
            add(sample, archive)
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
        end = max(end, sample.time)
        let expiry = sample.expiry.map { sample.time + Int64($0) * 1_000_000 }
        var request = Request(
            hash: UInt64(sample.tag >> 8) | UInt64(sample.tag & 0xff) << 24, size: sample.bytes,
            kind: Self.kind(sample.kind), time: sample.time, expiry: expiry)
        if request.kind == .deleteAll {
            request.hash = 0
        } else {
            request.group = groups.group(of: sample, in: archive)
        }
        count(sample, request.kind, expiry)
        policies.add(request)
        optimum?.add(request)
    }

    private mutating func count(_ sample: SampledRequest, _ kind: Request.Kind, _ expiry: Int64?) {
        if kind == .hit || kind == .miss {
            reads += 1
            if kind == .hit { hits += 1 }
        }
        switch kind {
        case .miss:
            guard let last = expiries.removeValue(forKey: sample.tag), last.moment <= sample.time else {
                break
            }
            expired[last.timeToLive / 1_000_000, default: 0] += 1
        case .write, .expire:
            expiries[sample.tag] = expiry.map { ($0, $0 - sample.time) }
        // The engine removes an expired entry some time before or after the read that would have hit.
        case .delete: if sample.kind != .expiry { expiries[sample.tag] = nil }
        case .deleteAll: expiries = [:]
        case .hit, .read: break
        }
    }

    private static func kind(_ kind: SampledRequest.Kind) -> Request.Kind {
        switch kind {
        case .hit, .memoryHit: .hit
        case .miss: .miss
        case .put, .restore: .write
        // The limit counts values on disk.
        case .memoryPut, .delete, .expiry: .delete
        case .deadline: .expire
        case .deleteAll: .deleteAll
        }
    }

    var advice: ArchiveAdvice {
        var points = policies.curve.points
        let present = points.first { $0.limit == limit && $0.policy == .lru }
        if let optimum { points += Set(points.map(\.limit)).map { optimum.point(.opt, limit: $0) } }
        points.sort {
            ($0.limit, ArchiveAdvice.place($0.policy)) < ($1.limit, ArchiveAdvice.place($1.policy))
        }
        return ArchiveAdvice(
            limit: UInt64(limit), policy: .lru, rate: rate, reads: reads,
            seconds: Double(max(0, end - start)) / 1_000_000,
            measured: reads > 0 ? Double(hits) / Double(reads) : 0, points: points,
            advice: reads < ArchiveAdvice.leastReads
                ? nil : CacheAdvice(points, limit: limit, policy: .lru, policies: [.lru]),
            expired: expired.map {
                .init(timeToLive: Double($0.key), share: Double($0.value) / Double(max(1, reads)))
            },
            grouping: groups.grouping, groups: groups.shares(present?.groups ?? []))
    }
}
