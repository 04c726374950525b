#if DEBUG
import Foundation
import StorageEngine
import TestSupport
import Testing

/// F6: a process that is stopped while it makes, opens, rebuilds or repairs an archive holds up nobody who looks. What
/// broke: an observer that found no index it could trust waited ten seconds for the turn to build one.
@Suite(.oneAtATime) struct StoppedOpeningTests {
    private static let entries = 300

    /// What a look may take (F6). In an ordinary run, beside a hundred other tests, that is processor time, and waiting shows in
    /// the locks that it asks for; in a soak the quickest of several counts, for who waits for a stopped process waits each time.
    private static let bound = Duration.milliseconds(100)
    private static let looks = 8
    /// Far above what a call takes on a busy machine, far below what waiting for a stopped process takes.
    private static let mostSeconds = 6.0

    private func prepare(_ folder: TemporaryFolder) throws {
        let store = try Store.open(at: folder.store)
        let archive = try store.archive(
            named: "A", orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
        for number in 0..<Self.entries {
            try archive.put([UInt8](repeating: 7, count: 500), forKey: "\(number)")
        }
        store.close()
    }

    /// A process that is stopped at that point; `nil` when it didn't come there.
    private func stopped(at point: CrashPoint, _ folder: TemporaryFolder) async throws -> Worker? {
        let worker = try Worker(["stop", folder.store, "A", "1", point.rawValue], in: folder)
        guard try await worker.process.isStopped(within: 30) else {
            Issue.record("\(point): \(worker.linesSoFar())")
            return nil
        }
        return worker
    }

    /// Looks as another process would, within what a look may take; gives the entries, `nil` where no archive is listed.
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
        var figures = Figures("F6 look beside a process stopped at \(comment)")
        figures.add("slowest", nanoseconds: UInt64((taken.max() ?? .zero) / .nanoseconds(1)))
        figures.report()
        return found
    }

