#if DEBUG
import Foundation
import StorageEngine
import TestSupport
import Testing

/// F6: a process stopped while it creates, opens, rebuilds or repairs an archive delays no observer.
@Suite(.oneAtATime) struct StoppedOpeningTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    private static let entries = 300

    /// Bound of a look (F6). Ordinary runs compare processor time and count lock requests. A soak compares the fastest
    /// of several looks, since a wait for a stopped process would delay each.
    private static let bound = Duration.milliseconds(100)
    private static let looks = 8
    /// Far above a call on a busy machine, far below a wait for a stopped process.
    private static let mostSeconds = 6.0

    private func prepare(_ folder: TemporaryFolder) throws {
        let archive = try folder.archive(creating: .collection)
        for number in 0..<Self.entries { try archive.put(repeated(7, 500), forKey: "\(number)") }
        archive.close()
    }

    /// A process stopped at this point; `nil` if it didn't reach it.
    private func stopped(at point: CrashPoint, _ folder: TemporaryFolder) async throws -> Worker? {
        let worker = try folder.worker("stop", "A", "1", point.rawValue)
        guard try await worker.process.isStopped(within: 30) else {
            Issue.record("\(point): \(worker.linesSoFar())")
            return nil
        }
        return worker
    }

    /// Reads like another process, within the bound. Returns the number of entries, or `nil` if no archive is listed.
    private func look(_ folder: TemporaryFolder, _ comment: String) throws -> Int? {
        var found: Int?
        var taken: [Duration] = []
        var processor = Double.infinity
        while taken.count < Self.looks, taken.last.map({ $0 >= Self.bound }) ?? true {
            let (start, before) = (ContinuousClock.now, processorSeconds())
            found = try lookOnce(folder, comment)
            taken.append(ContinuousClock.now - start)
            processor = min(processor, processorSeconds() - before)
        }
        let quickest = taken.min() ?? .zero
        #expect(processor < 0.1, "\(comment): \(processor) s of processor time")
        #expect(
            quickest < (Soak.seconds > 0 ? Self.bound : .seconds(Self.mostSeconds)), "\(comment): \(taken)")
        Figures(
            "F6 look beside a process stopped at \(comment)",
            ["slowest": UInt64((taken.max() ?? .zero) / .nanoseconds(1))]
        ).report()
        return found
    }

    /// Lists archives and entries, and peeks. A waiting opener requests locks hundreds of times, an observer a few
    /// times.
    private func lookOnce(_ folder: TemporaryFolder, _ comment: String) throws -> Int? {
        let locks = FaultPlan(.fails(EIO), call: .lock, under: folder.path, number: .max, isLasting: false)
        SystemFaults.install(locks)
        defer {
            SystemFaults.remove(locks)
            #expect(locks.seen <= 40, "\(comment): it requested locks \(locks.seen) times")
        }
        let store = try Store.open(at: folder.store, mode: .readOnly)
        defer { store.close() }
        guard try store.archiveNames().contains("A") else { return nil }
        let archive = try store.archive(named: "A")
        let list = try archive.entries()
        #expect(try archive.peek("none") == nil)
        for index in list.indices.prefix(20) {
            let key = try #require(try list.key(at: index))
            #expect(try archive.peek(key) != nil, "\(comment)")
        }
        #expect(try archive.status().entries == list.count)
        return list.count
    }

    @Test("other archives stay usable while an opening waits") func otherArchives() throws {
        try prepare(folder)
        let store = try Store.open(at: folder.store)
        let other = try store.archive(named: "B", orCreate: .cache())
        let third = try store.archive(named: "C", orCreate: .cache())
        let opening = open(folder.archivePath("A", "opening"), O_RDWR)
        defer { close(opening) }
        #expect(flock(opening, LOCK_EX) == 0)
        // A thread, since a task may be resumed much later.
        Thread.detachNewThread { _ = try? store.archive(named: "A") }
        usleep(200_000)
        let start = ContinuousClock.now
        #expect(try store.archive(named: "B") === other)
        third.close()
        try store.archive(named: "D", orCreate: .cache()).put([1], forKey: "a")
        #expect(ContinuousClock.now - start < .seconds(Self.mostSeconds))
        #expect(flock(opening, LOCK_UN) == 0)
        #expect(try store.archive(named: "A").entries().count == Self.entries)
    }

    @Test("an index in memory yields complete snapshots") func indexInMemory() async throws {
        try prepare(folder)
        try folder.removeIndex("A")
        let worker = try #require(try await stopped(at: .indexBuilt, folder))
        let copy = try folder.archive(mode: .readOnly)
        #expect(try copy.snapshot().count == Self.entries)
        try await worker.kill()
        let archive = try folder.archive()
        for number in 0..<6_000 { try archive.put(repeated(8, 500), forKey: "\(number % Self.entries)") }
        let found = try copy.peek("1")?.first
        let snapshot = try copy.snapshot()
        #expect(snapshot.count == Self.entries)
        #expect(try snapshot.value("1")?.first == found)
        #expect(try copy.entries().count == Self.entries)
    }

    @Test(
        "a reader finds no archive or an empty one while it is created",
        arguments: [
            CrashPoint.archiveFolderMade, .descriptorWritten, .descriptorRenamed, .indexFileMade, .indexBuilt,
            .indexRenamed, .processAttached,
        ])
    func whileItIsCreated(point: CrashPoint) async throws {
        try Store.open(at: folder.store).close()
        guard let worker = try await stopped(at: point, folder) else { return }
        let found = try look(folder, point.rawValue)
        #expect(found == nil || found == 0, "\(point)")
        if point == .descriptorWritten {
            // Neither present nor absent: the error names the creating process.
            #expect {
                try folder.archive(mode: .readOnly)
            } throws: { error in
                guard case .busy("A", let process, let reason)? = error as? StorageError else { return false }
                return process == worker.pid && reason.contains("being created")
            }
        }
        worker.signal(SIGCONT)
        #expect(try await worker.finish().status == 0)
        #expect(try look(folder, "\(point), afterwards") == 1)
    }

    @Test(
        "a reader finds all entries while the index is rebuilt",
        arguments: [
            CrashPoint.indexFileMade, .rebuildSegmentDone, .indexBuilt, .indexRenamed, .processAttached,
        ])
    func whileItIsRebuilt(point: CrashPoint) async throws {
        try prepare(folder)
        try folder.removeIndex("A")
        guard let worker = try await stopped(at: point, folder) else { return }
        #expect(try look(folder, point.rawValue) == Self.entries, "\(point)")
        worker.signal(SIGCONT)
        #expect(try await worker.finish().status == 0)
        #expect(try look(folder, "\(point), afterwards") == Self.entries + 1)
    }

    /// The repairing process holds the archive's lock, and maybe the open lock.
    @Test(
        "a reader finds all entries while a process recovers",
        arguments: [
            CrashPoint.repairBegun, .repairRelinked, .repairReplayed, .repairSorted,
        ])
    func whileItIsRepaired(point: CrashPoint) async throws {
        try prepare(folder)
        // Dies in the middle of a put, so that the next has to repair.
        let died = try folder.worker("stop", "A", "1", CrashPoint.putIndexChanged.rawValue)
        #expect(try await died.process.isStopped(within: 30))
        try await died.kill()
        guard let worker = try await stopped(at: point, folder) else { return }
        let found = try #require(try look(folder, point.rawValue))
        #expect(found == Self.entries || found == Self.entries + 1, "\(point)")
        worker.signal(SIGCONT)
        #expect(try await worker.finish().status == 0)
        #expect(try look(folder, "\(point), afterwards") == Self.entries + 1)
    }

    @Test("opens although others reclaim segments or shrink the index", arguments: [false, true])
    func whileOthersWrite(indexGetsSmaller: Bool) async throws {
        let archive = try folder.archive(creating: .cache(300_000))
        for key in 0..<9_000 { try archive.put(repeated(1, 30), forKey: "\(key)") }
        let before = try archive.status()
        guard let worker = try await stopped(at: .indexHeaderRead, folder) else { return }
        if indexGetsSmaller {
            try archive.put(repeated(2, 299_000), forKey: "large")
            #expect(try archive.status().footprint < before.footprint)
        } else {
            for key in 0..<40_000 { try archive.put(repeated(3, 30), forKey: "\(key % 9_000)") }
        }
        worker.signal(SIGCONT)
        #expect(try await worker.finish().status == 0, "\(worker.linesSoFar())")
        #expect(try archive.peek("stopped") == [1])
    }

    @Test(
        "a writer waits ten seconds and names the process",
        .enabled(if: Soak.seconds > 0, "waits ten seconds"))
    func busyErrorSoak() async throws {
        try prepare(folder)
        try folder.removeIndex("A")
        guard let worker = try await stopped(at: .indexFileMade, folder) else { return }
        let start = ContinuousClock.now
        #expect {
            try folder.archive()
        } throws: { error in
            guard case .busy("A", let process, _)? = error as? StorageError else { return false }
            return process == worker.pid
        }
        let waited = ContinuousClock.now - start
        #expect(waited > .seconds(9) && waited < .seconds(20))
        try await worker.kill()
    }
}
#endif
