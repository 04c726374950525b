/// P13: puts of new keys in random order, and accesses of random keys, in stores of a hundredth, a tenth and all of the
/// entries; if selected by name, also of ten times as many, once and without LMDB, whose file would take ten gigabytes.
struct SizeWorkload {
    static let put = "P13 put, new keys"
    static let access = "P13 access, random keys"
    /// Minimum number of timed operations per run.
    private static let leastOps = 100_000

    let plan: Plan

    func run() throws -> [Measurement] {
        guard plan.wants(SizeWorkload.put) || plan.wants(SizeWorkload.access) else { return [] }
        var sizes = [plan.entries / 100, plan.entries / 10, plan.entries].filter { $0 > 0 }
        if plan.asks(for: "P13") { sizes.append(plan.entries * 10) }
        var measured = try sizes.map(measure)
        if sizes.count == 4 {
            for kind in [0, 1] {
                measured[3][kind][0].compare(with: measured[2][kind][0], most: 1.5)
            }
        }
        return [0, 1].flatMap { kind in measured.flatMap { $0[kind] } }.filter { plan.wants($0.workload) }
    }

    /// Puts, accesses.
    private func measure(_ entries: Int) throws -> [[Measurement]] {
        let isLarge = entries > plan.entries
        var results: [[Measurement]] = [[], []]
        let rounds = isLarge ? 1 : plan.runs * min(10, max(1, SizeWorkload.leastOps / entries))
        let ops = max(SizeWorkload.leastOps, entries * 3 / 10)
        let titles = [SizeWorkload.put, SizeWorkload.access].map {
            "\($0), \(Figures.grouped(entries)) entries"
        }
        for round in 0..<rounds {
            if round * plan.runs % rounds == 0 { plan.say("P13: \(Figures.grouped(entries)) entries") }
            var random = plan.random(22, run: round)
            let fill = KeyBatch((0..<entries).shuffled(using: &random))
            var systems: [any KeyValueSystem] = [try plan.vellum("size")]
            if !isLarge { systems.append(try plan.lmdb("size", entries: entries)) }
            systems.append(try plan.limit("size", entries: entries))
            defer { systems.close() }
            try results[0].time(titles[0], ops: entries, bytes: entries * Plan.valueBytes, on: systems) {
                try $0.put(fill, plan.values, generation: 0)
                return 0
            }
            // The first pass is a warm-up.
            for counts in [false, true] {
                let batch = KeyBatch(random.draws(ops, below: entries))
                try results[1].time(titles[1], ops: ops, bytes: 0, counts: counts, on: systems) {
                    try $0.read(batch)
                }
            }
        }
        for kind in [0, 1] { results[kind].compare() }
        return results
    }
}
