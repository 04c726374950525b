import Foundation
import StorageEngine
import TestSupport
import Testing

/// R12: changes of a store's folder while it is open (OnDiskFormat, "What may happen to a store that is open").
@Suite(.oneAtATime) struct FolderTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func filled(_ folder: TemporaryFolder, _ locking: LockingMode = .automatic) throws -> Store {
        let store = try Store.open(at: folder.store, options: StoreOptions(locking: locking))
        let archive = try store.archive(named: "A", orCreate: .collection)
        for number in 0..<200 { try archive.put(Array("value \(number)".utf8), forKey: "key \(number)") }
        return store
    }

    /// Two stores in one process, used by threads at the same time.
    @Test(
        "two stores of one folder in a process share their archives",
        arguments: [LockingMode.robustMutex, .fileLock])
    func openedTwiceInOneProcess(locking: LockingMode) async throws {
        let first = try filled(folder, locking)
        let second = try Store.open(at: folder.store)
        let archives = [try first.archive(named: "A"), try second.archive(named: "A")]
        let seen = NSLock()
        nonisolated(unsafe) var wrong: [String] = []
        nonisolated(unsafe) var finished = 0
        for thread in 0..<4 {
            Thread.detachNewThread {
                var mine: [String] = []
                do {
                    for step in 0..<500 {
                        let key = "thread \(thread) \(step % 50)"
                        let value = repeated(UInt8(thread), step)
                        try archives[thread % 2].put(value, forKey: key)
                        if try archives[(thread + 1) % 2].access(key) != value {
                            mine.append("\(key) at \(step)")
                        }
                        if step % 5 == 4, try !archives[(thread + 1) % 2].delete(key) {
                            mine.append("\(key) is missing")
                        }
                    }
                } catch {
                    mine.append("\(error)")
                }
                seen.withLock {
                    wrong += mine
                    finished += 1
                }
            }
        }
        #expect(try await eventually(within: 30) { seen.withLock { finished } == 4 })
        #expect(seen.withLock { wrong } == [])
        #expect(try archives[0].status().attachedProcesses == 2, "each store has a slot")
        second.close()
        #expect(throws: StorageError.closed(name: "A")) { try archives[1].peek("key 7") }
        #expect(try archives[0].peek("key 7") == Array("value 7".utf8))
        #expect(try archives[0].status().attachedProcesses == 1)
        #expect(try archives[0].entries().count == 200 + 4 * 40)
        #expect(try archives[0].invariantViolations() == [])
        #expect(try archives[0].check().clean)
    }

    @Test("a renamed store stays in use") func renamedWhileOpen() throws {
        let store = try filled(folder)
        let archive = try store.archive(named: "A")
        let observer = try folder.archive(mode: .readOnly)
        let moved = folder.path + "/moved"
        try FileManager.default.moveItem(atPath: folder.store, toPath: moved)
        let elsewhere = try Store.open(at: moved).archive(named: "A")
        for number in 0..<3000 { try archive.put(repeated(1, 300), forKey: "new \(number)") }
        try elsewhere.put([5], forKey: "from the new path")
        #expect(try archive.peek("from the new path") == [5])
        #expect(try observer.peek("new 2999")?.count == 300)
        #expect(try observer.entries().count == 3201)
        #expect(try elsewhere.status().attachedProcesses == 2)
        #expect(!FileManager.default.fileExists(atPath: folder.store))
        #expect(try archive.check().clean)
    }

    @Test("puts into a removed folder fail and don't recreate it") func removedWhileOpen() throws {
        let store = try filled(folder)
        let archive = try store.archive(named: "A")
        let observer = try folder.archive(mode: .readOnly)
        #expect(try observer.peek("key 7") == Array("value 7".utf8))
        try removeFolderInUse(folder.store)
        var stored = 0
        var refusal: StorageError?
        while refusal == nil, stored < 1000 {
            do {
                try archive.put(repeated(1, 10_000), forKey: "new \(stored)")
                stored += 1
            } catch {
                refusal = error
            }
        }
        #expect(refusal == .closed(name: "A"), "after \(stored) puts")
        // Mapped entries stay readable through this handle; an observer finds its index removed.
        #expect(try archive.peek("key 7") == Array("value 7".utf8))
        #expect(throws: StorageError.closed(name: "A")) { try archive.status() }
        #expect(throws: StorageError.self) { try observer.peek("key 7") }
        #expect(throws: StorageError.self) { try store.archive(named: "B", orCreate: .cache()) }
        store.close()
        #expect(!FileManager.default.fileExists(atPath: folder.store))
        let next = try filled(folder).archive(named: "A")
        #expect(try next.entries().count == 200)
        #expect(throws: StorageError.closed(name: "A")) { try archive.peek("key 7") }
    }

    @Test("a handle of a removed store reports it closed, not damaged")
    func removedAfterPartialRead() throws {
        let archive = try filled(folder).archive(named: "A")
        let others = try [AccessMode.readWrite, .readOnly].map {
            try folder.archive(mode: $0)
        }
        for other in others { #expect(try other.peek("key 7") != nil) }
        for number in 0..<3_000 { try archive.put(repeated(1, 1_000), forKey: "late \(number)") }
        try FileManager.default.removeItem(atPath: folder.store)
        // An observer reopens the archive after its index was removed, and finds none.
        func isClosed(_ error: any Error) -> Bool {
            switch error as? StorageError {
            case .closed, .system(_, _, ENOENT): true
            default: false
            }
        }
        // Entries that background work mapped earlier stay readable; then all are present.
        func isWholeOrClosed(_ look: () throws -> Bool) -> Bool {
            do {
                return try look()
            } catch {
                if !isClosed(error) { Issue.record(error) }
                return isClosed(error)
            }
        }
        for other in others {
            #expect(isWholeOrClosed { try other.entries().count == 3_200 })
            // Chains in unmapped parts of the index must not count as absent.
            for number in 0..<3_000 {
                let isRight = isWholeOrClosed { try other.peek("late \(number)") == repeated(1, 1_000) }
                #expect(isRight, "late \(number)")
            }
            #expect { _ = try other.check() } throws: { isClosed($0) }
        }
        #expect { try others[0].put([1], forKey: "new") } throws: { isClosed($0) }
    }

    @Test("reading a copied store changes nothing") func copiedStore() throws {
        let archive = try folder.archive(creating: ArchiveConfiguration(kind: .collection))
        for number in 0..<100 { try archive.put([1, 2, 3], forKey: "key \(number)") }
        archive.close()
        let copy = folder.path + "/copy"
        let files = FileManager.default
        try files.copyItem(atPath: folder.store, toPath: copy)
        func state() throws -> [String] {
            try files.contentsOfDirectory(atPath: copy + "/A.archive").sorted().map { name in
                let path = copy + "/A.archive/" + name
                let date = try files.attributesOfItem(atPath: path)[.modificationDate] as? Date
                let bytes = Array(try contents(of: path))
                return "\(name) \(date?.timeIntervalSince1970 ?? 0) \(bytes.hashValue)"
            }
        }
        let before = try state()
        for _ in 0..<2 {
            let copied = try Store.open(at: copy, mode: .readOnly)
            #expect(try copied.archive(named: "A").entries().count == 100)
            copied.close()
        }
        #expect(try state() == before)
    }

    @Test(
        "a store copied while it is open opens without damage",
        arguments: [LockingMode.robustMutex, .fileLock])
    func copiedWhileOpen(locking: LockingMode) async throws {
        try await copies(locking) { $0 < 8 }
    }

    @Test(.enabled(if: Soak.seconds > 0, "runs in a soak"), arguments: [LockingMode.robustMutex, .fileLock])
    func copiesSoak(locking: LockingMode) async throws {
        let end = Soak.end(share: 0.02)
        try await copies(locking) { $0 < 8 || Date() < end }
    }

    private func copies(_ locking: LockingMode, shouldContinue: (Int) -> Bool) async throws {
        let folder = try TemporaryFolder()
        let store = try filled(folder, locking)
        let archive = try store.archive(named: "A")
        let writer = try folder.worker("hammer", "A", "1", "40000")
        #expect(try await writer.hasSaid("ready"))
        var round = 0
        var opens = Timings()
        while shouldContinue(round) {
            defer { round += 1 }
            // Stopped anywhere, even in the critical section, so that some copies have a held lock.
            if round % 2 == 0 { try #require(try await writer.process.stop()) }
            let path = folder.path + "/copy \(round)"
            try copy(folder.store, to: path)
            writer.signal(SIGCONT)
            // A copy may get the inode of its removed original. Its index, with a held lock, must not be trusted.
            if round % 4 == 0 { try claimInode(ofIndex: path + "/A.archive/index") }
            let copy = try opens.measure { try Store.open(at: path).archive(named: "A") }
            for number in 0..<200 {
                let found = try copy.peek("key \(number)")
                // A copy made during reclaiming may lack moved entries.
                #expect(found == Array("value \(number)".utf8) || (round % 2 == 1 && found == nil))
            }
            try copy.put([UInt8(round & 255)], forKey: "only in the copy")
            #expect(try copy.delete("key 5") || round % 2 == 1)
            #expect(try copy.invariantViolations() == [])
            #expect(try copy.status().attachedProcesses == 1)
            #expect(try archive.peek("only in the copy") == nil)
            #expect(try archive.peek("key 5") == Array("value 5".utf8))
            copy.close()
            try removeFolderInUse(path)
        }
        Figures("R12 copies of an open store, \(locking)", ["copies": round, "slowest open": opens.slowest])
            .report()
        try await writer.kill()
        #expect(try archive.check().clean)
    }

    /// Makes an index claim that its inode is the current one (OnDiskFormat, "The index").
    private func claimInode(ofIndex path: String) throws {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        let inode = try #require(attributes[.systemFileNumber] as? UInt64)
        try overwrite(path, at: 56, with: little(inode))
    }

    /// Copies file by file, as `cp -r` does, and skips files that disappear.
    private func copy(_ source: String, to target: String) throws {
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
        for name in try FileManager.default.contentsOfDirectory(atPath: source).sorted() {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: source + "/" + name, isDirectory: &isFolder) else {
                continue
            }
            if isFolder.boolValue {
                try copy(source + "/" + name, to: target + "/" + name)
            } else if let data = try? contents(of: source + "/" + name) {
                try data.write(to: URL(fileURLWithPath: target + "/" + name))
            }
        }
    }
}
