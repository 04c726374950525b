import StorageEngine
import TerminalKit

/// Pending terminal input. Recognizes pasted text from terminals without bracketed paste: a burst of keys less than
/// ``Browser/textGap`` seconds apart with padded different characters. Destructive keys and line ends within text are refused, and
/// the rest is dropped. No key answers a dialog that its own burst opened.
struct TypedInput {
    /// Fewer characters in a text field count as typed.
    private static let minimumPasted = 8
    /// Maximum number of events between frames, so that a held key doesn't block drawing.
    private static let maximum = 32
    /// The same in a text field.
    private static let textMaximum = 65_536
    /// Seconds without input that end a text, which may arrive in pieces.
    private static let pause = 0.02
    /// The same where Enter runs something. Typed characters appear only after this time, and a typed Enter follows them.
    private static let pauseBeforeRunning = 0.05
    /// Number of pauses after which the screen is drawn although text still arrives.
    private static let maximumPauses = 8

    private struct Arrival {
        let event: InputEvent
        let burst: Int
    }

    private var arrivals: ArraySlice<Arrival> = []
    private var events: [InputEvent] { arrivals.map(\.event) }
    private(set) var burst = 0
    /// Seconds of waiting since the last key. Other time doesn't count: a key may be unread during other work.
    private var silence = Browser.textGap
    /// The characters of the last burst handled so far.
    private var handled: (burst: Int, keys: Set<InputEvent>) = (0, [])
    private let clock: () -> Timestamp

    init(clock: @escaping () -> Timestamp) { self.clock = clock }

    var isEmpty: Bool { arrivals.isEmpty }
    var next: InputEvent? { arrivals.first?.event }

    /// Notes that a dialog was opened or drawn, which needs a silence before its answer. Returns the burst that can't answer it.
    mutating func ask() -> Int {
        silence = 0
        return burst
    }

    func isNext(of burst: Int?) -> Bool {
        arrivals.first { TypedInput.isTyped($0.event) }.map { $0.burst == burst } ?? false
    }

    var isNextOfText: Bool {
        guard let next = arrivals.first, TypedInput.isOfText(next.event) else { return false }
        let keys = arrivals.filter { $0.burst == next.burst }.map(\.event).filter(TypedInput.isOfText)
        return Set(keys).union(handled.burst == next.burst ? handled.keys : []).count > 1
    }

    /// Whether the next key is a line end within text: its burst has two different characters before it, or the other line end.
    var isNextLineEndOfText: Bool {
        guard let next = arrivals.first, TypedInput.isLineEnd(next.event) else { return false }
        let before = handled.burst == next.burst ? handled.keys.subtracting([next.event]) : []
        let behind = arrivals.filter { $0.burst == next.burst && $0.event != next.event }.map(\.event)
        return before.count > 1 || (behind + before).contains(where: TypedInput.isLineEnd)
    }

    private mutating func read<Terminal: BrowserTerminal>(
        from terminal: inout Terminal, timeout: Double
    ) -> InputEvent? {
        let start = clock()
        let event = terminal.nextEvent(timeout: timeout)
        silence += max(clock().seconds(since: start), event == nil ? timeout : 0)
        if let event, TypedInput.isTyped(event) {
            if silence >= Browser.textGap { burst += 1 }
            silence = 0
        }
        return event
    }

    private mutating func note(_ arrivals: some Sequence<Arrival>) {
        for arrival in arrivals where TypedInput.isOfText(arrival.event) {
            if handled.burst != arrival.burst { handled = (arrival.burst, []) }
            handled.keys.insert(arrival.event)
        }
    }

    /// Waits up to `timeout` seconds for an event and reads all that arrived with it.
    /// - Parameters:
    ///   - runs: whether Enter runs or writes the text.
    ///   - answers: whether a key answers a dialog.
    ///   - isHeld: whether pending events must wait.
    ///   - isRisky: whether a key is refused within text.
    mutating func wait<Terminal: BrowserTerminal>(
        on terminal: inout Terminal, timeout: Double, takesText: Bool, runs: Bool, answers: Bool,
        isHeld: Bool, isRisky: (InputEvent) -> Bool
    ) {
        var timeout = arrivals.isEmpty ? timeout : isHeld ? min(timeout, TypedInput.pause) : 0
        var characters = 0
        // The input right after the first key shows whether that key is an answer.
        var isFirst = answers
        var (isPaused, wakes) = (false, 0)
        let most = takesText ? TypedInput.textMaximum : TypedInput.maximum
        // The input after a line end shows whether the line end is part of a text.
        while arrivals.count < most || arrivals.last.map({ TypedInput.isLineEnd($0.event) }) == true,
            let event = read(from: &terminal, timeout: timeout)
        {
            arrivals.append(Arrival(event: event, burst: burst))
            if event == .wake { wakes += 1 }
            // Wake-ups may repeat endlessly.
            if event == .hangUp || event == .wake && (!isPaused || wakes > 3) {
                return
            }
            if event == .wake { continue }
            if TypedInput.character(event) != nil { characters += 1 }
            if isFirst, TypedInput.isTyped(event) {
                (isFirst, isPaused, timeout) = (false, true, TypedInput.pauseBeforeRunning)
                continue
            }
            let pause = runs ? TypedInput.pauseBeforeRunning : TypedInput.pause
            // The input after a risky key shows whether that key is part of a text.
            isPaused = takesText ? characters >= (runs ? 1 : TypedInput.minimumPasted) : isRisky(event)
            timeout = isPaused ? pause : 0
        }
    }

