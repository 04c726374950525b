import Foundation
import GRDB
import Papyrus
import Synchronization

/// Cities as objects of a `PapyrusStore` against GRDB with a table of the same properties: saved one by one and all at once,
/// merged, fetched whole and with a filter, and observed.
struct ObjectWorkload {
    static let title = "Papyrus objects"
    private static let systems = ["Papyrus", "GRDB"]
    private static let changes = 100
    private static let streams = 200

    let plan: Plan

    func run() throws -> [Measurement] {
        guard plan.wants(ObjectWorkload.title) else { return [] }
        let cities = try City.all()
        let titles = [
            "Papyrus: save a city", "Papyrus: save all cities at once", "Papyrus: merge all cities",
            "Papyrus: fetch all cities",
            "Papyrus: fetch 1 city in 60", "Papyrus: a change until it is observed",
        ]
        var results = titles.map { title in ObjectWorkload.systems.map { Measurement(title, $0) } }
        var beside = Measurement(titles[0], "Papyrus, beside \(ObjectWorkload.streams) streams")
        for run in plan.runsAfterWarmUp("Papyrus") {
            let papyrus = try ["objects-papyrus", "object-papyrus"].map(plan.scratch.fresh)
            let grdb = try ["objects-grdb", "object-grdb"].map(plan.scratch.fresh)
            let times = [
                try Waiting.result { try await ObjectWorkload.papyrus(cities, papyrus[0], papyrus[1]) },
                try Waiting.result { try await ObjectWorkload.grdb(cities, grdb[0], grdb[1]) },
            ]
            guard run > 0 else { continue }
            for (system, times) in times.enumerated() {
                for (title, time) in times.prefix(titles.count).enumerated() {
                    let ops = title == 5 ? ObjectWorkload.changes : cities.count
                    results[title][system].add(nanoseconds: time, ops: ops)
                }
            }
            beside.add(nanoseconds: times[0][titles.count], ops: cities.count)
        }
        for title in results.indices {
            results[title][1].compare(with: results[title][0])
        }
        beside.compare(with: results[0][0])
        return results.flatMap { $0 } + [beside]
    }

    private static func time(_ body: () async throws -> Void) async rethrows -> Double {
        let start = Clock.now()
        try await body()
        return Double(Clock.now() - start)
    }

    // MARK: Papyrus

    private static func papyrus(
        _ cities: [City], _ folder: String, _ folderOfOne: String
    ) async throws -> [Double] {
        let store = PapyrusStore(url: URL(fileURLWithPath: folder))
        let one = PapyrusStore(url: URL(fileURLWithPath: folderOfOne))
        var times: [Double] = []
        times.append(try await time { for city in cities { try await one.throwing.save(city) } })
        times.append(try await time { try await store.throwing.save(objects: cities) })
        times.append(try await time { try await store.throwing.merge(with: cities) })
        let all = store.objects(type: City.self)
        times.append(try await time { try expect(try await store.throwing.execute(all).count, cities.count) })
        let some = all.filter { $0.countrycode == "ID" }
        times.append(
            try await time {
                try expect(
                    try await store.throwing.execute(some).count, cities.count { $0.countrycode == "ID" })
            })
        let changed = Signals()
        var city = cities[0]
        let stream = store.object(id: city.geonameid, of: City.self).stream()
        let task = Task { [stream = Carrier(value: stream)] in
            for try await city in stream.value { changed.note(city.population) }
        }
        await changed.wait(for: city.population)
        times.append(
            try await time {
                for number in 0..<ObjectWorkload.changes {
                    city.population = -1 - number
                    try await store.throwing.save(city)
                    await changed.wait(for: city.population)
                }
            })
        task.cancel()
        times.append(try await timeSaving(cities, in: one))
        return times
    }

    /// Nanoseconds for saving all one by one while as many streams wait for one of them each.
    private static func timeSaving(_ cities: [City], in store: PapyrusStore) async throws -> Double {
        let tasks = cities.prefix(ObjectWorkload.streams).map { city in
            Task { [stream = Carrier(value: store.object(id: city.geonameid, of: City.self).stream())] in
                for try await _ in stream.value {}
            }
        }
        defer { for task in tasks { task.cancel() } }
        try await Task.sleep(for: .milliseconds(500))
        return try await time { for city in cities { try await store.throwing.save(city) } }
    }

    // MARK: GRDB

    private static func grdb(
        _ cities: [City], _ folder: String, _ folderOfOne: String
    ) async throws -> [Double] {
        let (queue, one) = (
            try DatabaseQueue.ofCities(at: folder), try DatabaseQueue.ofCities(at: folderOfOne)
        )
        var times: [Double] = []
        times.append(
            try await time {
                for city in cities { try await one.writeWithoutTransaction { try city.save($0) } }
            })
        times.append(try await time { try await queue.write { for city in cities { try city.save($0) } } })
        times.append(
            try await time {
                try await queue.write { database in
                    let ids = cities.map(\.geonameid)
                    try City.filter(!ids.prefix(30_000).contains(Column("geonameid"))).deleteAll(database)
                    for city in cities { try city.save(database) }
                }
            })
        times.append(
            try await time { try expect(try await queue.read { try City.fetchAll($0).count }, cities.count) })
        times.append(
            try await time {
                let found = try await queue.read {
                    try City.filter(Column("countrycode") == "ID").fetchAll($0).count
                }
                try expect(found, cities.count { $0.countrycode == "ID" })
            })
        let changed = Signals()
        var city = cities[0]
        let id = city.geonameid
        let observation = ValueObservation.tracking { try City.fetchOne($0, key: id) }
        let cancellable = observation.start(
            in: queue, scheduling: .async(onQueue: .global()), onError: { _ in },
            onChange: { changed.note($0?.population ?? 0) })
        await changed.wait(for: city.population)
        times.append(
            try await time {
                for number in 0..<ObjectWorkload.changes {
                    city.population = -1 - number
                    let city = city
                    try await queue.write { try city.save($0) }
                    await changed.wait(for: city.population)
                }
            })
        cancellable.cancel()
        try queue.close()
        try one.close()
        return times
    }

    private static func expect(_ found: Int, _ wanted: Int) throws {
        guard found == wanted else { throw BenchmarkError("Papyrus: \(found) cities instead of \(wanted)") }
    }
}

extension City: Papyrus {
    var id: Int { geonameid }
}

/// The latest value, and the tasks that wait for another.
private final class Signals: Sendable {
    private let state = Mutex<(last: Int?, wanted: Int?, waiting: CheckedContinuation<Void, Never>?)>(
        (nil, nil, nil))

    func note(_ value: Int) {
        let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.last = value
            guard state.wanted == value else { return nil }
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
    }

    func wait(for value: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.last == value { return true }
                state.wanted = value
                state.waiting = continuation
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}
