import Foundation
import StorageEngine
import Synchronization
import TestSupport
import Testing

/// S15: no reader finds a part of a batch, neither beside its writer nor after it was stopped or killed.
@Suite(.oneAtATime) struct BatchReaderTests {
    private static func look(
        _ archive: Archive, _ order: [String], atLeast start: UInt64
    ) throws -> (number: UInt64, complaint: String?) {
        try NumberedBatches.look(order, atLeast: start) { key in
            try archive.withPeek(key) { NumberedBatches.number($0) }
        }
    }

    // MARK: Beside a writer

    /// Reads of three threads and two observing processes during batches. Returns their number.
    private func readers(forSeconds seconds: Double, seed: UInt64, _ configuration: ArchiveConfiguration)
        async throws -> Int
    {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(creating: configuration)
        defer { archive.close() }
        try archive.apply(.numbered(1))
        let observers = try (0..<2).map { try folder.worker("watchBatches", "A", "\($0)", folder.stopFile) }
        for observer in observers { #expect(try await observer.hasSaid("ready")) }
        let end = Date().addingTimeInterval(seconds)
        let looks = Atomic<Int>(0)
        let readers = (0..<3).map { reader in
            Background {
                var random = SeededGenerator(seed: seed &* 8 &+ UInt64(reader))
                var number: UInt64 = 0
                while Date() < end {
                    for _ in 0..<50 {
                        let order = NumberedBatches.all.shuffled(using: &random)
                        let (seen, complaint) = try Self.look(archive, order, atLeast: number)
                        #expect(complaint == nil)
                        number = seen
                        looks.add(order.count, ordering: .relaxed)
                    }
                }
            }
        }
        var number: UInt64 = 1
        let noise = repeated(3, 900)
        while Date() < end {
            for _ in 0..<20 {
                number += 1
                try archive.apply(.numbered(number))
                try archive.put(noise, forKey: "noise \(number % 40)")
            }
        }
        for reader in readers { try reader.wait() }
        _ = FileManager.default.createFile(atPath: folder.stopFile, contents: nil)
        var total = looks.load(ordering: .relaxed)
        for observer in observers {
            let (status, lines) = try await observer.finish()
            #expect(status == 0 && !lines.contains { $0.hasPrefix("!") }, "\(lines.suffix(3))")
            total += lines.last?.split(separator: " ").last.flatMap { Int($0) } ?? 0
        }
        #expect(number > 20)
        try archive.expectValid()
        return total
    }

    @Test(
        "readers see complete batches only",
        arguments: [
            ArchiveConfiguration(kind: .collection, diskLimit: nil), ArchiveConfiguration(diskLimit: 20_000),
        ])
    func completeBatches(configuration: ArchiveConfiguration) async throws {
        #expect(try await readers(forSeconds: 0.7, seed: 1, configuration) > 1000)
    }

    @Test(.enabled(if: Soak.seconds > 0, "runs in a soak"))
    func completeBatchesSoak() async throws {
        let seconds = Double(Soak.seconds) * 0.05
        let looks = try await readers(
            forSeconds: seconds, seed: Soak.seed, ArchiveConfiguration(kind: .collection, diskLimit: nil))
        Figures("S15 looks beside a writer of batches", ["looks": looks]).report()
    }

    #if DEBUG && os(Linux)
    // MARK: Stopped and killed in the middle

    struct Place: CustomStringConvertible {
        var point: CrashPoint
        var passing: Int
        /// Whether readers see the batch while its writer is stopped there.
        var isPublished = false
        /// Whether the next writer finishes it.
        var isFinished = true

        var description: String { "\(point.rawValue) (\(passing))" }
    }

    static let places = [
        Place(point: .batchBegun, passing: 1, isFinished: false), Place(point: .batchWritten, passing: 1),
        Place(point: .batchMarked, passing: 1), Place(point: .batchEntryChanged, passing: 1),
        Place(point: .batchEntryChanged, passing: 7), Place(point: .batchEntryChanged, passing: 14),
        Place(point: .batchDecided, passing: 1), Place(point: .batchCommitted, passing: 1, isPublished: true),
        Place(point: .batchEntryFilled, passing: 1, isPublished: true),
        Place(point: .batchEntryFilled, passing: 9, isPublished: true),
        Place(point: .batchHeadMoved, passing: 1, isPublished: true),
        Place(point: .entryUnlinked, passing: 1, isPublished: true),
    ]

    /// Expects one complete batch of this number in every read.
    private func expectWhole(_ archive: Archive, _ number: UInt64, _ comment: String) throws {
        for order in [NumberedBatches.all, NumberedBatches.all.reversed()] {
            let (seen, complaint) = try Self.look(archive, order, atLeast: number)
            #expect(complaint == nil && seen == number, "\(comment): \(complaint ?? "\(seen)")")
        }
        let expected = Dictionary(
            uniqueKeysWithValues: NumberedBatches.changes(number).compactMap { change in
                change.value.map { (change.key, $0) }
            })
        let list = try archive.entries()
        var listed: [String: [UInt8]] = [:]
        for place in list.indices {
            guard let key = try list.key(at: place) else { continue }
            listed[key] = try list.withValue(at: place) { Array($0) }
        }
        let isSame = try listed == expected && archive.snapshot().contents() == expected
        #expect(isSame, "\(comment), listed: \(listed.mapValues(\.first))")
        var scanned: [String: [UInt8]] = [:]
        let scan = try archive.scan(.location)
        while try scan.advance() {
            guard try scan.read() == .present else { continue }
            scanned[String(decoding: scan.keyBytes, as: UTF8.self)] = Array(scan.valueBuffer)
        }
        #expect(scanned == expected, "\(comment), scanned: \(scanned.mapValues(\.first))")
    }

    @Test(
        "a batch stopped or killed at any point is complete or absent",
        arguments: [LockingMode.robustMutex, .fileLock])
    func stoppedAndKilledAtEachPoint(locking: LockingMode) async throws {
        for place in BatchReaderTests.places {
            let folder = try TemporaryFolder(inMemory: true)
            let archive = try folder.archive(creating: .collection, locking: locking)
            let worker = try folder.worker("batches", "A", "3", place.point.rawValue, "\(place.passing)")
            #expect(try await worker.hasSaid("applied 3"), "\(place): \(worker.linesSoFar())")
            _ = try await worker.process.isStopped(within: 20)
            let observer = try folder.archive(mode: .readOnly)
            let now: UInt64 = place.isPublished ? 4 : 3
            let start = Date()
            try expectWhole(archive, now, "\(place), stopped")
            try expectWhole(observer, now, "\(place), stopped, observed")
            // A wait for the stopped writer would take ten seconds.
            #expect(Date().timeIntervalSince(start) < 9, "\(place): a look-up waited for a stopped writer")
            try await worker.kill()
            try expectWhole(archive, now, "\(place), killed")
            try expectWhole(observer, now, "\(place), killed, observed")
            // The next owner of the lock repairs.
            try archive.delete("nothing")
            let last: UInt64 = place.isFinished ? 4 : 3
            try expectWhole(archive, last, "\(place), repaired")
            try expectWhole(observer, last, "\(place), repaired, observed")
            try archive.expectValid("\(place)")
            try archive.apply(.numbered(5))
            try expectWhole(archive, 5, "\(place), continued")
            archive.close()
            let again = try folder.reopen(observer)
            try expectWhole(again, 5, "\(place), rebuilt")
            again.close()
        }
    }
    #endif
}
