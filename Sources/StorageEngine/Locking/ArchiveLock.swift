import CPlatform

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Which kind of lock guards an archive. Fixed when the index is built; all processes follow it.
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

/// The one lock of an archive, for all processes and threads. Safe from any thread; not recursive.
///
/// The kernel releases both kinds when their holder dies (F5). The next holder learns of it from the section's marker
/// in the index, which the engine checks.
final class ArchiveLock: @unchecked Sendable {
    private enum Kind {
        case robust(UnsafeMutableRawPointer)
        case file(FileDescriptor, ThreadGate)
    }

    private let kind: Kind

    /// A robust mutex in the mapped index.
    init(robustMutexAt memory: UnsafeMutableRawPointer) { kind = .robust(memory) }

    init(file: FileDescriptor) { kind = .file(file, ThreadGate()) }

    enum Outcome { case acquired, timedOut, failed(Int32) }

    /// Waits at most `nanoseconds`.
    @inline(__always)
    func acquire(nanoseconds: Int64) -> Outcome {
        switch kind {
        case .robust(let memory):
            let result = cp_mutex_trylock(memory)
            if result == 0 || result == EOWNERDEAD { return .acquired }
            return acquireSlowly(memory, nanoseconds: nanoseconds)
        case .file(let file, let gate):
            return acquireFile(file, gate, nanoseconds: nanoseconds)
        }
    }

    func tryAcquire() -> Bool {
        switch kind {
        case .robust(let memory):
            let result = cp_mutex_trylock(memory)
            return result == 0 || result == EOWNERDEAD
        case .file(let file, let gate):
            guard gate.enter(nanoseconds: 0) else { return false }
            if let held = try? file.lock(.exclusive, wait: false), held { return true }
            gate.leave()
            return false
        }
    }

    @inline(__always)
    func release() {
        switch kind {
        case .robust(let memory):
            _ = cp_mutex_unlock(memory)
        case .file(let file, let gate):
            file.unlock()
            gate.leave()
        }
    }

    /// In nanoseconds. On two cores, eight threads that access and put do two fifths more with it than with a microsecond.
    private static let longestSpin: Int64 = 200_000

    @inline(never)
    private func acquireSlowly(_ memory: UnsafeMutableRawPointer, nanoseconds: Int64) -> Outcome {
        // Most sections last a microsecond, some tens of them. Once a thread sleeps, each release has to wake one by a system
        // call, and all of them get slower for long: so nearly all waits end before that.
        let start = cp_monotonic_time()
        repeat {
            for _ in 0..<16 {
                cp_pause()
                let result = cp_mutex_trylock(memory)
                if result == 0 || result == EOWNERDEAD { return .acquired }
                if result != EBUSY { return .failed(result) }
            }
        } while cp_monotonic_time() &- start < min(nanoseconds, ArchiveLock.longestSpin)
        switch cp_mutex_lock(memory, nanoseconds) {
        case 0, EOWNERDEAD: return .acquired
        case ETIMEDOUT: return .timedOut
        case let code: return .failed(code)
        }
    }

    private func acquireFile(_ file: FileDescriptor, _ gate: ThreadGate, nanoseconds: Int64) -> Outcome {
        let start = cp_monotonic_time()
        guard gate.enter(nanoseconds: nanoseconds) else { return .timedOut }
        // `flock` has no timeout, so a held lock is tried again at growing intervals.
        var pause: Int64 = 20_000
        while true {
            do {
                if try file.lock(.exclusive, wait: false) { return .acquired }
            } catch {
                gate.leave()
                if case .system(_, _, let code) = error { return .failed(code) }
                return .failed(EIO)
            }
            guard cp_monotonic_time() - start < nanoseconds else {
                gate.leave()
                return .timedOut
            }
            cp_sleep(pause)
            pause = min(pause * 2, 2_000_000)
        }
    }
}
