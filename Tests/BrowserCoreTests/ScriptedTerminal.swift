import BrowserCore
import Foundation
import StoreInspection
import Synchronization
import TerminalKit

extension BrowserLoopTests {
    /// Safe from any thread.
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

    /// Gives its events one at a time, each when the screen shows what is waited for. Used by one thread, but for its
    /// waker.
    final class Terminal: BrowserTerminal {
        struct Step {
            /// Text that the screen must show before the event comes.
            var whenShown: String
            var event: InputEvent
            /// Whether it comes only where somebody waits for it.
            var isLate = false
            /// Seconds that pass before it comes.
            var after = 0.0
            /// Whether the screen is read before, which takes a while.
            var isRead = true
            /// What happens with it.
            var then: () -> Void = {}
        }

        var size = Size(columns: 80, rows: 24)
        var steps: [Step]
        var frames: [Frame] = []
        /// What it was sent besides frames, and the scripts that it was given to, with how many frames were shown by then.
        var sent: [[UInt8]] = []
        var scripts: [(script: String, frames: Int)] = []
        /// Calls without an event, after which the test gives up instead of waiting for ever.
        private var patience = 600
        /// Microseconds for which each of them waits, for work that takes a while.
        var pause: UInt32 = 0
        private let bell = Bell()
        let clock: TestClock
        /// What the last event waited for. Another text is read before the next key is pressed; events that wait for the same come
        /// at once.
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
            patience -= 1
            usleep(pause)
            return patience > 0 ? nil : .hangUp
        }
    }
}
