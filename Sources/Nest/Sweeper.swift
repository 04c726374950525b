import Foundation

/// Wakes a nest when something in it expires: one timer for all its items.
final class Sweeper: @unchecked Sendable {
    private static let queue = DispatchQueue(label: "nest.expiry", qos: .utility)
    /// The longest wait in nanoseconds, because timers stop while the machine sleeps.
    private static let longestWait: Int64 = 30_000_000_000

    private let lock = NSLock()
    // Guarded by `lock`.
    private var timer: (any DispatchSourceTimer)?
    private var wakes: Int64 = .max

    deinit { timer?.cancel() }

    /// Ensures that `nest` is swept at `moment` or earlier.
    func wake(at moment: Int64, _ nest: Nest) {
        lock.lock()
        defer { lock.unlock() }
        guard moment < wakes else { return }
        let now = NestClock.now()
        let wait = max(0, min(moment - now, Sweeper.longestWait))
        wakes = now + wait
        if timer == nil {
            let timer = DispatchSource.makeTimerSource(queue: Sweeper.queue)
            timer.setEventHandler { [weak self, weak nest] in
                guard let self, let nest else { return }
                self.lock.withLock { self.wakes = .max }
                if let next = nest.sweep() { self.wake(at: next, nest) }
            }
            timer.schedule(deadline: .now() + .nanoseconds(Int(wait)), leeway: .milliseconds(20))
            timer.activate()
            self.timer = timer
        } else {
            timer?.schedule(deadline: .now() + .nanoseconds(Int(wait)), leeway: .milliseconds(20))
        }
    }
}
