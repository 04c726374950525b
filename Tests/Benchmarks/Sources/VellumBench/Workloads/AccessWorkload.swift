/// P6 and P7: accesses of random keys, against LMDB and SQLite, and of a small hot set, against LMDB; and the limit.
///
/// An access of ours verifies the value's checksum, makes the entry the most recent for all processes and counts a hit; the
/// peers only read. All stores were filled in the same random order.
struct AccessWorkload {
    static let random = "P6 access, random keys"
    static let hot = "P7 access, hot keys"
    static let hotKeys = 10_000
    private let lmdb = "LMDB"
    private let sqlite = "SQLite"

    let plan: Plan

    func run() throws -> [Measurement] {
        guard plan.wants(AccessWorkload.random) || plan.wants(AccessWorkload.hot) else { return [] }
        let systems = try filledSystems()
        defer { systems.close() }
        var results: [Measurement] = []
        if plan.wants(AccessWorkload.random) {
            var measured = try measure(AccessWorkload.random, systems) { run in
                var random = plan.random(3, run: run)
                return random.draws(plan.opsPerRun, below: plan.entries)
            }
            measured.compare(bars: [lmdb: 1.5, sqlite: 6], limit: 1.5)
            results += measured
        }
        if plan.wants(AccessWorkload.hot) {
            let systems = systems.filter { $0.name != sqlite }
            var measured = try measure(AccessWorkload.hot, systems) { run in
                var random = plan.random(4, run: run)
                let hot = random.draws(AccessWorkload.hotKeys, below: plan.entries)
                return random.draws(plan.opsPerRun, below: hot.count).map { hot[$0] }
            }
            measured.compare(bars: [lmdb: 2], limit: 1.5)
            results += measured
        }
        return results
    }

    private func filledSystems() throws -> [any KeyValueSystem] {
        plan.say("P6, P7: filling")
        let fill = KeyBatch(plan.shuffledEntries(5, run: 0))
        let vellum = try plan.vellum("access")
        let limit = try plan.limit("access", entries: plan.entries)
        let folder = try plan.scratch.fresh("access-lmdb")
        let loader = try LMDBSystem(at: folder, name: "", writeMap: true, mapBytes: plan.mapBytes)
        try loader.load(fill, plan.values, generation: 0)
        loader.close()
        let renewed = try LMDBSystem(
            at: folder, name: lmdb, writeMap: false, mapBytes: plan.mapBytes, reading: .renewed)
        let copy = try plan.scratch.fresh("access-lmdb-long")
        try ChildProcess.run(["cp", folder + "/data.mdb", copy + "/data.mdb"], output: "/dev/null")
        let longLived = try LMDBSystem(
            at: copy, name: "LMDB, one transaction", writeMap: false, mapBytes: plan.mapBytes,
            reading: .longLived)
        let database = try plan.sqlite("access", entries: plan.entries)
        for system in [vellum, database, limit] as [any KeyValueSystem] {
            try system.load(fill, plan.values, generation: 0)
        }
        return [vellum, renewed, longLived, database, limit]
    }

    private func measure(
        _ workload: String, _ systems: [any KeyValueSystem], ids: (_ run: Int) -> [Int]
    ) throws -> [Measurement] {
        var results: [Measurement] = []
        for run in plan.runsAfterWarmUp(workload) {
            let batch = KeyBatch(ids(run))
            try results.time(
                workload, ops: batch.count, bytes: batch.count * Plan.valueBytes, counts: run > 0, on: systems
            ) { try $0.read(batch) }
        }
        return results
    }
}