    mutating func take() -> InputEvent? {
        note(arrivals.prefix(1))
        return arrivals.popFirst()?.event
    }

    /// Removes the next text if it was pasted, with the line ends within it; a line end after it is a key. `dropsLineEnd` also drops
    /// that one, because it would run unread text; `isCut` reports it.
    mutating func takePasted(dropsLineEnd: Bool) -> (text: String, isCut: Bool)? {
        let events = events
        let run = events.prefix { TypedInput.character($0) != nil || TypedInput.isLineEnd($0) }
        guard let last = run.lastIndex(where: { TypedInput.character($0) != nil }) else { return nil }
        let text = run[...last]
        let isCut = dropsLineEnd && run[(last + 1)...].contains(.key(Key(.enter)))
        // Typed keys may follow a leading Enter, so only inner line ends prove a paste.
        let hasInnerEnd = TypedInput.character(text[0]) != nil && text.contains(where: TypedInput.isLineEnd)
        let isPasted =
            isCut || hasInnerEnd || dropsLineEnd && text.contains(.key(Key(.enter)))
            || text.count(where: { TypedInput.character($0) != nil }) >= TypedInput.minimumPasted
        guard isPasted else { return nil }
        let count = isCut ? run.count : last + 1
        note(arrivals.prefix(count))
        arrivals.removeFirst(count)
        return (String(text.map { TypedInput.character($0) ?? "\n" }), isCut)
    }

    /// Whether pending input can't be an answer. Answers: one key, the same key repeated, arrows and Enter, or Esc and then any
    /// keys.
    /// - Parameter hasText: whether the dialog has a text field, where text with a final Enter counts.
    func isNoAnswer(hasText: Bool) -> Bool {
        let keys = events.filter { if case .mouse = $0 { false } else { TypedInput.isTyped($0) } }
        guard Set(keys).count > 1, keys.first != .key(Key(.escape)) else { return false }
        if hasText { return keys.dropLast().contains(where: TypedInput.isLineEnd) }
        let arrows: Set<InputEvent> = [.key(Key(.left)), .key(Key(.right)), .key(Key(.backTab))]
        if keys.last == .key(Key(.enter)), arrows.isSuperset(of: keys.dropLast()) { return false }
        return keys.contains { TypedInput.character($0) != nil || TypedInput.isLineEnd($0) }
    }

    /// Drops typed input except Ctrl-C and reports of the terminal. `isContinued`: continues an earlier call.
    /// - Returns: the number of dropped events, and whether the input has ended; if not, call it again later.
    mutating func forget<Terminal: BrowserTerminal>(
        on terminal: inout Terminal, isContinued: Bool
    ) -> (count: Int, hasEnded: Bool) {
        var kept = arrivals.filter { !TypedInput.isTyped($0.event) }
        defer { arrivals = ArraySlice(kept) }
        note(arrivals)
        var dropped = arrivals.count - kept.count
        var pauses = 0
        while pauses < TypedInput.maximumPauses, dropped < TypedInput.textMaximum {
            var event = read(from: &terminal, timeout: 0)
            if event == nil, isContinued || dropped > 0 {
                pauses += 1
                event = read(from: &terminal, timeout: TypedInput.pause)
            }
            guard let event else { return (dropped, true) }
            let arrival = Arrival(event: event, burst: burst)
            if TypedInput.isTyped(event) { dropped += 1 } else { kept.append(arrival) }
            note([arrival])
            if event == .wake { pauses += 1 }
            if event == .hangUp || event == TypedInput.interrupt { break }
        }
        return (dropped, false)
    }

    private static let interrupt = InputEvent.key(.control("c"))

    private static func isTyped(_ event: InputEvent) -> Bool {
        switch event {
        case interrupt: false
        case .key, .paste, .mouse: true
        default: false
        }
    }

    private static func character(_ event: InputEvent) -> Character? {
        if case .key(let key) = event { key.text } else { nil }
    }

    private static func isOfText(_ event: InputEvent) -> Bool { character(event) != nil || isLineEnd(event) }

    /// `enter`, or `tab`, which separates fields of pasted tables.
    private static func isLineEnd(_ event: InputEvent) -> Bool {
        event == .key(Key(.enter)) || event == .key(Key(.tab))
    }
}