    /// Lists, opens, lists entries and peeks. Who waits for a turn asks for it hundreds of times, who only looks a few.
    private func lookOnce(_ folder: TemporaryFolder, _ comment: String) throws -> Int? {
        let locks = FaultPlan(.fails(EIO), call: .lock, under: folder.path, number: .max, isLasting: false)
        SystemFaults.install(locks)
        defer {
            SystemFaults.remove(locks)
            #expect(locks.seen <= 40, "\(comment): it asked for locks \(locks.seen) times")
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

    /// What broke: while an archive could not be opened, because a process had been stopped in opening it, all others of the
    /// store waited with it, those that were open, too.
    @Test func othersOfTheStoreDoNotWait() throws {
        let folder = try TemporaryFolder(inMemory: true)
        try prepare(folder)
        let store = try Store.open(at: folder.store)
        let other = try store.archive(named: "B", orCreate: ArchiveConfiguration())
        let third = try store.archive(named: "C", orCreate: ArchiveConfiguration())
        let opening = open(folder.archivePath("A", "opening"), O_RDWR)
        defer { close(opening) }
        #expect(flock(opening, LOCK_EX) == 0)
        // Not a task, which may be resumed far later among many.
        Thread.detachNewThread { _ = try? store.archive(named: "A") }
        usleep(200_000)
        let start = ContinuousClock.now
        #expect(try store.archive(named: "B") === other)
        third.close()
        try store.archive(named: "D", orCreate: ArchiveConfiguration()).put([1], forKey: "a")
        #expect(ContinuousClock.now - start < .seconds(Self.mostSeconds))
        #expect(flock(opening, LOCK_UN) == 0)
        #expect(try store.archive(named: "A").entries().count == Self.entries)
    }

    /// What broke: who had read the log into its own memory, because the index could not be used just then, got snapshots
    /// without what was in segments that were reclaimed later, or was told that it changed too fast; look-ups found all.
    @Test func aCopyHasItsSnapshotWhole() async throws {
        let folder = try TemporaryFolder(inMemory: true)
        try prepare(folder)
        try folder.removeIndex("A")
        let worker = try #require(try await stopped(at: .indexBuilt, folder))
        let copy = try Store.open(at: folder.store, mode: .readOnly).archive(named: "A")
        #expect(try copy.snapshot().count == Self.entries)
        worker.signal(SIGKILL)
        _ = try await worker.finish()
        let archive = try Store.open(at: folder.store).archive(named: "A")
        for number in 0..<6_000 {
            try archive.put([UInt8](repeating: 8, count: 500), forKey: "\(number % Self.entries)")
        }
        let found = try copy.peek("1")?.first
        let snapshot = try copy.snapshot()
        #expect(snapshot.count == Self.entries)
        #expect(try snapshot.value("1")?.first == found)
        #expect(try copy.entries().count == Self.entries)
    }

    @Test(arguments: [
        CrashPoint.archiveFolderMade, .descriptorWritten, .descriptorRenamed, .indexFileMade, .indexBuilt,
        .indexRenamed, .processAttached,
    ])
    func whileItIsMade(point: CrashPoint) async throws {
        let folder = try TemporaryFolder(inMemory: true)
        try Store.open(at: folder.store).close()
        guard let worker = try await stopped(at: point, folder) else { return }
        let found = try look(folder, point.rawValue)
        #expect(found == nil || found == 0, "\(point)")
        if point == .descriptorWritten {
            // It is neither there nor missing, and whoever asks hears who is at it.
            #expect {
                try Store.open(at: folder.store, mode: .readOnly).archive(named: "A")
            } throws: { error in
                guard case .busy("A", let process, let reason)? = error as? StorageError else { return false }
                return process == worker.pid && reason.contains("being created")
            }
        }
        worker.signal(SIGCONT)
        #expect(try await worker.finish().status == 0)
        #expect(try look(folder, "\(point), afterwards") == 1)
    }

    @Test(arguments: [
        CrashPoint.indexFileMade, .rebuildSegmentDone, .indexBuilt, .indexRenamed, .processAttached,
    ])
    func whileItIsRebuilt(point: CrashPoint) async throws {
        let folder = try TemporaryFolder(inMemory: true)
        try prepare(folder)
        try folder.removeIndex("A")
        guard let worker = try await stopped(at: point, folder) else { return }
        #expect(try look(folder, point.rawValue) == Self.entries, "\(point)")
        worker.signal(SIGCONT)
        #expect(try await worker.finish().status == 0)
        #expect(try look(folder, "\(point), afterwards") == Self.entries + 1)
    }

    /// The one who repairs after a death has the archive's lock and may have the turn to open as well.
    @Test(arguments: [
        CrashPoint.repairBegun, .repairRelinked, .repairReplayed, .repairSorted,
    ])
    func whileItIsRepaired(point: CrashPoint) async throws {
        let folder = try TemporaryFolder(inMemory: true)
        try prepare(folder)
        // Dies in the middle of a put, so that the next has to repair.
        let died = try Worker(
            ["stop", folder.store, "A", "1", CrashPoint.putIndexChanged.rawValue], in: folder)
        #expect(try await died.process.isStopped(within: 30))
        died.signal(SIGKILL)
        _ = try await died.finish()
        guard let worker = try await stopped(at: point, folder) else { return }
        let found = try #require(try look(folder, point.rawValue))
        #expect(found == Self.entries || found == Self.entries + 1, "\(point)")
        worker.signal(SIGCONT)
        #expect(try await worker.finish().status == 0)
        #expect(try look(folder, "\(point), afterwards") == Self.entries + 1)
    }

    /// What broke: a process that opened an archive had read where its log ends, and others had given up that segment, or
    /// made the index smaller, before it looked at the files: then it said that the index had been replaced.
    @Test(arguments: [false, true])
    func whileOthersGoOn(indexGetsSmaller: Bool) async throws {
        let folder = try TemporaryFolder(inMemory: true)
        let store = try Store.open(at: folder.store)
        let archive = try store.archive(named: "A", orCreate: ArchiveConfiguration(diskLimit: 300_000))
        for key in 0..<9_000 { try archive.put([UInt8](repeating: 1, count: 30), forKey: "\(key)") }
        let before = try archive.status()
        guard let worker = try await stopped(at: .indexHeaderRead, folder) else { return }
        if indexGetsSmaller {
            try archive.put([UInt8](repeating: 2, count: 299_000), forKey: "large")
            #expect(try archive.status().footprint < before.footprint)
        } else {
            for key in 0..<40_000 {
                try archive.put([UInt8](repeating: 3, count: 30), forKey: "\(key % 9_000)")
            }
        }
        worker.signal(SIGCONT)
        #expect(try await worker.finish().status == 0, "\(worker.linesSoFar())")
        #expect(try archive.peek("stopped") == [1])
    }

    /// A writer waits for ten seconds, and hears for whom.
    @Test(.enabled(if: Soak.seconds > 0, "waits ten seconds"))
    func writersHearWhoHoldsThemUpSoak() async throws {
        let folder = try TemporaryFolder(inMemory: true)
        try prepare(folder)
        try folder.removeIndex("A")
        guard let worker = try await stopped(at: .indexFileMade, folder) else { return }
        let start = ContinuousClock.now
        #expect {
            try Store.open(at: folder.store).archive(named: "A")
        } throws: { error in
            guard case .busy("A", let process, _)? = error as? StorageError else { return false }
            return process == worker.pid
        }
        let waited = ContinuousClock.now - start
        #expect(waited > .seconds(9) && waited < .seconds(20))
        worker.signal(SIGKILL)
        _ = try await worker.finish()
    }
}
#endif
