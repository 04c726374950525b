import Foundation

/// P12: threads of one process, and processes, that use one store of all entries: nine accesses of random keys and a put of
/// one, repeatedly. Times are for each operation of all together: half the time is twice the throughput. LMDB's threads have
/// a reader each; the limit only reads, and shows how the machine's cores scale.
struct CrewWorkload {
    static let title = "P12 nine accesses and a put"
    private static let threads = [1, 2, 4, 8]
    private static let processes = [1, 2, 4]

    let plan: Plan
    private var opsPerWorker: Int { plan.opsPerRun / 2 }

    init(plan: Plan) { self.plan = plan }

    func run() throws -> [Measurement] {
        guard plan.wants(CrewWorkload.title) else { return [] }
        plan.say("P12: filling")
        let vellum = try plan.vellum("crew")
        let lmdb = try plan.lmdb("crew", entries: plan.entries)
        let limit = try plan.limit("crew", entries: plan.entries)
        let systems: [any KeyValueSystem] = [vellum, lmdb, limit]
        defer { systems.close() }
        let fill = KeyBatch(plan.shuffledEntries(20, run: 0))
        for system in systems { try system.load(fill, plan.values, generation: 0) }
        var results: [Measurement] = []
        for run in plan.runsAfterWarmUp("P12") {
            for count in CrewWorkload.threads {
                let mixes = (0..<count).map { CrewWorkload.mix(plan, run: run, worker: $0, opsPerWorker) }
                for system in systems {
                    let time = try time(mixes, on: system, run)
                    guard run > 0 else { continue }
                    let name = count == 1 ? "\(system.name), 1 thread" : "\(system.name), \(count) threads"
                    results.add(
                        CrewWorkload.title, name, nanosecondsPerOp: time / Double(count * opsPerWorker),
                        ops: count * opsPerWorker)
                }
            }
            for count in CrewWorkload.processes {
                let time = try timeProcesses(count, at: vellum.store.path, run)
                guard run > 0 else { continue }
                results.add(
                    CrewWorkload.title, count == 1 ? "Vellum, 1 process" : "Vellum, \(count) processes",
                    nanosecondsPerOp: time / Double(count * opsPerWorker), ops: count * opsPerWorker)
            }
        }
        return judged(results)
    }

    /// The operations of a thread or process.
    private static func mix(_ plan: Plan, run: Int, worker: Int, _ count: Int) -> MixedBatch {
        var random = plan.random(21, run: run << 8 | worker)
        return MixedBatch(
            keys: KeyBatch(random.draws(count, below: plan.entries)),
            operations: (0..<count).map { $0 % 10 == 9 ? .put : .read })
    }

    private func time(_ mixes: [MixedBatch], on system: any KeyValueSystem, _ run: Int) throws -> Double {
        let systems = try mixes.map { _ in try system.another() }
        let isLimit = system is LimitSystem
        defer { if !(system is VellumSystem) { systems.close() } }
        let work = Carrier(value: (systems, mixes, plan.values))
        return try Crew.nanoseconds(mixes.count) { number in
            let (systems, mixes, values) = work.value
            if isLimit {
                _ = try systems[number].read(mixes[number].keys)
            } else {
                _ = try systems[number].perform(mixes[number], values, generation: run)
            }
        }
    }

    // MARK: Processes

    /// A worker's arguments are the folder for synchronization with its parent, the store, the run, and its number.
    private func timeProcesses(_ count: Int, at path: String, _ run: Int) throws -> Double {
        let folder = try plan.scratch.fresh("crew-processes")
        let workers = try (0..<count).map { number in
            try ChildProcess.start(
                [
                    plan.program, "--entries", String(plan.entries), "--worker", folder, "--worker-store",
                    path,
                    "--worker-run", "\(run)", "--worker-number", "\(number)",
                ], .output("\(folder)/times-\(number)"))
        }
        let isReady = (0..<count).allSatisfy { CrewWorkload.waits(for: "\(folder)/ready-\($0)") }
        try Data().write(to: URL(fileURLWithPath: folder + "/go"))
        let statuses = workers.map { ChildProcess.end(of: $0) }
        guard isReady, statuses.allSatisfy({ $0 == 0 }) else { throw BenchmarkError("P12: a process failed") }
        let times = try (0..<count).map { number in
            try String(contentsOfFile: "\(folder)/times-\(number)", encoding: .utf8)
                .split(whereSeparator: \.isWhitespace).compactMap { UInt64($0) }
        }
        guard let first = times.compactMap(\.first).min(), let last = times.compactMap(\.last).max() else {
            throw BenchmarkError("P12: the processes report no times")
        }
        return Double(last - first)
    }

    private static func waits(for path: String) -> Bool {
        for _ in 0..<300_000 {
            if FileManager.default.fileExists(atPath: path) { return true }
            usleep(200)
        }
        return false
    }

    /// Runs a worker process; returns its start and end by the machine's clock.
    static func work(_ plan: Plan, in folder: String, at store: String, run: Int, number: Int) throws
        -> String
    {
        let system = try VellumSystem(sharing: store)
        defer { system.close() }
        let mix = mix(plan, run: run, worker: number, CrewWorkload(plan: plan).opsPerWorker)
        // A new process has no pages mapped.
        _ = try system.read(KeyBatch(Array(stride(from: 0, to: plan.entries, by: 8))))
        try Data().write(to: URL(fileURLWithPath: "\(folder)/ready-\(number)"))
        guard waits(for: folder + "/go") else { throw BenchmarkError("P12: no signal to start") }
        let start = Clock.now()
        _ = try system.perform(mix, plan.values, generation: run)
        return "\(start) \(Clock.now())"
    }

    /// Each is compared with one thread or process of the same system: the ratio of the throughputs.
    private func judged(_ results: [Measurement]) -> [Measurement] {
        let names = ["Vellum", "LMDB", LimitSystem.name].flatMap { name in
            ["thread", "process"].map { (first: "\(name), 1 \($0)", of: "\(name), ", kind: " \($0)") }
        }
        var ordered: [Measurement] = []
        for (first, prefix, kind) in names {
            var same = results.filter { $0.system.hasPrefix(prefix) && $0.system.contains(kind) }
            let two = same.first { $0.system.contains(" 2 ") }?.median ?? .nan
            for place in same.indices where same[place].system != first {
                same[place].ratio = same[0].median / same[place].median
                switch same[place].system {
                case "Vellum, 2 threads":
                    same[place].verdict = .faster(by: 1.7, ratio: same[place].ratio ?? 0)
                case "Vellum, 8 threads":
                    same[place].verdict = Verdict(bar: "as 2", isMet: same[place].median <= two)
                default: break
                }
            }
            ordered += same
        }
        return ordered
    }
}
