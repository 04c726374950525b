/// A browser on a terminal whose frames are read, with continuous key presses to measure the time until a frame shows their
/// effect. Uses the theme without colors, where only the selection is reversed. For one thread.
final class ProbedBrowser {
    /// Keys to press during a step, which must have an effect on the present screen.
    enum Probe {
        /// Nothing.
        case none
        /// Moves the cursor up and down in a list or a prompt.
        case rows
        /// Scrolls a text that fills the screen.
        case text
        /// Keys without an action, for which a message appears: where nothing can move.
        case words
    }

    private static let (columns, rows) = (120, 40)
    /// Interval between keys in nanoseconds.
    private static let interval: UInt64 = 50_000_000
    private static let timeout: UInt64 = 60_000_000_000
    /// The first row of a list and of a text.
    static let body = 3
    /// The row of prompts and messages.
    static let status = rows - 2
    private static let (up, down) = ("\u{1b}[A", "\u{1b}[B")

    private let program: TerminalProgram
    private(set) var screen = TerminalScreen(columns: columns, rows: rows)
    /// The longest time of each step from a key until the frame that shows its effect, and the number of keys.
    private(set) var slowestOfSteps: [(step: String, nanoseconds: UInt64)] = []
    private(set) var keys = 0
    /// For keys that took longer than 100 ms: the key and the rows that it should change, before and after.
    private(set) var late: [String] = []
    private var lastProbe: UInt64 = 0
    private var goesDown = true

    /// - Parameters:
    ///   - words: the program and its arguments.
    ///   - state: the folder in which it stores its state.
    init(_ words: [String], state: String) throws {
        program = try TerminalProgram(
            words + ["--theme", "mono"], columns: UInt16(ProbedBrowser.columns),
            rows: UInt16(ProbedBrowser.rows),
            variables: ["XDG_STATE_HOME": state, "XDG_CONFIG_HOME": state])
    }

    var ownMemory: Int? { program.ownMemory }

    var slowest: UInt64 { slowestOfSteps.map(\.nanoseconds).max() ?? 0 }

    /// The first selected row; empty without a selection.
    var selected: String { screen.reversed.first?.text ?? "" }

    // MARK: Keys

    /// Presses keys with an immediate effect, and waits for the frame that shows it.
    func press(_ keys: String, _ step: String, until isShown: (ProbedBrowser) -> Bool) throws {
        note(try ask(keys, step, pressing: .none, until: isShown), step)
    }

    /// Presses keys with a slow effect, or none, then probe keys until the frame that shows the effect.
    /// - Returns: nanoseconds until that frame.
    @discardableResult
    func ask(
        _ keys: String, _ step: String, pressing probe: Probe, until isShown: (ProbedBrowser) -> Bool
    ) throws -> UInt64 {
        try catchUp()
        goesDown = true
        // It may have been in the previous frame.
        if keys.isEmpty, isShown(self) { return 0 }
        let begun = Clock.now()
        try program.press(keys)
        // A key within 50 ms of the response to a plan would cancel it.
        lastProbe = begun + 80_000_000
        var answered: UInt64?
        var pressed: (at: UInt64, key: String, shown: [String])?
        while answered == nil || pressed != nil {
            let now = Clock.now()
            // The last key has the whole time limit.
            let limit = ProbedBrowser.timeout * (answered == nil ? 1 : 2)
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

    /// Reads frames that were sent without a key.
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

    /// The part of the screen that a probe key changes.
    private func shown(by probe: Probe, _ key: String) -> [String] {
        switch probe {
        case .none: []
        case .rows: screen.reversed.map { "\($0.row) \($0.text)" }
        case .text: [screen.line(ProbedBrowser.body)]
        case .words: ["\(screen.line(ProbedBrowser.status).contains("\(key) does nothing"))"]
        }
    }

    private func failure(_ step: String, _ key: String?) -> BenchmarkError {
        let unanswered = key.map { ", nor the effect of \($0.debugDescription)" } ?? ""
        return BenchmarkError(
            "P14, \(step): the browser didn't show in 60 s the expected text\(unanswered), but\n"
                + screen.lines.joined(separator: "\n"))
    }
}
