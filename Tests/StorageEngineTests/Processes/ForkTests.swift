import Foundation
import StorageEngine
import Testing

/// R12: a process that forks with an open store.
///
/// Parent and child share file locks: a child must not release its parent's slot or the parent's hold on the index.
@Suite(.oneAtATime) struct ForkTests {
    @Test("children open their own handles", arguments: [LockingMode.robustMutex, .fileLock])
    func childrenOpenTheirOwn(locking: LockingMode) async throws {
        let folder = try TemporaryFolder()
        let worker = try folder.worker("fork", "Fork", "\(locking)", folder.stopFile)
        #expect(try await worker.hasSaid("ready"), "\(worker.linesSoFar())")
        // The child has ended; its parent still uses the archive.
        let observer = try folder.archive("Fork", mode: .readOnly)
        #expect(try observer.status().attachedProcesses == 1)
        let attached = open(folder.archivePath("Fork", "attached"), O_RDWR)
        defer { close(attached) }
        #expect(flock(attached, LOCK_EX | LOCK_NB) != 0, "the parent's hold on the index was released")
        _ = FileManager.default.createFile(atPath: folder.stopFile, contents: nil)
        let (status, lines) = try await worker.finish()
        #expect(status == 0)
        #expect(
            lines.filter { $0.hasPrefix("child") } == [
                "child put closed", "child delete closed", "child deleteAll closed", "child setLimits closed",
                "child access closed", "child peek closed", "child status closed", "child list before",
                "child again done", "child close done", "child own done", "child ended 0",
            ])
        #expect(
            lines.filter { $0.hasPrefix("parent") } == [
                "parent puts done", "parent after done", "parent close done",
            ])
        let archive = try folder.archive("Fork")
        for (name, count) in [("parent", 1000), ("again", 500), ("own", 500)] {
            for number in 0..<count { #expect(try archive.peek("\(name) \(number)") == repeated(5, number)) }
        }
        #expect(try archive.peek("inherited") == nil)
        #expect(try archive.peek("before") == [1])
        try archive.expectValid()
        #expect(try archive.status().attachedProcesses == 1)
    }

    @Test("a child has its own background thread") func childThread() async throws {
        let folder = try TemporaryFolder(inMemory: true)
        let worker = try folder.worker("forkWithUpkeep", "Fork", "40")
        let (status, lines) = try await worker.finish()
        #expect(status == 0)
        #expect(lines.contains("children 40, ended 40, expired 40"), "\(lines)")
    }
}
