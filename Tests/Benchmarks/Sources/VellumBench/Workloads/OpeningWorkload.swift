import Foundation
import StorageEngine

/// P11: opening a store that was closed cleanly, and rebuilding its index from the log, both up to the first value read. The
/// files are in the page cache, also for `cat` and the limit, which has one thread.
struct OpeningWorkload {
    static let open = "P11 open"
    static let rebuild = "P11 rebuild of the index"

    let plan: Plan

    func run() throws -> [Measurement] {
        guard plan.wants(OpeningWorkload.open) || plan.wants(OpeningWorkload.rebuild) else { return [] }
        plan.say("P11: filling")
        let path = try plan.scratch.fresh("open-vellum")
        let fill = KeyBatch(plan.shuffledEntries(7, run: 0))
        try fillStore(at: path, fill)
        let key = fill.strings[fill.count / 2]
        return try opening(path, key) + rebuilding(path, key)
    }

    private func fillStore(at path: String, _ fill: KeyBatch) throws {
        let system = try VellumSystem(at: path)
        defer { system.close() }
        try system.put(fill, plan.values, generation: 0)
    }

    /// Opens the store and reads one value; returns the nanoseconds.
    static func timeOpening(at path: String, key: String, entries: Int) throws -> Double {
        let start = Clock.now()
        let store = try Store.open(at: path, createIfMissing: false)
        let archive = try store.archive(named: VellumSystem.archiveName)
        let bytes = try archive.withAccess(key) { $0.count }
        let time = Clock.now() - start
        defer { store.close() }
        guard bytes == Plan.valueBytes, try archive.status().entries == entries else {
            throw BenchmarkError("P11: the opened store has other values")
        }
        return Double(time)
    }

    private func opening(_ path: String, _ key: String) throws -> [Measurement] {
        guard plan.wants(OpeningWorkload.open) else { return [] }
        var again = Measurement(OpeningWorkload.open, "Vellum, same process")
        var fresh = Measurement(OpeningWorkload.open, "Vellum, new process")
        var limit = Measurement(OpeningWorkload.open, LimitSystem.name)
        let (index, segments, _) = try OpeningWorkload.files(of: path)
        let output = plan.scratch.url.appendingPathComponent("opening")
        for run in 0..<plan.runs {
            plan.say("P11, open: run \(run + 1) of \(plan.runs)")
            again.add(
                nanoseconds: try OpeningWorkload.timeOpening(at: path, key: key, entries: plan.entries),
                ops: 1, bytes: Plan.valueBytes)
            try ChildProcess.run(
                [plan.program, "--entries", String(plan.entries), "--open-store", path, "--open-key", key],
                output: output.path)
            let text = try String(contentsOf: output, encoding: .utf8)
            guard let time = Double(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
                throw BenchmarkError("P11: the child process said \"\(text)\"")
            }
            fresh.add(nanoseconds: time, ops: 1, bytes: Plan.valueBytes)
            limit.add(
                nanoseconds: try LimitSystem.timeOpening(index: index, segment: segments[segments.count / 2]),
                ops: 1, bytes: Plan.valueBytes)
        }
        again.verdict = .within(milliseconds: 1, nanoseconds: again.median)
        fresh.verdict = .within(milliseconds: 1, nanoseconds: fresh.median)
        limit.ratio = again.median / limit.median
        return [again, fresh, limit]
    }

    private func rebuilding(_ path: String, _ key: String) throws -> [Measurement] {
        guard plan.wants(OpeningWorkload.rebuild) else { return [] }
        var ours = Measurement(OpeningWorkload.rebuild, "Vellum")
        var limit = Measurement(OpeningWorkload.rebuild, LimitSystem.name)
        var cat = Measurement(OpeningWorkload.rebuild, "cat of the segments")
        let (index, segments, bytes) = try OpeningWorkload.files(of: path)
        try ChildProcess.run(["cat"] + segments, output: "/dev/null")
        for run in 0..<plan.runs {
            plan.say("P11, rebuild: run \(run + 1) of \(plan.runs)")
            try FileManager.default.removeItem(atPath: index)
            let time = try OpeningWorkload.timeOpening(at: path, key: key, entries: plan.entries)
            ours.add(nanoseconds: time, ops: 1, bytes: bytes)
            cat.add(
                nanoseconds: try Clock.nanoseconds {
                    try ChildProcess.run(["cat"] + segments, output: "/dev/null")
                }, ops: 1, bytes: bytes)
            let table = try plan.scratch.fresh("limit") + "/index"
            let least = try Clock.nanoseconds {
                try LimitFiles(segments, bytes: bytes).scan(entries: plan.entries, index: table)
            }
            limit.add(nanoseconds: least, ops: 1, bytes: bytes)
        }
        ours.compare(with: cat, most: 2.5)
        limit.ratio = ours.median / limit.median
        return [ours, cat, limit]
    }

    /// Paths of the archive's index and segments, and the bytes of the segments.
    static func files(of path: String) throws -> (index: String, segments: [String], bytes: Int) {
        let manager = FileManager.default
        let names = try manager.subpathsOfDirectory(atPath: path)
        let segments = names.filter { $0.hasSuffix(".segment") }.sorted().map { path + "/" + $0 }
        guard let index = names.first(where: { $0.hasSuffix("/index") }), !segments.isEmpty else {
            throw BenchmarkError("P11: the archive has no index or no segments")
        }
        let bytes = try segments.reduce(0) { sum, name in
            sum + (try manager.attributesOfItem(atPath: name)[.size] as? Int ?? 0)
        }
        return (path + "/" + index, segments, bytes)
    }
}
