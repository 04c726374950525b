import Foundation
import StorageEngine
import Synchronization
import TestSupport
import Testing

/// S15: a snapshot is a whole archive as of one moment, and stays so.
@Suite(.oneAtATime) struct SnapshotTests {
    private let folder: TemporaryFolder
    private let store: Store

    init() throws {
        folder = try TemporaryFolder(inMemory: true)
        store = try Store.open(at: folder.store)
    }

    /// Changes a byte of the index of archive A, which is open.
    private func flipIndex(_ offset: Int) throws {
        try flip(folder.archivePath("A", "index"), at: offset, 64)
    }

    /// Offsets: OnDiskFormat, "The index".
    @Test("reports a damaged index instead of retrying") func damagedIndex() throws {
        let archive = try store.archive(named: "A", orCreate: .cache(200_000))
        try archive.put([1], forKey: "a")
        let done = 800
        try flipIndex(done + 7)
        #expect(try archive.snapshot().contents() == ["a": [1]])
        let problems = try archive.check().problems
        #expect(problems.contains { $0.contains("a batch is not finished") }, "\(problems)")
        try flipIndex(done + 7)
        #expect(try archive.check().clean)
        let firstLine = 262_144
        try flipIndex(firstLine + 15)
        let error = #expect(throws: StorageError.self) { try archive.snapshot() }
        guard case .corrupted(let path, _, _) = error else {
            Issue.record("not said to be damaged: \(String(describing: error))")
            return
        }
        #expect(path == folder.archivePath("A", "index"))
    }

    @Test("a snapshot doesn't change") func unchangedSnapshot() throws {
        let archive = try store.archive(named: "A", orCreate: .cache(200_000))
        try archive.put(
            [1], forKey: "a", encoding: .text,
            attributes: EntryAttributes(lifetime: .seconds(90), owner: "me"))
        try archive.put([2], forKey: "b")
        try archive.put([3], forKey: "expired", attributes: .expiring(.zero))
        try archive.put([4], forKey: "deleted")
        try archive.delete("deleted")
        _ = try archive.access("a")
        let before = try #require(try archive.metadata("a"))
        let snapshot = try archive.snapshot()
        // Replaces all entries of the snapshot and their files.
        for number in 0..<2000 { try archive.put(repeated(7, 1000), forKey: "x \(number)") }
        try archive.deleteAll()
        try archive.put([9], forKey: "b")
        #expect(snapshot.count == 2)
        #expect(try snapshot.value("a") == [1])
        #expect(try snapshot.value("b") == [2])
        #expect(try snapshot.value("expired") == nil)
        #expect(try snapshot.value("x 1999") == nil)
        #expect(try snapshot.key(at: 0) == "a" && snapshot.key(at: 1) == "b")
        #expect(try snapshot.numbersByKey() == [0, 1])
        var metadata = try snapshot.metadata(at: 0)
        metadata.rank = nil
        #expect(metadata == before)
        #expect(snapshot.pinnedBytes > 0)
        let empty = try store.archive(named: "E", orCreate: .cache()).snapshot()
        #expect(try empty.count == 0 && empty.value("a") == nil)
    }

