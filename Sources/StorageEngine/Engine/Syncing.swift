import CPlatform
import Synchronization
import SystemC

/// This process's part in syncing one archive: the syncing thread, and the background task. Only one sync of an archive runs at a
/// time. A caller that waited finds its changes included (group commit), or runs the next sync.
final class Syncing: Sendable {
    static let lockName = "syncing"

    private let folder: FileDescriptor
    /// Admits one of this process's threads at a time; entered before the file is locked.
    private let gate = ThreadGate()
    /// Locked by the process that syncs; opened by the first sync.
    private let file = Guarded<FileDescriptor?>(nil)
    private struct TaskState {
        var ticket: BackgroundThread.Ticket?
        var isEnded = false
    }
    private let task = Guarded(TaskState())
    /// Monotonic time since which each attempt of this process has found another process syncing; 0 if the last didn't.
    private let busySince = Atomic<Int64>(0)
    /// When this process last checked for changes to sync, in nanoseconds of the monotonic clock.
    let lastSync = Atomic<Int64>(cp_monotonic_time())
    /// Whether the latest background sync could not run, for example for lack of descriptors.
    let isOverdue = Atomic<Bool>(false)

    init(folder: FileDescriptor) { self.folder = folder }

    /// Whether another process has been syncing for that long at every attempt of this one: it may have been stopped.
    func isBusy(since nanoseconds: Int64) -> Bool {
        let begin = busySince.load(ordering: .relaxed)
        return begin != 0 && cp_monotonic_time() &- begin >= nanoseconds
    }

    /// Calls `body` while no other caller syncs the archive. A stopped process delays others by `nanoseconds` at most.
    func alone(
        archive: String, nanoseconds: Int64, _ body: () throws(StorageError) -> Void
    ) throws(StorageError) {
        let begin = cp_monotonic_time()
        guard gate.enter(nanoseconds: nanoseconds) else { throw busy(archive, since: begin) }
        defer { gate.leave() }
        let file = try lockFile()
        var pause: Int64 = 10_000
        while true {
            if try file.lock(.exclusive, wait: false) { break }
            let now = cp_monotonic_time()
            if busySince.load(ordering: .relaxed) == 0 { busySince.store(now, ordering: .relaxed) }
            guard now &- begin < nanoseconds else { throw busy(archive, since: begin) }
            cp_sleep(pause)
            pause = min(pause * 2, 500_000)
        }
        busySince.store(0, ordering: .relaxed)
        defer { file.unlock() }
        try body()
    }

    private func busy(_ archive: String, since begin: Int64) -> StorageError {
        let known = busySince.load(ordering: .relaxed)
        let seconds = (cp_monotonic_time() &- (known == 0 ? begin : known)) / 1_000_000_000
        return .busy(
            archive: archive, process: 0,
            reason:
                "another process has been syncing it for \(seconds) s; if one was stopped, resume or end it")
    }

    private func lockFile() throws(StorageError) -> FileDescriptor {
        try file.withLock { (file) throws(StorageError) in
            if let file { return file }
            let opened = try folder.fileMakingIfMissing(named: Syncing.lockName)
            file = opened
            return opened
        }
    }

    /// Registers the background task unless it is registered, or was ended permanently.
    func begin(after nanoseconds: Int64, _ body: @escaping BackgroundThread.Task) throws(StorageError) {
        try task.withLock { (task) throws(StorageError) in
            guard task.ticket == nil, !task.isEnded else { return }
            task.ticket = try BackgroundThread.shared.register(after: nanoseconds, body)
        }
    }

    func forgetTask() { task.withLock { $0.ticket = nil } }

    func end() {
        let ended = task.withLock { task in
            defer { task = TaskState(isEnded: true) }
            return task.ticket
        }
        if let ended { BackgroundThread.shared.cancel(ended, within: ArchiveLock.timeoutNanoseconds) }
    }
}
