import StoreInspection

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// For one thread. A line on a terminal's standard error that shows how far a long job is; silent elsewhere, where no line can be
/// taken back, and in the first tenth of a second. Blanks take it back, so any terminal will do.
struct ProgressBar {
    private static let cells = 24
    private static let interval = 0.1

    private let isShown = Narration.isTerminal && !SystemText.isTerminalPlain
    private let start: Double
    private var drawn: Double
    /// Columns that the line on the screen takes.
    private var shown = 0

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
        let rate = Double(entries) / max(now - start, 0.001)
        let figures = "\(Figures.count(entries, "entry", "entries")), \(Figures.rate(rate)) a second"
        var lines = [figures]
        if let total, total > 0 {
            let share = min(1, Double(done) / Double(total))
            let filled = Int(share * Double(Self.cells))
            let bar =
                "[" + String(repeating: "#", count: filled)
                + String(repeating: ".", count: Self.cells - filled)
                + "]"
            let percent = "\(Int(share * 100)) %"
            lines = ["\(bar) \(percent)  \(figures)", "\(percent)  \(figures)", percent]
        }
        // The widest that has room: a line that wraps can't be taken back.
        let room = (OutputWriter(descriptor: STDERR_FILENO).columns ?? 80) - 1
        show(lines.first { $0.count <= room } ?? "")
    }

    private mutating func show(_ line: String) {
        guard !line.isEmpty || shown > 0 else { return }
        Narration.write("\r" + line + String(repeating: " ", count: max(0, shown - line.count)))
        shown = line.count
    }

    /// Takes the line off the screen.
    mutating func finish() {
        guard shown > 0 else { return }
        show("")
        Narration.write("\r")
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
