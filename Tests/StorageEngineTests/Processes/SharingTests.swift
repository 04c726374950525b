import Foundation
import StorageEngine
import Testing

/// Several processes on one store at once.
@Suite(.oneAtATime) struct SharingTests {
    private func emptyCache(_ folder: TemporaryFolder, limit: UInt64, locking: LockingMode) throws {
        let store = try Store.open(at: folder.store, options: StoreOptions(locking: locking))
        _ = try store.archive(named: "Shared", orCreate: ArchiveConfiguration(diskLimit: limit))
        store.close()
    }

    @Test(arguments: [LockingMode.robustMutex, .fileLock])
    func twoWritersAndAnObserver(locking: LockingMode) async throws {
        let folder = try TemporaryFolder()
        try emptyCache(folder, limit: 100_000, locking: locking)
        let first = try Worker(["churn", folder.store, "Shared", "7", folder.stopFile], in: folder)
        let second = try Worker(["churn", folder.store, "Shared", "8", folder.stopFile], in: folder)
        let observer = try Store.open(at: folder.store, mode: .readOnly)
        let archive = try observer.archive(named: "Shared")
        while try archive.status().attachedProcesses < 2 { try await Task.sleep(for: .milliseconds(5)) }
        var looks = 0
        var isBusy = false
        // On a busy machine five looks may be over before the writers have filled the cache.
        let end = ContinuousClock.now + .seconds(60)
        while looks < 5 || !isBusy && ContinuousClock.now < end {
            let status = try archive.status()
            isBusy = status.evictions > 0 && status.hits > 0 && status.misses > 0
            #expect(status.diskBytes <= 100_000)
            let list = try archive.entries()
            #expect(
                list.totalValueBytes <= 110_000,
                "a list made while two processes write is nearly of one moment")
            for index in list.indices.prefix(20) {
                _ = try list.withValue(at: index) {
                    #expect($0.allSatisfy { [first = $0.first] in $0 == first })
                }
            }
            let report = try archive.check()
            #expect(report.clean, "\(report.problems)")
            looks += 1
        }
        _ = FileManager.default.createFile(atPath: folder.stopFile, contents: nil)
        for worker in [first, second] {
            let (status, lines) = try await worker.finish()
            #expect(status == 0, "\(lines)")
        }
        let status = try archive.status()
        let report = try archive.check()
        #expect(report.clean, "\(report.problems)")
        #expect(report.entries == status.entries)
        #expect(report.valueBytes == status.diskBytes)
        #expect(status.evictions > 0 && status.hits > 0 && status.misses > 0)
        #expect(status.attachedProcesses == 0, "a process that ended is not shown as attached")
    }

    @Test func observersLeaveNoTrace() throws {
        let folder = try TemporaryFolder()
        let store = try Store.open(at: folder.store)
        let archive = try store.archive(named: "Shared", orCreate: ArchiveConfiguration(diskLimit: 10_000))
        for number in 0..<50 { try archive.put([UInt8](repeating: 1, count: 100), forKey: "\(number)") }
        _ = try archive.access("7")
        store.close()
        let files = try folder.files(inArchive: "Shared")
        let before = try files.map {
            try Data(contentsOf: URL(fileURLWithPath: folder.archivePath("Shared", $0)))
        }
        let observer = try Store.open(at: folder.store, mode: .readOnly)
        let observed = try observer.archive(named: "Shared")
        let list = try observed.entries()
        #expect(try list.key(at: 0) == "7")
        for index in list.indices {
            _ = try list.metadata(at: index)
            _ = try list.withValue(at: index) { $0.count }
        }
        #expect(try observed.peek("7")?.count == 100)
        #expect(throws: StorageError.readOnly(operation: "access (peek instead)")) {
            try observed.access("7")
        }
        #expect(throws: StorageError.self) { try observed.delete("7") }
        _ = try observed.check()
        observer.close()
        #expect(try folder.files(inArchive: "Shared") == files)
        let after = try files.map {
            try Data(contentsOf: URL(fileURLWithPath: folder.archivePath("Shared", $0)))
        }
        #expect(before == after)
    }

    @Test("an observer without an index uses the first that is built") func firstIndex() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try Store.open(at: folder.store).archive(
            named: "A", orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
        try archive.put([1], forKey: "a")
        try folder.removeIndex("A")
        // The writer still uses the removed index, so no other can be built.
        let observer = try Store.open(at: folder.store, mode: .readOnly).archive(named: "A")
        #expect(try observer.peek("a") == [1])
        archive.close()
        try Store.open(at: folder.store).archive(named: "A").put([2], forKey: "b")
        #expect(try observer.peek("b") == [2])
    }

    @Test("observers release reclaimed segments") func reclaimedSegments() throws {
        let folder = try TemporaryFolder()
        let log = try Store.open(at: folder.store).archive(
            named: "Ring", orCreate: ArchiveConfiguration(kind: .log, diskLimit: 200_000))
        let observer = try Store.open(at: folder.store, mode: .readOnly).archive(named: "Ring")
        let message = [UInt8](repeating: 1, count: 2_000)
        var cursor: MessageCursor?
        for _ in 0..<50 {
            for _ in 0..<50 { try log.append(message) }
            cursor = try observer.messages(after: cursor, most: .max).next
        }
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
        }
        let mine = descriptors.filter { $0.contains(folder.path) && $0.contains(".segment") }
        #expect(mine.count { $0.hasSuffix("(deleted)") } <= 4, "\(mine)")
    }
}
