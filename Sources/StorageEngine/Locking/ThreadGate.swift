import CPlatform
import SystemC

/// Admits one thread of this process at a time; others wait for a bounded time. Not recursive. (A mutex alone has no portable
/// timeout, and the admitted thread may itself wait for another process.)
final class ThreadGate: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let hasLeft: UnsafeMutablePointer<pthread_cond_t>
    /// Guarded by `mutex`.
    private var isTaken = false

    init() {
        mutex = .allocate(capacity: 1)
        hasLeft = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        cp_condition_init(hasLeft)
    }

    deinit {
        pthread_cond_destroy(hasLeft)
        pthread_mutex_destroy(mutex)
        hasLeft.deallocate()
        mutex.deallocate()
    }

    func enter(nanoseconds: Int64) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        // Uses the monotonic clock: setting the wall clock must neither end a wait nor prolong it.
        let start = cp_monotonic_time()
        while isTaken {
            let left = nanoseconds - (cp_monotonic_time() &- start)
            guard left > 0 else { break }
            cp_condition_wait(hasLeft, mutex, left)
        }
        guard !isTaken else { return false }
        isTaken = true
        return true
    }

    func leave() {
        pthread_mutex_lock(mutex)
        isTaken = false
        pthread_mutex_unlock(mutex)
        pthread_cond_signal(hasLeft)
    }
}
