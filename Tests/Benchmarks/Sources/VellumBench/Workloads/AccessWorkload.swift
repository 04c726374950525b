/// P6 and P7: accesses of random keys, against LMDB and SQLite, and of a small hot set, against LMDB.
///
/// An access of ours checks the value's checksum, makes the entry the most recent for all processes and
/// counts a hit; the peers only read. All stores were filled in the same random order.
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
        defer { for system in systems { system.close() } }
        var results: [Measurement] = []
        if plan.wants(AccessWorkload.random) {
            var measured = try measure(AccessWorkload.random, systems) { run in
                var random = plan.random(3, run: run)
                return random.draws(plan.opsPerRun, below: plan.entries)
            }
            AccessWorkload.judge(&measured, bars: [lmdb: 1, sqlite: 4])
            results += measured
        }
        if plan.wants(AccessWorkload.hot) {
            let systems = systems.filter { $0.name != sqlite }
            var measured = try measure(AccessWorkload.hot, systems) { run in
                var random = plan.random(4, run: run)
                let hot = random.draws(AccessWorkload.hotKeys, below: plan.entries)
                return random.draws(plan.opsPerRun, below: hot.count).map { hot[$0] }
            }
            AccessWorkload.judge(&measured, bars: [lmdb: 3])
            results += measured
        }
        return results
    }

    private func filledSystems() throws -> [any KeyValueSystem] {
        plan.say("P6, P7: filling")
        let fill = KeyBatch(plan.shuffledEntries(5, run: 0))
        let vellum = try VellumSystem(at: plan.scratch.fresh("access-vellum"))
        try vellum.put(fill, plan.values, generation: 0)
        let folder = try plan.scratch.fresh("access-lmdb")
        let loader = try LMDBSystem(at: folder, name: "", writeMap: true, mapBytes: plan.mapBytes)
        try loader.put(fill, plan.values, generation: 0, perTransaction: 100_000)
        loader.close()
        let renewed = try LMDBSystem(
            at: folder, name: lmdb, writeMap: false, mapBytes: plan.mapBytes, reading: .renewed)
        let copy = try plan.scratch.fresh("access-lmdb-long")
        try ChildProcess.run(["cp", folder + "/data.mdb", copy + "/data.mdb"], output: "/dev/null")
        let longLived = try LMDBSystem(
            at: copy, name: "LMDB, one transaction", writeMap: false, mapBytes: plan.mapBytes,
            reading: .longLived)
        let database = try SQLiteSystem(
            at: plan.scratch.fresh("access-sqlite"), name: sqlite, mapBytes: plan.mapBytes)
        try database.load(fill, plan.values, generation: 0)
        return [vellum, renewed, longLived, database]
    }

    private func measure(
        _ workload: String, _ systems: [any KeyValueSystem], ids: (_ run: Int) -> [Int]
    ) throws -> [Measurement] {
        var results = systems.map { Measurement(workload, $0.name) }
        // Run 0 warms up and is not counted.
        for run in 0...plan.runs {
            plan.say("\(workload): " + (run == 0 ? "warming up" : "run \(run) of \(plan.runs)"))
            let batch = KeyBatch(ids(run))
            var sums: [UInt64] = []
            for (place, system) in systems.enumerated() {
                var sum: UInt64 = 0
                let time = try Clock.nanoseconds { sum = try system.read(batch) }
                sums.append(sum)
                guard run > 0 else { continue }
                results[place].add(
                    nanoseconds: time, ops: batch.count, bytes: batch.count * Plan.valueBytes)
            }
            guard Set(sums).count == 1 else { throw BenchmarkError("\(workload): the values read differ") }
        }
        return results
    }

    private static func judge(_ results: inout [Measurement], bars: [String: Double]) {
        guard let ours = results.first else { return }
        for place in results.indices.dropFirst() {
            let ratio = results[place].median / ours.median
            results[place].ratio = ratio
            if let bar = bars[results[place].system] {
                results[place].verdict = .faster(by: bar, ratio: ratio)
            }
        }
    }
}
