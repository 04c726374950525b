/// P5: puts of 200-byte values, each an operation that survives the death of the process, against LMDB with
/// a transaction each.
///
/// New keys: from an empty store to `entries`, keys in random order (and, for orientation, ascending).
/// Existing keys: random ones of the full store, after as many overwrites as make its files' layout what it
/// stays from then on, so that what both do about the space of old values is in the figures.
struct PutWorkload {
    static let new = "P5 put, new keys"
    static let ascending = "P5 put, new keys ascending"
    static let existing = "P5 put, existing keys"

    let plan: Plan

    private func systems() throws -> [any KeyValueSystem] {
        [
            try VellumSystem(at: plan.scratch.fresh("put-vellum"), limit: plan.limit),
            try LMDBSystem(
                at: plan.scratch.fresh("put-lmdb"), name: "LMDB", writeMap: false, mapBytes: plan.mapBytes),
            try LMDBSystem(
                at: plan.scratch.fresh("put-lmdb-map"), name: "LMDB WRITEMAP", writeMap: true,
                mapBytes: plan.mapBytes),
        ]
    }

    func run() throws -> [Measurement] {
        var results: [Measurement] = []
        if plan.wants(PutWorkload.new) || plan.wants(PutWorkload.existing) {
            results += try randomKeys()
        }
        if plan.wants(PutWorkload.ascending) { results += try ascendingKeys() }
        return results
    }

    private func randomKeys() throws -> [Measurement] {
        var new: [Measurement] = []
        var existing: [Measurement] = []
        for run in 0..<plan.runs {
            plan.say("P5, random keys: run \(run + 1) of \(plan.runs)")
            let fill = KeyBatch(plan.shuffledEntries(1, run: run))
            var random = plan.random(2, run: run)
            let aging = KeyBatch(random.draws(plan.entries / 2, below: plan.entries))
            let overwrites = KeyBatch(random.draws(plan.opsPerRun, below: plan.entries))
            let systems = try systems()
            defer { for system in systems { system.close() } }
            if new.isEmpty {
                new = systems.map { Measurement(PutWorkload.new, $0.name) }
                existing = systems.map { Measurement(PutWorkload.existing, $0.name) }
            }
            for (place, system) in systems.enumerated() {
                let time = try Clock.nanoseconds { try system.put(fill, plan.values, generation: 0) }
                new[place].add(nanoseconds: time, ops: fill.count, bytes: fill.count * Plan.valueBytes)
            }
            guard plan.wants(PutWorkload.existing) else { continue }
            for system in systems { try system.put(aging, plan.values, generation: 1) }
            for (place, system) in systems.enumerated() {
                let time = try Clock.nanoseconds { try system.put(overwrites, plan.values, generation: 2) }
                existing[place].add(
                    nanoseconds: time, ops: overwrites.count, bytes: overwrites.count * Plan.valueBytes)
            }
        }
        PutWorkload.judge(&new)
        PutWorkload.judge(&existing)
        return (plan.wants(PutWorkload.new) ? new : []) + (plan.wants(PutWorkload.existing) ? existing : [])
    }

    private func ascendingKeys() throws -> [Measurement] {
        var results: [Measurement] = []
        let fill = KeyBatch(Array(0..<plan.entries))
        for run in 0..<plan.runs {
            plan.say("P5, ascending keys: run \(run + 1) of \(plan.runs)")
            let systems = try systems()
            defer { for system in systems { system.close() } }
            if results.isEmpty { results = systems.map { Measurement(PutWorkload.ascending, $0.name) } }
            for (place, system) in systems.enumerated() {
                let time = try Clock.nanoseconds { try system.put(fill, plan.values, generation: 0) }
                results[place].add(nanoseconds: time, ops: fill.count, bytes: fill.count * Plan.valueBytes)
            }
        }
        PutWorkload.judge(&results)
        return results
    }

    /// Ratios against ours; the bar holds against the peer's faster configuration.
    private static func judge(_ results: inout [Measurement]) {
        guard let ours = results.first, results.count > 1 else { return }
        let fastest = results.dropFirst().map(\.median).min()
        for place in results.indices.dropFirst() {
            let ratio = results[place].median / ours.median
            results[place].ratio = ratio
            if results[place].median == fastest { results[place].verdict = .faster(by: 1.5, ratio: ratio) }
        }
    }
}
