import StorageEngine

/// P10: a put of a new key that must evict, against a put of a new key below the limit, in one archive:
/// the last puts before it is full, then, after as many evicting puts as it has entries (so that old
/// segments are being reclaimed as they always will be), puts that evict.
///
/// The second variant accesses a random key after each put, so that the order of eviction is not the order
/// of writing and reclaiming finds live entries between dead ones. Only puts are timed, one by one.
struct EvictionWorkload {
    static let title = "P10 put"
    private static let percentiles: [(String, Double)] = [
        ("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999), ("max", 1),
    ]

    let plan: Plan

    /// The two phases of one archive.
    private struct Phases {
        var below: [Measurement]
        var evicting: [Measurement]

        init(_ accesses: String) {
            below = percentiles.map { Measurement("P10 put \($0.0)\(accesses)", "Vellum, below the limit") }
            evicting = percentiles.map { Measurement("P10 put \($0.0)\(accesses)", "Vellum, evicting") }
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
        // Keys are used once each: filling, last puts below the limit, turnover, evicting puts.
        var random = plan.random(6, run: run)
        let keys = (0..<2 * plan.entries + timed).shuffled(using: &random)
        let system = try VellumSystem(at: plan.scratch.fresh("evict-vellum"), limit: plan.diskLimit)
        defer { system.close() }
        let filled = plan.entries - timed
        try system.put(KeyBatch(Array(keys[..<filled])), plan.values, generation: 0)
        let below = try putEach(keys, filled..<plan.entries, accesses: accesses, system, &random)
        let turnover = plan.entries..<2 * plan.entries
        _ = try putEach(keys, turnover, accesses: accesses, system, &random)
        let evictions = try system.archive.status().evictions
        let evicting = try putEach(
            keys, turnover.upperBound..<turnover.upperBound + timed, accesses: accesses, system, &random)
        guard try system.archive.status().evictions - evictions == UInt64(timed) else {
            throw BenchmarkError("P10: the puts did not evict one entry each")
        }
        for (place, percentile) in EvictionWorkload.percentiles.enumerated() {
            phases.below[place].add(
                nanosecondsPerOp: at(percentile.1, below), ops: timed, bytes: timed * Plan.valueBytes)
            phases.evicting[place].add(
                nanosecondsPerOp: at(percentile.1, evicting), ops: timed, bytes: timed * Plan.valueBytes)
        }
    }

    /// Puts the keys of a range, each timed, and accesses a random one of the keys that were recently put
    /// after each if asked. Returns the sorted durations without the clock's own.
    private func putEach(
        _ keys: [Int], _ range: Range<Int>, accesses: Bool, _ system: VellumSystem,
        _ random: inout SeededGenerator
    ) throws -> [UInt32] {
        let batch = KeyBatch(Array(keys[range]))
        let others = KeyBatch(
            accesses
                ? range.map { place in
                    keys[Int.random(in: max(0, place - plan.entries)..<place, using: &random)]
                } : [])
        var latencies = Latencies(capacity: batch.count)
        let archive = system.archive
        let values = plan.values
        for place in 0..<batch.count {
            let value = UnsafeRawBufferPointer(
                start: values.pointer(batch.ids[place], generation: 0), count: values.valueBytes)
            let start = Clock.now()
            try archive.put(bytes: value, forKey: batch.strings[place])
            latencies.add(Clock.now() - start)
            // It may have been evicted; then the access is a miss.
            if accesses { _ = try archive.withAccess(others.strings[place], digest) }
        }
        return latencies.sorted()
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
        return results
    }
}
