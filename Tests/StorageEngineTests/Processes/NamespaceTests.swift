import Foundation
import StorageEngine
import TestSupport
import Testing

/// Containers that share a volume: processes with separate pids, start times or boot clocks.
@Suite(.oneAtATime) struct NamespaceTests {
    private static let unshare = "/usr/bin/unshare"

    /// Arguments for separate namespaces; users other than root need one of users as well.
    private static func words(_ namespaces: [String]) -> [String] {
        (geteuid() == 0 ? [] : ["--user", "--map-root-user"]) + namespaces + ["--fork", "--kill-child"]
    }

    private static let pids = words(["--pid", "--mount-proc"])
    private static let times = words(["--time", "--boottime", "100000"])

    /// Whether the system refuses these namespaces.
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
        let archive = try folder.archive(creating: .collection, locking: locking)
        for number in 0..<200 {
            try archive.put(
                Array("value \(number)".utf8), forKey: "key \(number)",
                attributes: .expiring(lifetime))
        }
        return archive
    }

    private func start(_ words: [String], _ arguments: [String], _ folder: TemporaryFolder) throws -> Worker {
        try Worker(
            words + [ChildProcess.program(named: "StoreWorker")] + arguments, in: folder,
            executable: NamespaceTests.unshare)
    }

    @Test(
        "processes of other containers keep their slots",
        .enabled(if: hasPIDs, "the system allows no PID namespace here"))
    func otherContainers() async throws {
        let folder = try TemporaryFolder()
        let archive = try filled(folder, .fileLock)
        let worker = try start(NamespaceTests.pids, ["hold", folder.store, "A", "1"], folder)
        #expect(
            try await eventually(within: 10) { try archive.metadata("worker 1")?.tier == .memory },
            "\(worker.linesSoFar())")
        let second = try folder.archive()
        #expect(try second.processes().count { $0.isAlive } == 3)
        #expect(try second.metadata("worker 1")?.tier == .memory)
        let observer = try folder.archive(mode: .readOnly)
        #expect(try observer.status().attachedProcesses == 3)
        #expect(try observer.metadata("worker 1")?.tier == .memory)

        // Processes of the other namespace find the same.
        let other = try start(NamespaceTests.pids, ["opening", folder.store, "A", "-"], folder)
        let (_, lines) = try await other.finish()
        #expect(lines.contains("writing put done"), "\(lines)")
        #expect(try archive.processes().count { $0.isAlive } == 3)
        #expect(try archive.metadata("worker 1")?.tier == .memory)

        worker.signal(SIGKILL)
        #expect(
            try await eventually(within: 10) { try archive.processes().count { $0.isAlive } == 2 },
            "its end is seen")
        let third = try folder.archive()
        #expect(try third.processes().count == 3)
        #expect(try third.metadata("worker 1") == nil)
        #expect(try third.check().clean)
    }

    /// When a waiter is killed, the kernel identifies it by its thread number, which containers share.
    @Test(
        "processes of other containers are refused a robust mutex",
        .enabled(if: hasPIDs, "the system allows no PID namespace here"))
    func robustMutexIsNotShared() async throws {
        let folder = try TemporaryFolder()
        var archive: Archive? = try filled(folder, .robustMutex)
        let refused = try start(NamespaceTests.pids, ["hold", folder.store, "A", "1"], folder)
        _ = try await refused.process.end(within: 20)
        let lines = refused.linesSoFar()
        #expect(lines.count == 1 && lines[0].contains("another container"), "\(lines)")
        archive?.close()
        archive = nil
        // The next container takes over from the last, both ways.
        let worker = try start(NamespaceTests.pids, ["hold", folder.store, "A", "2"], folder)
        let observer = try folder.archive(mode: .readOnly)
        #expect(
            try await eventually(within: 10) { try observer.metadata("worker 2") != nil },
            "\(worker.linesSoFar())")
        #expect(throws: StorageError.self) { try folder.archive() }
        worker.signal(SIGKILL)
        #expect(
            try await eventually(within: 10) {
                (try? folder.archive().put([1], forKey: "x")) != nil
            })
        #expect(try folder.archive().check().clean)
    }

    @Test(
        "an entry expires at the same time in another time namespace",
        .enabled(if: hasTimes, "the system allows no time namespace here"))
    func sameExpiryInTimeNamespace() async throws {
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
            try archive.processes().count { $0.isAlive } == 1,
            "start times are adjusted to the reader's clock")
        let holder = try start(NamespaceTests.times, ["hold", folder.store, "A", "1"], folder)
        #expect(
            try await eventually(within: 10) { try archive.metadata("worker 1")?.tier == .memory },
            "\(holder.linesSoFar())")
        let second = try folder.archive()
        #expect(try second.metadata("worker 1")?.tier == .memory)
        #expect(try second.processes().count { $0.isAlive } == 3)
    }
}
