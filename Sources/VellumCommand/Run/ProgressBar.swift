import TerminalKit

/// A progress line on the terminal of standard error; silent elsewhere and in the first tenth of a second. Overwrites itself
/// with blanks, which any terminal supports. For one thread.
struct ProgressBar {
    private static let cells = 24
    private static let interval = 0.1

    private let isShown = Console.isTerminal && !SystemText.isTerminalPlain
    private let start: Double
    private var drawn: Double
    private var shown = 0

    init() {
        start = MonotonicClock.seconds()
        drawn = start
    }

    /// Draws at most ten times a second. `total` of 0 or nil: unknown.
    mutating func update(done: UInt64, total: UInt64?, entries: Int) {
        guard let elapsed = timeToDraw() else { return }
        let rate = Double(entries) / max(elapsed, 0.001)
        let figures = "\(Figures.count(entries, "entry", "entries")), \(Figures.rate(rate)) a second"
        let share = total.flatMap { $0 > 0 ? Double(done) / Double($0) : nil }
        draw(share, figures, elapsed)
    }

    /// `share`: the completed part, 0 to 1.
    mutating func update(share: Double, _ work: String) {
        guard let elapsed = timeToDraw() else { return }
        draw(share, work, elapsed)
    }

    /// The seconds since the beginning; nil: not due.
    private mutating func timeToDraw() -> Double? {
        guard isShown else { return nil }
        let now = MonotonicClock.seconds()
        guard now - drawn >= Self.interval else { return nil }
        drawn = now
        return now - start
    }

    private mutating func draw(_ share: Double?, _ figures: String, _ elapsed: Double) {
        var lines = [figures]
        if let share = share.map({ min(1, max(0, $0)) }) {
            let filled = Int(share * Double(Self.cells))
            let bar =
                "[" + String(repeating: "#", count: filled)
                + String(repeating: ".", count: Self.cells - filled) + "]"
            let percent = "\(Int(share * 100)) %"
            lines = ["\(bar) \(percent)  \(figures)", "\(percent)  \(figures)", percent]
            // Earlier estimates would jump.
            if elapsed > 2, share > 0.01 {
                let left = Figures.interval((elapsed / share * (1 - share)).rounded(.up)) + " left"
                lines.insert(
                    contentsOf: ["\(bar) \(percent)  \(figures), \(left)", "\(percent)  \(left)"], at: 0)
            }
        }
        // The longest that fits: a wrapped line can't be overwritten.
        let available = (OutputWriter(descriptor: STDERR_FILENO).columns ?? 80) - 1
        show(lines.filter { TextWidth.width(of: $0) <= available }.max { $0.count < $1.count } ?? "")
    }

    private mutating func show(_ line: String) {
        guard !line.isEmpty || shown > 0 else { return }
        let columns = TextWidth.width(of: line)
        Console.write("\r" + line + String(repeating: " ", count: max(0, shown - columns)))
        shown = columns
    }

    mutating func finish() {
        guard shown > 0 else { return }
        show("")
        Console.write("\r")
    }
}

enum MonotonicClock {
    static func seconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
