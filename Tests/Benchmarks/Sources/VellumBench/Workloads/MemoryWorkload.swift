import Synchronization
import Vellum

/// P8: objects that the typed API has in memory, accessed in a random order, against a dictionary behind a mutex.
///
/// An access of ours asks the index of all processes whether the object is still the archive's, makes it the most recent
/// in both tiers and counts a hit; the dictionary only looks it up.
struct MemoryWorkload {
    static let name = "P8 typed access, in memory"
    private static let opsPerRun = 1_000_000

    let plan: Plan

    func run() throws -> [Measurement] {
        guard plan.wants(MemoryWorkload.name) else { return [] }
        let cities = try City.all()
        let factory = ArchivesFactory(storePath: try plan.scratch.fresh("memory-vellum"))
        let archives = try factory.archives(
            for: City.self, trySetMaxMemorySize: 20.megaBytes, trySetMaxDiskSize: 20.megaBytes)
        for city in cities { archives.record(city) }
        let dictionary = Mutex(Dictionary(uniqueKeysWithValues: cities.map { ($0.primaryKey, $0) }))

        var results = ["Vellum", "dictionary behind a mutex"].map { Measurement(MemoryWorkload.name, $0) }
        // Run 0 warms up and is not counted.
        for run in 0...plan.runs {
            plan.say("P8: " + (run == 0 ? "warming up" : "run \(run) of \(plan.runs)"))
            var random = plan.random(8, run: run)
            let keys = random.draws(MemoryWorkload.opsPerRun, below: cities.count).map {
                cities[$0].primaryKey
            }
            var sums = [0, 0]
            let times = [
                Clock.processorNanoseconds {
                    for key in keys { sums[0] &+= archives.access(archiveWithKey: key)?.population ?? -1 }
                },
                Clock.processorNanoseconds {
                    for key in keys { sums[1] &+= dictionary.withLock { $0[key] }?.population ?? -1 }
                },
            ]
            guard sums[0] == sums[1] else { throw BenchmarkError("P8: the objects differ") }
            guard run > 0 else { continue }
            for (place, time) in times.enumerated() {
                results[place].add(nanoseconds: time, ops: keys.count, bytes: 0)
            }
        }
        results[0].ratio = results[0].median / results[1].median
        results[0].verdict = .within(2, ratio: results[0].ratio ?? .nan)
        return results
    }
}
