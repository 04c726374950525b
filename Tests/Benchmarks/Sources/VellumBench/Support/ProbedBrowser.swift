/// The browser at a terminal whose frames are read, and at which somebody presses keys all the time to see how long each takes
/// until a frame shows what it did. In the theme without colours: only what is selected is reversed there. One thread's.
final class ProbedBrowser {
    /// What is pressed meanwhile: what has an answer on the screen that is shown.
    enum Probe {
        /// Nothing.
        case none
        /// The cursor goes up and down, in a list or over a question.
        case rows
        /// The text that fills the screen goes up and down.
        case text
        /// Keys without an action, of which it says so: where there is nothing to move in.
        case words
    }

    private static let (columns, rows) = (120, 40)
    /// Between two keys, in nanoseconds.
    private static let interval: UInt64 = 50_000_000
    private static let patience: UInt64 = 60_000_000_000
    /// The first row of a list and of a text.
    static let body = 3
    /// Where something is typed or said.
    static let status = rows - 2
    private static let (up, down) = ("\u{1b}[A", "\u{1b}[B")

    private let program: TerminalProgram
    private(set) var screen = TerminalScreen(columns: columns, rows: rows)
    /// The longest time from a key until the frame that shows what it did, in each step, and how many keys there were.
    private(set) var slowestOfSteps: [(step: String, nanoseconds: UInt64)] = []
    private(set) var keys = 0
    /// Of keys that took longer than 100 ms: what was pressed, and what was to change by it, before and after.
    private(set) var late: [String] = []
    private var lastProbe: UInt64 = 0
    private var goesDown = true

    /// - Parameters:
    ///   - words: the program and its arguments.
    ///   - state: the folder in which it remembers what was chosen.
    init(_ words: [String], state: String) throws {
        program = try TerminalProgram(
            words + ["--theme", "mono"], columns: UInt16(ProbedBrowser.columns),
            rows: UInt16(ProbedBrowser.rows),
            variables: ["XDG_STATE_HOME": state, "XDG_CONFIG_HOME": state])
    }

    var ownMemory: Int? { program.ownMemory }

    var slowest: UInt64 { slowestOfSteps.map(\.nanoseconds).max() ?? 0 }

    /// The first row that is selected; empty where none is.
    var selected: String { screen.reversed.first?.text ?? "" }

    // MARK: Keys

    /// Presses what is answered at once, and waits for the frame that shows it: a key like those that are pressed all the time.
    func press(_ keys: String, _ step: String, until isShown: (ProbedBrowser) -> Bool) throws {
        note(try ask(keys, step, pressing: .none, until: isShown), step)
    }

    /// Presses what takes a while, or nothing, and other keys until the frame that shows its answer.
    /// - Returns: nanoseconds until then.
    @discardableResult
    func ask(
        _ keys: String, _ step: String, pressing probe: Probe, until isShown: (ProbedBrowser) -> Bool
    ) throws -> UInt64 {
        try catchUp()
        goesDown = true
        // It may have come with the frame before.
        if keys.isEmpty, isShown(self) { return 0 }
        let begun = Clock.now()
        try program.press(keys)
        // Another key within 50 ms of an answer to a plan would make it none.
        lastProbe = begun + 80_000_000
        var answered: UInt64?
        var pressed: (at: UInt64, key: String, shown: [String])?
        while answered == nil || pressed != nil {
            let now = Clock.now()
            // The last key pressed has the patience that all of it had.
            let limit = ProbedBrowser.patience * (answered == nil ? 1 : 2)
            guard now - begun < limit else { throw failure(step, pressed?.key) }
            if answered == nil, pressed == nil, now >= lastProbe + ProbedBrowser.interval,
                let key = key(for: probe)
            {
                pressed = (now, key, shown(by: probe, key))
                lastProbe = now
                try program.press(key)
            }
            guard let frame = try program.nextFrame(milliseconds: 5) else { continue }
            screen.take(frame)
            let arrived = Clock.now()
            if let key = pressed, case let after = shown(by: probe, key.key), after != key.shown {
                note(arrived - key.at, step)
                if arrived - key.at > 100_000_000 {
                    late.append("\(step), \(key.key.debugDescription): \(key.shown) became \(after)")
                }
                pressed = nil
            }
            if answered == nil, isShown(self) { answered = arrived }
        }
        return (answered ?? begun) - begun
    }

    /// The frames that came unasked.
    private func catchUp() throws {
        while let frame = try program.nextFrame(milliseconds: 0) { screen.take(frame) }
    }

    private func note(_ nanoseconds: UInt64, _ step: String) {
        keys += 1
        guard let place = slowestOfSteps.firstIndex(where: { $0.step == step }) else {
            return slowestOfSteps.append((step, nanoseconds))
        }
        slowestOfSteps[place].nanoseconds = max(slowestOfSteps[place].nanoseconds, nanoseconds)
    }

    private func key(for probe: Probe) -> String? {
        switch probe {
        case .none: return nil
        case .rows:
            return screen.reversed.first?.row == ProbedBrowser.body ? ProbedBrowser.down : ProbedBrowser.up
        case .text:
            defer { goesDown.toggle() }
            return goesDown ? ProbedBrowser.down : ProbedBrowser.up
        case .words:
            defer { goesDown.toggle() }
            return goesDown ? "%" : "&"
        }
    }

    /// What differs when a frame shows what the key did.
    private func shown(by probe: Probe, _ key: String) -> [String] {
        switch probe {
        case .none: []
        case .rows: screen.reversed.map { "\($0.row) \($0.text)" }
        case .text: [screen.line(ProbedBrowser.body)]
        case .words: ["\(screen.line(ProbedBrowser.status).contains("\(key) does nothing"))"]
        }
    }

    private func failure(_ step: String, _ key: String?) -> BenchmarkError {
        let unanswered = key.map { ", nor what \($0.debugDescription) does" } ?? ""
        return BenchmarkError(
            "P14, \(step): the browser didn't show in 60 s what was waited for\(unanswered), but\n"
                + screen.lines.joined(separator: "\n"))
    }
}
