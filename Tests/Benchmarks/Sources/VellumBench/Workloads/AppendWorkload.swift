import CSQLite
import CacheAdvance
import Foundation
import StorageEngine

/// P1 and P2: messages of 200 bytes appended to a ring that is full, without a sync, each there when the process is killed;
/// an archive of kind `log` and a ring file apart. Against a table of messages in SQLite: P1 with WAL, `synchronous=NORMAL`
/// and a prepared insert, P2 as the CacheAdvance library compares itself (default journal and sync, a count and a fresh
/// prepare for each append). The plain file is what writing the bytes alone costs. What it costs to read all of it is
/// measured of the ring file.
struct AppendWorkload {
    static let names = (
        wal: "P1 append 200 bytes", count: "P2 append 200 bytes, as CacheAdvance compares",
        read: "P1 read a message"
    )
    private static let message = [UInt8](repeating: 7, count: 200)
    private static let ringBytes = 1_000_000
    private static let count = 50_000
    /// Each costs milliseconds.
    private static let slowCount = 200

    let plan: Plan

    func run() throws -> [Measurement] {
        var results: [Measurement] = []
        if plan.wants(AppendWorkload.names.wal) {
            results += try measure(
                AppendWorkload.names.wal, bar: 30,
                ours + [
                    ("plain file, no ring", AppendWorkload.count, timePlainFile),
                    ("SQLite, WAL NORMAL", AppendWorkload.count, { try timeSQLite($0, countsEach: false) }),
                ])
        }
        if plan.wants(AppendWorkload.names.count) {
            results += try measure(
                AppendWorkload.names.count, bar: 300,
                ours + [
                    ("SQLite, count each", AppendWorkload.slowCount, { try timeSQLite($0, countsEach: true) })
                ])
        }
        if plan.wants(AppendWorkload.names.read) { results.append(try measureReading()) }
        return results
    }

    private typealias Timed = (system: String, count: Int, time: (Int) throws -> Double)

    private var ours: [Timed] {
        [
            ("archive of kind log", AppendWorkload.count, timeLog),
            ("ring file, bytes", AppendWorkload.count, timeRing),
            ("CacheAdvance, JSON", AppendWorkload.count, timeCacheAdvance),
        ]
    }

    /// The last system is what the others are judged by.
    private func measure(_ name: String, bar: Double, _ systems: [Timed]) throws -> [Measurement] {
        var results = systems.map { Measurement(name, $0.system) }
        // Run 0 warms up and is not counted.
        for run in 0...plan.runs {
            plan.say("\(name.prefix(2)): " + (run == 0 ? "warming up" : "run \(run) of \(plan.runs)"))
            for (place, system) in systems.enumerated() {
                let time = try system.time(system.count)
                guard run > 0 else { continue }
                results[place].add(nanoseconds: time, ops: system.count, bytes: 200 * system.count)
            }
        }
        let other = results[results.count - 1].median
        for place in results.indices.dropLast() {
            results[place].ratio = other / results[place].median
            guard place < 2 else { continue }
            results[place].verdict = .faster(by: bar, ratio: results[place].ratio ?? 0)
        }
        return results
    }

    private func timeLog(_ count: Int) throws -> Double {
        let store = try Store.open(at: try plan.scratch.fresh("append-store"))
        defer { store.close() }
        let log = try store.archive(
            named: "L",
            orCreate: ArchiveConfiguration(kind: .log, diskLimit: UInt64(AppendWorkload.ringBytes)))
        return try Clock.nanoseconds { for _ in 0..<count { try log.append(AppendWorkload.message) } }
    }

    private func emptyFile(_ name: String) throws -> URL {
        let url = URL(fileURLWithPath: try plan.scratch.fresh(name)).appendingPathComponent("file")
        try Data().write(to: url)
        return url
    }

    private func timeRing(_ count: Int) throws -> Double {
        let ring = try RingFile(
            path: try emptyFile("append-ring").path, maximumBytes: UInt64(AppendWorkload.ringBytes),
            overwritesOldMessages: true)
        return try Clock.nanoseconds { for _ in 0..<count { try ring.append(AppendWorkload.message) } }
    }

    private func timeCacheAdvance(_ count: Int) throws -> Double {
        let cache = try CacheAdvance<String>(
            file: try emptyFile("append-cache"), maximumBytes: UInt64(AppendWorkload.ringBytes),
            shouldOverwriteOldMessages: true)
        let text = String(repeating: "m", count: 198)
        return try Clock.nanoseconds { for _ in 0..<count { try cache.append(message: text) } }
    }

    private func timePlainFile(_ count: Int) throws -> Double {
        let file = try FileHandle(forWritingTo: try emptyFile("append-plain"))
        defer { try? file.close() }
        return Clock.nanoseconds {
            for _ in 0..<count {
                AppendWorkload.message.withUnsafeBytes {
                    _ = write(file.fileDescriptor, $0.baseAddress, $0.count)
                }
            }
        }
    }

    private func timeSQLite(_ count: Int, countsEach: Bool) throws -> Double {
        var connection: OpaquePointer?
        let path = try plan.scratch.fresh("append-sqlite") + "/database"
        guard sqlite3_open(path, &connection) == SQLITE_OK else {
            throw BenchmarkError("SQLite cannot open \(path)")
        }
        defer { sqlite3_close(connection) }
        func execute(_ text: String) throws {
            guard sqlite3_exec(connection, text, nil, nil, nil) == SQLITE_OK else {
                throw BenchmarkError("SQLite: \(text): \(String(cString: sqlite3_errmsg(connection)))")
            }
        }
        func prepare(_ text: String) throws -> OpaquePointer? {
            var statement: OpaquePointer?
            guard sqlite3_prepare_v2(connection, text, -1, &statement, nil) == SQLITE_OK else {
                throw BenchmarkError("SQLite: \(text): \(String(cString: sqlite3_errmsg(connection)))")
            }
            return statement
        }
        func insert(_ statement: OpaquePointer?) throws {
            try AppendWorkload.message.withUnsafeBytes { bytes in
                sqlite3_bind_blob(statement, 1, bytes.baseAddress, Int32(bytes.count), nil)
                guard sqlite3_step(statement) == SQLITE_DONE else { throw BenchmarkError("SQLite: insert") }
                sqlite3_reset(statement)
            }
        }
        if !countsEach {
            try execute("PRAGMA journal_mode=WAL")
            try execute("PRAGMA synchronous=NORMAL")
        }
        try execute("CREATE TABLE messages (message BLOB NOT NULL)")
        let text = "INSERT INTO messages VALUES (?1)"
        let prepared = try prepare(text)
        defer { sqlite3_finalize(prepared) }
        return try Clock.nanoseconds {
            for _ in 0..<count {
                guard countsEach else {
                    try insert(prepared)
                    continue
                }
                try execute("SELECT COUNT(*) FROM messages")
                let statement = try prepare(text)
                try insert(statement)
                sqlite3_finalize(statement)
            }
        }
    }

    private func measureReading() throws -> Measurement {
        var result = Measurement(AppendWorkload.names.read, "ring file, bytes")
        let ring = try RingFile(
            path: try emptyFile("read-ring").path, maximumBytes: UInt64(AppendWorkload.ringBytes),
            overwritesOldMessages: true)
        for _ in 0..<10_000 { try ring.append(AppendWorkload.message) }
        for _ in 0...plan.runs {
            var count = 0
            let time = try Clock.nanoseconds { count = try ring.messages().count }
            result.add(nanoseconds: time, ops: count, bytes: 200 * count)
        }
        return result
    }
}
