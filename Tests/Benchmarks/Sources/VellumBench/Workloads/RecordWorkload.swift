import Foundation
import GRDB
import Vellum

/// P3: new cities recorded through the typed API (encoded, kept in memory, stored on disk), against the same structure saved
/// through GRDB. Each is a separate change, which survives a crash of the process.
struct RecordWorkload {
    static let name = "P3 record a city"
    /// How often the cities are stored in each run, each time as different cities.
    private static let rounds = 10

    let plan: Plan

    func run() throws -> [Measurement] {
        guard plan.wants(RecordWorkload.name) else { return [] }
        let cities = try City.all()
        var results = ["Vellum", "GRDB, save", "GRDB, insert"].map { Measurement(RecordWorkload.name, $0) }
        for run in plan.runsAfterWarmUp("P3") {
            let batch = (0..<RecordWorkload.rounds).flatMap { round in
                cities.map { $0.moved(by: round * 100_000_000) }
            }
            let times = [
                try timeRecording(batch),
                try timeSaving(batch) { try $1.save($0) },
                try timeSaving(batch) { try $1.insert($0) },
            ]
            guard run > 0 else { continue }
            for (place, time) in times.enumerated() {
                results[place].add(nanoseconds: time, ops: batch.count)
            }
        }
        for place in results.indices.dropFirst() {
            results[place].compare(with: results[0])
        }
        results[1].verdict = .faster(by: 10, ratio: results[1].ratio ?? 0)
        return results
    }

    private func timeRecording(_ batch: [City]) throws -> Double {
        let factory = ArchivesFactory(storePath: try plan.scratch.fresh("record-vellum"))
        let archives = try factory.archives(
            for: City.self, trySetMaxMemorySize: 100.megaBytes, trySetMaxDiskSize: 100.megaBytes)
        let time = Clock.nanoseconds {
            for city in batch { archives.record(city) }
        }
        guard archives.statistics?.objects == batch.count,
            archives.peek(archiveWithKey: batch[0].primaryKey) == batch[0]
        else { throw BenchmarkError("P3: Vellum has not stored all cities") }
        return time
    }

    private func timeSaving(
        _ batch: [City], _ store: (Database, City) throws -> Void
    ) throws -> Double {
        let queue = try DatabaseQueue.ofCities(at: plan.scratch.fresh("record-grdb"))
        let time = try Clock.nanoseconds {
            for city in batch { try queue.writeWithoutTransaction { try store($0, city) } }
        }
        let (count, first) = try queue.read {
            (try City.fetchCount($0), try City.fetchOne($0, key: batch[0].geonameid))
        }
        guard count == batch.count, first == batch[0] else {
            throw BenchmarkError("P3: GRDB has not stored all cities")
        }
        try queue.close()
        return time
    }
}

extension City: Archivable {
    var primaryKey: String { String(geonameid) }

    fileprivate func moved(by distance: Int) -> City {
        var city = self
        city.geonameid += distance
        return city
    }
}
