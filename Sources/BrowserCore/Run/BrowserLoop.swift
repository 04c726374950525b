import StorageEngine
import StoreInspection
import TerminalKit

/// A terminal for the browser. Not thread-safe, except ``waker``.
package protocol BrowserTerminal {
    var size: Size { get }
    /// Shows a frame; sends only the difference.
    mutating func present(_ frame: Frame)
    /// Shows a model; `frame` is its drawing.
    mutating func show(_ model: Model, drawnAs frame: Frame)
    /// Whether an unchanged frame must be shown again.
    var needsRedraw: Bool { get }
    /// The next event; nil after `timeout` seconds. 0 doesn't wait.
    mutating func nextEvent(timeout: Double) -> InputEvent?
    /// Makes a waiting ``nextEvent(timeout:)`` return ``InputEvent/wake``. Called from any thread.
    var waker: @Sendable () -> Void { get }
    mutating func send(_ bytes: [UInt8])
    mutating func capture(mouse: Bool)
    /// Runs a `/bin/sh` script on the terminal and waits for its end; the next frame is drawn completely.
    /// - Returns: the exit status as shells report it.
    mutating func run(_ script: String, arguments: [String]) throws(SourceError) -> Int32
}

extension BrowserTerminal {
    package mutating func show(_ model: Model, drawnAs frame: Frame) { present(frame) }
    package var needsRedraw: Bool { false }
    package mutating func capture(mouse: Bool) {}
}

package enum BrowserLoop {
    /// Runs until the user quits or the terminal hangs up. Draws only changed frames.
    package static func run<Terminal: BrowserTerminal>(
        _ start: Model, source: any StoreSource, terminal: inout Terminal,
        refreshInterval: Double = Browser.refreshInterval, clock: @escaping @Sendable () -> Timestamp
    ) -> BrowserExit {
        var model = start
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
        var input = TypedInput(clock: clock)
        // The open dialog, and the burst of keys that opened it.
        var question: Browser.Question?
        var questionBurst: Int?
        // Whether the dialog wasn't drawn yet, and whether keys were typed before it was.
        var isUnseen = false
        var isTypedAhead = false
        // Whether more of a dropped text may follow.
        var isDropping = false
        while true {
            let now = clock()
            pending += Browser.update(&model, pacing.isTick(at: now) ? .tick(now) : .clock(now))
            for message in inbox.take() { pending += Browser.update(&model, message) }
            for effect in pending {
                switch effect {
                case .end(let exit):
                    runner.finish(within: 5)
                    return exit
                case .send(let bytes): terminal.send(bytes)
                case .captureMouse(let isOn): terminal.capture(mouse: isOn)
                case .program(let program):
                    dropTypedAhead()
                    inbox.add(run(program, on: &terminal))
                    wake()
                    shown = nil
                default: runner.run(effect)
                }
            }
            pending = []
            noteQuestion()
            if pacing.isFrameDue(at: now, orNow: shown == nil || terminal.needsRedraw) {
                if isUnseen {
                    dropTypedAhead()
                    questionBurst = input.ask()
                }
                isUnseen = false
                if isTypedAhead { Browser.reportTypedAhead(&model) }
                isTypedAhead = false
                let frame = Browser.frame(model)
                if frame != shown || terminal.needsRedraw {
                    terminal.show(model, drawnAs: frame)
                    shown = frame
                }
            }
            input.wait(
                on: &terminal, timeout: pacing.wait(from: clock()), takesText: Browser.takesText(model),
                runs: question != nil,
                answers: question.map { ![.expire, .name, .pipe, .write].contains($0) } ?? false,
                isHeld: Browser.awaitsRows(model, before: input.next),
                isRisky: { Browser.isRisky(model, $0) })
            if let question {
                model.now = max(model.now, clock())
                if isDropping || input.isNext(of: questionBurst)
                    || !Browser.takesText(model) && input.isNoAnswer(hasText: question == .expire)
                {
                    let dropped = input.forget(on: &terminal, isContinued: true)
                    isDropping = !dropped.hasEnded
                    if dropped.count > 0 { Browser.refuseAnswer(&model) }
                }
            } else {
                isDropping = false
            }
            while !input.isEmpty {
                model.now = max(model.now, clock())
                if Browser.awaitsRows(model, before: input.next) { break }
                if isPasted(model, input) {
                    Browser.refuseText(&model, at: input.next)
                    _ = input.forget(on: &terminal, isContinued: true)
                    pacing.noteInput(at: model.now)
                    continue
                }
                var effects: [Effect] = []
                if Browser.takesText(model), let pasted = input.takePasted(dropsLineEnd: question != nil) {
                    effects = Browser.update(&model, .input(.paste(pasted.text)))
                    if pasted.isCut { Browser.showInputNotice(&model, "Ignored: enter came with the text.") }
                } else if let event = input.take() {
                    if event == .resumed { shown = nil }
                    effects = Browser.update(&model, .input(event))
                    if event == .wake {
                        // A retry may be due since the last tick.
                        pending += effects
                        continue
                    }
                }
                pacing.noteInput(at: model.now)
                pending += effects
                let startsProgram = effects.contains { if case .program = $0 { true } else { false } }
                if noteQuestion() || startsProgram { dropTypedAhead() }
            }
        }

        func dropTypedAhead() {
            let dropped = input.forget(on: &terminal, isContinued: isTypedAhead)
            if dropped.count > 0 { isTypedAhead = true }
            isDropping = !dropped.hasEnded
        }

        /// Notes a new dialog: keys typed before it is drawn don't answer it. Returns whether there is one.
        @discardableResult func noteQuestion() -> Bool {
            let asked = Browser.question(model)
            defer { question = asked }
            guard let asked, asked != question else { return false }
            (isUnseen, questionBurst) = (true, input.ask())
            return true
        }
    }

    /// Whether the next key is refused, because it plans a change or is a line end, and is part of pasted text.
    private static func isPasted(_ model: Model, _ input: TypedInput) -> Bool {
        guard let action = Browser.action(model, input.next) else { return false }
        return action.flags.contains(.destructive) ? input.isNextOfText : input.isNextLineEndOfText
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
