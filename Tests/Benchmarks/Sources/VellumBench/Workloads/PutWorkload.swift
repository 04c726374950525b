/// P5: puts of 200-byte values, each of which survives a crash of the process, against LMDB with a transaction each, and the
/// limit.
///
/// New keys: from an empty store to `entries`, in random order and in ascending order. Existing keys: random ones of the full
/// store, after enough overwrites that the layout of the files is stable, so that the times include reclaiming space.
struct PutWorkload {
    static let new = "P5 put, new keys"
    static let ascending = "P5 put, new keys ascending"
    static let existing = "P5 put, existing keys"

    let plan: Plan

    /// Our store, LMDB's and the limit's, empty; without the slower of LMDB's configurations once it is known.
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
        systems.append(try plan.limit("put", entries: plan.entries))
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

    /// Measures new keys in the order of `ids` and, if a second workload is named, existing ones.
    private func measure(_ workloads: [String], ids: (_ run: Int) -> [Int]) throws -> [Measurement] {
        var results = workloads.map { _ in [Measurement]() }
        var slower: String?
        for run in 0..<plan.runs {
            plan.say("\(workloads[0]): run \(run + 1) of \(plan.runs)")
            let fill = KeyBatch(ids(run))
            let systems = try systems(without: slower)
            defer { systems.close() }
            try time(fill, generation: 0, systems, workloads[0], &results[0])
            if workloads.count > 1 {
                var random = plan.random(2, run: run)
                let aging = KeyBatch(random.draws(plan.entries / 2, below: plan.entries))
                for system in systems { try system.put(aging, plan.values, generation: 1) }
                let overwrites = KeyBatch(random.draws(plan.opsPerRun, below: plan.entries))
                try time(overwrites, generation: 2, systems, workloads[1], &results[1])
            }
            if slower == nil { slower = PutWorkload.lmdb(of: results[0]).last?.system }
        }
        return results.flatMap { results in
            var results = results
            // The goal applies to the peer's faster configuration.
            let fastest = PutWorkload.lmdb(of: results).first.map { [$0.system: 1.5] }
            results.compare(bars: fastest ?? [:], limit: 2)
            return results
        }
    }

    /// LMDB's configurations, the fastest first.
    private static func lmdb(of results: [Measurement]) -> [Measurement] {
        results.filter { $0.system.hasPrefix("LMDB") }.sorted { $0.median < $1.median }
    }

    /// Puts the batch into each system, and checks that all stored the same.
    private func time(
        _ batch: KeyBatch, generation: Int, _ systems: [any KeyValueSystem], _ workload: String,
        _ results: inout [Measurement]
    ) throws {
        let bytes = batch.count * plan.values.valueBytes
        try results.time(workload, ops: batch.count, bytes: bytes, on: systems) {
            try $0.put(batch, plan.values, generation: generation)
            return 0
        }
        let sample = KeyBatch(Array(batch.ids.suffix(10_000)))
        guard try Set(systems.map { try $0.read(sample) }).count == 1 else {
            throw BenchmarkError("\(workload): the values stored differ")
        }
    }
}
