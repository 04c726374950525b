/// P16: puts of new keys and accesses of random ones with values of 16 bytes to 64 KiB, of which all cache lines are read;
/// the number for each size takes as much memory, up to 20,000. A file for each value and an installed server are for
/// orientation.
struct ValueSizeWorkload {
    private static let sizes = [
        (16, "16 B"), (200, "200 B"), (1 << 10, "1 KiB"), (16 << 10, "16 KiB"), (64 << 10, "64 KiB"),
    ]
    private static let totalBytes = 32 << 20
    private static let mostEntries = 20_000

    let plan: Plan

    func run() throws -> [Measurement] {
        try ValueSizeWorkload.sizes.flatMap { bytes, size in
            let titles = ["put", "access"].map { "P16 \($0), values of \(size)" }
            guard titles.contains(where: plan.wants) else { return [Measurement]() }
            return try measure(titles, bytes).flatMap { $0 }
        }
    }

    private func measure(_ titles: [String], _ valueBytes: Int) throws -> [[Measurement]] {
        let values = ValuePool(valueBytes: valueBytes, seed: 16)
        let count = min(
            ValueSizeWorkload.totalBytes / valueBytes, ValueSizeWorkload.mostEntries, plan.entries)
        var results: [[Measurement]] = [[], []]
        var others: [String] = []
        for run in plan.runsAfterWarmUp(titles[0]) {
            let peers: [any KeyValueSystem] =
                [try plan.lmdb("values", entries: count, valueBytes: valueBytes)]
                + (try plan.rocksDB("values", entries: count, valueBytes: valueBytes))
                + [
                    try plan.sqlite("values", entries: count, valueBytes: valueBytes),
                    FilesSystem(at: try plan.scratch.fresh("values-files")),
                ]
            let server = try ValkeySystem(at: plan.scratch.fresh("values-server"), valueBytes: valueBytes)
            let systems =
                [try plan.vellum("values")] + peers + [server].compactMap { $0 }
                + [try plan.limit("values", entries: count, valueBytes: valueBytes)]
            defer { systems.close() }
            others = peers.map(\.name)
            var random = plan.random(25, run: run)
            let fill = KeyBatch((0..<count).shuffled(using: &random))
            try results[0].time(
                titles[0], ops: count, bytes: count * valueBytes, counts: run > 0, on: systems
            ) {
                try $0.put(fill, values, generation: 0)
                return 0
            }
            let batch = KeyBatch(random.draws(count, below: count), readsWhole: true)
            try results[1].time(
                titles[1], ops: count, bytes: count * valueBytes, counts: run > 0, on: systems
            ) { try $0.read(batch) }
        }
        for kind in [0, 1] {
            results[kind].compare(bars: Dictionary(uniqueKeysWithValues: others.map { ($0, 1) }))
        }
        return results
    }
}
