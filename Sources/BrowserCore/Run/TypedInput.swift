import StorageEngine
import TerminalKit

/// Input from the terminal that wasn't handled yet. Separates keys from pasted text, which a terminal without bracketed paste
/// doesn't mark: a burst of keys less than ``gap`` seconds apart with two different characters. In text, keys that plan a change or
/// leave the browser are refused and the rest is dropped. No key answers a question that its own burst opened. A value.
struct TypedInput {
    /// Seconds of silence that end a burst.
    static let gap = 0.03
    /// Fewer characters are keys, however fast they come.
    private static let leastPasted = 8
    /// Events that are taken before the screen is drawn, so that a held key can't keep it from being drawn.
    private static let most = 32
    /// The same where they are entered as one text.
    private static let mostOfText = 65_536
    /// Seconds without input after which what came at once has ended: a long text comes in several pieces.
    private static let pause = 0.02
    /// The same where a line end behind it would run something. A character isn't shown before that, so who looks before pressing
    /// Enter isn't taken for a text that comes piece by piece.
    private static let pauseBeforeRunning = 0.05
    /// Pauses after which the screen is drawn and keys are looked at, though text still comes.
    private static let mostPauses = 8

    private struct Arrival {
        let event: InputEvent
        let burst: Int
    }

    private var arrivals: ArraySlice<Arrival> = []
    private var events: [InputEvent] { arrivals.map(\.event) }
    /// The number of the burst that the last key belongs to.
    private(set) var burst = 0
    /// Seconds of silence since the last key: only time spent waiting counts, because a key may wait unread during other work.
    private var silence = gap
    /// The characters handled so far of the burst that was handled last.
    private var handled: (burst: Int, keys: Set<InputEvent>) = (0, [])
    private let clock: () -> Timestamp

    /// - Parameter clock: measures the silence.
    init(clock: @escaping () -> Timestamp) { self.clock = clock }

    var isEmpty: Bool { arrivals.isEmpty }
    var next: InputEvent? { arrivals.first?.event }

    /// A question was asked or shown: it is answered after a silence. Returns the burst that holds no answer.
    mutating func ask() -> Int {
        silence = 0
        return burst
    }

    /// Whether the next key belongs to that burst. A wake-up may stand before it.
    func isNext(of burst: Int?) -> Bool {
        arrivals.first { TypedInput.isTyped($0.event) }.map { $0.burst == burst } ?? false
    }

    var isNextOfText: Bool {
        guard let next = arrivals.first, TypedInput.isOfText(next.event) else { return false }
        let keys = arrivals.filter { $0.burst == next.burst }.map(\.event).filter(TypedInput.isOfText)
        return Set(keys).union(handled.burst == next.burst ? handled.keys : []).count > 1
    }