    /// Each change stores its number, which identifies every state of the archive.
    @Test("a snapshot shows one moment", arguments: [UInt64(1), 2])
    func oneMoment(seed: UInt64) throws {
        let archive = try store.archive(named: "A", orCreate: .collection)
        @Sendable func changes(_ number: UInt64) -> [(String, [UInt8]?)] {
            var random = SeededGenerator(seed: seed &* 1_000_003 &+ number)
            return (0..<4).map { _ in
                let key = "key \(Int.random(in: 0..<300, using: &random))"
                let isDelete = Int.random(in: 0..<3, using: &random) == 0
                let size = Int.random(in: 0..<2000, using: &random)
                return (key, isDelete ? nil : NumberedBatches.value(number, size: size))
            }
        }
        let end = Date().addingTimeInterval(0.7)
        let last = Atomic<UInt64>(0)
        let writer = Background {
            var number: UInt64 = 0
            while Date() < end {
                number += 2
                var batch = Batch()
                for (key, value) in changes(number) {
                    if let value { batch.put(value, forKey: key) } else { batch.delete(key) }
                }
                batch.put(NumberedBatches.value(number, size: 8), forKey: "clock")
                try archive.apply(batch)
                try archive.put(NumberedBatches.value(number + 1, size: 8), forKey: "single")
                last.store(number, ordering: .relaxed)
            }
        }
        let observing = try folder.archive(mode: .readOnly)
        var snapshots: [(clock: UInt64, snapshot: ArchiveSnapshot)] = []
        while Date() < end {
            for archive in [archive, observing] {
                let snapshot = try archive.snapshot()
                let clock = try snapshot.value("clock")?.withUnsafeBytes { NumberedBatches.number($0) }
                snapshots.append((clock ?? 0, snapshot))
            }
        }
        try writer.wait()
        #expect(snapshots.count > 10 && last.load(ordering: .relaxed) > 100)
        snapshots.sort { $0.clock < $1.clock }
        var model: [String: [UInt8]] = [:]
        var applied: UInt64 = 0
        for (clock, snapshot) in snapshots {
            while applied < clock {
                applied += 2
                for (key, value) in changes(applied) { model[key] = value }
            }
            var found = try snapshot.contents()
            found["clock"] = nil
            let single =
                found.removeValue(forKey: "single")?.withUnsafeBytes { NumberedBatches.number($0) } ?? 1
            #expect(single == clock + 1 || single == max(clock, 2) - 1, "clock \(clock), single \(single)")
            let isSame = found == model
            let others = Set(found.keys).union(model.keys).filter { found[$0] != model[$0] }.map { key in
                let both = [found[key], model[key]].map { value in
                    value.map { "\($0.withUnsafeBytes { NumberedBatches.number($0) }), \($0.count) bytes" }
                        ?? "none"
                }
                return "\(key): \(both)"
            }
            #expect(isSame, "seed \(seed), clock \(clock), single \(single): \(others)")
            #expect(try Set((0..<snapshot.count).map { try snapshot.key(at: $0) }).count == snapshot.count)
        }
    }

    @Test("snapshots of a busy cache are complete") func busyCache() throws {
        let archive = try store.archive(named: "A", orCreate: .cache(60_000))
        let end = Date().addingTimeInterval(0.5)
        let writer = Background {
            var number: UInt64 = 0
            while Date() < end {
                number += 1
                try archive.apply(.numbered(number))
                for place in 0..<5 {
                    let key = "noise \((number &* 5 &+ UInt64(place)) % 90)"
                    try archive.put(NumberedBatches.value(number, size: 900), forKey: key)
                }
            }
        }
        var taken = 0
        var latest: UInt64 = 0
        while Date() < end {
            let snapshot = try archive.snapshot()
            let found = try snapshot.contents()
            taken += 1
            guard let number = found[NumberedBatches.keys[0]]?.withUnsafeBytes({ NumberedBatches.number($0) })
            else { continue }
            #expect(number >= latest)
            latest = number
            for (key, value) in NumberedBatches.changes(number) { #expect(found[key] == value, "\(key)") }
            let bytes = found.values.reduce(0) { $0 + $1.count }
            #expect(bytes <= 60_000)
        }
        try writer.wait()
        #expect(taken > 10)
    }

    @Test("a snapshot of a log contains consecutive messages") func messagesOfALog() throws {
        let log = try store.archive(named: "L", orCreate: .log(20_000))
        let end = Date().addingTimeInterval(0.3)
        let writer = Background {
            var number: UInt64 = 0
            while Date() < end {
                number += 1
                try log.append(NumberedBatches.value(number, size: 92))
            }
        }
        while Date() < end {
            let snapshot = try log.snapshot()
            var numbers: [UInt64] = []
            for place in 0..<snapshot.count {
                numbers.append(try snapshot.withValue(at: place) { NumberedBatches.number($0) })
            }
            guard let first = numbers.first else { continue }
            #expect(numbers == Array(first..<first + UInt64(numbers.count)))
            #expect(numbers.count == 200 || first == 1, "\(first): \(numbers.count) messages")
        }
        try writer.wait()
    }
}
