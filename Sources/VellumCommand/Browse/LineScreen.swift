import BrowserCore
import StoreInspection
import TerminalCurses
import TerminalKit

/// For one thread, but for ``waker``. The terminal as a screen reader wants it: nothing is drawn, and each change is a line.
struct LineScreen: BrowserTerminal {
    private let terminal: CursesTerminal
    private var speaker = Speaker()
    /// What stands in the line that is not at its end.
    private var typed: Speaker.Typing?
    private var hasInput = false

    /// The terminal that the program was started in, of whatever type.
    static func open() throws(CommandFailure) -> LineScreen {
        do throws(TerminalError) {
            return LineScreen(
                terminal: try CursesTerminal(
                    environment: ProcessInfo.processInfo.environment, drawsFrames: false))
        } catch {
            throw CommandFailure(
                "\(error); --lines needs one to read keys from, and browse --size 100x30 --keys … --print text none",
                status: .usage)
        }
    }

    private init(terminal: CursesTerminal) { self.terminal = terminal }

    /// Of a screen that nobody sees: its lists have as many rows, and its texts are as wide.
    var size: Size { Size(columns: 160, rows: 30) }

    var look: Look { Look(theme: Theme(.mono, depth: .mono), glyphs: terminal.isUTF8 ? .unicode : .ascii) }

    func present(_ frame: Frame) {}

    mutating func show(_ model: Model, drawnAs frame: Frame) {
        let lines = speaker.lines(model, frame, isAnswer: hasInput)
        hasInput = false
        if speaker.asks { terminal.forgetInput() }
        let typing = speaker.typing
        var text = ""
        // What is typed appears where it is typed, as in shells.
        if lines.isEmpty, let typed, let typing, let echo = Self.echo(typing, after: typed) {
            text = echo
        } else if !lines.isEmpty || typing != typed {
            if typed != nil { text += "\r\n" }
            text += lines.map { $0 + "\r\n" }.joined()
            if let typing { text += Self.words(typing) }
        }
        typed = typing
        guard !text.isEmpty else { return }
        terminal.send(Array((terminal.isUTF8 ? text : TerminalText.ascii(text)).utf8))
    }

    var wantsAgain: Bool { speaker.owes }

    /// What makes the line that has the one text have the other; nil if it has to be written anew.
    private static func echo(_ now: Speaker.Typing, after before: Speaker.Typing) -> String? {
        guard now.label == before.label, now.behind.isEmpty, before.behind.isEmpty else {
            return now == before ? "" : nil
        }
        if now.text.hasPrefix(before.text) {
            return TerminalText.sanitized(String(now.text.dropFirst(before.text.count)))
        }
        let isShorter = before.text.hasPrefix(now.text) && before.text.count == now.text.count + 1
        let last = TerminalText.sanitized(String(before.text.suffix(1)))
        return isShorter && TextWidth.width(of: last) == 1 ? "\u{8} \u{8}" : nil
    }

    private static func words(_ typing: Speaker.Typing) -> String {
        let behind = TextWidth.width(of: TerminalText.sanitized(typing.behind))
        return TerminalText.sanitized(typing.label + typing.text) + String(repeating: "\u{8}", count: behind)
    }

    /// One at a time: what each leads to is said before the next counts.
    mutating func nextEvent(timeout: Double) -> InputEvent? {
        if hasInput, timeout == 0 { return nil }
        let event = terminal.nextEvent(timeoutMilliseconds: Int((timeout * 1000).rounded(.up)))
        switch event {
        case .key(Key(.character("z"), modifiers: .control)):
            terminal.suspend()
            return resumed()
        case .key(Key(.character("l"), modifiers: .control)): return resumed()
        case .resumed: return resumed()
        case .resize: return nil
        case .key, .paste, .mouse: hasInput = true
        default: break
        }
        return event
    }

    private mutating func resumed() -> InputEvent {
        speaker.startAnew()
        return .resumed
    }

    var waker: @Sendable () -> Void {
        let waker = terminal.waker
        return { waker.wake() }
    }

    func send(_ bytes: [UInt8]) { terminal.send(bytes) }

    mutating func run(_ script: String, arguments: [String]) throws(SourceError) -> Int32 {
        defer { speaker.startAnew() }
        do throws(TerminalError) {
            return try terminal.run(script: script, arguments: arguments)
        } catch {
            throw SourceError("\(error)")
        }
    }

    func close() { terminal.close() }
}
