import ArchiveQuery
import TerminalCurses
import TerminalKit

/// Reads lines at a terminal, with ``TextField``'s keys, completion and history. Draws on standard error with CR, EL, CUF and
/// SGR. Restores the terminal's modes while a command runs. For one thread.
final class LineEditor {
    private let history: ShellHistory?
    private var decoder = InputDecoder()
    private let look = Look(theme: Theme(.mono, depth: .mono))
    private var modes = termios()

    private var field = LineEditor.field("")
    private var earlier = ""
    /// Index of the recalled line, from the latest.
    private var recalled: Int?
    private var draft = ""
    /// Text of the history search, and the number of latest matches to skip.
    private var search: (text: TextField, skipped: Int)?

    init(history: ShellHistory?) throws(CommandFailure) {
        self.history = history
        guard tcgetattr(STDIN_FILENO, &modes) == 0 else {
            throw CommandFailure("the terminal", errno: errno, status: .storeFailure)
        }
    }

    private static func field(_ text: String) -> TextField {
        var field = TextField(text)
        field.role = .text
        return field
    }

    /// The next complete input; nil at the end.
    func nextLine(_ shell: Shell) throws(CommandFailure) -> String? {
        setRaw()
        defer { tcsetattr(STDIN_FILENO, TCSADRAIN, &modes) }
        (field, earlier, recalled, search) = (Self.field(""), "", nil, nil)
        var typed = ""
        while true {
            // Pasted text arrives faster than it could be drawn.
            if wait(0) <= 0 {
                insert(&typed)
                draw(shell)
            }
            guard let events = nextEvents() else { return nil }
            for event in events {
                if case .paste(let text) = event { typed += text }
                if !event.words.isEmpty {
                    leaveLine()
                    Console.write(event.words)
                    leaveLine()
                }
                guard case .key(let key) = event else { continue }
                if search == nil, let character = key.text {
                    typed.append(character)
                    continue
                }
                insert(&typed)
                switch press(key, shell) {
                case .more: break
                case .line(let line):
                    draw(shell)
                    leaveLine()
                    history?.remember(line)
                    return line
                case .end:
                    leaveLine()
                    return nil
                }
            }
        }
    }

    private func insert(_ typed: inout String) {
        guard !typed.isEmpty else { return }
        field.insert(typed)
        (typed, recalled) = ("", nil)
    }

    private enum Outcome {
        case more, end
        case line(String)
    }

    // MARK: Keys

    private func press(_ key: Key, _ shell: Shell) -> Outcome {
        if search != nil, !pressInSearch(key) { return .more }
        switch (key.code, key.modifiers) {
        case (.enter, _), (.character("j"), .control), (.character("m"), .control):
            let line = earlier + field.text
            guard shell.isUnfinished(line) else { return .line(line) }
            leaveLine()
            earlier = Shell.join(line, "")
            field.text = ""
        case (.character("d"), .control) where field.text.isEmpty && earlier.isEmpty: return .end
        case (.character("c"), .control):
            Console.write("^C")
            leaveLine()
            (earlier, recalled, field.text) = ("", nil, "")
        case (.character("z"), .control): suspend()
        case (.character("l"), .control): Console.write("\u{1b}[H\u{1b}[2J")
        case (.character("r"), .control): search = (Self.field(""), 0)
        case (.up, _), (.character("p"), .control): recall(1)
        case (.down, _), (.character("n"), .control): recall(-1)
        case (.tab, _): complete(shell)
        default:
            if field.handle(key) { recalled = nil }
        }
        return .more
    }

    private func recall(_ step: Int) {
        let lines = history?.lines ?? []
        let place = (recalled ?? -1) + step
        guard place < lines.count, place >= -1 else { return }
        if recalled == nil { draft = field.text }
        recalled = place < 0 ? nil : place
        field.text = place < 0 ? draft : lines[lines.count - 1 - place]
    }

    private var found: String? {
        guard let search, !search.text.text.isEmpty else { return nil }
        let text = search.text.text.lowercased()
        return (history?.lines ?? []).reversed().lazy.filter { $0.lowercased().contains(text) }
            .dropFirst(search.skipped).first
    }

    /// Whether the key applies to the found line.
    private func pressInSearch(_ key: Key) -> Bool {
        switch (key.code, key.modifiers) {
        case (.character("r"), .control), (.up, _):
            search?.skipped += 1
            if found == nil { search?.skipped -= 1 }
            return false
        case (.down, _):
            if let skipped = search?.skipped, skipped > 0 { search?.skipped = skipped - 1 }
            return false
        case (.escape, _), (.character("c"), .control), (.character("g"), .control):
            search = nil
            return false
        default:
            if search?.text.handle(key) == true, key.text != nil || key.code == .backspace {
                search?.skipped = 0
                return false
            }
            if let found { field.text = found }
            search = nil
            return true
        }
    }

