import Foundation

/// Parameters of all workloads: sizes, seeds, folders.
struct Plan {
    let entries: Int
    let runs: Int
    let scratch: ScratchFolder
    let filter: String?
    let program: String
    let clockOverhead: UInt32

    static let valueBytes = 200
    let values = ValuePool(valueBytes: valueBytes, seed: 0x5EED)

    /// The size of all values, which is the limit of the compared archives.
    var diskLimit: Int { entries * Plan.valueBytes }
    /// Sufficient for the file of any system.
    var mapBytes: Int { Plan.mapBytes(entries: entries, valueBytes: Plan.valueBytes) }

    static func mapBytes(entries: Int, valueBytes: Int) -> Int { max(1 << 30, entries * valueBytes * 12) }

    /// Timed operations per run on a full archive.
    var opsPerRun: Int { max(1, entries * 3 / 10) }

    /// An empty system in a folder of that name.
    func vellum(_ folder: String) throws -> VellumSystem {
        try VellumSystem(at: scratch.fresh(folder + "-vellum"))
    }

    func lmdb(_ folder: String, entries: Int, valueBytes: Int = valueBytes) throws -> LMDBSystem {
        try LMDBSystem(
            at: scratch.fresh(folder + "-lmdb"), name: "LMDB", writeMap: true,
            mapBytes: Plan.mapBytes(entries: entries, valueBytes: valueBytes))
    }

    func sqlite(_ folder: String, entries: Int, valueBytes: Int = valueBytes) throws -> SQLiteSystem {
        try SQLiteSystem(
            at: scratch.fresh(folder + "-sqlite"),
            mapBytes: Plan.mapBytes(entries: entries, valueBytes: valueBytes))
    }

    func limit(_ folder: String, entries: Int, valueBytes: Int = valueBytes) throws -> LimitSystem {
        try LimitSystem(at: scratch.fresh(folder + "-limit"), entries: entries, valueBytes: valueBytes)
    }

    /// None where RocksDB isn't installed.
    func rocksDB(_ folder: String, entries: Int, valueBytes: Int = valueBytes) throws -> [any KeyValueSystem]
    {
        #if ROCKSDB
        let bytes = 2 * entries * (valueBytes + KeyBatch.keyBytes)
        return [try RocksDBSystem(at: scratch.fresh(folder + "-rocksdb"), cacheBytes: bytes)]
        #else
        return []
        #endif
    }

    func random(_ purpose: Int, run: Int) -> SeededGenerator {
        SeededGenerator(seed: UInt64(purpose) << 32 | UInt64(run))
    }

    /// `0..<entries` in a random order.
    func shuffledEntries(_ purpose: Int, run: Int) -> [Int] {
        var random = random(purpose, run: run)
        return (0..<entries).shuffled(using: &random)
    }

    /// Whether the workload's name contains the filter; P10 doesn't contain P1.
    func wants(_ workload: String) -> Bool {
        guard let filter else { return true }
        var rest = workload[...]
        while let found = rest.range(of: filter, options: .caseInsensitive) {
            rest = rest[found.upperBound...]
            if !(filter.last?.isNumber ?? false) || !(rest.first?.isNumber ?? false) { return true }
        }
        return false
    }

    /// Whether the filter starts with a workload's number.
    func asks(for number: String) -> Bool { filter?.lowercased().hasPrefix(number.lowercased()) ?? false }

    /// The runs and, before them, run 0, which is a warm-up. Says which one begins.
    func runsAfterWarmUp(_ workload: String) -> some Sequence<Int> {
        (0...runs).lazy.map { run in
            say("\(workload): " + (run == 0 ? "warming up" : "run \(run) of \(runs)"))
            return run
        }
    }

    func say(_ text: String) { Narration.say(text) }
}
