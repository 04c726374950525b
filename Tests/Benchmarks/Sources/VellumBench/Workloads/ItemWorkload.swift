import Foundation
import Nest
import Synchronization

/// Cities as items of a `Nest` that expire, added and fetched in a random order: in memory against an `NSCache` without
/// expiry and a dictionary with a timer for each; on disk against a JSON file for each.
struct ItemWorkload {
    static let title = "Nest items"
    private static let titles = [
        "Nest: add an item, in memory", "Nest: fetch an item, in memory", "Nest: add an item, on disk too",
        "Nest: fetch an item from disk",
    ]

    let plan: Plan

    func run() throws -> [Measurement] {
        guard plan.wants(ItemWorkload.title) else { return [] }
        let cities = try City.all()
        let titles = ItemWorkload.titles
        let inMemory = ["Nest", "NSCache", "dictionary with timers"]
        let onDisk = ["Nest", "a file each"]
        var results = titles.enumerated().map { (place, title) in
            (place < 2 ? inMemory : onDisk).map { Measurement(title, $0) }
        }
        for run in plan.runsAfterWarmUp("Nest") {
            var random = plan.random(17, run: run)
            let order = random.draws(cities.count, below: cities.count).map { cities[$0] }
            let times = [
                [try nest(cities, order), try cache(cities, order), try dictionary(cities, order)],
                [try nestOnDisk(cities, order), try files(cities, order)],
            ]
            guard run > 0 else { continue }
            for place in titles.indices {
                for (system, times) in times[place / 2].enumerated() {
                    let time = place % 2 == 0 ? times.add : times.fetch
                    results[place][system].add(nanoseconds: time, ops: cities.count)
                }
            }
        }
        for place in results.indices {
            for system in 1..<results[place].count {
                results[place][system].compare(with: results[place][0])
            }
        }
        return results.flatMap { $0 }
    }

    private typealias Times = (add: Double, fetch: Double)

    private func time(
        _ cities: [City], _ order: [City], add: (City) throws -> Void, fetch: (City) throws -> City?
    ) throws -> Times {
        let adding = try Clock.nanoseconds { for city in cities { try add(city) } }
        var found = 0
        let fetching = try Clock.nanoseconds {
            for city in order where try fetch(city)?.population == city.population { found += 1 }
        }
        guard found == order.count else {
            throw BenchmarkError("Nest: \(order.count - found) items are missing")
        }
        return (adding, fetching)
    }

    // MARK: In memory

    private func nest(_ cities: [City], _ order: [City]) throws -> Times {
        let nest = Nest(store: URL(fileURLWithPath: try plan.scratch.fresh("items-nest")))
        return try time(
            cities, order,
            add: { nest.add(item: $0, withKey: $0.primaryKey, expirationPolicy: .long) },
            fetch: { nest[$0.primaryKey] as? City })
    }

    private final class Box {
        let city: City
        init(_ city: City) { self.city = city }
    }

    private func cache(_ cities: [City], _ order: [City]) throws -> Times {
        let cache = NSCache<NSString, Box>()
        return try time(
            cities, order,
            add: { cache.setObject(Box($0), forKey: $0.primaryKey as NSString) },
            fetch: { cache.object(forKey: $0.primaryKey as NSString)?.city })
    }

    /// The simplest cache with expiry: a replaced item cancels its timer.
    private final class TimedDictionary: Sendable {
        /// Work items may be cancelled from any thread.
        private struct Item: @unchecked Sendable {
            let city: City
            let expiry: DispatchWorkItem
        }

        private let items = Mutex<[String: Item]>([:])
        private let queue = DispatchQueue(label: "expiries")

        func add(_ city: City, seconds: Double) {
            let key = city.primaryKey
            let expiry = DispatchWorkItem { [weak self] in self?.items.withLock { $0[key] = nil } }
            queue.asyncAfter(deadline: .now() + seconds, execute: expiry)
            let item = Item(city: city, expiry: expiry)
            items.withLock { $0.updateValue(item, forKey: key)?.expiry.cancel() }
        }

        func city(_ key: String) -> City? { items.withLock { $0[key]?.city } }

        func cancelAll() { items.withLock { for item in $0.values { item.expiry.cancel() } } }
    }

    private func dictionary(_ cities: [City], _ order: [City]) throws -> Times {
        let dictionary = TimedDictionary()
        defer { dictionary.cancelAll() }
        return try time(
            cities, order, add: { dictionary.add($0, seconds: 3_600) },
            fetch: { dictionary.city($0.primaryKey) })
    }

    // MARK: On disk too

    /// Fetched by another nest, as after a restart.
    private func nestOnDisk(_ cities: [City], _ order: [City]) throws -> Times {
        let store = URL(fileURLWithPath: try plan.scratch.fresh("items-nest-disk"))
        let (nest, next) = (Nest(store: store), Nest(store: store))
        return try time(
            cities, order,
            add: {
                nest.add(
                    item: $0, withKey: $0.primaryKey, expirationPolicy: .long, andPersistancePolicy: .mirror)
            },
            fetch: { next[$0.primaryKey] as? City })
    }

    private func files(_ cities: [City], _ order: [City]) throws -> Times {
        let folder = URL(fileURLWithPath: try plan.scratch.fresh("items-files"))
        return try time(
            cities, order,
            add: {
                let file = folder.appendingPathComponent("\($0.geonameid)")
                try JSONEncoder().encode($0).write(to: file, options: .atomic)
            },
            fetch: {
                let file = folder.appendingPathComponent("\($0.geonameid)")
                return try JSONDecoder().decode(City.self, from: Data(contentsOf: file))
            })
    }
}
