import Foundation
import GRDB
import StorageEngine
import Synchronization
import Vellum

/// P18: typical values of caches, pictures of 100 KB and sessions of some 200 bytes: put, get from memory, and get from disk
/// by a restarted program; with the typed API against the engine's calls, GRDB, a file each, an `NSCache` and a dictionary.
struct CacheWorkload {
    static let title = "P18 cached values"
    private static let pictures = 300
    private static let pictureBytes = 100_000
    private static let sessions = 10_000

    let plan: Plan

    func run() throws -> [Measurement] {
        guard plan.wants(CacheWorkload.title) else { return [] }
        var random = plan.random(18, run: 0)
        let pictures = (0..<CacheWorkload.pictures).map { number in
            let bytes = random.draws(CacheWorkload.pictureBytes, below: 256).map { UInt8($0) }
            return ("picture \(number)", Data(bytes))
        }
        let sessions = (0..<CacheWorkload.sessions).map { ("session \($0)", Session(number: $0)) }
        var results = try measure("of 100 KB", pictures, coding: .bytes)
        // The goal limits the time that the library adds to the engine's for bytes that need no decoding.
        if let typed = results[2].firstIndex(where: { $0.system == "Vellum" }),
            let engine = results[2].first(where: { $0.system == "Vellum's engine" })
        {
            results[2][typed].compare(with: engine, most: 1.3)
        }
        return (results + (try measure("of a session", sessions, coding: .json))).flatMap { $0 }
    }

    /// Put, get from memory, and get from disk, for each system that supports it.
    private func measure<Value: Codable & Sendable & Equatable>(
        _ what: String, _ values: [(key: String, value: Value)], coding: Coding<Value>
    ) throws -> [[Measurement]] {
        let titles = ["put", "get from memory", "get from disk"].map { "P18 \($0), \(what)" }
        let names = try systems(coding).map(\.name)
        var results = titles.map { title in names.map { Measurement(title, $0) } }
        for run in plan.runsAfterWarmUp("P18 \(what)") {
            let order = values.shuffled()
            for (place, system) in try systems(coding).enumerated() {
                var times: [Double?] = [
                    try Clock.nanoseconds { for (key, value) in values { try system.put(key, value) } }
                ]
                for get in [system.getFromMemory, system.getFromDisk] {
                    times.append(try get.map { try time(order, $0, system.name) })
                }
                guard run > 0 else { continue }
                for (title, time) in times.enumerated() {
                    guard let time else { continue }
                    results[title][place].add(nanoseconds: time, ops: values.count)
                }
            }
        }
        return results.map { results in
            results.filter { !$0.samples.isEmpty }.enumerated().map { (place, result) in
                var result = result
                if place > 0 { result.compare(with: results[0]) }
                return result
            }
        }
    }

    private func time<Value: Equatable>(
        _ order: [(key: String, value: Value)], _ get: (String) throws -> Value?, _ system: String
    ) throws -> Double {
        var missing = 0
        let time = try Clock.nanoseconds {
            for (key, value) in order where try get(key) != value { missing += 1 }
        }
        guard missing == 0 else { throw BenchmarkError("P18: \(missing) values of \(system) are missing") }
        return time
    }

    // MARK: Systems

    fileprivate struct Session: Codable, Sendable, Equatable {
        var user: String
        var token: String
        var roles: [String]
        var began: Date

        init(number: Int) {
            user = "user \(number)"
            token = String(repeating: "\(number % 10)", count: 100)
            roles = number % 3 == 0 ? ["reader"] : ["reader", "writer"]
            began = Date(timeIntervalSince1970: 1_700_000_000 + Double(number))
        }
    }

    /// Encoding and decoding for systems that store bytes.
    fileprivate struct Coding<Value> {
        var encode: (Value) throws -> Data
        var decode: (Data) throws -> Value
    }

    fileprivate struct System<Value> {
        var name: String
        var put: (String, Value) throws -> Void
        var getFromMemory: ((String) throws -> Value?)?
        /// By a restarted program.
        var getFromDisk: ((String) throws -> Value?)?
    }

