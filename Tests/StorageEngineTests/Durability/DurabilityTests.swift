import Foundation
import Synchronization
import StorageEngine
import TestSupport
import Testing

/// Syncs of each durability level. Serialized: all archives share one background thread.
@Suite(.serialized, .oneAtATime) struct DurabilityTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    private func archive(
        _ folder: TemporaryFolder, _ durability: Durability, kind: ArchiveKind = .collection
    ) throws -> (store: Store, archive: Archive) {
        let store = try Store.open(at: folder.store)
        let configuration = ArchiveConfiguration(
            kind: kind, diskLimit: kind == .cache ? 100_000 : nil, durability: durability)
        return (store, try store.archive(named: "A", orCreate: configuration))
    }

    @Test("syncs as the durability level requires") func eachLevel() throws {
        for durability in [Durability.process, .interval(seconds: 6000), .full] {
            let folder = try TemporaryFolder(inMemory: true)
            let (store, archive) = try archive(folder, durability)
            let log = EventLog(under: folder.path)
            for number in 0..<5 { try archive.put([1, 2, 3], forKey: "\(number)") }
            try archive.update([4], forKey: "1")
            try archive.delete("2")
            #expect(log.syncedSegments == (durability == .full ? 7 : 0), "\(durability)")
            try archive.deleteAll()
            // The frame that hides the old segments is synced before their removal.
            #expect((log.syncedSegments == 0) == (durability == .process), "\(durability)")
            log.clear()
            try archive.put([1], forKey: "a")
            let before = log.syncedSegments
            try archive.synchronize()
            #expect(log.syncedSegments == (durability == .full ? before : 1), "\(durability)")
            try archive.synchronize()
            #expect(log.syncedSegments == (durability == .full ? before : 1), "nothing new to sync")
            _ = try archive.access("a")
            _ = try archive.delete("no such key")
            #expect(log.syncedSegments == (durability == .full ? before : 1), "reads sync nothing")
            store.close()
        }
    }

    @Test("syncs the folder before it acknowledges a put into a new segment")
    func syncedSegmentName() throws {
        let (_, archive) = try archive(folder, .full)
        let log = EventLog(under: folder.path)
        let archiveFolder = folder.store + "/A.archive"
        for number in 0..<20 {
            log.clear()
            try archive.put(repeated(1, 30_000), forKey: "\(number)")
            var pending: Set<String> = []
            var segmentsSynced = 0
            for event in log.all {
                switch event {
                case .created(let path) where path.hasSuffix(".segment"): pending.insert(path)
                case .synced(archiveFolder): pending.removeAll()
                case .synced(let path) where path.hasSuffix(".segment"): segmentsSynced += 1
                default: break
                }
            }
            #expect(pending == [] && segmentsSynced > 0, "\(log.all)")
        }
    }

    @Test(
        "syncs moved entries before it removes their segment",
        arguments: [Durability.interval(seconds: 6000), .full])
    func syncedBeforeRemoval(durability: Durability) throws {
        let (_, archive) = try archive(folder, durability)
        let log = EventLog(under: folder.path)
        for number in 0..<80 { try archive.put(repeated(UInt8(number), 40_000), forKey: "\(number % 3)") }
        var isSynced = false
        var removed = 0
        let events = log.all
        for (place, event) in events.enumerated() {
            switch event {
            case .synced(let path) where path.hasSuffix(".segment"): isSynced = true
            case .unlinked(let path) where path.hasSuffix(".segment"):
                // A name is also unlinked before a segment is created.
                if place + 1 < events.count, events[place + 1] == .created(path: path) { continue }
                #expect(isSynced, "\(path) was removed before its moved entries were synced")
                removed += 1
            case .created: isSynced = false
            default: break
            }
        }
        #expect(removed > 5)
    }

    @Test("writers that wait for a sync share the next one") func sharedSync() async throws {
        let (_, archive) = try archive(folder, .full)
        try archive.put([0], forKey: "first")
        let log = EventLog(under: folder.path)
        let isFirst = Atomic<Bool>(true)
        let observer = SystemFaults.observe(under: folder.path) { event in
            guard case .syncing = event, isFirst.exchange(false, ordering: .relaxed) else { return }
            for _ in 0..<10_000 {
                if let entries = try? archive.status().entries, entries == 9 { return }
                Thread.sleep(forTimeInterval: 0.001)
            }
        }
        defer { SystemFaults.endObserving(observer) }
        try await onThreads(8) { thread in try? archive.put([UInt8(thread)], forKey: "\(thread)") }
        #expect(try archive.entries().count == 9)
        #expect(log.syncedSegments == 2)
    }

    @Test("an interval syncs without further calls") func intervalSync() async throws {
        let (store, archive) = try archive(folder, .interval(seconds: 0.1))
        let log = EventLog(under: folder.path)
        for round in 1...3 {
            try archive.put([UInt8(round)], forKey: "a")
            #expect(try await eventually(within: 10) { log.syncedSegments >= round }, "sync \(round)")
        }
        #expect(BackgroundThread.shared.isActive)
        store.close()
    }

    @Test("a background task that is hastened while it runs runs again") func hastenedTask() async throws {
        let state = Mutex<(ticket: BackgroundThread.Ticket?, runs: Int)>((nil, 0))
        let ticket = try BackgroundThread.shared.register(after: 0) {
            while state.withLock({ $0.ticket }) == nil { usleep(100) }
            return state.withLock {
                $0.runs += 1
                if $0.runs == 1, let ticket = $0.ticket {
                    BackgroundThread.shared.hasten(ticket, to: 1_000_000)
                }
                return 3_600_000_000_000
            }
        }
        state.withLock { $0.ticket = ticket }
        defer { BackgroundThread.shared.cancel(ticket, within: 0) }
        #expect(try await eventually(within: 10) { state.withLock { $0.runs } == 2 }, "second run")
    }

    @Test("cancelling a background task waits for its current run") func cancelWaits() async throws {
        let state = Mutex((hasBegun: false, mayEnd: false, hasEnded: false))
        let ticket = try BackgroundThread.shared.register(after: 0) {
            state.withLock { $0.hasBegun = true }
            while !state.withLock({ $0.mayEnd }) { usleep(100) }
            state.withLock { $0.hasEnded = true }
            return nil
        }
        #expect(try await eventually(within: 10) { state.withLock { $0.hasBegun } }, "first run")
        #expect(!BackgroundThread.shared.cancel(ticket, within: 1_000_000), "still running")
        state.withLock { $0.mayEnd = true }
        #expect(BackgroundThread.shared.cancel(ticket, within: 60_000_000_000))
        #expect(state.withLock { $0.hasEnded })
    }

    @Test("a background task cancels itself without waiting") func cancelFromTask() async throws {
        let state = Mutex<(ticket: BackgroundThread.Ticket?, runs: Int, hasWaited: Bool?)>((nil, 0, nil))
        let ticket = try BackgroundThread.shared.register(after: 0) {
            while state.withLock({ $0.ticket }) == nil { usleep(100) }
            let begin = ContinuousClock.now
            if let own = state.withLock({ $0.ticket }) {
                BackgroundThread.shared.cancel(own, within: 60_000_000_000)
            }
            let hasWaited = begin.duration(to: .now) > .seconds(50)
            state.withLock {
                $0.runs += 1
                $0.hasWaited = hasWaited
            }
            return 1_000_000
        }
        state.withLock { $0.ticket = ticket }
        #expect(try await eventually(within: 10) { state.withLock { $0.runs } == 1 }, "first run")
        try await Task.sleep(for: .milliseconds(50))
        #expect(state.withLock { $0.runs } == 1 && state.withLock { $0.hasWaited } == false)
    }

    @Test("the background thread ends with the last archive") func threadEnd() async throws {
        let (status, lines) = try await Worker(["rest", folder.store, "A"], in: folder).finish()
        #expect(status == 0 && lines == ["open true", "closed false"])
    }

    @Test("no background task reads the files of a closed archive") func closedFiles() async throws {
        let (status, lines) = try await Worker(["cut", folder.store, "A", "0", "300"], in: folder).finish()
        #expect(status == 0 && lines == ["rounds 300"])
    }

    @Test("closing an archive syncs its last changes") func closeSyncs() throws {
        let (store, archive) = try archive(folder, .interval(seconds: 6000))
        let log = EventLog(under: folder.path)
        try archive.put([1], forKey: "a")
        #expect(log.syncedSegments == 0)
        store.close()
        #expect(log.syncedSegments == 1)
    }

    @Test("a background task doesn't keep its archive alive") func weakArchive() async throws {
        weak var forgotten: Archive?
        do {
            let (_, archive) = try archive(folder, .interval(seconds: 0.1))
            try archive.put([1], forKey: "a")
            forgotten = archive
        }
        #expect(try await eventually(within: 10) { forgotten == nil }, "end of the archive")
    }

    @Test("stores the level in bytes 12 to 15 of the descriptor") func levelField() throws {
        for (durability, bytes) in [
            (Durability.process, [2, 0, 0, 0]), (.interval(seconds: 30), [2, 1, 44, 1]),
            (.full, [2, 2, 0, 0]),
        ] as [(Durability, [UInt8])] {
            let folder = try TemporaryFolder(inMemory: true)
            let (store, archive) = try archive(folder, durability)
            #expect(try archive.configuration().durability == durability)
            store.close()
            let url = URL(fileURLWithPath: folder.archivePath("A", "descriptor"))
            #expect(try Array(Data(contentsOf: url)[12..<16]) == bytes)
        }
    }

    @Test("a changed level syncs earlier changes and survives a rebuild") func changedLevel() async throws {
        let (store, archive) = try archive(folder, .process)
        try archive.put([1], forKey: "a")
        let log = EventLog(under: folder.path)
        try archive.setDurability(.full)
        #expect(log.syncedSegments == 1, "earlier changes are synced")
        try archive.put([2], forKey: "a")
        #expect(log.syncedSegments == 2)
        #expect(try archive.configuration().durability == .full)
        store.close()
        for durability in [Durability.interval(seconds: 2.5), .interval(seconds: 6553), .process] {
            let archive = try folder.archive()
            try archive.setDurability(durability)
            let again = try folder.reopen(archive)
            #expect(try again.configuration().durability == durability)
            again.close()
        }
        #expect(throws: StorageError.self) {
            try folder.archive().setDurability(.interval(seconds: 0.01))
        }
    }

    @Test("a stalled sync of one archive delays no other archive") func stalledSync() async throws {
        let store = try Store.open(at: folder.store)
        let configuration = ArchiveConfiguration(diskLimit: 1_000_000, durability: .interval(seconds: 0.1))
        let stopped = try store.archive(named: "A", orCreate: configuration)
        let other = try store.archive(named: "B", orCreate: configuration)
        try stopped.put([1], forKey: "a")
        try stopped.synchronize()
        let file = open(folder.archivePath("A", "syncing"), O_RDWR)
        defer { close(file) }
        #expect(flock(file, LOCK_EX | LOCK_NB) == 0)
        try stopped.put([2], forKey: "a")
        // The background task of that archive is due by now.
        try await Task.sleep(for: .milliseconds(300))
        let log = EventLog(under: folder.store + "/B.archive")
        try other.put([3], forKey: "b")
        let begin = ContinuousClock.now
        // On this thread: a task may be resumed seconds after its sleep is over.
        #expect(holds { log.syncedSegments > 0 })
        #expect(ContinuousClock.now - begin < .seconds(8))
        for number in 0..<4000 { try stopped.put(repeated(1, 1000), forKey: "k\(number)") }
        #expect(ContinuousClock.now - begin < .seconds(9))
        let own = EventLog(under: folder.store + "/A.archive")
        flock(file, LOCK_UN)
        #expect(try await eventually(within: 10) { own.syncedSegments > 0 }, "its own sync")
    }

    @Test("a failed sync stops changes until every process has closed the archive")
    func failedSync() async throws {
        let (store, archive) = try archive(folder, .full)
        try archive.put([1], forKey: "before")
        let worker = try folder.worker("write", "A", "5")
        #expect(try await eventually(within: 10) { try archive.entries().count > 5 }, "the other process")
        let plan = FaultPlan(
            .fails(EIO), call: .sync, under: folder.store + "/A.archive/", number: 1, isLasting: false)
        SystemFaults.install(plan)
        defer { SystemFaults.remove(plan) }
        let stopped = StorageError.syncFailed(path: folder.store + "/A.archive")
        // The other process may sync what this one wrote; sooner or later this one leads.
        var error: StorageError?
        for number in 0..<1000 where error == nil {
            do throws(StorageError) {
                try archive.put([2], forKey: "during \(number)")
            } catch let failure { error = failure }
        }
        #expect(error == stopped)
        #expect(throws: stopped) { try archive.put([3], forKey: "after") }
        #expect(throws: stopped) { try archive.delete("before") }
        #expect(throws: stopped) { try archive.synchronize() }
        #expect(try archive.peek("before") == [1])
        #expect(try archive.access("before") == [1])
        let (status, lines) = try await worker.finish()
        #expect(status != 0 && lines.last?.contains("to the medium failed") == true, "\(lines.last ?? "")")
        // Not even a new process may go on while the old index is in use.
        let late = try folder.worker("write", "A", "6")
        let (lateStatus, lateLines) = try await late.finish()
        #expect(lateStatus != 0 && lateLines.last?.contains("to the medium failed") == true)
        let acknowledged = lines.filter { $0 == "<" }.count
        store.close()
        let again = try folder.archive()
        #expect(try again.peek("before") == [1])
        #expect(try again.check().clean)
        #expect(acknowledged > 5)
        try again.put([4], forKey: "again")
    }

    @Test("syncs each new folder above a store", arguments: ["a/b/c/store", "a//b/store/"])
    func newFolders(path: String) throws {
        let events = Mutex<[SystemEvent]>([])
        let number = SystemFaults.observe(under: folder.path) { event in events.withLock { $0.append(event) }
        }
        defer { SystemFaults.endObserving(number) }
        let store = try Store.open(at: folder.path + "/" + path)
        try store.archive(named: "A", orCreate: ArchiveConfiguration(durability: .full)).put([1], forKey: "a")
        func plain(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }
        var unsynced: Set<String> = []
        for event in events.withLock({ $0 }) {
            switch event {
            case .madeFolder(let path): unsynced.insert(plain(path))
            case .synced(let path):
                unsynced = unsynced.filter {
                    URL(fileURLWithPath: $0).deletingLastPathComponent().path != plain(path)
                }
            default: break
            }
        }
        #expect(unsynced == [])
    }
}
