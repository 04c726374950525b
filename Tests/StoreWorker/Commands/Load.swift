import Foundation
import TestSupport
import StorageEngine

extension WorkerCommand {
    /// `overwrite STORE ARCHIVE SEED`, until it is killed; output as of `write`.
    func overwrite(_ arguments: WorkerArguments) throws {
        let store = try Store.open(at: arguments.storePath)
        let archive = try store.archive(
            named: arguments.archiveName, orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
        var random = SeededGenerator(seed: monotonicNow())
        var version = random.next() >> 1
        while true {
            version += 1
            let key = "w\(arguments.seed)-\(random.below(20))"
            let size = 8_000 + random.below(30_000)
            say("> \(key) \(version) \(size)")
            try archive.put(StoreWorker.value(version: version, size: size), forKey: key)
            say("<")
        }
    }

    /// `append STORE ARCHIVE SEED`, until it is killed: says `+ NUMBER` before each message, which begins with the
    /// number, and `+< SEQUENCE` after it. Numbers grow, also across restarts.
    func append(_ arguments: WorkerArguments) throws {
        let archive = try arguments.open()
        var random = SeededGenerator(seed: monotonicNow())
        var number = monotonicNow()
        while true {
            number += 1
            say("+ \(number)")
            let sequence = try archive.append(StoreWorker.value(version: number, size: random.below(2_000)))
            say("+< \(sequence)")
        }
    }

    /// `hammer STORE ARCHIVE SEED BYTES`, until it is killed.
    func hammer(_ arguments: WorkerArguments) throws {
        let archive = try arguments.open()
        var random = SeededGenerator(seed: arguments.seed)
        let value = [UInt8](repeating: 7, count: arguments.number(4))
        say("ready")
        while true { try archive.put(value, forKey: "hammer \(random.below(1000))") }
    }

    /// `observe STORE ARCHIVE SEED STOP-FILE`; without a stop file until it is killed.
    func observe(_ arguments: WorkerArguments) throws {
        let archive = try arguments.open(.readOnly)
        var random = SeededGenerator(seed: monotonicNow())
        var looks = 0
        while !exists(arguments.word(4)) {
            let list = try archive.entries()
            for _ in 0..<min(list.count, 100) {
                let place = random.below(list.count)
                // Entries in memory only have no value here.
                guard list[place].tier != .memory else { continue }
                let isWhole = try list.withValue(at: place, isWholeVersion)
                if isWhole == false { say("! mixed value under \(try list.key(at: place) ?? "?")") }
                if let key = try list.key(at: place), try archive.withPeek(key, isWholeVersion) == false {
                    say("! mixed value under \(key)")
                }
            }
            if looks % 8 == 7 {
                let report = try archive.check()
                if !report.clean { say("! \(report.problems)") }
            }
            looks += 1
            if looks % 16 == 1 { say("looked \(looks)") }
        }
        say("done \(looks)")
    }

    /// `pace STORE ARCHIVE SEED STOP-FILE`: says `done CALLS P50 P99 SLOWEST`, times in nanoseconds.
    func pace(_ arguments: WorkerArguments) throws {
        let archive = try arguments.open()
        var random = SeededGenerator(seed: arguments.seed)
        var times: [UInt64] = []
        times.reserveCapacity(1 << 20)
        let value = [UInt8](repeating: 1, count: 200)
        say("ready")
        while times.count < 64 || !(times.count % 64 == 0 && exists(arguments.word(4))) {
            let key = "pace \(random.below(5000))"
            let start = monotonicNow()
            if random.below(4) == 0 {
                try archive.put(value, forKey: key)
            } else {
                _ = try archive.withAccess(key) { $0.count }
            }
            let took = monotonicNow() - start
            if times.count < times.capacity {
                times.append(took)
            } else {
                times[random.below(times.count)] = took
            }
        }
        times.sort()
        say(
            "done \(times.count) \(times[times.count / 2]) \(times[times.count * 99 / 100]) \(times[times.count - 1])"
        )
    }

    /// `sample STORE ARCHIVE KEY-BYTES STOP-FILE LARGEST`: says `done SAMPLES SIZE FOOTPRINT DURING`. The last three
    /// are the worst parts per million: of the limit, of the bound after a call (OnDiskFormat, S3), and of the bound
    /// during a call, with the most entries present and the largest value.
    func sample(_ arguments: WorkerArguments) throws {
        let archive = try arguments.open(.readOnly)
        var samples = 0
        var size = 0.0
        var footprint = 0.0
        var during = 0.0
        var mostEntries = 0.0
        var last: ArchiveStatus?
        say("ready")
        while !exists(arguments.word(4)) {
            // Limits and entries change between reads: the larger bound counts.
            let before = try archive.status()
            let after = try archive.status()
            let limit = max(before.configuration.diskLimit ?? 0, after.configuration.diskLimit ?? 0)
            if limit > 0 {
                size = max(size, Double(min(before.diskBytes, after.diskBytes)) / Double(limit))
            }
            let values = limit > 0 ? Double(limit) : 1.5 * Double(max(before.diskBytes, after.diskBytes))
            let entries = Double(max(before.entries, after.entries))
            let entryBytes = 128.0 + max(0, Double(arguments.seed) - 8)
            let bound = 1.25 * (values + entryBytes * entries) + 1_048_576
            let bytes = Double(
                min(before.footprint - before.requestBytes, after.footprint - after.requestBytes))
            footprint = max(footprint, bytes / bound)
            // Most entries possible since the last sample: on a busy machine samples are far apart.
            let recorded =
                last.map { Double($0.entries) + Double(max(after.records, $0.records) - $0.records) } ?? 0
            last = after
            mostEntries = max(mostEntries, entries, recorded)
            let withIndex = bound + 1.25 * entryBytes * (mostEntries - entries)
            during = max(during, bytes / (withIndex + Double(arguments.number(5))))
            samples += 1
        }
        say("done \(samples) \(Int(size * 1e6)) \(Int(footprint * 1e6)) \(Int(during * 1e6))")
    }
}
