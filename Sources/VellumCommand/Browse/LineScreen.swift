import BrowserCore
import StoreInspection
import TerminalCurses
import TerminalKit

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// For one thread, but for ``waker``. The terminal as a screen reader wants it: nothing is drawn, and each change is a line.
struct LineScreen: BrowserTerminal {
    private let terminal: CursesTerminal
    private var speaker = Speaker()
    /// What stands in the line that is not at its end.
    private var typed: Speaker.Typing?

    /// The terminal that the program was started in, of whatever type.
    static func open() throws(CommandFailure) -> LineScreen {
        do throws(TerminalError) {
            return LineScreen(
                terminal: try CursesTerminal(
                    environment: ProcessInfo.processInfo.environment, drawsFrames: false))
        } catch {
            throw CommandFailure("\(error)", status: .usage)
        }
    }

    private init(terminal: CursesTerminal) { self.terminal = terminal }

    /// Of a screen that nobody sees: its lists have as many rows, and its texts are as wide.
    var size: Size { Size(columns: 160, rows: 30) }

    var look: Look { Look(theme: Theme(.mono, depth: .mono), glyphs: terminal.isUTF8 ? .unicode : .ascii) }

    func present(_ frame: Frame) {}

    mutating func show(_ model: Model, drawnAs frame: Frame) {
        let lines = speaker.lines(model, frame)
        let typing = speaker.typing
        var text = ""
        // What is typed appears where it is typed, as in shells.
        if lines.isEmpty, let typed, let typing, typing.label == typed.label {
            if typing.text.hasPrefix(typed.text) {
                text = String(typing.text.dropFirst(typed.text.count))
            } else if typed.text.hasPrefix(typing.text), typed.text.count == typing.text.count + 1,
                TextWidth.width(of: typed.text.suffix(1)) == 1
            {
                text = "\u{8} \u{8}"
            } else {
                text = "\r\n" + Self.words(typing)
            }
        } else if !lines.isEmpty || typing != typed {
            if typed != nil { text += "\r\n" }
            text += lines.map { $0 + "\r\n" }.joined()
            if let typing { text += Self.words(typing) }
        }
        typed = typing
        if !text.isEmpty { terminal.send(Array(text.utf8)) }
    }

    private static func words(_ typing: Speaker.Typing) -> String {
        typing.label + TerminalText.sanitized(typing.text)
    }

    mutating func nextEvent(timeout: Double) -> InputEvent? {
        let event = terminal.nextEvent(timeoutMilliseconds: Int((timeout * 1000).rounded(.up)))
        switch event {
        case .key(Key(.character("z"), modifiers: .control)):
            terminal.suspend()
            return resumed()
        case .key(Key(.character("l"), modifiers: .control)): return resumed()
        case .resumed: return resumed()
        case .resize: return nil
        default: return event
        }
    }

    /// Somebody wants to hear where one is.
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
