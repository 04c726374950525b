import Synchronization
import SystemC

/// The processor time of this thread, independent of other threads.
enum ThreadTime {
    static func now() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

/// The time limit for all regular expressions of a query or a filter: one second of processor time and a microsecond a byte,
/// then another second for texts that are decided quickly. ``TextPattern/timeLimit`` limits a single text.
package final class SearchTimeLimit: Sendable {
    /// The basic time, and the further time for quick searches.
    package static let whole = Duration.seconds(1)
    private static let ofByte = Duration.microseconds(1)

    private struct State {
        /// Negative after a text that exceeded it.
        var left: Duration
        var givenUp = 0
    }

    private let basic: Duration
    private let state: Mutex<State>

    /// Texts whose search was given up. The condition is unknown for them.
    package var givenUp: Int { state.withLock { $0.givenUp } }

    package init(for basic: Duration = SearchTimeLimit.whole) {
        self.basic = basic
        state = Mutex(State(left: basic))
    }

    /// The time limit for a text of this size; `nil` to give it up without searching.
    fileprivate func begin(bytes: Int) -> Duration? {
        state.withLock { state in
            state.left += SearchTimeLimit.ofByte * bytes
            guard state.left > .zero - basic else {
                state.givenUp += 1
                return nil
            }
            return max(.zero, min(TextPattern.timeLimit, state.left))
        }
    }

    fileprivate func end(after taken: Duration, isGivenUp: Bool) {
        state.withLock { state in
            state.left -= min(taken, TextPattern.timeLimit)
            if isGivenUp { state.givenUp += 1 }
        }
    }

    var warning: String? {
        let givenUp = givenUp
        guard givenUp > 0 else { return nil }
        return "the regular expression exceeded its time limit on \(givenUp) text\(givenUp == 1 ? "" : "s"), "
            + "so the condition is unknown there; use a simpler expression, or \"contains\""
    }
}

extension TextPattern {
    /// Like ``matches(_:)``, within a limit for many texts; nil for texts that exceed it, which are counted.
    package func matches(_ text: String, within timeLimit: SearchTimeLimit) -> Bool? {
        guard let allowed = timeLimit.begin(bytes: text.utf8.count) else { return nil }
        let start = ThreadTime.now()
        let outcome = search(text, within: allowed)
        timeLimit.end(after: ThreadTime.now() - start, isGivenUp: outcome.isGivenUp)
        return outcome.isGivenUp ? nil : outcome == .found
    }
}
