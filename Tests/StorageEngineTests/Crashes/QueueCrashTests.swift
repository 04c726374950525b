#if DEBUG
import Foundation
import StorageEngine
import TestSupport
import Testing

/// The queues of S3-FIFO after crashes, rebuilds and damage.
@Suite(.oneAtATime) struct QueueCrashTests {
    /// The byte of an entry's queue in the first chunk of the index.
    private static func place(of number: Int) -> Int { 262_144 + 95_496 + number - 1 }

    private func verify(_ folder: TemporaryFolder, _ archive: Archive, _ comment: Comment) throws {
        try archive.expectValid(comment)
        let policy = try archive.configuration().evictionPolicy
        #expect(try contents(of: folder.archivePath("A", "index"))[496] == policy.rawValue, comment)
        #expect(try archive.status().diskBytes <= 60_000, comment)
    }

    @Test("killed processes leave whole queues of one policy", arguments: [UInt64(1), 2])
    func kills(seed: UInt64) async throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(creating: QueueModelTests.queues(60_000))
        var random = SeededGenerator(seed: seed)
        for round in 0..<10 {
            let workers = try (0..<2).map {
                try folder.worker("queues", "A", "\(seed &* 100 + UInt64(2 * round + $0))")
            }
            for worker in workers {
                while !worker.linesSoFar().contains("begun"), !worker.process.hasEnded() {
                    try await Task.sleep(for: .milliseconds(2))
                }
            }
            for worker in workers {
                try await Task.sleep(for: .milliseconds(Int(random.next() % 40)))
                #expect(worker.linesSoFar() == ["begun"])
                try await worker.kill()
                for number in 0..<20 { try archive.put(repeated(1, 500), forKey: "mine \(number)") }
            }
            try verify(folder, archive, "seed \(seed), round \(round)")
        }
        try archive.setEvictionPolicy(.s3fifo)
        try verify(folder, archive, "seed \(seed), S3-FIFO again")
        archive.close()
        try folder.removeIndex("A")
        try verify(folder, folder.archive(), "seed \(seed), rebuilt")
    }

    /// Points within the change, and within operations under S3-FIFO.
    static let points: [(CrashPoint, Int)] = [
        (.descriptorRenamed, 1), (.policyPrepared, 1), (.limitsSet, 1), (.policyPrepared, 2), (.limitsSet, 2),
        (.evictionRemoved, 40), (.entryUnlinked, 40), (.touchBegun, 300), (.entryAllocated, 120),
        (.putFrameWritten, 200), (.batchEntryFilled, 20), (.batchVictimRemoved, 3), (.tombstoneMarked, 2),
    ]

    @Test("a crash at any point leaves whole queues of one policy", arguments: points)
    func crashPoints(point: CrashPoint, passing: Int) async throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(creating: .cache(60_000))
        for number in 0..<200 { try archive.put(repeated(1, 290), forKey: "key \(number)") }
        let worker = try folder.worker("queues", "A", "7", point.rawValue, "\(passing)")
        let (status, lines) = try await worker.finish()
        #expect(status & 0x7f == SIGKILL, "\(point): \(lines)")
        for number in 0..<20 { try archive.put(repeated(1, 500), forKey: "mine \(number)") }
        try verify(folder, archive, "\(point)")
    }

    @Test("a rebuilt index has all entries in the main queue, the least recent last")
    func rebuild() throws {
        let folder = try TemporaryFolder(inMemory: true)
        var archive = try folder.archive(creating: QueueModelTests.queues(20_000))
        for number in 0..<300 {
            try archive.put(repeated(1, 100), forKey: "key \(number % 250)")
            _ = try archive.access("key \(number / 2)")
        }
        archive.close()
        try folder.removeIndex("A")
        archive = try folder.archive()
        try verify(folder, archive, "rebuilt")
        let index = try contents(of: folder.archivePath("A", "index"))
        #expect(index[Self.place(of: 1)..<Self.place(of: 1025)].allSatisfy { $0 == 0 })
        let order = try archive.entries(order: .leastRecentFirst).keys
        try archive.setLimits(disk: 5_000, memory: nil)
        #expect(try Set(archive.entries().keys) == Set(order.suffix(50)))
    }

    @Test("a check finds a wrong byte of a queue", arguments: [UInt8(0), 5, 8, 255])
    func damage(byte: UInt8) throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(creating: QueueModelTests.queues(20_000))
        for number in 1...10 { try archive.put(repeated(1, 100), forKey: "key \(number)") }
        // A byte of a free number, and bytes of one in use.
        if byte == 5 { try archive.delete("key 3") }
        let place = Self.place(of: 3)
        let right = try contents(of: folder.archivePath("A", "index"))[place]
        #expect(right == (byte == 5 ? 0 : 4))
        try overwrite(folder.archivePath("A", "index"), at: place, with: [byte])
        #expect(try archive.check().problems != [])
        try overwrite(folder.archivePath("A", "index"), at: place, with: [right])
        #expect(try archive.check().problems == [])
    }

    @Test("copies and backups keep the policy")
    func copies() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let store = try Store.open(at: folder.store)
        let archive = try store.archive(named: "A", orCreate: QueueModelTests.queues(20_000))
        for number in 0..<50 { try archive.put(repeated(1, 100), forKey: "key \(number)") }
        _ = try store.copyArchive(named: "A", to: store, as: "B")
        let copy = try store.archive(named: "B")
        #expect(try copy.configuration().evictionPolicy == .s3fifo)
        try copy.expectValid()
        #expect(try copy.status().entries == 50)
    }
}
#endif
