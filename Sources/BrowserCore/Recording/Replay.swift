import StoreInspection
import TerminalKit

package struct Replay: Sendable {
    private let recording: Recording
    private let name: String
    private let look: Look
    /// Screens before some events, so that seeking back doesn't replay from the beginning.
    private var checkpoints: [(event: Int, reader: FrameReader)] = []
    private var reader: FrameReader
    private var next = 0
    /// Position in seconds.
    private var time = 0.0
    private var isPaused = false
    private var speed = 2
    private var moment: ContinuousClock.Instant
    private var lastKeys: (text: String, time: Double)?

    private static let speeds = [0.25, 0.5, 1, 2, 4, 8, 16]
    private static let checkpointDistance = 256
    /// Seconds that an arrow key skips, and that pressed keys are shown.
    private static let step = 5.0
    private static let keysStay = 2.0

    package init(
        _ recording: Recording, named name: String, look: Look, now: ContinuousClock.Instant = .now
    ) throws(SourceError) {
        self.recording = recording
        self.name = name
        self.look = look
        reader = FrameReader(size: recording.size)
        moment = now
        try move(to: 0)
    }

    private var isAtEnd: Bool { time >= recording.duration }

    /// Seconds until the next event; nil without one.
    var secondsToNext: Double? {
        guard !isPaused, next < recording.events.count else { return nil }
        return (recording.events[next].time - time) / Self.speeds[speed]
    }

    mutating func advance(to now: ContinuousClock.Instant) throws(SourceError) {
        let passed = moment.duration(to: now) / .seconds(1)
        moment = now
        guard !isPaused, !isAtEnd else { return }
        try move(to: time + passed * Self.speeds[speed])
    }

    /// - Returns: false to quit.
    mutating func press(_ key: Key) throws(SourceError) -> Bool {
        switch key {
        case .character("q"), Key(.escape), .control("c"): return false
        case .character(" "):
            if isAtEnd { try move(to: 0) } else { isPaused.toggle() }
        case Key(.right): try move(to: time + Self.step)
        case Key(.left): try move(to: time - Self.step)
        case Key(.home): try move(to: 0)
        case Key(.end): try move(to: recording.duration)
        case .character("n"):
            isPaused = true
            try showNextChange()
        case .character("+"): speed = min(speed + 1, Self.speeds.count - 1)
        case .character("-"): speed = max(speed - 1, 0)
        default: break
        }
        return true
    }

    package mutating func move(to wanted: Double) throws(SourceError) {
        let wanted = min(max(0, wanted), recording.duration)
        if wanted < time {
            let kept = checkpoints.last { recording.events[$0.event - 1].time <= wanted }
            (next, reader) = kept ?? (0, FrameReader(size: recording.size))
            lastKeys = nil
        }
        time = wanted
        while next < recording.events.count, recording.events[next].time <= wanted { try takeNext() }
    }

    /// Shows the next change, one at a time even if several have the same time.
    private mutating func showNextChange() throws(SourceError) {
        while next < recording.events.count {
            let event = recording.events[next]
            time = event.time
            try takeNext()
            if case .update = event.content { return }
        }
    }

    private mutating func takeNext() throws(SourceError) {
        if next > (checkpoints.last?.event ?? 0), next % Self.checkpointDistance == 0 {
            checkpoints.append((next, reader))
        }
        let event = recording.events[next]
        next += 1
        switch event.content {
        case .update(let update):
            do throws(FrameReader.UnknownSequence) {
                try reader.read(update)
            } catch {
                throw SourceError(
                    "\(name): the event at \(Self.clock(event.time)) has the unknown sequence \(error.sequence); "
                        + "asciinema plays recordings of other programs")
            }
        case .resize(let size): reader.resize(to: size)
        case .keys(let keys):
            let before = lastKeys.flatMap { event.time - $0.time < Self.keysStay ? $0.text : nil } ?? ""
            lastKeys = (String((before + keys).suffix(40)), event.time)
        case .marker, .other: break
        }
    }

    // MARK: Drawing

    package var frame: Frame { reader.frame }

    /// The recorded screen with the position below it, or over its last line while paused.
    func frame(on size: Size) -> Frame {
        var frame = Frame(size: size, isASCII: look.isASCII)
        let recorded = reader.frame
        for row in 0..<min(recorded.size.rows, size.rows) {
            for column in 0..<min(recorded.size.columns, size.columns) {
                let cell = recorded[column, row]
                if cell.isContinuation { continue }
                frame.write(cell.text, at: Point(column: column, row: row), style: cell.style)
            }
        }
        if size.rows > recorded.size.rows || isPaused || isAtEnd {
            let line = Rect(column: 0, row: size.rows - 1, columns: size.columns, rows: 1)
            frame.fill(line, style: look[.title])
            frame.write(status(on: size), at: Point(column: 0, row: line.row), style: look[.title])
        } else {
            frame.cursor = recorded.cursor
        }
        return frame
    }

    private func status(on size: Size) -> String {
        let state = isAtEnd ? (recording.isCut ? "cut off" : "end") : isPaused ? "paused" : "playing"
        var parts = ["\(state) \(Self.clock(time)) of \(Self.clock(recording.duration))"]
        if Self.speeds[speed] != 1 { parts.append("speed \(Self.speeds[speed])") }
        let recorded = reader.frame.size
        if recorded.columns > size.columns || recorded.rows > size.rows {
            parts.append("cut to \(size.spelling) of \(recorded.spelling)")
        }
        if let lastKeys, time - lastKeys.time < Self.keysStay { parts.append("keys \(lastKeys.text)") }
        let space = isAtEnd ? "restart" : isPaused ? "play" : "pause"
        parts.append("space \(space), left/right 5s, n next, +/- speed, q quit")
        return " " + parts.joined(separator: "  ")
    }

    /// `1:02.3`, or `1:02:03.4` from an hour on.
    private static func clock(_ seconds: Double) -> String {
        func padded(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
        let tenths = Int(seconds * 10)
        let (hours, minutes) = (tenths / 36_000, tenths / 600 % 60)
        let rest = padded(tenths / 10 % 60) + ".\(tenths % 10)"
        return hours > 0 ? "\(hours):\(padded(minutes)):\(rest)" : "\(minutes):\(rest)"
    }
}

package enum ReplayLoop {
    /// Seconds between updates of the position.
    private static let interval = 0.1

    package static func run<Terminal: BrowserTerminal>(
        _ start: Replay, terminal: inout Terminal,
        clock: () -> ContinuousClock.Instant = { .now }
    ) throws(SourceError) {
        var replay = start
        var size = terminal.size
        var shown: Frame?
        while true {
            try replay.advance(to: clock())
            let frame = replay.frame(on: size)
            if frame != shown {
                terminal.present(frame)
                shown = frame
            }
            let timeout = replay.secondsToNext.map { min(max($0, 0), interval) } ?? 3_600
            switch terminal.nextEvent(timeout: timeout) {
            case .key(let key)?:
                try replay.advance(to: clock())
                guard try replay.press(key) else { return }
            case .resize(let new)?: size = new
            case .resumed?: shown = nil
            case .hangUp?: return
            default: break
            }
        }
    }
}
