import CPlatform
import SystemC

/// The lock to open for writing, create or configure an archive: a lock on the file `opening`, which names its holder and which
/// the kernel releases. Used by one thread. A reader never waits for it: its holder may be stopped (F6).
struct OpenLock {
    static let fileName = "opening"
    private static let digits = 11

    private let file: FileDescriptor

    /// Takes the open lock. Waits `nanoseconds` on the monotonic clock, and up to five minutes for a working process, such as one
    /// that builds an index. While it is held, the archive can't be removed. Throws `busy`, which names the holder, or `closed`
    /// if the archive was removed during the wait.
    static func take(
        in folder: FileDescriptor, archive: String, nanoseconds: Int64 = ArchiveLock.timeoutNanoseconds
    ) throws(StorageError) -> OpenLock {
        while true {
            let file = try folder.fileMakingIfMissing(named: fileName)
            var isTaken = try file.lock(.exclusive, within: nanoseconds)
            if !isTaken { isTaken = try waitForBusyHolder(file, nanoseconds) }
            guard isTaken else {
                throw .busy(
                    archive: archive, process: pid(in: file) ?? 0,
                    reason:
                        "it has been opening the archive for \(nanoseconds / 1_000_000_000) s or longer; resume or end it"
                )
            }
            // An earlier holder of the open lock may have removed the file with an archive that it could not create.
            guard try file.status().links > 0 else { continue }
            let openLock = OpenLock(file: file)
            guard try folder.isInItsPlace else {
                openLock.release()
                throw .closed(name: archive)
            }
            openLock.recordHolder()
            return openLock
        }
    }

    private static let longestWaitNanoseconds: Int64 = 300_000_000_000

    /// Continues the wait as long as the holder uses processor time.
    private static func waitForBusyHolder(_ file: FileDescriptor, _ nanoseconds: Int64) throws(StorageError)
        -> Bool
    {
        guard nanoseconds > 0, let holder = pid(in: file), holder != getpid() else { return false }
        var used = processorTime(of: holder)
        let start = cp_monotonic_time()
        while cp_monotonic_time() &- start < longestWaitNanoseconds {
            if try file.lock(.exclusive, within: 1_000_000_000) { return true }
            let now = processorTime(of: holder)
            guard let now, let before = used, now > before else { return false }
            used = now
        }
        return false
    }

    /// Processor time in nanoseconds; `nil`: unknown.
    private static func processorTime(of pid: Int32) -> Int64? {
        #if canImport(Darwin)
        return nil
        #else
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else { return nil }
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        #endif
    }

    func release() { file.unlock() }

    /// The process that holds the open lock: 0 if unknown, `nil` if the lock is free.
    static func holder(in folder: FileDescriptor) throws(StorageError) -> Int32? {
        guard try folder.hasEntry(named: fileName) else { return nil }
        let file = try folder.file(named: fileName, writable: false)
        if try file.lock(.shared, wait: false) {
            file.unlock()
            return nil
        }
        return pid(in: file) ?? 0
    }

    /// Writes the process number for waiting processes' errors, unless the disk is full.
    private func recordHolder() {
        let text = String(ProcessIdentity.current().pid)
        try? file.write(
            Array((text + String(repeating: " ", count: OpenLock.digits - text.count) + "\n").utf8))
    }

    private static func pid(in file: FileDescriptor) -> Int32? {
        guard let bytes = try? file.read(atMost: digits),
            let pid = Int32(String(decoding: bytes.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)),
            ProcessIdentity(pid: pid, start: cp_process_start(pid)).isAlive
        else { return nil }
        return pid
    }
}

extension FileDescriptor {
    /// Time for which a killed process's locks may stay held: a forked process shares them until it executes its program.
    static let startNanoseconds: Int64 = 200_000_000

    /// Like ``lock(_:wait:)``, but waits at most `nanoseconds`, regardless of signals and clock changes.
    func lock(_ kind: LockKind, within nanoseconds: Int64) throws(StorageError) -> Bool {
        let start = cp_monotonic_time()
        while try lock(kind, wait: false) == false {
            guard cp_monotonic_time() &- start < nanoseconds else { return false }
            cp_sleep(2_000_000)
        }
        return true
    }
}
