import Foundation
import StorageEngine
import Synchronization
import TestSupport
import Testing

/// Calls during a close of the archive complete or fail, and access no unmapped memory.
@Suite(.oneAtATime) struct ClosingTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    @Test("calls during a close complete or report a closed archive") func concurrentCalls() throws {
        var told = 0
        for round in 0..<150 {
            let store = try Store.open(at: folder.store)
            let archive = try store.archive(named: "A", orCreate: .cache(100_000))
            let workers = (0..<3).map { number in
                Background {
                    do {
                        for step in 0..<100_000 {
                            let key = "\((step &* 7 &+ number) % 300)"
                            switch step % 8 {
                            case 0: try archive.put(repeated(1, 100), forKey: key)
                            case 1: _ = try archive.metadata(key)
                            case 2: _ = try archive.entries().prefix(3).map(\.hits)
                            case 3: _ = try archive.status()
                            case 4: _ = try archive.nextEvent()
                            case 5: _ = try archive.processes()
                            case 6: _ = try archive.delete(key)
                            default: _ = try archive.access(key)
                            }
                        }
                    } catch StorageError.closed {
                        return
                    }
                    Issue.record("the archive was not closed")
                }
            }
            usleep(UInt32(500 + round * 20))
            if round % 2 == 0 { archive.close() } else { store.close() }
            for worker in workers {
                try worker.wait()
                told += 1
            }
        }
        #expect(told == 450)
    }
    @Test("puts acknowledged during a close are kept", arguments: [true, false])
    func acknowledgedDuringClose(store closesStore: Bool) throws {
        let configuration = ArchiveConfiguration.collection
        func open() throws -> (Store, Archive) {
            let store = try Store.open(at: folder.store)
            return (store, try store.archive(named: "A", orCreate: configuration))
        }
        let current = Guarded(try open())
        let isOver = Atomic(false)
        let puts = Atomic(0)
        let workers = (0..<4).map { worker in
            Background {
                var number = 0
                while !isOver.load(ordering: .relaxed) {
                    let archive = current.withLock { $0.1 }
                    number += 1
                    let key = "\(worker)-\(number % 100)"
                    do {
                        try archive.put(Array("\(number)".utf8), forKey: key)
                        puts.add(1, ordering: .relaxed)
                    } catch StorageError.closed {
                        continue
                    }
                    do {
                        let found = try archive.peek(key)
                        #expect(found == Array("\(number)".utf8), "\(key)")
                    } catch StorageError.closed {
                        continue
                    }
                }
            }
        }
        for _ in 0..<150 {
            usleep(2000)
            let (store, archive) = current.withLock { $0 }
            if closesStore {
                store.close()
                let next = try open()
                current.withLock { $0 = next }
            } else {
                archive.close()
                let next = try store.archive(named: "A")
                current.withLock { $0.1 = next }
            }
        }
        isOver.store(true, ordering: .relaxed)
        for worker in workers { try worker.wait() }
        let archive = current.withLock { $0.1 }
        let count = puts.load(ordering: .relaxed)
        #expect(count > 0)
        try archive.expectValid()
    }

    @Test("removed archives keep no descriptors") func removedArchives() throws {
        let store = try Store.open(at: folder.store)
        func round(_ number: Int) throws {
            let archive = try store.archive(named: "A\(number)", orCreate: .cache(100_000))
            try archive.put([1], forKey: "a", attributes: .expiring(.seconds(600)))
            try store.removeArchive(named: "A\(number)")
            #expect(throws: StorageError.closed(name: "A\(number)")) { try archive.put([1], forKey: "b") }
        }
        for number in 0..<20 { try round(number) }
        // The background thread releases it at its next poll.
        func open() -> [String] {
            let files = FileManager.default
            let names = (try? files.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
            return names.compactMap { try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0) }
                .filter { $0.hasPrefix(folder.store) && $0.contains(".archive") }
        }
        let end = Date().addingTimeInterval(10)
        while !open().isEmpty, Date() < end { usleep(10_000) }
        #expect(open() == [])
        #expect(try store.archiveNames() == [])
    }
    @Test("an archive removed by another handle is closed and can be recreated")
    func removedElsewhere() throws {
        let store = try Store.open(at: folder.store)
        let other = try Store.open(at: folder.store)
        let configuration = ArchiveConfiguration.cache(100_000)
        let archive = try store.archive(named: "A", orCreate: configuration)
        try archive.put([1], forKey: "old")
        try other.removeArchive(named: "A")
        let closed = StorageError.closed(name: "A")
        #expect(throws: closed) { try archive.peek("old") }
        #expect(throws: closed) { try archive.access("old") }
        #expect(throws: closed) { try archive.entries() }
        #expect(throws: closed) { try archive.put([1], forKey: "new") }
        #expect(throws: StorageError.self) { try store.archive(named: "A") }
        try other.archive(named: "A", orCreate: configuration).put([2], forKey: "new")
        #expect(throws: closed) { try archive.peek("new") }
        #expect(try store.archive(named: "A").peek("new") == [2])
        #expect(try store.archive(named: "A").peek("old") == nil)
    }

    @Test("a put after all files were removed reports a closed archive") func removedFiles() throws {
        let configuration = ArchiveConfiguration.collection
        let archive = try folder.archive(creating: configuration)
        try archive.put([1], forKey: "a")
        let other = try folder.archive()
        // `archive` hasn't mapped the newest segment.
        for number in 0..<40 { try other.put(repeated(1, 10_000), forKey: "\(number)") }
        for name in try folder.files(inArchive: "A") {
            try FileManager.default.removeItem(atPath: folder.archivePath("A", name))
        }
        #expect(throws: StorageError.closed(name: "A")) { try archive.put([2], forKey: "b") }
    }

    @Test("an interrupted removal has removed the archive") func interruptedRemoval() throws {
        let store = try Store.open(at: folder.store)
        let configuration = ArchiveConfiguration.collection
        let plan = FaultPlan(.fails(EIO), call: .unlink, under: folder.store, number: 2, isLasting: true)
        for number in 0..<3 {
            try store.archive(named: "A", orCreate: configuration).put([1], forKey: "\(number)")
        }
        _ = withFaults(plan) { #expect(throws: StorageError.self) { try store.removeArchive(named: "A") } }
        #expect(plan.injected > 0)
        #expect(try store.archiveNames() == [])
        #expect(throws: StorageError.noSuchArchive(name: "A", store: folder.store)) {
            try store.archive(named: "A")
        }
        func left() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: folder.store).count {
                !$0.hasPrefix("vellum-store")
            }
        }
        #expect(try left() == 1)
        _ = try Store.open(at: folder.store, mode: .readOnly)
        #expect(try left() == 1)
        let again = try Store.open(at: folder.store)
        #expect(try left() == 0)
        #expect(try again.archive(named: "A", orCreate: configuration).entries().count == 0)
    }

    @Test("opening during a removal reports an absent archive") func openingDuringRemoval() throws {
        let store = try Store.open(at: folder.store)
        let configuration = ArchiveConfiguration.collection
        let isOver = Atomic(false)
        let refusals = Guarded<[StorageError]>([])
        let readers = try [AccessMode.readOnly, .readWrite].map { mode in
            let own = try Store.open(at: folder.store, mode: mode)
            return Background {
                while !isOver.load(ordering: .relaxed) {
                    do throws(StorageError) {
                        try own.archive(named: "A").close()
                    } catch {
                        refusals.withLock { $0.append(error) }
                    }
                }
            }
        }
        for number in 0..<100 {
            let archive = try store.archive(named: "A", orCreate: configuration)
            for key in 0..<5 { try archive.put(repeated(1, 70_000), forKey: "\(number) \(key)") }
            try store.removeArchive(named: "A")
        }
        isOver.store(true, ordering: .relaxed)
        for reader in readers { try reader.wait() }
        for refusal in refusals.withLock({ $0 }) {
            switch refusal {
            case .noSuchArchive, .closed, .busy: continue
            default: Issue.record("\(refusal)")
            }
        }
    }

    @Test("opening after a removal stores nothing in the old folder", arguments: [true, false])
    func waitingForRemoval(makes: Bool) throws {
        let configuration = ArchiveConfiguration.collection
        let first = try Store.open(at: folder.store)
        try first.archive(named: "A", orCreate: configuration).put([1], forKey: "old")
        first.close()
        // The remover, which holds the open lock.
        let turn = open(folder.archivePath("A", "opening"), O_RDWR)
        try #require(flock(turn, LOCK_EX) == 0)
        let path = folder.store
        let waiter = Background {
            let store = try Store.open(at: path)
            guard makes else {
                #expect(throws: StorageError.noSuchArchive(name: "A", store: path)) {
                    try store.archive(named: "A")
                }
                return
            }
            let archive = try store.archive(named: "A", orCreate: configuration)
            try archive.put([2], forKey: "new")
            #expect(try archive.peek("old") == nil)
            store.close()
        }
        usleep(200_000)
        let gone = folder.store + "/0123456789abcdef.removed"
        #expect(rename(folder.store + "/A.archive", gone) == 0)
        close(turn)
        try waiter.wait()
        let again = try Store.open(at: folder.store)
        #expect(try again.archiveNames() == (makes ? ["A"] : []))
        if makes { #expect(try again.archive(named: "A").peek("new") == [2]) }
    }

    @Test("several threads remove and create one archive") func concurrentRemovals() throws {
        let path = folder.store
        let configuration = ArchiveConfiguration.collection
        _ = try Store.open(at: path)
        let unexpected = Guarded<[String]>([])
        let workers = (0..<3).map { worker in
            Background {
                let store = try Store.open(at: path)
                for number in 0..<300 {
                    do throws(StorageError) {
                        if number % 3 == worker {
                            try store.removeArchive(named: "A")
                        } else {
                            let archive = try store.archive(named: "A", orCreate: configuration)
                            try archive.put([1], forKey: "\(number)")
                            _ = try archive.peek("\(number)")
                        }
                    } catch {
                        switch error {
                        case .closed where number % 3 != worker: continue
                        // Absent, or not created yet.
                        case .noSuchArchive where number % 3 == worker, .busy where number % 3 == worker:
                            continue
                        default: unexpected.withLock { $0.append(error.description) }
                        }
                    }
                }
            }
        }
        for worker in workers { try worker.wait() }
        #expect(unexpected.withLock { $0 } == [])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: path).allSatisfy { !$0.hasSuffix(".removed") }
        )
    }
}
