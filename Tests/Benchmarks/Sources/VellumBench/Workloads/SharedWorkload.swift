import Foundation
import Synchronization
import Vellum
import VellumRemote
import VellumValkey

/// P19: objects on a server shared by several machines, with near copies. A hit in memory against one without a tier; an
/// object fetched and stored locally, by one task and by 64, against a plain client's `GET`; and how long a near copy is
/// still returned after the response to another client's `SET`. Needs an installed server.
struct SharedWorkload {
    static let title = "P19 shared"
    private static let hits = 100_000
    private static let objects = 20_000
    private static let changes = 500
    private static let tasks = 64

    fileprivate struct Article: ArchiveCodable, Sendable {
        var primaryKey: String { key }
        var key: String
        var version = 1
        var text = String(repeating: "the values of cache entries", count: 4)
    }

    let plan: Plan

    func run() throws -> [Measurement] {
        guard plan.wants(SharedWorkload.title) else { return [] }
        guard let program = ValkeySystem.program else {
            plan.say("P19: left out, there is neither valkey-server nor redis-server")
            return []
        }
        let server = try LocalServer(program, at: plan.scratch.fresh("shared-server"))
        defer { server.end() }
        let tier = try ValkeyTier("valkey://127.0.0.1:\(server.port)", named: "bench")
        let first = try archives(tier, "shared-first")
        let keys = (0..<SharedWorkload.objects).map { "article \(100_000 + $0)" }
        try Waiting.result {
            try await SharedWorkload.each(keys) { try await first.asynchronous.record(Article(key: $0)) }
        }
        return try hits(first, keys) + (try fetches(tier, server.port, keys))
            + (try ages(tier, server.port, keys[0]))
    }

    private func archives(_ tier: ValkeyTier, _ folder: String) throws -> RemoteArchives<Article> {
        let archives: RemoteArchives<Article> = try ArchivesFactory(storePath: plan.scratch.fresh(folder))
            .archives(
                remote: tier, trySetMaxMemorySize: 100.megaBytes, trySetMaxDiskSize: 100.megaBytes)
        for _ in 0..<2000 where !archives.isTracked { usleep(5000) }
        guard archives.isTracked else {
            throw BenchmarkError(
                "P19: the server doesn't report changes: \(tier.health.trouble ?? "no reason")")
        }
        return archives
    }

