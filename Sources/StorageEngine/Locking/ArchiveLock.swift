import CPlatform

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Which kind of lock guards an archive; fixed in its index when that is built, and followed by all.
public enum LockingMode: UInt32, Sendable {
    /// A robust mutex in the index where the platform has them, else a file lock.
    case automatic = 0
    /// Always a process-shared robust mutex.
    case robustMutex = 1
    /// An exclusive lock on a file, and a mutex among the threads of each process (F8).
    case fileLock = 2

    var resolved: LockingMode {
        self == .automatic ? (cp_mutex_supported() ? .robustMutex : .fileLock) : self
    }
}

/// The one lock of an archive, across processes and threads. Safe from any thread; not recursive.
///
/// Both kinds are let go by the kernel when their holder dies (F5), and whoever gets them next learns it
/// from the section marker in the index, which the engine looks at.
final class ArchiveLock: @unchecked Sendable {
    private enum Kind {
        case robust(UnsafeMutableRawPointer)
        case file(OpenFile, UnsafeMutablePointer<pthread_mutex_t>)
    }

    private let kind: Kind

    /// A robust mutex that lies in the mapped index.
    init(robustMutexAt memory: UnsafeMutableRawPointer) { kind = .robust(memory) }

    init(file: OpenFile) {
        let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        kind = .file(file, mutex)
    }

    deinit {
        if case .file(_, let mutex) = kind {
            pthread_mutex_destroy(mutex)
            mutex.deallocate()
        }
    }

    enum Outcome { case acquired, timedOut, failed(Int32) }

    /// Waits at most `nanoseconds`.
    @inline(__always)
    func acquire(nanoseconds: Int64) -> Outcome {
        switch kind {
        case .robust(let memory):
            let result = cp_mutex_trylock(memory)
            if result == 0 || result == EOWNERDEAD { return .acquired }
            return acquireSlowly(memory, nanoseconds: nanoseconds)
        case .file(let file, let mutex):
            return acquireFile(file, mutex, nanoseconds: nanoseconds)
        }
    }

    func tryAcquire() -> Bool {
        switch kind {
        case .robust(let memory):
            let result = cp_mutex_trylock(memory)
            return result == 0 || result == EOWNERDEAD
        case .file(let file, let mutex):
            guard pthread_mutex_trylock(mutex) == 0 else { return false }
            if let held = try? file.lock(.exclusive, wait: false), held { return true }
            pthread_mutex_unlock(mutex)
            return false
        }
    }

    @inline(__always)
    func release() {
        switch kind {
        case .robust(let memory):
            _ = cp_mutex_unlock(memory)
        case .file(let file, let mutex):
            file.unlock()
            pthread_mutex_unlock(mutex)
        }
    }

    @inline(never)
    private func acquireSlowly(_ memory: UnsafeMutableRawPointer, nanoseconds: Int64) -> Outcome {
        // Sections last well under a microsecond: a short spin saves most sleeps.
        for _ in 0..<100 {
            cp_pause()
            let result = cp_mutex_trylock(memory)
            if result == 0 || result == EOWNERDEAD { return .acquired }
            if result != EBUSY { return .failed(result) }
        }
        switch cp_mutex_lock(memory, nanoseconds) {
        case 0, EOWNERDEAD: return .acquired
        case ETIMEDOUT: return .timedOut
        case let code: return .failed(code)
        }
    }

    private func acquireFile(
        _ file: OpenFile, _ mutex: UnsafeMutablePointer<pthread_mutex_t>, nanoseconds: Int64
    ) -> Outcome {
        pthread_mutex_lock(mutex)
        // flock has no time-out, so a held lock is asked for again at growing intervals.
        var waited: Int64 = 0
        var pause: Int64 = 20_000
        while true {
            do {
                if try file.lock(.exclusive, wait: false) { return .acquired }
            } catch {
                pthread_mutex_unlock(mutex)
                if case .system(_, _, let code) = error { return .failed(code) }
                return .failed(EIO)
            }
            guard waited < nanoseconds else {
                pthread_mutex_unlock(mutex)
                return .timedOut
            }
            cp_sleep(pause)
            waited += pause
            pause = min(pause * 2, 2_000_000)
        }
    }
}
