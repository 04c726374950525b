import TerminalKit

/// What came from the terminal and wasn't handled yet. Tells keys that a person pressed from text that came at once, which a
/// terminal without bracketed paste doesn't say. A value.
struct TypedInput {
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

    private var events: ArraySlice<InputEvent> = []

    var isEmpty: Bool { events.isEmpty }
    var next: InputEvent? { events.first }

    /// Waits for an event, at most for so many seconds, and takes what came with it. `runs`: Enter runs or writes the text. `answers`: a
    /// key is an answer to a question, if it isn't the beginning of a text that comes piece by piece. `isHeld`: those that are there
    /// aren't handled yet.
    mutating func wait<Terminal: BrowserTerminal>(
        on terminal: inout Terminal, timeout: Double, takesText: Bool, runs: Bool, answers: Bool, isHeld: Bool
    ) {
        var timeout = events.isEmpty ? timeout : isHeld ? min(timeout, TypedInput.pause) : 0
        var characters = 0
        // What comes right behind the first key tells whether it is an answer.
        var isFirst = answers
        var (isPaused, wakes) = (false, 0)
        let most = takesText ? TypedInput.mostOfText : TypedInput.most
        // What may be a line end within a text is told by what follows it.
        while events.count < most || events.last.map(TypedInput.isLineEnd) == true,
            let event = terminal.nextEvent(timeout: timeout)
        {
            events.append(event)
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
            isPaused = takesText && characters >= (runs ? 1 : TypedInput.leastPasted)
            timeout = isPaused ? pause : 0
        }
    }

    /// The next event.
    mutating func take() -> InputEvent? { events.popFirst() }

    /// The text that is next, if it was pasted; a line end within it is a part of it, and one behind it a key. `dropsLineEnd`: that one
    /// would run or write what may not have been read, so it is dropped, behind however short a text, and `isCut`.
    mutating func takePasted(dropsLineEnd: Bool) -> (text: String, isCut: Bool)? {
        let run = events.prefix { TypedInput.character($0) != nil || TypedInput.isLineEnd($0) }
        guard let last = run.lastIndex(where: { TypedInput.character($0) != nil }) else { return nil }
        let text = run[...last]
        let isCut = dropsLineEnd && run[(last + 1)...].contains(.key(Key(.enter)))
        let isPasted =
            isCut || dropsLineEnd && text.contains(.key(Key(.enter)))
            || text.count(where: { TypedInput.character($0) != nil }) >= TypedInput.leastPasted
        guard isPasted else { return nil }
        events = isCut ? events[run.endIndex...] : events[(last + 1)...]
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

    /// Drops what was typed, and what is typed meanwhile; what the terminal says by itself stays, and so does Ctrl-C. `goesOn`: more
    /// of it was dropped already, so its end is waited for.
    /// - Returns: how many keys, clicks and pasted texts that were, and whether they have ended. More may come where they haven't; it is
    /// to be dropped, too, after a look at what else there is to do.
    mutating func forget<Terminal: BrowserTerminal>(
        on terminal: inout Terminal, goesOn: Bool
    ) -> (count: Int, hasEnded: Bool) {
        var kept = events.filter { !TypedInput.isTyped($0) }
        defer { events = ArraySlice(kept) }
        var dropped = events.count - kept.count
        var pauses = 0
        while pauses < TypedInput.mostPauses, dropped < TypedInput.mostOfText {
            var event = terminal.nextEvent(timeout: 0)
            if event == nil, goesOn || dropped > 0 {
                pauses += 1
                event = terminal.nextEvent(timeout: TypedInput.pause)
            }
            guard let event else { return (dropped, true) }
            if TypedInput.isTyped(event) { dropped += 1 } else { kept.append(event) }
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

    private static func isLineEnd(_ event: InputEvent) -> Bool {
        event == .key(Key(.enter)) || event == .key(Key(.tab))
    }

    private static func isArrow(_ event: InputEvent) -> Bool {
        event == .key(Key(.left)) || event == .key(Key(.right)) || event == .key(Key(.backTab))
    }
}
