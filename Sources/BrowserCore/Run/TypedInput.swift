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

    private var events: ArraySlice<InputEvent> = []

    var isEmpty: Bool { events.isEmpty }

    /// Waits for an event, at most for so many seconds, and takes what came with it. `isHeld`: those that are there aren't handled
    /// yet.
    mutating func wait<Terminal: BrowserTerminal>(
        on terminal: inout Terminal, timeout: Double, takesText: Bool, isHeld: Bool
    ) {
        var timeout = events.isEmpty ? timeout : isHeld ? min(timeout, TypedInput.pause) : 0
        var characters = 0
        let most = takesText ? TypedInput.mostOfText : TypedInput.most
        // What may be a line end within a text is told by what follows it.
        while events.count < most || events.last.map(TypedInput.isLineEnd) == true,
            let event = terminal.nextEvent(timeout: timeout)
        {
            events.append(event)
            // Nothing comes with either, and the second comes without end.
            if event == .wake || event == .hangUp { return }
            if TypedInput.character(event) != nil { characters += 1 }
            timeout = takesText && characters >= TypedInput.leastPasted ? TypedInput.pause : 0
        }
    }

    /// The next event.
    mutating func take() -> InputEvent? { events.popFirst() }

    /// The text that is next, if it was pasted; a line end within it is a part of it, and one behind it a key. `dropsLineEnd`: that one
    /// would run or write what may not have been read, so it is dropped, and `isCut`.
    mutating func takePasted(dropsLineEnd: Bool) -> (text: String, isCut: Bool)? {
        let run = events.prefix { TypedInput.character($0) != nil || TypedInput.isLineEnd($0) }
        guard let last = run.lastIndex(where: { TypedInput.character($0) != nil }) else { return nil }
        let text = run[...last]
        guard text.count(where: { TypedInput.character($0) != nil }) >= TypedInput.leastPasted else {
            return nil
        }
        let isCut = dropsLineEnd && run.endIndex > last + 1
        events = isCut ? events[run.endIndex...] : events[(last + 1)...]
        return (String(text.map { TypedInput.character($0) ?? "\n" }), isCut)
    }

    /// Whether what came at once is no person's answer to a question: of the keys that text consists of they press one, or the same
    /// one again. `hasText`: text can be typed there, of which a slow line brings several characters, and Enter, at once.
    func isNoAnswer(hasText: Bool) -> Bool {
        let keys = events.filter { TypedInput.character($0) != nil || TypedInput.isLineEnd($0) }
        guard Set(keys).count > 1 else { return false }
        guard hasText else { return true }
        return keys.dropLast().contains(where: TypedInput.isLineEnd)
            || keys.count(where: { TypedInput.character($0) != nil }) >= TypedInput.leastPasted
    }

    /// Drops what was typed, and what is typed meanwhile; what the terminal says by itself stays. `goesOn`: more of it was dropped
    /// already, so its end is waited for.
    /// - Returns: how many keys, clicks and pasted texts that were.
    mutating func forget<Terminal: BrowserTerminal>(on terminal: inout Terminal, goesOn: Bool) -> Int {
        var kept = events.filter { !TypedInput.isTyped($0) }
        var dropped = events.count - kept.count
        while let event = terminal.nextEvent(timeout: goesOn || dropped > 0 ? TypedInput.pause : 0) {
            if TypedInput.isTyped(event) { dropped += 1 } else { kept.append(event) }
            // Neither ends in being asked again.
            if event == .wake || event == .hangUp { break }
        }
        events = ArraySlice(kept)
        return dropped
    }

    /// Ctrl-C ends the program, whenever it was pressed.
    private static func isTyped(_ event: InputEvent) -> Bool {
        switch event {
        case .key(let key): key != .control("c")
        case .paste, .mouse: true
        default: false
        }
    }

    private static func character(_ event: InputEvent) -> Character? {
        if case .key(let key) = event { key.text } else { nil }
    }

    private static func isLineEnd(_ event: InputEvent) -> Bool {
        event == .key(Key(.enter)) || event == .key(Key(.tab))
    }
}
