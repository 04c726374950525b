/// P5: puts of 200-byte values, each an operation that survives the death of the process, against LMDB with
/// a transaction each.
///
/// New keys: from an empty store to `entries`, in random order and in ascending order.
/// Existing keys: random ones of the full store, after as many overwrites as make its files' layout what it
/// stays from then on, so that what both do about the space of old values is in the figures.
struct PutWorkload {
    static let new = "P5 put, new keys"
    static let ascending = "P5 put, new keys ascending"
    static let existing = "P5 put, existing keys"

    let plan: Plan

    /// Our store and LMDB's, empty; of LMDB's configurations the slower one, once known, no more.
    private func systems(without slower: String?) throws -> [any KeyValueSystem] {
        var systems: [any KeyValueSystem] = [
            try VellumSystem(at: plan.scratch.fresh("put-vellum"))
        ]
        for (name, writeMap) in [("LMDB", false), ("LMDB, WRITEMAP", true)] where name != slower {
            systems.append(
                try LMDBSystem(
                    at: plan.scratch.fresh("put-" + (writeMap ? "lmdb-map" : "lmdb")), name: name,
                    writeMap: writeMap,
                    mapBytes: plan.mapBytes))
        }
        return systems
    }

    func run() throws -> [Measurement] {
        var results: [Measurement] = []
        if plan.wants(PutWorkload.new) || plan.wants(PutWorkload.existing) {
            let measured = try measure([PutWorkload.new, PutWorkload.existing]) { run in
                plan.shuffledEntries(1, run: run)
            }
            results += measured.filter { plan.wants($0.workload) }
        }
        if plan.wants(PutWorkload.ascending) {
            results += try measure([PutWorkload.ascending]) { _ in Array(0..<plan.entries) }
        }
        return results
    }

    /// Measures new keys in the order that `ids` says and, if a second workload is named, existing ones.
    private func measure(_ workloads: [String], ids: (_ run: Int) -> [Int]) throws -> [Measurement] {
        var results = workloads.map { _ in [Measurement]() }
        var slower: String?
        for run in 0..<plan.runs {
            plan.say("\(workloads[0]): run \(run + 1) of \(plan.runs)")
            let fill = KeyBatch(ids(run))
            let systems = try systems(without: slower)
            defer { for system in systems { system.close() } }
            try time(fill, generation: 0, systems, workloads[0], &results[0])
            if workloads.count > 1 {
                var random = plan.random(2, run: run)
                let aging = KeyBatch(random.draws(plan.entries / 2, below: plan.entries))
                for system in systems { try system.put(aging, plan.values, generation: 1) }
                let overwrites = KeyBatch(random.draws(plan.opsPerRun, below: plan.entries))
                try time(overwrites, generation: 2, systems, workloads[1], &results[1])
            }
            if slower == nil {
                slower = results[0].dropFirst().max { $0.median < $1.median }?.system
            }
        }
        return results.flatMap(PutWorkload.judged)
    }

    /// Puts the batch into each system, adds the times to `results`, and makes sure that all stored the same.
    private func time(
        _ batch: KeyBatch, generation: Int, _ systems: [any KeyValueSystem], _ workload: String,
        _ results: inout [Measurement]
    ) throws {
        for system in systems {
            let time = try Clock.nanoseconds { try system.put(batch, plan.values, generation: generation) }
            if !results.contains(where: { $0.system == system.name }) {
                results.append(Measurement(workload, system.name))
            }
            for place in results.indices where results[place].system == system.name {
                results[place].add(
                    nanoseconds: time, ops: batch.count, bytes: batch.count * plan.values.valueBytes)
            }
        }
        let sample = KeyBatch(Array(batch.ids.suffix(10_000)))
        guard try Set(systems.map { try $0.read(sample) }).count == 1 else {
            throw BenchmarkError("\(workload): the values stored differ")
        }
    }

    /// Ratios against ours; the bar holds against the peer's faster configuration.
    private static func judged(_ results: [Measurement]) -> [Measurement] {
        guard let ours = results.first else { return [] }
        let fastest = results.dropFirst().map(\.median).min()
        return results.enumerated().map { place, result in
            guard place > 0 else { return result }
            var result = result
            let ratio = result.median / ours.median
            result.ratio = ratio
            if result.median == fastest { result.verdict = .faster(by: 1.5, ratio: ratio) }
            return result
        }
    }
}
