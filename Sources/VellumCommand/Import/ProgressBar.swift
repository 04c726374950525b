import StoreInspection

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// For one thread. A line on a terminal's standard error that shows how far a long job is; silent elsewhere, where no line can be
/// taken back, and in the first tenth of a second.
struct ProgressBar {
    private static let cells = 24
    private static let interval = 0.1

    private let isShown = Narration.isTerminal && !SystemText.isTerminalPlain
    private let start: Double
    private var drawn: Double
    private var isOnScreen = false

    init() {
        start = MonotonicClock.seconds()
        drawn = start
    }

    /// Draws the state, at most ten times a second. `total` of 0 or nil: not known.
    mutating func update(done: UInt64, total: UInt64?, entries: Int) {
        guard isShown else { return }
        let now = MonotonicClock.seconds()
        guard now - drawn >= Self.interval else { return }
        drawn = now
        isOnScreen = true
        var line = "\r"
        if let total, total > 0 {
            let share = min(1, Double(done) / Double(total))
            let filled = Int(share * Double(Self.cells))
            line +=
                "[" + String(repeating: "#", count: filled)
                + String(repeating: ".", count: Self.cells - filled) + "] \(Int(share * 100)) %  "
        }
        let rate = Double(entries) / max(now - start, 0.001)
        let figures = "\(Figures.count(entries, "entry", "entries")), \(Figures.rate(rate)) a second"
        // Clears what a longer line left behind.
        Narration.write(line + figures + "\u{1b}[K")
    }

    /// Takes the line off the screen.
    mutating func finish() {
        guard isOnScreen else { return }
        isOnScreen = false
        Narration.write("\r\u{1b}[K")
    }
}

/// Stateless; safe from any thread. Time for intervals, not for dates.
enum MonotonicClock {
    static func seconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