    private mutating func read<Terminal: BrowserTerminal>(
        from terminal: inout Terminal, timeout: Double
    ) -> InputEvent? {
        let start = clock()
        let event = terminal.nextEvent(timeout: timeout)
        silence += max(clock().seconds(since: start), event == nil ? timeout : 0)
        if let event, TypedInput.isTyped(event) {
            if silence >= TypedInput.gap { burst += 1 }
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

    /// Waits up to these seconds for an event and takes what arrived with it. `runs`: Enter runs or writes the text. `answers`: a
    /// key answers a question. `isHeld`: pending ones aren't handled yet. `isRisky`: whether a key is refused within text.
    mutating func wait<Terminal: BrowserTerminal>(
        on terminal: inout Terminal, timeout: Double, takesText: Bool, runs: Bool, answers: Bool,
        isHeld: Bool, isRisky: (InputEvent) -> Bool
    ) {
        var timeout = arrivals.isEmpty ? timeout : isHeld ? min(timeout, TypedInput.pause) : 0
        var characters = 0
        // What comes right behind the first key tells whether it is an answer.
        var isFirst = answers
        var (isPaused, wakes) = (false, 0)
        let most = takesText ? TypedInput.mostOfText : TypedInput.most
        // What may be a line end within a text is told by what follows it.
        while arrivals.count < most || arrivals.last.map({ TypedInput.isLineEnd($0.event) }) == true,
            let event = read(from: &terminal, timeout: timeout)
        {
            arrivals.append(Arrival(event: event, burst: burst))
            if event == .wake { wakes += 1 }
            // Nothing comes with either, and the second comes without end.
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
            // What follows a risky key shows whether it is a part of text.
            isPaused = takesText ? characters >= (runs ? 1 : TypedInput.leastPasted) : isRisky(event)
            timeout = isPaused ? pause : 0
        }
    }

    mutating func take() -> InputEvent? {
        note(arrivals.prefix(1))
        return arrivals.popFirst()?.event
    }

    /// The text that is next, if it was pasted; a line end within it is a part of it, and one behind it a key. `dropsLineEnd`: that one
    /// would run or write what may not have been read, so it is dropped, behind however short a text, and `isCut`.
    mutating func takePasted(dropsLineEnd: Bool) -> (text: String, isCut: Bool)? {
        let events = events
        let run = events.prefix { TypedInput.character($0) != nil || TypedInput.isLineEnd($0) }
        guard let last = run.lastIndex(where: { TypedInput.character($0) != nil }) else { return nil }
        let text = run[...last]
        let isCut = dropsLineEnd && run[(last + 1)...].contains(.key(Key(.enter)))
        // A line end between characters is one of a text; behind Enter alone other keys may follow.
        let hasInnerEnd = TypedInput.character(text[0]) != nil && text.contains(where: TypedInput.isLineEnd)
        let isPasted =
            isCut || hasInnerEnd || dropsLineEnd && text.contains(.key(Key(.enter)))
            || text.count(where: { TypedInput.character($0) != nil }) >= TypedInput.leastPasted
        guard isPasted else { return nil }
        let count = isCut ? run.count : last + 1
        note(arrivals.prefix(count))
        arrivals.removeFirst(count)
        return (String(text.map { TypedInput.character($0) ?? "\n" }), isCut)
    }

    /// Whether what came at once is no person's answer to a question: they press one key, or the same one again, or go to a button
    /// with arrows and press Enter. `hasText`: text can be typed there, which may come at once, with Enter behind it; a question follows.
    func isNoAnswer(hasText: Bool) -> Bool {
        let keys = events.filter { if case .mouse = $0 { false } else { TypedInput.isTyped($0) } }
        guard Set(keys).count > 1 else { return false }
        if hasText { return keys.dropLast().contains(where: TypedInput.isLineEnd) }
        if keys.last == .key(Key(.enter)), keys.dropLast().allSatisfy(TypedInput.isArrow) { return false }
        return keys.contains { TypedInput.character($0) != nil || TypedInput.isLineEnd($0) }
    }

    /// Drops input that was typed, except Ctrl-C and reports of the terminal. `goesOn`: continues an earlier call.
    /// - Returns: how many keys, clicks and pasted texts were dropped, and whether they have ended; if not, call it again later.
    mutating func forget<Terminal: BrowserTerminal>(
        on terminal: inout Terminal, goesOn: Bool
    ) -> (count: Int, hasEnded: Bool) {
        var kept = arrivals.filter { !TypedInput.isTyped($0.event) }
        defer { arrivals = ArraySlice(kept) }
        note(arrivals)
        var dropped = arrivals.count - kept.count
        var pauses = 0
        while pauses < TypedInput.mostPauses, dropped < TypedInput.mostOfText {
            var event = read(from: &terminal, timeout: 0)
            if event == nil, goesOn || dropped > 0 {
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

    /// Ends the program, whenever it was pressed.
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

    private static func isLineEnd(_ event: InputEvent) -> Bool {
        event == .key(Key(.enter)) || event == .key(Key(.tab))
    }

    private static func isArrow(_ event: InputEvent) -> Bool {
        event == .key(Key(.left)) || event == .key(Key(.right)) || event == .key(Key(.backTab))
    }
}
