import Foundation

/// What an entry takes besides time, with all entries stored, each system in a process of its own: bytes of its files; memory that
/// isn't a mapped file; bytes that go to the medium for a new value and for one that replaces another.
///
/// The last are what the kernel counts for the process: pages of files that it made dirty, by writing or through a mapping, without
/// those that were removed before they were written. After every 50,000 puts all is synced, so that a page that is changed
/// again later counts again, as it does in a program that runs for long. The journal of the file system isn't counted, and on a file
/// system in memory there is nothing to count.
struct SpaceWorkload {
    static let title = "P16 bytes an entry"
    private static let system = ["Vellum", "LMDB", "RocksDB", "SQLite"]
    private static let titles = [
        "on the file system", "in memory of its own", "written for a new one", "written for an overwrite",
    ]
    private static let putsBetweenSyncs = 50_000

    let plan: Plan

    func run() throws -> [Measurement] {
        guard plan.wants(SpaceWorkload.title) else { return [] }
        #if os(Linux)
        var results: [Measurement] = []
        for system in SpaceWorkload.system {
            plan.say("\(SpaceWorkload.title): \(system)")
            let folder = try plan.scratch.fresh("space")
            let output = folder + "/figures"
            try ChildProcess.run(
                [plan.program, "--entries", "\(plan.entries)", "--directory", folder, "--space", system],
                output: output)
            let figures = try String(contentsOfFile: output, encoding: .utf8)
                .split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
            for (title, figure) in zip(SpaceWorkload.titles, figures) where figure >= 0 {
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
    /// What the process of one system measures: the figures of the titles, -1 for what can't be told.
    static func figures(_ plan: Plan, of name: String) throws -> String {
        let fill = KeyBatch(plan.shuffledEntries(26, run: 0))
        var random = plan.random(27, run: 0)
        let aging = KeyBatch(random.draws(plan.entries, below: plan.entries))
        let overwrites = KeyBatch(random.draws(plan.opsPerRun, below: plan.entries))
        let memory = try counter("/proc/self/status", "RssAnon:") * 1024
        var system: (any KeyValueSystem)?
        switch name {
        case "Vellum": system = try plan.vellum("space")
        case "LMDB": system = try plan.lmdb("space", entries: plan.entries)
        case "RocksDB": system = try plan.rocksDB("space", entries: plan.entries).first
        default: system = try plan.sqlite("space", entries: plan.entries)
        }
        guard let system else { return "" }
        defer { system.close() }
        let new = try written(fill, generation: 0, plan, system)
        let blocks = try footprint(plan.scratch.url)
        let own = try counter("/proc/self/status", "RssAnon:") * 1024 - memory
        _ = try written(aging, generation: 1, plan, system)
        let again = try written(overwrites, generation: 2, plan, system)
        let isMemory = plan.scratch.fileSystem.isMemory
        let entries = Double(plan.entries)
        let figures = [
            Double(blocks) / entries, max(0, Double(own)) / entries, isMemory ? -1 : Double(new) / entries,
            isMemory ? -1 : Double(again) / Double(overwrites.count),
        ]
        return figures.map { "\($0)" }.joined(separator: " ")
    }

    /// Puts the batch; the bytes of pages that it made dirty.
    private static func written(
        _ batch: KeyBatch, generation: Int, _ plan: Plan, _ system: any KeyValueSystem
    ) throws -> Int {
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
        return try total() - before
    }

    private static func counter(_ path: String, _ name: String) throws -> Int {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        guard let word = line?.split(whereSeparator: \.isWhitespace).dropFirst().first, let value = Int(word)
        else { throw BenchmarkError("\(path) has no \(name)") }
        return value
    }

    /// Bytes of the blocks of all files.
    private static func footprint(_ folder: URL) throws -> Int {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).reduce(0) { sum, name in
            var facts = stat()
            guard stat(folder.path + "/" + name, &facts) == 0 else { return sum }
            return sum + Int(facts.st_blocks) * 512
        }
    }
    #endif
}
