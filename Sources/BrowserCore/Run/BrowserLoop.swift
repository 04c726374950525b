import StorageEngine
import StoreInspection
import TerminalKit

/// What the browser needs of a terminal. Used by one thread, but for ``waker``.
package protocol BrowserTerminal {
    /// The screen's size now.
    var size: Size { get }
    /// Shows a frame; sends the terminal only what changed.
    mutating func present(_ frame: Frame)
    /// Shows what a model has; `frame` is it drawn.
    mutating func show(_ model: Model, drawnAs frame: Frame)
    /// Whether it has to be shown what it was shown already.
    var wantsAgain: Bool { get }
    /// The next event; nil when none came within so many seconds. 0 doesn't wait.
    mutating func nextEvent(timeout: Double) -> InputEvent?
    /// Makes a waiting ``nextEvent(timeout:)`` return ``InputEvent/wake``. Called from any thread.
    var waker: @Sendable () -> Void { get }
    /// Sends bytes that the terminal obeys and that show nothing.
    mutating func send(_ bytes: [UInt8])
    /// Gives the terminal to a script of `/bin/sh` and waits for its end; the next frame is drawn completely.
    /// - Returns: the exit status; 128 plus the signal's number if a signal ended it; 127 if there is no such command.
    mutating func run(_ script: String, arguments: [String]) throws(SourceError) -> Int32
}

extension BrowserTerminal {
    package mutating func show(_ model: Model, drawnAs frame: Frame) { present(frame) }
    package var wantsAgain: Bool { false }
}

/// Why the browser ended.
package enum BrowserExit: Sendable, Hashable {
    case quit
    /// The person asked for the demo.
    case startDemo
}

/// Drives the browser with a terminal until it ends.
package enum BrowserLoop {
    /// Seconds between two refreshes.
    package static let refreshInterval = 0.2
    /// Keys that are handled before the screen is drawn, so that a held key can't keep it from being drawn.
    private static let burst = 32
    /// Bytes of text that are entered at once; likewise.
    private static let mostTyped = 4_096
    /// Fewer characters are keys, however fast they come.
    private static let leastPasted = 8

    /// Runs until a person leaves or the terminal goes away. Draws only when the picture changed.
    package static func run<Terminal: BrowserTerminal>(
        _ start: Model, source: any StoreSource, terminal: inout Terminal,
        refreshInterval: Double = refreshInterval, clock: @escaping @Sendable () -> Timestamp
    ) -> BrowserExit {
        var model = start
        model.refreshInterval = refreshInterval
        model.size = terminal.size
        model.now = clock()
        let inbox = Inbox()
        let wake = terminal.waker
        let runner = EffectRunner(source: source, clock: clock) { message in
            inbox.add(message)
            wake()
        }
        var shown: Frame?
        var pending = Browser.start(&model)
        var pacing = FramePacing(refreshInterval: refreshInterval, start: model.now)
        while true {
            let now = clock()
            pending += Browser.update(&model, pacing.isTick(at: now) ? .tick(now) : .clock(now))
            for message in inbox.take() { pending += Browser.update(&model, message) }
            for effect in pending {
                switch effect {
                case .quit, .startDemo:
                    runner.finish(within: 5)
                    if case .quit = effect { return .quit }
                    return .startDemo
                case .send(let bytes): terminal.send(bytes)
                case .program(let program):
                    inbox.add(run(program, on: &terminal))
                    wake()
                    // What is on the terminal now isn't what was shown last.
                    shown = nil
                default: runner.run(effect)
                }
            }
            pending = []
            if pacing.isFrameDue(at: now, orNow: shown == nil || terminal.wantsAgain) {
                let frame = Browser.frame(model)
                if frame != shown || terminal.wantsAgain {
                    terminal.show(model, drawnAs: frame)
                    shown = frame
                }
            }
            var timeout = pacing.wait(from: clock())
            var typed = ""
            var left = burst
            while left > 0, let event = terminal.nextEvent(timeout: timeout) {
                model.now = max(model.now, clock())
                if case .key(let key) = event, let character = key.text, Browser.takesText(model) {
                    typed.append(character)
                    left = typed.utf8.count < mostTyped ? left : 0
                } else {
                    pending += enter(&typed, &model)
                    // What is on the terminal now isn't what was shown last.
                    if event == .resumed { shown = nil }
                    pending += Browser.update(&model, .input(event))
                    if event == .wake { break }
                    left -= 1
                }
                pacing.noteInput(at: model.now)
                timeout = 0
            }
            pending += enter(&typed, &model)
        }
    }

    /// Characters that came at once are pasted, by a terminal that doesn't say so: each by itself would be as much work as all.
    private static func enter(_ typed: inout String, _ model: inout Model) -> [Effect] {
        defer { typed = "" }
        guard typed.count < leastPasted else { return Browser.update(&model, .input(.paste(typed))) }
        return typed.flatMap { Browser.update(&model, .input(.key(.character($0)))) }
    }

    private static func run<Terminal: BrowserTerminal>(
        _ program: TerminalProgram, on terminal: inout Terminal
    ) -> Message {
        do throws(SourceError) {
            return program.message(.success(try terminal.run(program.script, arguments: program.arguments)))
        } catch {
            return program.message(.failure(error))
        }
    }
}