    /// With several tasks, each with a share.
    private static func each(
        _ keys: [String], _ body: @escaping @Sendable (String) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<tasks {
                group.addTask {
                    for place in stride(from: task, to: keys.count, by: tasks) { try await body(keys[place]) }
                }
            }
            try await group.waitForAll()
        }
    }

    // MARK: Hits

    private func hits(_ shared: RemoteArchives<Article>, _ keys: [String]) throws -> [Measurement] {
        let local: ArchiveManager<Article> = try ArchivesFactory(
            storePath: plan.scratch.fresh("shared-local")
        ).archives(
            for: Article.self, trySetMaxMemorySize: 100.megaBytes, trySetMaxDiskSize: 100.megaBytes)
        for key in keys { local.record(Article(key: key)) }
        var (with, without) = (
            Measurement("P19 hit in memory", "shared"), Measurement("P19 hit in memory", "without a tier")
        )
        // Short turns, since the machine's speed varies by more than the goal. Run 0 is a warm-up.
        for run in 0...plan.runs * 10 {
            let order = keys.prefix(1000).shuffled()
            for isShared in run.isMultiple(of: 2) ? [true, false] : [false, true] {
                var missing = 0
                let time = try Clock.processorNanoseconds {
                    for turn in 0..<SharedWorkload.hits {
                        let key = order[turn % order.count]
                        let found = isShared ? try shared.access(key) : local.access(archiveWithKey: key)
                        if found == nil { missing += 1 }
                    }
                }
                guard missing == 0 else { throw BenchmarkError("P19: \(missing) objects are missing") }
                guard run > 0 else { continue }
                if isShared {
                    with.add(nanoseconds: time, ops: SharedWorkload.hits)
                } else {
                    without.add(nanoseconds: time, ops: SharedWorkload.hits)
                }
            }
        }
        with.ratio = SharedWorkload.ratio(with, without)
        with.verdict = .within(1.03, ratio: with.ratio ?? .infinity)
        return [with, without]
    }

    // MARK: Misses

    private func fetches(
        _ tier: ValkeyTier, _ port: Int, _ keys: [String]
    ) throws -> [Measurement] {
        let one = "P19 fetched and kept here, one after the other"
        let many = "P19 fetched and kept here, by \(SharedWorkload.tasks) tasks"
        var results = [
            Measurement(one, "asynchronous"), Measurement(one, "blocking"), Measurement(one, "plain client"),
            Measurement(many, "asynchronous"), Measurement(many, "plain client"),
        ]
        let plain = try Waiting.result { try await PlainValkeyClient(port: port) }
        let bytes = try Waiting.result { try await plain.length(of: SharedWorkload.name(keys[0])) }
        let few = Array(keys.prefix(2000))
        for run in plan.runsAfterWarmUp("P19") {
            // Empty stores.
            let asynchronous = try archives(tier, "shared-asynchronous-\(run)")
            let blocking = try archives(tier, "shared-blocking-\(run)")
            let crowded = try archives(tier, "shared-crowded-\(run)")
            let times = try Waiting.result {
                var times = [[UInt64]](repeating: [], count: 3)
                for key in few {
                    let start = Clock.now()
                    guard try await asynchronous.asynchronous.access(key) != nil else { throw missing }
                    times[0].append(Clock.now() - start)
                    let second = Clock.now()
                    guard try blocking.access(key) != nil else { throw missing }
                    times[1].append(Clock.now() - second)
                    let third = Clock.now()
                    _ = try await plain.get(SharedWorkload.name(key), bytes: bytes)
                    times[2].append(Clock.now() - third)
                }
                return times
            }
            var all = (ours: 0.0, theirs: 0.0)
            for isOurs in run.isMultiple(of: 2) ? [true, false] : [false, true] {
                let time = try Clock.nanoseconds {
                    try Waiting.result {
                        try await SharedWorkload.each(keys) {
                            if isOurs {
                                guard try await crowded.asynchronous.access($0) != nil else { throw missing }
                            } else {
                                _ = try await plain.get(SharedWorkload.name($0), bytes: bytes)
                            }
                        }
                    }
                }
                if isOurs { all.ours = time } else { all.theirs = time }
            }
            guard run > 0 else { continue }
            for (place, times) in times.enumerated() {
                results[place].add(
                    nanosecondsPerOp: Double(times.sorted()[times.count / 2]), ops: times.count)
            }
            results[3].add(nanoseconds: all.ours, ops: keys.count)
            results[4].add(nanoseconds: all.theirs, ops: keys.count)
        }
        try Waiting.result { try await plain.close() }
        for (place, other) in [(0, 2), (1, 2), (3, 4)] {
            results[place].ratio = SharedWorkload.ratio(results[place], results[other])
        }
        results[0].verdict = .within(1.3, ratio: results[0].ratio ?? .infinity)
        return results
    }

    /// The median of the ratios of runs in which both took turns, since the machine's speed varies more.
    private static func ratio(_ ours: Measurement, _ theirs: Measurement) -> Double {
        let ratios = zip(ours.samples, theirs.samples).map { $0 / $1 }.sorted()
        return ratios.isEmpty ? .infinity : ratios[ratios.count / 2]
    }

    private static func name(_ key: String) -> String { "vellum:\(Article.archiveName):\(key)" }

    // MARK: Changes by others

    /// One thread reads the near copy continuously, while another client changes the object.
    private func ages(
        _ tier: ValkeyTier, _ port: Int, _ key: String
    ) throws -> [Measurement] {
        let title = "P19 a near copy after another's change was answered"
        var results = [Measurement(title, "median"), Measurement(title, "99 %")]
        let shared = try archives(tier, "shared-aging")
        let plain = try Waiting.result { try await PlainValkeyClient(port: port) }
        let name = SharedWorkload.name(key)
        // The stored forms of two versions.
        var forms: [[UInt8]] = []
        for version in [1, 2] {
            try shared.record(Article(key: key, version: version))
            forms.append(
                try Waiting.result { try await plain.get(name, bytes: try await plain.length(of: name)) })
        }
        for _ in 0..<plan.runs {
            var ages: [UInt64] = []
            for change in 0..<SharedWorkload.changes {
                let (old, new) = (2 - change % 2, 1 + change % 2)
                guard try shared.access(key)?.version == old else { throw missing }
                let latest = Moment()
                let watch = Background { _ in
                    let start = Clock.now()
                    if try shared.access(key)?.version == old { latest.time.store(start, ordering: .relaxed) }
                    sched_yield()
                }
                let form = forms[new - 1]
                let answered = try Waiting.result { await plain.set(name, form) }
                while try shared.access(key)?.version == old { sched_yield() }
                _ = try watch.end()
                let seen = latest.time.load(ordering: .relaxed)
                ages.append(seen > answered ? seen - answered : 0)
            }
            ages.sort()
            results[0].add(nanosecondsPerOp: Double(ages[ages.count / 2]), ops: ages.count)
            results[1].add(nanosecondsPerOp: Double(ages[ages.count * 99 / 100]), ops: 0)
        }
        try Waiting.result { try await plain.close() }
        let staleness = Double(tier.staleness / .milliseconds(1))
        results[1].verdict = .within(milliseconds: staleness, nanoseconds: results[1].most)
        results[1].notes = [
            "the bar is the stated staleness, which counts if a connection breaks in silence"
        ]
        return results
    }
}

private final class Moment: Sendable {
    let time = Atomic<UInt64>(0)
}

private let missing = BenchmarkError("P19: an object is missing")
