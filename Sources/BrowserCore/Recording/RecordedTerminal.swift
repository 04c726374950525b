import StorageEngine
import StoreInspection
import TerminalKit

/// A terminal that writes down what it shows and what is pressed. For one thread, as the terminal in it.
package struct RecordedTerminal<Base: BrowserTerminal>: BrowserTerminal {
    private var base: Base
    private let recorder: Recorder

    package init(_ base: Base, recorder: Recorder) {
        self.base = base
        self.recorder = recorder
    }

    package var size: Size { base.size }
    package var waker: @Sendable () -> Void { base.waker }

    package mutating func present(_ frame: Frame) {
        recorder.add(frame)
        base.present(frame)
    }

    package mutating func nextEvent(timeout: Double) -> InputEvent? {
        let event = base.nextEvent(timeout: timeout)
        switch event {
        case .key(let key): recorder.add(keys: key.scriptText)
        case .paste(let text): recorder.add(keys: text.map { Key.character($0).scriptText }.joined())
        default: break
        }
        return event
    }

    package mutating func send(_ bytes: [UInt8]) { base.send(bytes) }

    package mutating func capture(mouse: Bool) { base.capture(mouse: mouse) }

    package mutating func run(_ script: String, arguments: [String]) throws(SourceError) -> Int32 {
        recorder.add(marker: "another program has the terminal")
        defer { recorder.add(marker: "the browser has the terminal") }
        return try base.run(script, arguments: arguments)
    }
}

/// Writes a recording, each event when it happens: what is there is whole, however the program ends. For one thread.
package final class Recorder {
    private let file: GrowingFile
    private let clock: () -> ContinuousClock.Instant
    private let start: ContinuousClock.Instant
    private var size: Size
    private var shown: Frame?
    /// Why nothing is recorded any more; nil while everything is.
    package private(set) var failure: SourceError?

    /// Begins a recording on a terminal of this size; the first frame may have another. `clock` isn't the wall clock, which
    /// may be set meanwhile.
    package init(
        to file: GrowingFile, size: Size, title: String, date: Timestamp = .now(),
        clock: @escaping () -> ContinuousClock.Instant = { .now }
    ) throws(SourceError) {
        self.file = file
        self.size = size
        self.clock = clock
        start = clock()
        let header = JSONTree.object([
            ("version", .count(2)), ("width", .count(size.columns)), ("height", .count(size.rows)),
            ("timestamp", .count(max(0, date.microseconds / 1_000_000))), ("title", .text(title)),
        ])
        try file.append(header.text + "\n")
    }

    func add(_ frame: Frame) {
        if frame.size != size { add(.resize(frame.size)) }
        size = frame.size
        let update = frame.update(from: shown)
        shown = frame
        if !update.isEmpty { add(.update(update)) }
    }

    func add(keys: String) { add(.keys(keys)) }

    /// What is shown next stands for itself.
    func add(marker: String) {
        shown = nil
        add(.marker(marker))
    }

    package var duration: Double { start.duration(to: clock()) / .seconds(1) }

    private func add(_ content: RecordedEvent.Content) {
        guard failure == nil else { return }
        do throws(SourceError) {
            try file.append(RecordedEvent(time: min(duration, 1e9), content).line + "\n")
        } catch {
            failure = error
        }
    }

}

extension Key {
    /// How `--keys` spells it: a character by itself, others in angle brackets.
    var scriptText: String {
        if modifiers.isEmpty, case .character(let character) = code, !"< \n".contains(character) {
            return String(character)
        }
        if self == .character("<") { return "<lt>" }
        return "<\(description)>"
    }
}
