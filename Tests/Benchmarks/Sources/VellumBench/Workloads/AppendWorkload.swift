import CacheAdvance
import Foundation
import StorageEngine

/// P1 and P2: messages of 200 bytes appended to a full ring without a sync, each surviving a crash of the process; for an
/// archive of kind `log` and for a ring file. Against a table of messages in SQLite: P1 with WAL, `synchronous=NORMAL` and a
/// prepared insert, P2 like the CacheAdvance library's benchmark (default journal and sync, a count and a new statement for
/// each append). The plain file shows the cost of writing only the bytes. Then all messages are read: as bytes, as decoded
/// values, as lines of a plain file, and as rows of SQLite.
struct AppendWorkload {
    static let names = (
        wal: "P1 append 200 bytes", count: "P2 append 200 bytes, as CacheAdvance compares",
        read: "P1 read a message"
    )
    private static let message = [UInt8](repeating: 7, count: 200)
    private static let ringBytes = 1_000_000
    private static let count = 50_000
    /// Each takes milliseconds.
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
        if plan.wants(AppendWorkload.names.read) { results += try measureReading() }
        return results
    }

    private typealias Timed = (system: String, count: Int, time: (Int) throws -> Double)

    private var ours: [Timed] {
        [
            ("archive of kind log", AppendWorkload.count, timeLog),
            ("ring file, bytes", AppendWorkload.count, timeRing),
            ("CacheAdvance, JSON", AppendWorkload.count, timeCacheAdvance),
            (LimitSystem.name, AppendWorkload.count, timeLimit),
        ]
    }

    private func timeLimit(_ count: Int) throws -> Double {
        try LimitSystem.timeAppending(
            AppendWorkload.message, count, ringBytes: AppendWorkload.ringBytes,
            at: plan.scratch.fresh("append-limit") + "/ring")
    }

    /// The others are compared with the last system.
    private func measure(_ name: String, bar: Double, _ systems: [Timed]) throws -> [Measurement] {
        var results = systems.map { Measurement(name, $0.system) }
        for run in plan.runsAfterWarmUp("\(name.prefix(2))") {
            for (place, system) in systems.enumerated() {
                let time = try system.time(system.count)
                guard run > 0 else { continue }
                results[place].add(nanoseconds: time, ops: system.count, bytes: 200 * system.count)
            }
        }
        let other = results[results.count - 1].median
        for place in results.indices.dropLast() {
            if results[place].system == LimitSystem.name {
                results[place].ratio = results[0].median / results[place].median
                continue
            }
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
        let path = try plan.scratch.fresh("append-sqlite") + "/database"
        let table = try MessageTable(path: path, inWAL: !countsEach)
        return try Clock.nanoseconds {
            for _ in 0..<count {
                if countsEach {
                    try table.insertAfterCounting(AppendWorkload.message)
                } else {
                    try table.insert(AppendWorkload.message)
                }
            }
        }
    }

    // MARK: Reading

    /// Reads all messages, once for each run.
    private func measureReading() throws -> [Measurement] {
        let ring = try RingFile(
            path: try emptyFile("read-ring").path, maximumBytes: UInt64(AppendWorkload.ringBytes),
            overwritesOldMessages: true)
        for _ in 0..<10_000 { try ring.append(AppendWorkload.message) }
        let cache = try CacheAdvance<String>(
            file: try emptyFile("read-cache"), maximumBytes: UInt64(AppendWorkload.ringBytes),
            shouldOverwriteOldMessages: true)
        let text = String(repeating: "m", count: 198)
        for _ in 0..<10_000 { try cache.append(message: text) }
        let count = try ring.messages().count
        let lines = try emptyFile("read-plain")
        try Data((String(repeating: "m", count: 199) + "\n").utf8.cycled(count)).write(to: lines)
        let table = try MessageTable(path: try plan.scratch.fresh("read-sqlite") + "/database")
        for _ in 0..<count { try table.insert(AppendWorkload.message) }
        let systems: [(system: String, read: () throws -> Int)] = [
            ("ring file, bytes", { try ring.messages().count }),
            ("CacheAdvance, JSON", { try cache.messages().count }),
            ("plain file, lines", { try Data(contentsOf: lines).split(separator: 10).count }),
            ("SQLite, WAL NORMAL", { try table.count() }),
        ]
        return try systems.map { system, read in
            var result = Measurement(AppendWorkload.names.read, system)
            // Run 0 is a warm-up.
            for run in 0...plan.runs {
                var found = 0
                let time = try Clock.nanoseconds { found = try read() }
                guard found > count / 2 else { throw BenchmarkError("P1: \(system) has \(found) messages") }
                if run > 0 { result.add(nanoseconds: time, ops: found, bytes: 200 * found) }
            }
            return result
        }
    }
}

extension Collection {
    fileprivate func cycled(_ times: Int) -> [Element] { (0..<times).flatMap { _ in self } }
}
