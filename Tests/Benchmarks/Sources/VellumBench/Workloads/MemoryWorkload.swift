import Synchronization
import Vellum

/// P8: objects in the memory of the typed API, accessed in a random order, against a dictionary behind a mutex: by
/// synchronous calls, by asynchronous ones, and for a type that isn't known to be `Sendable`, so that each access decodes the
/// object.
///
/// An access of ours asks the index of all processes whether the object is current, makes it the most recent in both tiers
/// and counts a hit; the dictionary only looks it up.
struct MemoryWorkload {
    static let name = "P8 typed access, in memory"
    private static let opsPerRun = 1_000_000
    private static let systems = [
        "Vellum", "Vellum, asynchronous", "Vellum, not known to be Sendable", "dictionary behind a mutex",
        LimitSystem.name,
    ]

    let plan: Plan

    func run() throws -> [Measurement] {
        guard plan.wants(MemoryWorkload.name) else { return [] }
        let cities = try City.all()
        let factory = ArchivesFactory(storePath: try plan.scratch.fresh("memory-vellum"))
        let archives = try factory.archives(
            for: City.self, trySetMaxMemorySize: 20.megaBytes, trySetMaxDiskSize: 20.megaBytes)
        let decoded = try MemoryWorkload.archives(of: City.self, factory)
        for city in cities {
            archives.record(city)
            decoded.record(city)
        }
        let shelf = try LimitShelf(cities.map { ($0.primaryKey, $0.population) })
        let dictionary = Mutex(Dictionary(uniqueKeysWithValues: cities.map { ($0.primaryKey, $0) }))

        var results = MemoryWorkload.systems.map { Measurement(MemoryWorkload.name, $0) }
        for run in plan.runsAfterWarmUp("P8") {
            var random = plan.random(8, run: run)
            let keys = random.draws(MemoryWorkload.opsPerRun, below: cities.count).map {
                cities[$0].primaryKey
            }
            let bytes = keys.flatMap(LimitShelf.bytes)
            var sums = [0, 0, 0, 0, 0]
            var times = [
                Clock.processorNanoseconds {
                    for key in keys { sums[0] &+= archives.access(archiveWithKey: key)?.population ?? -1 }
                },
                0,
                Clock.processorNanoseconds {
                    for key in keys { sums[2] &+= decoded.access(archiveWithKey: key)?.population ?? -1 }
                },
                Clock.processorNanoseconds {
                    for key in keys { sums[3] &+= dictionary.withLock { $0[key] }?.population ?? -1 }
                },
                Clock.processorNanoseconds { sums[4] = shelf.sum(bytes) },
            ]
            (sums[1], times[1]) = try Waiting.result {
                try await MemoryWorkload.accesses(of: keys, in: archives)
            }
            guard Set(sums).count == 1 else { throw BenchmarkError("P8: the objects differ") }
            guard run > 0 else { continue }
            for (place, time) in times.enumerated() {
                results[place].add(nanoseconds: time, ops: keys.count)
            }
        }
        for (place, most) in [(0, 1.5), (1, 3), (2, nil)] as [(Int, Double?)] {
            results[place].compare(with: results[3], most: most)
        }
        results[4].ratio = results[0].median / results[4].median
        return results
    }

    /// In a generic function no type is known to be `Sendable`.
    private static func archives<Object: Archivable>(
        of type: Object.Type, _ factory: ArchivesFactory
    ) throws -> ArchiveManager<Object> {
        try factory.archives(
            for: type, named: "decoded", trySetMaxMemorySize: 20.megaBytes, trySetMaxDiskSize: 20.megaBytes)
    }

    /// Hits stay on their thread, so its processor time is theirs.
    private static func accesses(
        of keys: [String], in archives: ArchiveManager<City>
    ) async throws -> (sum: Int, nanoseconds: Double) {
        let archives = archives.asynchronous
        var sum = 0
        let start = Clock.processorNow()
        for key in keys { sum &+= try await archives.access(archiveWithKey: key)?.population ?? -1 }
        return (sum, Double(Clock.processorNow() - start))
    }
}