    private func systems<Value: Codable & Sendable>(_ coding: Coding<Value>) throws -> [System<Value>] {
        [
            try typed(), try engine(coding), try grdb(coding), try files(coding), cache(), dictionary(),
        ]
    }

    private func typed<Value: Codable & Sendable>() throws -> System<Value> {
        let folder = try plan.scratch.fresh("cache-vellum")
        func archives() throws -> ArchiveOfValues<Value> {
            try ArchivesFactory(storePath: folder).values(
                named: "values", trySetMaxMemorySize: 100.megaBytes, trySetMaxDiskSize: 100.megaBytes)
        }
        let (values, others) = (try archives(), try archives())
        return System(
            name: "Vellum", put: { values.record($1, forKey: $0) },
            getFromMemory: { values.value(forKey: $0) },
            getFromDisk: { others.value(forKey: $0) })
    }

    private func engine<Value>(_ coding: Coding<Value>) throws -> System<Value> {
        let store = try Store.open(at: plan.scratch.fresh("cache-engine"))
        let archive = try store.archive(
            named: "values", orCreate: ArchiveConfiguration(diskLimit: UInt64(100.megaBytes)))
        return System(
            name: "Vellum's engine",
            put: { try archive.put([UInt8](coding.encode($1)), forKey: $0) }, getFromMemory: nil,
            getFromDisk: { key in try archive.access(key).map { try coding.decode(Data($0)) } })
    }

    private func grdb<Value>(_ coding: Coding<Value>) throws -> System<Value> {
        let queue = try DatabaseQueue.inWAL(at: plan.scratch.fresh("cache-grdb"))
        try queue.write {
            try $0.execute(
                sql: "CREATE TABLE entry (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID")
        }
        return System(
            name: "GRDB",
            put: { key, value in
                let bytes = try coding.encode(value)
                try queue.writeWithoutTransaction {
                    try $0.cachedStatement(sql: "INSERT OR REPLACE INTO entry VALUES (?, ?)")
                        .execute(arguments: [key, bytes])
                }
            }, getFromMemory: nil,
            getFromDisk: { key in
                let bytes = try queue.read {
                    try Data.fetchOne(
                        $0.cachedStatement(sql: "SELECT value FROM entry WHERE key = ?"), arguments: [key])
                }
                return try bytes.map(coding.decode)
            })
    }

    private func files<Value>(_ coding: Coding<Value>) throws -> System<Value> {
        let folder = URL(fileURLWithPath: try plan.scratch.fresh("cache-files"))
        return System(
            name: "a file each",
            put: { try coding.encode($1).write(to: folder.appendingPathComponent($0), options: .atomic) },
            getFromMemory: nil,
            getFromDisk: { try coding.decode(Data(contentsOf: folder.appendingPathComponent($0))) })
    }

    private final class Box<Value> {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    private func cache<Value>() -> System<Value> {
        let cache = NSCache<NSString, Box<Value>>()
        return System(
            name: "NSCache", put: { cache.setObject(Box($1), forKey: $0 as NSString) },
            getFromMemory: { cache.object(forKey: $0 as NSString)?.value }, getFromDisk: nil)
    }

    private final class Shelf<Value: Sendable>: Sendable {
        let values = Mutex<[String: Value]>([:])
    }

    private func dictionary<Value: Sendable>() -> System<Value> {
        let shelf = Shelf<Value>()
        return System(
            name: "dictionary behind a mutex",
            put: { key, value in shelf.values.withLock { $0[key] = value } },
            getFromMemory: { key in shelf.values.withLock { $0[key] } }, getFromDisk: nil)
    }
}

extension CacheWorkload.Coding where Value == Data {
    fileprivate static var bytes: Self { Self(encode: { $0 }, decode: { $0 }) }
}

extension CacheWorkload.Coding where Value: Codable {
    fileprivate static var json: Self {
        let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
        return Self(encode: { try encoder.encode($0) }, decode: { try decoder.decode(Value.self, from: $0) })
    }
}
