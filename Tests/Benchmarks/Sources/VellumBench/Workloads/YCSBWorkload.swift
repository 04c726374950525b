import Foundation

/// P16: the six core workloads of YCSB (B. F. Cooper and others: "Benchmarking Cloud Serving Systems with YCSB", 2010) on a
/// store of all entries, with one thread and in one process: A half reads, half updates; B 95 % reads, 5 % updates; C reads;
/// D 95 % reads of recent inserts, 5 % inserts; E 95 % scans of 1 to 100 entries, 5 % inserts; F half reads, half
/// read-modify-writes. Keys are drawn uniformly or by Zipf's law with its constant 0.99, with the most frequent keys
/// scattered over all; in D the latest key is the most frequent. Values have 200 bytes, where YCSB has a thousand.
///
/// In E LMDB continues a cursor, RocksDB an iterator, SQLite a prepared select in the order of its primary key. Vellum has no
/// order of keys: it lists the keys after one, which scans all, and accesses these; so it gets few operations.
struct YCSBWorkload {
    static let title = "P16 YCSB"
    private static let most = 50_000
    private static let scans = 2_000
    private static let scansWithoutOrder = 10

    /// How many of a thousand operations are not reads, and their kind.
    private struct Mix {
        let name: String
        let others: Int
        let other: MixedBatch.Operation
        var isInserting = false
        var isScanning = false

        static let all = [
            Mix(name: "A", others: 500, other: .put), Mix(name: "B", others: 50, other: .put),
            Mix(name: "C", others: 0, other: .put), Mix(name: "F", others: 500, other: .readThenPut),
            Mix(name: "D", others: 50, other: .put, isInserting: true),
            Mix(name: "E", others: 50, other: .put, isInserting: true, isScanning: true),
        ]
    }

    let plan: Plan

    func run() throws -> [Measurement] {
        let wanted = Mix.all.flatMap { mix in [true, false].map { (mix, $0) } }
            .filter { plan.wants(YCSBWorkload.name($0, $1)) }
        guard !wanted.isEmpty else { return [] }
        plan.say("P16 YCSB: filling")
        // Includes inserted entries.
        let space = plan.entries + 4 * (plan.runs + 1) * YCSBWorkload.most
        let vellum = try plan.vellum("ycsb")
        var ordered: [any KeyValueSystem] = [try plan.lmdb("ycsb", entries: space)]
        ordered += try plan.rocksDB("ycsb", entries: space)
        ordered.append(try plan.sqlite("ycsb", entries: space))
        let limit = try plan.limit("ycsb", entries: space)
        let all: [any KeyValueSystem] = [vellum] + ordered + [limit]
        defer { all.close() }
        let fill = KeyBatch(plan.shuffledEntries(23, run: 0))
        for system in all { try system.load(fill, plan.values, generation: 0) }
        var entries = plan.entries
        return try wanted.flatMap { mix, isZipf in
            let name = YCSBWorkload.name(mix, isZipf)
            // With few operations, and with the systems that have an order of keys.
            var (results, more) = ([Measurement](), [Measurement]())
            for run in plan.runsAfterWarmUp(name) {
                var random = plan.random(24, run: run)
                func time(
                    _ count: Int, _ systems: [any KeyValueSystem], _ results: inout [Measurement]
                ) throws -> MixedBatch {
                    let batch = batch(mix, isZipf: isZipf, count, &entries, &random)
                    try results.time(name, ops: count, bytes: 0, counts: run > 0, on: systems) {
                        try $0.perform(batch, plan.values, generation: run + 1)
                    }
                    return batch
                }
                if mix.isScanning {
                    _ = try time(YCSBWorkload.scansWithoutOrder, [vellum] + ordered, &results)
                    // Ours must have the entries inserted here, too.
                    let batch = try time(YCSBWorkload.scans, ordered, &more)
                    try vellum.put(KeyBatch(batch.inserted), plan.values, generation: run + 1)
                } else {
                    _ = try time(min(plan.opsPerRun, YCSBWorkload.most), all, &results)
                }
            }
            if mix.isScanning { results = results.prefix(1) + more }
            let bars = ordered.map { ($0.name, 1.0) }
            results.compare(bars: Dictionary(uniqueKeysWithValues: bars))
            return results
        }
    }

    private static func name(_ mix: Mix, _ isZipf: Bool) -> String {
        "\(title) \(mix.name), " + (!isZipf ? "uniform" : mix.name == "D" ? "latest" : "Zipf")
    }

    private func batch(
        _ mix: Mix, isZipf: Bool, _ count: Int, _ entries: inout Int, _ random: inout SeededGenerator
    ) -> MixedBatch {
        let zipf = ZipfLaw(entries)
        var ids: [Int] = []
        var operations: [MixedBatch.Operation] = []
        for _ in 0..<count {
            let isOther = Int.random(in: 0..<1000, using: &random) < mix.others
            if isOther && mix.isInserting {
                ids.append(entries)
                entries += 1
            } else if !isZipf {
                ids.append(Int.random(in: 0..<entries, using: &random))
            } else {
                let rank = zipf.rank(&random)
                ids.append(mix.isInserting && !mix.isScanning ? entries - 1 - rank : zipf.scattered(rank))
            }
            let length = UInt8.random(in: 1...100, using: &random)
            operations.append(isOther ? mix.other : mix.isScanning ? .scan(length) : .read)
        }
        return MixedBatch(keys: KeyBatch(ids), operations: operations)
    }
}

extension MixedBatch {
    /// The keys that were put.
    fileprivate var inserted: [Int] {
        zip(keys.ids, operations).compactMap { id, operation in if case .put = operation { id } else { nil } }
    }
}

/// Ranks of which the k-th is drawn in proportion to k^-0.99, by YCSB's approximation (J. Gray and others: "Quickly
/// Generating Billion-Record Synthetic Databases", 1994).
private struct ZipfLaw {
    private static let constant = 0.99
    private let count: Int
    private let sum: Double
    private let eta: Double

    init(_ count: Int) {
        self.count = count
        sum = (1...count).reduce(0) { $0 + pow(Double($1), -ZipfLaw.constant) }
        let two = 1 + pow(0.5, ZipfLaw.constant)
        eta = (1 - pow(2 / Double(count), 1 - ZipfLaw.constant)) / (1 - two / sum)
    }

    /// 0 is the most frequent rank.
    func rank(_ random: inout SeededGenerator) -> Int {
        let part = Double.random(in: 0..<1, using: &random)
        if part * sum < 1 { return 0 }
        if part * sum < 1 + pow(0.5, ZipfLaw.constant) { return 1 }
        let place = Double(count) * pow(eta * part - eta + 1, 1 / (1 - ZipfLaw.constant))
        return min(count - 1, Int(place))
    }

    /// A fixed position for each rank, far from those of its neighbors.
    func scattered(_ rank: Int) -> Int {
        var mixed = SeededGenerator(seed: UInt64(rank))
        return Int(mixed.next() % UInt64(count))
    }
}
