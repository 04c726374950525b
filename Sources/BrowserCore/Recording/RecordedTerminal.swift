import StorageEngine
import StoreInspection
import TerminalKit

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

/// Writes a recording event by event, so that it is complete if the program is killed.
package final class Recorder {
    private let file: GrowingFile
    private let clock: () -> ContinuousClock.Instant
    private let start: ContinuousClock.Instant
    private var size: Size
    private var shown: Frame?
    /// The error that stopped the recording.
    package private(set) var failure: SourceError?

    /// Starts a recording. `clock` must be monotonic.
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

    /// Adds a marker. The next frame is recorded in full.
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
    /// The spelling of `--keys`: a character, or a name in angle brackets.
    var scriptText: String {
        if modifiers.isEmpty, case .character(let character) = code, !"< \n".contains(character) {
            return String(character)
        }
        if self == .character("<") { return "<lt>" }
        return "<\(description)>"
    }
}
