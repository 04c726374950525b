import BrowserCore
import Foundation
import StoreInspection
import Synchronization
import TerminalKit

extension BrowserLoopTests {
    final class Bell: Sendable {
        private let rung = Mutex(false)

        func ring() { rung.withLock { $0 = true } }

        func hasRung() -> Bool {
            rung.withLock { rung in
                defer { rung = false }
                return rung
            }
        }
    }

    /// Returns its events one by one, each after its text is shown. For one thread, except for its waker.
    final class Terminal: BrowserTerminal {
        struct Step {
            /// Text that must be shown before the event.
            var whenShown: String
            var event: InputEvent
            /// Whether it arrives only during a wait.
            var isLate = false
            /// Seconds before it arrives.
            var after = 0.0
            /// Whether the user reads the screen first, which takes a while.
            var isRead = true
            /// Called with the event.
            var then: () -> Void = {}
        }

        var size = Size(columns: 80, rows: 24)
        var steps: [Step]
        var frames: [Frame] = []
        /// Bytes sent besides frames, and scripts run, each with the number of frames before it.
        var sent: [[UInt8]] = []
        var scripts: [(script: String, frames: Int)] = []
        /// Remaining calls without an event before the test fails.
        private var remaining = 600
        /// Microseconds that each of them waits, for slow work.
        var pause: UInt32 = 0
        private let bell = Bell()
        let clock: TestClock
        /// The text that the last event waited for. A new text is read first; events for the same text arrive at once.
        private var read = ""

        init(_ steps: [Step], clock: TestClock = TestClock()) {
            (self.steps, self.clock) = (steps, clock)
        }

        func present(_ frame: Frame) { frames.append(frame) }

        func send(_ bytes: [UInt8]) { sent.append(bytes) }

        func run(_ script: String, arguments: [String]) throws(SourceError) -> Int32 {
            scripts.append((script, frames.count))
            return 3
        }

        var waker: @Sendable () -> Void { { [bell] in bell.ring() } }

        func nextEvent(timeout: Double) -> InputEvent? {
            if let step = steps.first, frames.last?.plainText.contains(step.whenShown) == true,
                !step.isLate || timeout > 0
            {
                steps.removeFirst()
                clock.advance(step.after + (step.whenShown == read || !step.isRead ? 0 : 0.3))
                read = step.whenShown
                step.then()
                return step.event
            }
            if bell.hasRung() { return .wake }
            remaining -= 1
            usleep(pause)
            return remaining > 0 ? nil : .hangUp
        }
    }
}
