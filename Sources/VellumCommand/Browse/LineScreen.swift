import BrowserCore
import TerminalCurses
import TerminalKit

/// A terminal for screen readers: prints each change as a line. For one thread, except ``waker``.
struct LineScreen: CursesScreen {
    let terminal: CursesTerminal
    private var speaker = AccessibilityOutput()
    private var typed: AccessibilityOutput.Typing?
    private var hasInput = false

    static func open() throws(CommandFailure) -> LineScreen {
        do throws(TerminalError) {
            return LineScreen(
                terminal: try CursesTerminal(
                    environment: ProcessInfo.processInfo.environment, drawsFrames: false))
        } catch {
            throw CommandFailure(
                "\(error); --lines needs a terminal for keys; browse --size 100x30 --keys … --print text does not",
                status: .usage)
        }
    }

    /// The size for the layout; nothing is drawn.
    var size: Size { Size(columns: 160, rows: 30) }

    var look: Look { Look(theme: Theme(.mono, depth: .mono), glyphs: terminal.isUTF8 ? .unicode : .ascii) }

    func present(_ frame: Frame) {}

    mutating func show(_ model: Model, drawnAs frame: Frame) {
        let lines = speaker.lines(model, frame, isAnswer: hasInput)
        hasInput = false
        if speaker.asks { terminal.forgetInput() }
        let typing = speaker.typing
        var text = ""
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

    var needsRedraw: Bool { speaker.hasDelayedLine }

    /// The output that turns the line `before` into `now`; nil if the line must be rewritten.
    private static func echo(_ now: AccessibilityOutput.Typing, after before: AccessibilityOutput.Typing)
        -> String?
    {
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

    private static func words(_ typing: AccessibilityOutput.Typing) -> String {
        let behind = TextWidth.width(of: TerminalText.sanitized(typing.behind))
        return TerminalText.sanitized(typing.label + typing.text) + String(repeating: "\u{8}", count: behind)
    }

    /// Returns one event at a time, so that its effect is printed before the next.
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
        speaker.reset()
        return .resumed
    }

    mutating func run(_ script: String, arguments: [String]) throws(SourceError) -> Int32 {
        defer { speaker.reset() }
        return try start(script, arguments)
    }
}
