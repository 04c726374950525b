import Foundation

/// The space of an entry, with a process for each system: bytes of files, and memory other than mapped files, with all
/// entries stored in the fastest way; bytes written to the medium for a new value and for an overwritten one, in a store of
/// at most 100,000 entries.
///
/// Bytes written are the kernel's count of pages that the process made dirty, by writing or through a mapping, without those
/// removed before they were written. After each twentieth of the puts all is synced, so that pages changed later count again,
/// as in a program that runs for long. The file system's journal isn't counted; a file system in memory has no such counts;
/// and RocksDB later rewrites data that is only in its log.
struct SpaceWorkload {
    static let title = "P16 bytes an entry"
    private static var systems: [String] {
        #if ROCKSDB
        ["Vellum", "LMDB", "RocksDB", "SQLite"]
        #else
        ["Vellum", "LMDB", "SQLite"]
        #endif
    }
    private static let titles = [
        "on the file system", "in memory of its own", "written for a new one", "written for an overwrite",
    ]
    private static let mostWritten = 100_000

    let plan: Plan

    func run() throws -> [Measurement] {
        guard plan.wants(SpaceWorkload.title) else { return [] }
        #if os(Linux)
        var results: [Measurement] = []
        for system in SpaceWorkload.systems {
            plan.say("\(SpaceWorkload.title): \(system)")
            let folder = try plan.scratch.fresh("space")
            let output = folder + "/figures"
            try ChildProcess.run(
                [plan.program, "--entries", "\(plan.entries)", "--directory", folder, "--space", system],
                output: output)
            let figures = try String(contentsOfFile: output, encoding: .utf8)
                .split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
            for (title, figure) in zip(SpaceWorkload.titles, figures) {
                results.add(
                    "\(SpaceWorkload.title), \(title)", system, nanosecondsPerOp: figure, ops: plan.entries,
                    bytes: plan.diskLimit)
            }
            try plan.scratch.remove("space")
        }
        return SpaceWorkload.titles.flatMap { title in
            results.filter { $0.workload == "\(SpaceWorkload.title), \(title)" }
        }
        #else
        plan.say("\(SpaceWorkload.title) is left out: it takes Linux' counters")
        return []
        #endif
    }

    #if os(Linux)
    /// Measures one system in its process: the values of the titles, -1 for unavailable ones.
    static func figures(_ plan: Plan, of name: String) throws -> String {
        let fill = KeyBatch(plan.shuffledEntries(26, run: 0))
        let memory = try counter("/proc/self/status", "RssAnon:")
        let filled = try system(name, plan)
        try filled.load(fill, plan.values, generation: 0)
        let own = try counter("/proc/self/status", "RssAnon:") - memory
        let blocks = try footprint(plan.scratch.url)
        filled.close()
        let entries = Double(plan.entries)
        var figures = [Double(blocks) / entries, Double(max(0, own) * 1024) / entries]
        if !plan.scratch.fileSystem.isMemory {
            let written = try system(name, plan)
            defer { written.close() }
            var random = plan.random(27, run: 0)
            let count = min(plan.entries, mostWritten)
            let batches = [
                Array(0..<count).shuffled(using: &random), random.draws(count / 2, below: count),
                random.draws(count / 2, below: count),
            ]
            let dirtied = try batches.enumerated().map { generation, ids in
                try bytes(
                    for: KeyBatch(ids), generation: generation, plan, written, putsBetweenSyncs: count / 20)
            }
            figures += [dirtied[0], dirtied[2]]
        }
        return figures.map { "\($0)" }.joined(separator: " ")
    }

    private static func system(_ name: String, _ plan: Plan) throws -> any KeyValueSystem {
        switch name {
        case "Vellum": return try plan.vellum("space")
        case "LMDB": return try plan.lmdb("space", entries: plan.entries)
        case "SQLite": return try plan.sqlite("space", entries: plan.entries)
        default:
            guard let system = try plan.rocksDB("space", entries: plan.entries).first else {
                throw BenchmarkError("there is no \(name)")
            }
            return system
        }
    }

    /// Puts the batch; returns the dirty bytes for each entry.
    private static func bytes(
        for batch: KeyBatch, generation: Int, _ plan: Plan, _ system: any KeyValueSystem,
        putsBetweenSyncs: Int
    ) throws -> Double {
        func sync() throws {
            try ChildProcess.run(["sync", "-f", plan.scratch.url.path], output: "/dev/null")
        }
        func total() throws -> Int {
            try sync()
            return try counter("/proc/self/io", "write_bytes:")
                - counter("/proc/self/io", "cancelled_write_bytes:")
        }
        let before = try total()
        for place in 0..<batch.count {
            try system.put(batch, place, plan.values, generation: generation)
            if place % putsBetweenSyncs == putsBetweenSyncs - 1 { try sync() }
        }
        return Double(try total() - before) / Double(batch.count)
    }

    private static func counter(_ path: String, _ name: String) throws -> Int {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        guard let word = line?.split(whereSeparator: \.isWhitespace).dropFirst().first, let value = Int(word)
        else { throw BenchmarkError("\(path) has no \(name)") }
        return value
    }

    /// The size of the blocks of all files.
    private static func footprint(_ folder: URL) throws -> Int {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).reduce(0) { sum, name in
            var facts = stat()
            guard stat(folder.path + "/" + name, &facts) == 0 else { return sum }
            return sum + Int(facts.st_blocks) * 512
        }
    }
    #endif
}
