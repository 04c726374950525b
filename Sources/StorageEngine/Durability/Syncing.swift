import CPlatform
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// This process' part in syncing one archive: who syncs now, and the duty in the background. Safe from any thread.
///
/// One sync of an archive runs at a time, among all threads and processes: whoever waits for it finds afterwards
/// that its own changes went along (group commit), or leads the next.
final class Syncing: Sendable {
    static let lockName = "syncing"

    private let folder: OpenFile
    /// One of this process' threads at a time; taken before the file's lock.
    private let gate = Gate()
    /// Locked by the process that syncs; opened by the first sync.
    private let file = Mutex<OpenFile?>(nil)
    private let ticket = Mutex<Upkeep.Ticket?>(nil)
    /// When this process last looked whether there is something to sync, in nanoseconds of the monotonic clock.
    let lastSync = Atomic<Int64>(cp_monotonic_time())
    /// Whether the latest sync in the background could not be done, for want of descriptors, say.
    let isOverdue = Atomic<Bool>(false)

    init(folder: OpenFile) { self.folder = folder }

    /// Calls `body` while nobody else syncs the archive. A process that was stopped while it synced holds others
    /// up for `nanoseconds` at most.
    func alone(
        archive: String, nanoseconds: Int64, _ body: () throws(StorageError) -> Void
    ) throws(StorageError) {
        gate.enter()
        defer { gate.leave() }
        let file = try lockFile()
        var waited: Int64 = 0
        var pause: Int64 = 10_000
        while true {
            if try file.lock(.exclusive, wait: false) { break }
            guard waited < nanoseconds else {
                throw .busy(
                    archive: archive, process: 0,
                    reason: "another process has been syncing it for \(nanoseconds / 1_000_000_000) s")
            }
            cp_sleep(pause)
            waited += pause
            pause = min(pause * 2, 500_000)
        }
        defer { file.unlock() }
        try body()
    }

    private func lockFile() throws(StorageError) -> OpenFile {
        let result: Result<OpenFile, StorageError> = file.withLock { file in
            if let file { return .success(file) }
            return Result { () throws(StorageError) in
                let opened = try folder.fileMakingIfMissing(named: Syncing.lockName)
                file = opened
                return opened
            }
        }
        return try result.get()
    }

    /// Registers the duty unless it is there.
    func begin(after nanoseconds: Int64, _ duty: @escaping Upkeep.Duty) throws(StorageError) {
        let result: Result<Void, StorageError> = ticket.withLock { ticket in
            guard ticket == nil else { return .success(()) }
            return Result { () throws(StorageError) in
                ticket = try Upkeep.shared.register(after: nanoseconds, duty)
            }
        }
        try result.get()
    }

    /// The duty ended by itself.
    func forgetDuty() { ticket.withLock { $0 = nil } }

    func end() {
        let ended = ticket.withLock { ticket in
            defer { ticket = nil }
            return ticket
        }
        if let ended { Upkeep.shared.cancel(ended) }
    }
}

/// A mutex whose holder may wait for the medium. (`Synchronization.Mutex` would do, but its closure can't throw
/// typed errors through.)
private final class Gate: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    init() {
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func enter() { pthread_mutex_lock(mutex) }
    func leave() { pthread_mutex_unlock(mutex) }
}
