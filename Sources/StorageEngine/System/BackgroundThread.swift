import CPlatform
import SystemC

/// The background thread of the process, which runs registered tasks when they are due, while any are registered. A task retains
/// its object until the object cancels it on closing.
package final class BackgroundThread: @unchecked Sendable {
    package static var shared: BackgroundThread { ofProcess.value }
    private static let ofProcess = PerProcess { BackgroundThread() }

    /// Returns the nanoseconds until the task's next run; `nil` ends the task.
    package typealias Task = @Sendable () -> Int64?

    package struct Ticket: Hashable, Sendable { fileprivate let number: UInt64 }

    private struct Pending {
        /// Time of the next run on the monotonic clock; the maximum during a run, unless another was requested.
        var due: Int64
        var task: Task
    }

    // All guarded by `mutex`; `wake` is signaled when tasks are added or removed, `finished` when a run of a task ends.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let wake: UnsafeMutablePointer<pthread_cond_t>
    private let finished: UnsafeMutablePointer<pthread_cond_t>
    private var pending: [Ticket: Pending] = [:]
    private var lastTicket: UInt64 = 0
    private var thread: pthread_t?
    private var isRunning = false
    private var current: Ticket?

    private init() {
        mutex = .allocate(capacity: 1)
        wake = .allocate(capacity: 1)
        finished = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        cp_condition_init(wake)
        cp_condition_init(finished)
    }

    private func locked<Value>(_ body: () -> Value) -> Value {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    /// Runs `task` after `nanoseconds`, and then after each interval that it returns.
    package func register(after nanoseconds: Int64, _ task: @escaping Task) throws(StorageError) -> Ticket {
        let code: (ticket: Ticket, failure: Int32) = locked {
            lastTicket += 1
            let ticket = Ticket(number: lastTicket)
            pending[ticket] = Pending(due: cp_monotonic_time() &+ nanoseconds, task: task)
            let failure = isRunning ? 0 : start()
            if failure != 0 { pending[ticket] = nil }
            pthread_cond_signal(wake)
            return (ticket, failure)
        }
        guard code.failure == 0 else {
            throw .system(operation: "start", path: "the background thread", code: code.failure)
        }
        return code.ticket
    }

    /// Schedules the next run of a task in at most this number of nanoseconds, also if it is running now.
    package func hasten(_ ticket: Ticket, to nanoseconds: Int64) {
        locked {
            let due = cp_monotonic_time() &+ nanoseconds
            guard let known = pending[ticket] else { return }
            if known.due > due { pending[ticket]?.due = due }
            pthread_cond_signal(wake)
        }
    }

    /// Ends a task and waits for its current run, unless that run calls this. `false`: still running. Don't hold the task's locks.
    @discardableResult package func cancel(_ ticket: Ticket, within nanoseconds: Int64) -> Bool {
        locked {
            pending[ticket] = nil
            pthread_cond_signal(wake)
            if let thread, pthread_equal(thread, pthread_self()) != 0 { return true }
            let end = cp_monotonic_time().addingSaturating(nanoseconds)
            while current == ticket {
                let left = end.subtractingSaturating(cp_monotonic_time())
                guard left > 0 else { return false }
                cp_condition_wait(finished, mutex, left)
            }
            return true
        }
    }

    package var isActive: Bool { locked { isRunning } }

    /// Returns 0 or an errno. Requires the mutex.
    private func start() -> Int32 {
        let failure = cp_start_thread(
            { _ in
                BackgroundThread.shared.run()
                return nil
            }, nil)
        isRunning = failure == 0
        return failure
    }

    private func run() {
        pthread_mutex_lock(mutex)
        thread = pthread_self()
        while let next = pending.min(by: { $0.value.due < $1.value.due }) {
            let now = cp_monotonic_time()
            guard next.value.due <= now else {
                cp_condition_wait(wake, mutex, next.value.due - now)
                continue
            }
            pending[next.key]?.due = .max
            current = next.key
            pthread_mutex_unlock(mutex)
            let again = next.value.task()
            pthread_mutex_lock(mutex)
            current = nil
            pthread_cond_broadcast(finished)
            // The task may have been cancelled during the run, or rescheduled for work that the run missed.
            guard let hastened = pending[next.key]?.due else { continue }
            pending[next.key] = again.map {
                Pending(due: min(hastened, cp_monotonic_time() &+ max($0, 1_000_000)), task: next.value.task)
            }
        }
        isRunning = false
        thread = nil
        pthread_mutex_unlock(mutex)
    }
}
