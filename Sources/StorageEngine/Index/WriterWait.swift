import CPlatform
import Synchronization
import SystemC

/// One reader's bounded wait for a process that is in the middle of a change: spins, yields, then sleeps. For one thread. A
/// running process completes a change within microseconds, so a wait without success means that it was stopped: the index memory
/// records the state, and readers don't wait again while it lasts. For a second, waits for other processes are short.
final class WriterWait {
    private let bytes: IndexBytes
    /// Nanoseconds left for all waits of this object.
    private var left: Int64
    private var attempts = 0
    private var (state, begin, end) = (UInt64(0), Int64(0), Int64(0))

    /// Longest total wait of a reader, in nanoseconds.
    private static let longestWait: Int64 = 20_000_000
    private static let shortWait: Int64 = 1_000_000
    private static let cautionNanoseconds: Int64 = 1_000_000_000
    private static let spins = 100
    private static let yields = 200
    /// When a wait for another process last ended without success, on the monotonic clock.
    private static let lastTimeout = Atomic<Int64>(-cautionNanoseconds)

    init<Right>(_ index: MappedIndex<Right>, atMost nanoseconds: Int64 = longestWait) {
        bytes = index.memory
        left = nanoseconds
    }

    /// Begins another wait, with the time that the previous ones have left.
    func restart() {
        if attempts > WriterWait.spins { left -= cp_monotonic_time() &- begin }
        attempts = 0
    }

    /// Waits briefly. Returns `false` if the time is over or waiting is useless.
    func shouldContinue() -> Bool {
        attempts += 1
        guard attempts > WriterWait.spins else {
            cp_pause()
            return true
        }
        let now = cp_monotonic_time()
        if attempts == WriterWait.spins + 1 { start(now) }
        guard now < end else {
            if end > begin, bytes.writerState == state { noteTimeout(now) }
            return false
        }
        if attempts <= WriterWait.yields {
            sched_yield()
        } else {
            bytes.memory.readerSleeps.add(1, ordering: .relaxed)
            cp_sleep(50_000)
        }
        return true
    }

    private func start(_ now: Int64) {
        (state, begin, end) = (bytes.writerState, now, now)
        guard bytes.memory.stoppedState.load(ordering: .relaxed) != state else { return }
        let isRecent = now &- WriterWait.lastTimeout.load(ordering: .relaxed) < WriterWait.cautionNanoseconds
        end += max(0, isRecent && !isOwn ? min(left, WriterWait.shortWait) : left)
    }

    private func noteTimeout(_ now: Int64) {
        bytes.memory.stoppedState.store(state, ordering: .relaxed)
        if owner != 0, !isOwn { WriterWait.lastTimeout.store(now, ordering: .relaxed) }
    }

    private var owner: UInt64 { bytes.word64(IndexLayout.lockOwnerOffset) }
    /// Whether a thread of this process makes the change. It may wait for a processor, but isn't stopped.
    private var isOwn: Bool { owner == UInt64(getpid()) }
}

extension IndexBytes {
    /// A number that changes with every step of a change that readers may wait for. Never 0.
    fileprivate var writerState: UInt64 {
        var state: UInt64 = 0
        for offset in [
            IndexLayout.lockOwnerOffset, IndexLayout.headOffset, IndexLayout.structureOffset,
            IndexLayout.returnsOffset, IndexLayout.touchDrainedOffset, IndexLayout.sequenceOffset,
        ] { state = (state ^ word64(offset)) &* 0x9E37_79B9_7F4A_7C15 &+ 1 }
        return state | 1
    }
}

extension MappedIndex {
    /// Whether a reader has waited without success for the current change, which has not proceeded since.
    var isWriterStopped: Bool { storage.stoppedState.load(ordering: .relaxed) == memory.writerState }
}
