import StorageEngine

/// P10: a put of a new key that must evict, against a put of a new key below the limit, in one archive: the last puts before
/// it is full, and puts that evict after as many evicting puts as it has entries, when segments are compacted continuously.
///
/// The second variant accesses a random key after each put, so that eviction doesn't follow the order of writing and
/// compaction finds live entries between dead ones. Puts are timed one by one; in the second variant, so are accesses at the
/// limit. The last run repeats this to report the ten slowest operations.
struct EvictionWorkload {
    static let title = "P10 put"
    private static let percentiles: [(String, Double)] = [
        ("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999), ("max", 1),
    ]

    let plan: Plan

    /// The two phases of one archive.
    private struct Phases {
        var below: [Measurement]
        var evicting: [Measurement]
        var access: [Measurement] = []

        init(_ accesses: String) {
            below = percentiles.map { Measurement("P10 put \($0.0)\(accesses)", "Vellum, below the limit") }
            evicting = percentiles.map { Measurement("P10 put \($0.0)\(accesses)", "Vellum, evicting") }
            guard !accesses.isEmpty else { return }
            access = percentiles.map { Measurement("P10 access \($0.0)", "Vellum, at the limit") }
        }
    }

    func run() throws -> [Measurement] {
        guard plan.wants(EvictionWorkload.title) else { return [] }
        var plain = Phases("")
        var mixed = Phases(", accesses between")
        for run in 0..<plan.runs {
            plan.say("P10: run \(run + 1) of \(plan.runs)")
            try measure(run, accesses: false, &plain)
            try measure(run, accesses: true, &mixed)
        }
        return judged(&plain) + judged(&mixed)
    }

    private func measure(_ run: Int, accesses: Bool, _ phases: inout Phases) throws {
        let timed = plan.opsPerRun
        // Each key is used once: filling, last puts below the limit, turnover, evicting puts.
        var random = plan.random(6, run: run)
        let keys = (0..<2 * plan.entries + timed).shuffled(using: &random)
        let system = try VellumSystem(at: plan.scratch.fresh("evict-vellum"), limit: plan.diskLimit)
        defer { system.close() }
        let filled = plan.entries - timed
        try system.put(KeyBatch(Array(keys[..<filled])), plan.values, generation: 0)
        let below = try putEach(keys, filled..<plan.entries, accesses: accesses, system, &random).puts
        let turnover = plan.entries..<2 * plan.entries
        _ = try putEach(keys, turnover, accesses: accesses, system, &random)
        let evictions = try system.archive.status().evictions
        let evicting = try putEach(
            keys, turnover.upperBound..<turnover.upperBound + timed, accesses: accesses, system, &random)
        guard try system.archive.status().evictions - evictions == UInt64(timed) else {
            throw BenchmarkError("P10: the puts did not evict one entry each")
        }
        for (place, percentile) in EvictionWorkload.percentiles.enumerated() {
            for (figures, sorted) in [
                (\Phases.below, below), (\.evicting, evicting.puts), (\.access, evicting.accesses),
            ] where !sorted.isEmpty {
                phases[keyPath: figures][place].add(
                    nanosecondsPerOp: at(percentile.1, sorted), ops: timed, bytes: timed * Plan.valueBytes)
            }
        }
        if accesses, run == plan.runs - 1 {
            var random = random
            phases.evicting[phases.evicting.count - 1].notes = try slowest(system, keys, &random)
        }
    }

    /// Puts the keys of a range, each timed, and optionally accesses a recently put random key after each. Returns the sorted
    /// durations without the clock's overhead.
    private func putEach(
        _ keys: [Int], _ range: Range<Int>, accesses: Bool, _ system: VellumSystem,
        _ random: inout SeededGenerator
    ) throws -> (puts: [UInt32], accesses: [UInt32]) {
        let batch = KeyBatch(Array(keys[range]))
        let others = KeyBatch(
            accesses
                ? range.map { place in
                    keys[Int.random(in: max(0, place - plan.entries)..<place, using: &random)]
                } : [])
        var (puts, looks) = (Latencies(capacity: batch.count), Latencies(capacity: others.count))
        for place in 0..<batch.count {
            let start = Clock.now()
            try system.put(batch, place, plan.values, generation: 0)
            let end = Clock.now()
            puts.add(end - start)
            guard accesses else { continue }
            // It may have been evicted; the access is a miss then.
            _ = try system.archive.withAccess(others.strings[place], digest)
            looks.add(Clock.now() - end)
        }
        return (puts.sorted(), looks.sorted())
    }

    /// Puts the first keys again, which evicts, and accesses one of the latest after each.
    private func slowest(
        _ system: VellumSystem, _ keys: [Int], _ random: inout SeededGenerator
    ) throws -> [String] {
        let batch = KeyBatch(Array(keys[..<min(plan.opsPerRun, plan.entries / 2)]))
        var outliers = Outliers(index: try OpeningWorkload.files(of: system.store.path).index)
        for place in 0..<batch.count {
            try outliers.time("put") {
                try system.put(batch, place, plan.values, generation: 1)
            }
            let other = batch.strings[Int.random(in: 0...place, using: &random)]
            try outliers.time("access") {
                _ = try system.archive.withAccess(other, digest)
            }
        }
        return outliers.lines
    }

    private func at(_ fraction: Double, _ sorted: [UInt32]) -> Double {
        let place = min(sorted.count - 1, Int(Double(sorted.count) * fraction))
        return Double(sorted[place]) - Double(min(plan.clockOverhead, sorted[place]))
    }

    private func judged(_ phases: inout Phases) -> [Measurement] {
        var results: [Measurement] = []
        for place in EvictionWorkload.percentiles.indices {
            let ratio = phases.evicting[place].median / phases.below[place].median
            phases.evicting[place].ratio = ratio
            switch EvictionWorkload.percentiles[place].0 {
            case "p50": phases.evicting[place].verdict = .within(1.5, ratio: ratio)
            case "p99.9":
                phases.evicting[place].verdict = .within(
                    milliseconds: 1, nanoseconds: phases.evicting[place].median)
            default: break
            }
            results += [phases.below[place], phases.evicting[place]]
        }
        return results + phases.access
    }
}
