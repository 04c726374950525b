import CPlatform
import SystemC

/// The archive's lock, for all processes and threads; not recursive. The kernel releases it when its holder dies (F5); the index
/// then still names a lock owner, which the next holder detects.
final class ArchiveLock: @unchecked Sendable {
    private enum Kind {
        case robust(UnsafeMutableRawPointer)
        case file(FileDescriptor, ThreadGate)
    }

    private let kind: Kind
    private let starvation: StarvationMark
    /// Valid as long as the engine, which owns the lock and the index.
    private let index: IndexView

    private init(_ kind: Kind, _ index: IndexView) {
        self.kind = kind
        self.index = index
        starvation = StarvationMark(index)
    }

    convenience init(of index: IndexView) { self.init(.robust(index.mutex), index) }

    convenience init(file: FileDescriptor, _ index: IndexView) { self.init(.file(file, ThreadGate()), index) }

    enum Outcome {
        case acquired
        /// `isUsed`: other threads have held and released the lock within the last second.
        case timedOut(isUsed: Bool)
        case failed(Int32)
    }

    /// Waits at most `nanoseconds`. A thread that has waited longer than ``StarvationMark/waitBeforePriority`` has priority.
    @inline(__always) func acquire(nanoseconds: Int64) -> Outcome {
        if case .robust(let memory) = kind, ArchiveLock.isTaken(cp_mutex_trylock(memory)) {
            // Checked after taking the mutex: its cache line is loaded then, so this costs nothing.
            if !starvation.isSet { return .acquired }
            _ = cp_mutex_unlock(memory)
        }
        return acquireSlowly(nanoseconds: nanoseconds)
    }

    func tryAcquire() -> Bool {
        guard !starvation.forbids else { return false }
        switch kind {
        case .robust(let memory): return ArchiveLock.isTaken(cp_mutex_trylock(memory))
        case .file(let file, let gate):
            guard gate.enter(nanoseconds: 0) else { return false }
            if let held = try? file.lock(.exclusive, wait: false), held { return true }
            gate.leave()
            return false
        }
    }

    @inline(__always) func release() {
        switch kind {
        case .robust(let memory):
            _ = cp_mutex_unlock(memory)
        case .file(let file, let gate):
            file.unlock()
            gate.leave()
        }
    }

    @inline(__always)
    private static func isTaken(_ result: Int32) -> Bool { result == 0 || result == EOWNERDEAD }

    private static func outcome(_ result: Int32) -> Outcome? {
        switch result {
        case 0, EOWNERDEAD: .acquired
        case EBUSY, ETIMEDOUT: nil
        default: .failed(result)
        }
    }

    @inline(never) private func acquireSlowly(nanoseconds: Int64) -> Outcome {
        let start = cp_monotonic_time()
        if starvation.isSet { starvation.standBack(nanoseconds: nanoseconds) }
        switch kind {
        case .robust(let memory):
            return spin(memory, nanoseconds)
                ?? wait(since: start, nanoseconds) { ArchiveLock.outcome(cp_mutex_lock(memory, $0)) }
        case .file(let file, let gate):
            let entry = wait(since: start, nanoseconds) { gate.enter(nanoseconds: $0) ? .acquired : nil }
            guard case .acquired = entry else { return entry }
            let outcome = wait(for: file, since: start, nanoseconds)
            if case .acquired = outcome { return outcome }
            gate.leave()
            return outcome
        }
    }

    /// Nanoseconds. On two cores, eight threads that access and put achieve two fifths more than with a microsecond.
    private static let longestSpin: Int64 = 200_000

    /// Spins for the duration of most holds. While a thread sleeps, each release wakes one, which slows all threads.
    private func spin(_ memory: UnsafeMutableRawPointer, _ nanoseconds: Int64) -> Outcome? {
        let start = cp_monotonic_time()
        repeat {
            for _ in 0..<16 {
                cp_pause()
                if let outcome = ArchiveLock.outcome(cp_mutex_trylock(memory)) { return outcome }
            }
        } while cp_monotonic_time() &- start < min(nanoseconds, ArchiveLock.longestSpin)
        return nil
    }

    /// The longest step of waiting, in nanoseconds. If a waiter is killed just after a mutex woke it, and a thread that had not
    /// waited got the mutex first, the wake-up is lost: the kernel passes it on only if the mutex is free then.
    private static let longestStep: Int64 = 20_000_000

    private func wait(since start: Int64, _ nanoseconds: Int64, step: (Int64) -> Outcome?) -> Outcome {
        var settled = index.settledSequence
        var settledAt: Int64?
        var mark: UInt64?
        defer { if let mark { starvation.clear(mark) } }
        while true {
            let waited = cp_monotonic_time() &- start
            if settled != index.settledSequence {
                settled = index.settledSequence
                settledAt = waited
            }
            if waited >= StarvationMark.waitBeforePriority { mark = starvation.set() }
            let most = max(0, min(nanoseconds &- waited, ArchiveLock.longestStep))
            if let outcome = step(most) { return outcome }
            if waited >= nanoseconds {
                // The last release may have been long ago, and the thread that got the lock stopped then.
                return .timedOut(isUsed: settledAt.map { waited - $0 < 1_000_000_000 } ?? false)
            }
        }
    }

    /// `flock` has no timeout, so a held lock is tried again at growing intervals.
    private func wait(for file: FileDescriptor, since start: Int64, _ nanoseconds: Int64) -> Outcome {
        var pause: Int64 = 20_000
        return wait(since: start, nanoseconds) { most -> Outcome? in
            do throws(StorageError) {
                if try file.lock(.exclusive, wait: false) { return .acquired }
            } catch {
                if case .system(_, _, let code) = error { return .failed(code) }
                return .failed(EIO)
            }
            cp_sleep(min(pause, most))
            pause = min(pause * 2, 2_000_000)
            return nil
        }
    }

    /// Longest wait for the archive's lock, in nanoseconds.
    static let timeoutNanoseconds: Int64 = 10_000_000_000
}
