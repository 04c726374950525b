import Foundation
import StorageEngine
import Testing

/// Several processes on one store at once.
@Suite(.oneAtATime) struct SharingTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func emptyCache(_ folder: TemporaryFolder, limit: UInt64, locking: LockingMode) throws {
        let store = try Store.open(at: folder.store, options: StoreOptions(locking: locking))
        _ = try store.archive(named: "Shared", orCreate: .cache(limit))
        store.close()
    }

    @Test(
        "two writers and an observer see consistent entries", arguments: [LockingMode.robustMutex, .fileLock])
    func twoWritersAndAnObserver(locking: LockingMode) async throws {
        try emptyCache(folder, limit: 100_000, locking: locking)
        let first = try folder.worker("churn", "Shared", "7", folder.stopFile)
        let second = try folder.worker("churn", "Shared", "8", folder.stopFile)
        let archive = try folder.archive("Shared", mode: .readOnly)
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
            #expect(try archive.check().problems == [])
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

    @Test("observers change no file") func observersChangeNothing() throws {
        let archive = try folder.archive("Shared", creating: .cache(10_000))
        for number in 0..<50 { try archive.put(repeated(1, 100), forKey: "\(number)") }
        _ = try archive.access("7")
        archive.close()
        let files = try folder.files(inArchive: "Shared")
        let before = try files.map {
            try contents(of: folder.archivePath("Shared", $0))
        }
        let observed = try folder.archive("Shared", mode: .readOnly)
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
        observed.close()
        #expect(try folder.files(inArchive: "Shared") == files)
        let after = try files.map {
            try contents(of: folder.archivePath("Shared", $0))
        }
        #expect(before == after)
    }

    @Test("an observer without an index uses the first that is built") func firstIndex() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let archive = try folder.archive(creating: .collection)
        try archive.put([1], forKey: "a")
        try folder.removeIndex("A")
        // The writer still uses the removed index, so no other can be built.
        let observer = try folder.archive(mode: .readOnly)
        #expect(try observer.peek("a") == [1])
        archive.close()
        try folder.archive().put([2], forKey: "b")
        #expect(try observer.peek("b") == [2])
    }

    @Test("observers release reclaimed segments") func reclaimedSegments() throws {
        let log = try folder.archive("Ring", creating: .log(200_000))
        let observer = try folder.archive("Ring", mode: .readOnly)
        let message = repeated(1, 2_000)
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
