import Foundation
import StorageEngine
import TestSupport
import Testing

/// Containers that share a volume: processes whose pids, start times or boot clocks mean nothing to each other.
@Suite(.oneAtATime) struct NamespaceTests {
    private static let unshare = "/usr/bin/unshare"

    /// What a process needs to get namespaces of its own; a user who isn't root needs one of users as well.
    private static func words(_ namespaces: [String]) -> [String] {
        (geteuid() == 0 ? [] : ["--user", "--map-root-user"]) + namespaces + ["--fork", "--kill-child"]
    }

    private static let pids = words(["--pid", "--mount-proc"])
    private static let times = words(["--time", "--boottime", "100000"])

    /// `nil` where it works, else why it doesn't.
    private static func conflict(_ words: [String]) -> Bool {
        let probe = try? ChildProcess(unshare, words + ["true"], streams: [2: .writing("/dev/null")])
        probe?.waitForEnd()
        return probe?.status != 0
    }

    private static let hasPIDs = !conflict(pids)
    private static let hasTimes = !conflict(times)

    private func filled(
        _ folder: TemporaryFolder, _ locking: LockingMode, lifetime: Duration? = nil
    ) throws -> Archive {
        let store = try Store.open(at: folder.store, options: StoreOptions(locking: locking))
        let archive = try store.archive(
            named: "A", orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
        for number in 0..<200 {
            try archive.put(
                Array("value \(number)".utf8), forKey: "key \(number)",
                attributes: EntryAttributes(lifetime: lifetime))
        }
        return archive
    }

    private func start(_ words: [String], _ arguments: [String], _ folder: TemporaryFolder) throws -> Worker {
        try Worker(
            words + [ChildProcess.program(named: "StoreWorker")] + arguments, in: folder,
            executable: NamespaceTests.unshare)
    }

    /// A process that opened the store looked the pids of all others up in its own namespace, found nobody, and cleared
    /// the lines of those in other containers, with the entries that only their memory held.
    @Test(.enabled(if: hasPIDs, "the system allows no PID namespace here"))
    func livingProcessesOfOtherContainersKeepTheirLines() async throws {
        let folder = try TemporaryFolder()
        let archive = try filled(folder, .fileLock)
        let worker = try start(NamespaceTests.pids, ["hold", folder.store, "A", "1"], folder)
        #expect(
            try await eventually(within: 10) { try archive.metadata("worker 1")?.tier == .memory },
            "\(worker.linesSoFar())")
        let second = try Store.open(at: folder.store).archive(named: "A")
        #expect(try second.processes().count { $0.isAlive } == 3)
        #expect(try second.metadata("worker 1")?.tier == .memory)
        let observer = try Store.open(at: folder.store, mode: .readOnly).archive(named: "A")
        #expect(try observer.status().attachedProcesses == 3)
        #expect(try observer.metadata("worker 1")?.tier == .memory)

        // Its own look at the others is no different.
        let other = try start(NamespaceTests.pids, ["opening", folder.store, "A", "-"], folder)
        let (_, lines) = try await other.finish()
        #expect(lines.contains("writing put done"), "\(lines)")
        #expect(try archive.processes().count { $0.isAlive } == 3)
        #expect(try archive.metadata("worker 1")?.tier == .memory)

        worker.signal(SIGKILL)
        #expect(
            try await eventually(within: 10) { try archive.processes().count { $0.isAlive } == 2 },
            "its end is seen")
        let third = try Store.open(at: folder.store).archive(named: "A")
        #expect(try third.processes().count == 3)
        #expect(try third.metadata("worker 1") == nil)
        #expect(try third.check().clean)
    }

    /// The kernel takes a robust mutex from whoever has the thread number of a waiter that is killed, and in containers
    /// these numbers are the same.
    @Test(.enabled(if: hasPIDs, "the system allows no PID namespace here"))
    func robustMutexIsNotSharedWithAnotherContainer() async throws {
        let folder = try TemporaryFolder()
        var archive: Archive? = try filled(folder, .robustMutex)
        let refused = try start(NamespaceTests.pids, ["hold", folder.store, "A", "1"], folder)
        _ = try await refused.process.end(within: 20)
        let lines = refused.linesSoFar()
        #expect(lines.count == 1 && lines[0].contains("another container"), "\(lines)")
        archive?.close()
        archive = nil
        // What the last one there left is taken over, to and fro.
        let worker = try start(NamespaceTests.pids, ["hold", folder.store, "A", "2"], folder)
        let observer = try Store.open(at: folder.store, mode: .readOnly).archive(named: "A")
        #expect(
            try await eventually(within: 10) { try observer.metadata("worker 2") != nil },
            "\(worker.linesSoFar())")
        #expect(throws: StorageError.self) { try Store.open(at: folder.store).archive(named: "A") }
        worker.signal(SIGKILL)
        #expect(
            try await eventually(within: 10) {
                (try? Store.open(at: folder.store).archive(named: "A").put([1], forKey: "x")) != nil
            })
        #expect(try Store.open(at: folder.store).archive(named: "A").check().clean)
    }

    /// With the clock of a time namespace, which is days ahead, everything with a deadline expired at once.
    @Test(.enabled(if: hasTimes, "the system allows no time namespace here"))
    func deadlinesAreTheSameInAnotherTimeNamespace() async throws {
        let folder = try TemporaryFolder()
        let archive = try filled(folder, .automatic, lifetime: .seconds(3600))
        let worker = try start(NamespaceTests.times, ["opening", folder.store, "A", "-"], folder)
        let (_, lines) = try await worker.finish()
        #expect(
            lines == [
                "reading open done", "reading peek done", "reading list done", "reading put readOnly",
                "writing open done", "writing peek done", "writing list done", "writing put done",
            ])
        #expect(try archive.entries().count == 201)
        #expect(
            try archive.processes().count { $0.isAlive } == 1, "start times are told by the reader's clock")
        let holder = try start(NamespaceTests.times, ["hold", folder.store, "A", "1"], folder)
        #expect(
            try await eventually(within: 10) { try archive.metadata("worker 1")?.tier == .memory },
            "\(holder.linesSoFar())")
        let second = try Store.open(at: folder.store).archive(named: "A")
        #expect(try second.metadata("worker 1")?.tier == .memory)
        #expect(try second.processes().count { $0.isAlive } == 3)
    }
}