    private func complete(_ shell: Shell) {
        let completion = ShellCompletion(field, after: earlier, shell)
        guard let first = completion.choices.first else { return Console.write("\u{07}") }
        if completion.choices.count == 1 { return field.replace(completion.range, with: first + " ") }
        let common = completion.common
        if common.count > completion.range.count { return field.replace(completion.range, with: common) }
        leaveLine()
        show(completion.choices)
    }

    /// Prints choices in columns, up to half the screen.
    private func show(_ choices: [String]) {
        let size = window()
        let shown = choices.map(TerminalText.sanitized)
        let width = min(size.columns, (shown.map(TextWidth.width(of:)).max() ?? 0) + 2)
        let columns = max(1, size.columns / max(1, width))
        let most = columns * max(1, size.rows / 2)
        for start in stride(from: 0, to: min(most, shown.count), by: columns) {
            let row = shown[start..<min(start + columns, shown.count, most)].map {
                let text = TextWidth.truncate($0, to: width - 1, ellipsis: look.glyphs.ellipsis)
                return text + String(repeating: " ", count: max(0, width - TextWidth.width(of: text)))
            }
            Console.write(row.joined() + "\r\n")
        }
        if shown.count > most { Console.write("and \(Figures.count(shown.count - most)) more\r\n") }
    }

    // MARK: The terminal

    private func setRaw() {
        var raw = modes
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
        raw.c_iflag &= ~tcflag_t(ICRNL | INLCR | IXON)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &raw)
    }

    private func suspend() {
        Console.write("\r\n")
        tcsetattr(STDIN_FILENO, TCSADRAIN, &modes)
        kill(0, SIGTSTP)
        setRaw()
    }

    /// The next events; nil if the terminal is closed. Reads single bytes: later ones may be for the command.
    private func nextEvents() -> [InputEvent]? {
        while true {
            let ready = wait(decoder.deadline.map(CursesTerminal.wait(until:)) ?? -1)
            if ready < 0, errno != EINTR { return nil }
            if ready == 0 { return decoder.flush() }
            guard ready > 0 else { continue }
            var byte: UInt8 = 0
            let count = read(STDIN_FILENO, &byte, 1)
            if count == 0 || count < 0 && errno != EINTR && errno != EAGAIN { return nil }
            if count == 1 { return decoder.feed(CollectionOfOne(byte), at: CursesTerminal.milliseconds()) }
        }
    }

    /// Waits for input; -1 milliseconds wait without a limit. Returns the result of `poll`.
    private func wait(_ milliseconds: Int32) -> Int32 {
        var waiting = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, milliseconds)
    }

    private func window() -> Size {
        var window = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0 else {
            return Size(columns: 80, rows: 24)
        }
        return Size(columns: Int(window.ws_col), rows: Int(window.ws_row))
    }

    // MARK: Drawing

    private func draw(_ shell: Shell) {
        mark(shell)
        // Leave the last column empty: some terminals wrap there.
        let columns = max(1, window().columns - 1)
        var frame = Frame(size: Size(columns: columns, rows: 1), isASCII: look.isASCII)
        let line = Rect(column: 0, row: 0, columns: columns, rows: 1)
        let prompt = TextWidth.truncate(
            self.prompt(shell), to: columns * 2 / 3, ellipsis: look.glyphs.ellipsis)
        let width = frame.write(prompt, at: line.origin)
        let shown = search.map { _ in Self.field(found ?? "") } ?? field
        frame.draw(shown, in: line.split(left: width).rest, look: look)
        let text = frame.ansiText(depth: .mono).dropLast()
        let column = frame.cursor?.column ?? width
        Console.write("\r" + text + "\u{1b}[K\r" + (column > 0 ? "\u{1b}[\(column)C" : ""))
    }

    private func prompt(_ shell: Shell) -> String {
        if let search {
            let text = look.legible(search.text.text)
            return found == nil && !text.isEmpty ? "no line has '\(text)': " : "earlier line with '\(text)': "
        }
        return earlier.isEmpty
            ? shell.prompt : String(repeating: " ", count: max(0, shell.prompt.count - 2)) + "| "
    }

    /// Highlights errors of a query, except at its end, where it may continue.
    private func mark(_ shell: Shell) {
        field.highlights = []
        let whole = earlier + field.text
        guard shell.isQuery(whole), case .errors(let errors) = QueryPipeline.parse(whole) else { return }
        let length = whole.utf8.count
        for error in errors where error.range.upperBound < length {
            let start = field.place(ofByte: max(0, error.range.lowerBound - earlier.utf8.count))
            let end = field.place(ofByte: max(0, error.range.upperBound - earlier.utf8.count))
            field.highlights.append((start..<max(start + 1, end), .error))
        }
    }

    private func leaveLine() {
        search = nil
        Console.write("\r\n")
    }
}
