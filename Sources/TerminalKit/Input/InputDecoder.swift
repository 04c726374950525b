/// Decodes the bytes of an ECMA-48 terminal into events: keys of xterm, the Linux console and rxvt, CSI u, SGR mouse reports
/// (mode 1006), bracketed paste (2004) and focus (1004). Drops unknown sequences and answers (OSC, DCS and others). Times are
/// milliseconds of a monotonic clock; call ``flush()`` at ``deadline``.
package struct InputDecoder: Sendable {
    /// Maximum bytes of a paste; longer ones are cut.
    package static let maximumPasteLength = 1 << 20
    private static let maximumSequenceLength = 64
    private static let pasteEnd: [UInt8] = Array("\u{1b}[201~".utf8)
    /// Time after which an ESC without further bytes is the Escape key. A slow connection may delay the rest of a sequence.
    private static let escapeDelay: UInt64 = 200
    /// The maximum time between an ESC and a character with Alt.
    private static let altDelay: UInt64 = 25
    /// The maximum pause within a control string, and the maximum length of an unfinished one while keys are typed.
    private static let stringDelay: UInt64 = 1_000
    private static let stringTime: UInt64 = 3_000
    /// Time without input after which an unfinished paste is reported.
    private static let pasteDelay: UInt64 = 2_000
    /// The bytes that begin a control string after an ESC (ECMA-48, 5.6), each with the next bytes of terminals' replies.
    private static let strings: [UInt8: Range<UInt8>] = [
        UInt8(ascii: "]"): 0x30..<0x3a, UInt8(ascii: "P"): 0x20..<0x40, UInt8(ascii: "_"): 0x47..<0x48,
        UInt8(ascii: "X"): 0..<0, UInt8(ascii: "^"): 0..<0,
    ]

    private var pending: [UInt8] = []
    private var paste: [UInt8]?
    private var isPasteReported = false
    /// The last byte of an unfinished control string.
    private var stringByte: UInt8?
    private var stringBegan: UInt64 = 0
    private var lastTime: UInt64 = 0
    /// The first bytes of a sequence, decoded as a key after a delay: ESC, or ESC and a byte. The rest may still arrive.
    private var taken: [UInt8] = []
    private let terminalSequences: [[UInt8]: Key]

    /// `terminalSequences`: the terminal's own sequences, each beginning with ESC.
    package init(terminalSequences: [[UInt8]: Key] = [:]) { self.terminalSequences = terminalSequences }

    /// The time at which to call ``flush()`` if no further bytes arrive; nil if nothing is pending. An unfinished control string
    /// is dropped a second after its last byte, or three seconds after its first.
    package var deadline: UInt64? {
        if paste != nil { return isPasteReported ? nil : lastTime + InputDecoder.pasteDelay }
        if stringByte != nil {
            return min(lastTime + InputDecoder.stringDelay, stringBegan + InputDecoder.stringTime)
        }
        guard pending.first == 0x1b else { return nil }
        // The bytes arrived too late for Alt: the connection is slow.
        let isSequence =
            pending.count > 2 || pending.last == UInt8(ascii: "[") || pending.last == UInt8(ascii: "O")
        return lastTime + (isSequence ? InputDecoder.stringDelay : InputDecoder.escapeDelay)
    }

    /// Decodes bytes that arrived together and returns the completed events. Calls without a time count as simultaneous.
    package mutating func feed(_ bytes: some Collection<UInt8>, at time: UInt64 = 0) -> [InputEvent] {
        let pause = time - min(time, lastTime)
        lastTime = time
        // A single Ctrl-C was typed. It drops an unfinished sequence, which would otherwise consume all further input.
        if pause > 0, bytes.count == 1, bytes.first == 0x03 {
            stringByte = nil
            if paste != nil {
                paste = nil
                return [.pasteDropped]
            }
        }
        var events: [InputEvent] = []
        if let first = bytes.first, isKey(before: first, after: pause) { events = flush() }
        if let late = lateSequence(bytes) { return late }
        taken = []
        for byte in bytes {
            if paste != nil {
                if let event = collectPaste(byte) { events.append(event) }
                continue
            }
            if stringByte != nil, isOfString(byte) { continue }
            pending.append(byte)
            drain(into: &events, isLast: false)
        }
        return events
    }

    /// Completes the pending input: a lone ESC is the Escape key, ESC and a character the character with Alt. Drops a control
    /// string. Reports a paste once as unfinished and keeps it.
    package mutating func flush() -> [InputEvent] {
        if paste != nil {
            defer { isPasteReported = true }
            return isPasteReported ? [] : [.pasteUnfinished]
        }
        var events: [InputEvent] = []
        stringByte = nil
        taken = pending.first == 0x1b && pending.count <= 2 ? pending : []
        drain(into: &events, isLast: true)
        return events
    }

    /// Whether the pending bytes are a complete key because the next byte arrived `pause` milliseconds later. Alt sends ESC and
    /// a character together, and only certain bytes continue a control string.
    private func isKey(before byte: UInt8, after pause: UInt64) -> Bool {
        if pending == [0x1b] { return pause > InputDecoder.altDelay && !continuesEscape(byte) }
        guard pause > 0, pending.count == 2, let next = InputDecoder.strings[pending[1]] else { return false }
        return pending[0] == 0x1b && !next.contains(byte)
    }

    /// Whether a byte after an ESC may begin a sequence rather than be a separate key.
    private func continuesEscape(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O") || byte == 0x1b
            || terminalSequences.keys.contains { $0.count > 1 && $0[1] == byte }
    }

    /// Decodes the rest of a sequence whose first bytes were decoded as a key after a delay. Bytes that arrive together and
    /// complete a sequence or control string were sent by the terminal.
    private mutating func lateSequence(_ bytes: some Collection<UInt8>) -> [InputEvent]? {
        guard let first = bytes.first, first != 0x1b, !taken.isEmpty, paste == nil, bytes.count > 1 else {
            return nil
        }
        let second = taken.count > 1 ? taken[1] : first
        let isString = InputDecoder.strings[second] != nil
        guard isString || continuesEscape(second) else { return nil }
        var other = self
        (other.taken, other.pending) = ([], taken)
        let events = other.feed(bytes, at: lastTime)
        guard other.pending.isEmpty, other.stringByte == nil, events.count < 2 else { return nil }
        switch events.first {
        // A sequence with parameters that isn't a key is a reply of the terminal.
        case nil where isString || other.paste != nil || bytes.count > 2: break
        case .key(let key)? where key.text == nil && key.modifiers.isDisjoint(with: .alt): break
        case .mouse?, .focus?, .paste?: break
        default: return nil
        }
        self = other
        return events
    }

    private enum Parsed {
        case incomplete
        case events([InputEvent], length: Int)
        case pasteBegins(length: Int)
        case stringBegins

        static func key(_ key: Key, length: Int) -> Parsed { .events([.key(key)], length: length) }
        static func nothing(length: Int) -> Parsed { .events([], length: length) }
    }

    private mutating func drain(into events: inout [InputEvent], isLast: Bool) {
        while let first = pending.first {
            let parsed = first == 0x1b ? parseEscape(isLast: isLast) : parseCharacter(pending[...])
            switch parsed {
            case .incomplete:
                guard isLast || pending.count >= InputDecoder.maximumSequenceLength else { return }
                pending.removeAll()
            case .events(let found, let length):
                events += found
                pending.removeFirst(length)
            case .pasteBegins(let length):
                pending.removeFirst(length)
                (paste, isPasteReported) = ([], false)
                return
            case .stringBegins:
                let bytes = pending.dropFirst(2)
                pending = []
                (stringByte, stringBegan) = (0, lastTime)
                for byte in bytes where !isOfString(byte) { pending.append(byte) }
            }
        }
    }

    /// Handles a byte of a control string. ST, BEL, CAN and SUB end it; another ESC starts a new sequence.
    /// - Returns: whether the byte was consumed.
    private mutating func isOfString(_ byte: UInt8) -> Bool {
        let isEnd = byte == 0x07 || byte == 0x18 || byte == 0x1a
        defer { stringByte = stringByte == 0x1b || isEnd ? nil : byte }
        guard stringByte == 0x1b, !isEnd, byte != UInt8(ascii: "\\") else { return true }
        pending = [0x1b]
        return false
    }

    private mutating func collectPaste(_ byte: UInt8) -> InputEvent? {
        paste?.append(byte)
        let end = InputDecoder.pasteEnd
        guard let bytes = paste else { return nil }
        guard byte == end.last, bytes.suffix(end.count).elementsEqual(end) else {
            // Keep the last bytes to find the end of the paste.
            if bytes.count > InputDecoder.maximumPasteLength + end.count {
                paste?.remove(at: InputDecoder.maximumPasteLength)
            }
            return nil
        }
        paste = nil
        return .paste(
            String(decoding: bytes.dropLast(end.count).prefix(InputDecoder.maximumPasteLength), as: UTF8.self)
        )
    }

    /// A control character, or a character in UTF-8. A byte that begins neither is dropped.
    private func parseCharacter(_ bytes: ArraySlice<UInt8>, modifiers: Modifiers = []) -> Parsed {
        guard let first = bytes.first else { return .incomplete }
        switch first {
        case 0x00: return .key(Key(.character(" "), modifiers: modifiers.union(.control)), length: 1)
        // Some terminals send Backspace as Control-H, and some Enter as a line feed.
        case 0x08, 0x7f: return .key(Key(.backspace, modifiers: modifiers), length: 1)
        case 0x09: return .key(Key(.tab, modifiers: modifiers), length: 1)
        case 0x0a, 0x0d: return .key(Key(.enter, modifiers: modifiers), length: 1)
        case 0x1b: return .key(Key(.escape, modifiers: modifiers), length: 1)
        case 0x01..<0x20:
            // Control clears the bits above the fifth.
            let letter = first < 0x1b ? first + 0x60 : first + 0x40
            let character = Character(Unicode.Scalar(letter))
            return .key(Key(.character(character), modifiers: modifiers.union(.control)), length: 1)
        default: break
        }
        guard let length = UTF8Scalar.length(startingWith: first) else { return .nothing(length: 1) }
        guard let (scalar, _) = UTF8Scalar.decode(bytes) else {
            let isBroken = bytes.dropFirst().prefix(length - 1).contains { $0 & 0xc0 != 0x80 }
            return bytes.count >= length || isBroken ? .nothing(length: 1) : .incomplete
        }
        return .key(Key(.character(Character(scalar)), modifiers: modifiers), length: length)
    }

    private func parseEscape(isLast: Bool) -> Parsed {
        for (sequence, key) in terminalSequences where pending.starts(with: sequence) {
            return .key(key, length: sequence.count)
        }
        guard pending.count > 1 else { return isLast ? .key(Key(.escape), length: 1) : .incomplete }
        switch pending[1] {
        // Two quick presses of Escape, or Escape before another sequence.
        case 0x1b: return .key(Key(.escape), length: 1)
        case UInt8(ascii: "["), UInt8(ascii: "O"):
            if pending.count == 2, isLast { break }
            return pending[1] == UInt8(ascii: "[") ? parseControlSequence() : parseSingleShift()
        case let byte where InputDecoder.strings[byte] != nil:
            // With Alt these characters arrive alone.
            if pending.count > 2 { return .stringBegins }
            if !isLast { return .incomplete }
        default: break
        }
        switch parseCharacter(pending[1...], modifiers: .alt) {
        case .events(let events, let length): return .events(events, length: length + 1)
        case let other: return other
        }
    }

    /// SS3: `ESC O` and a letter, with a modifier before the letter in some terminals.
    private func parseSingleShift() -> Parsed {
        guard let final = pending.dropFirst(2).first(where: { !(0x30...0x39).contains($0) }) else {
            return .incomplete
        }
        let digits = pending.dropFirst(2).prefix { (0x30...0x39).contains($0) }
        let length = 3 + digits.count
        guard let code = KeySequences.letters[final] else { return .nothing(length: length) }
        let parameter = ControlSequence.number(digits) ?? 1
        return .key(Key(code, modifiers: KeySequences.modifiers(parameter)), length: length)
    }

    private func parseControlSequence() -> Parsed {
        guard pending.count > 2 else { return .incomplete }
        // The Linux console's F1 to F5, and X10 mouse reports, don't follow ECMA-48.
        if pending[2] == UInt8(ascii: "[") {
            guard pending.count > 3 else { return .incomplete }
            let number = Int(pending[3]) - 0x40
            return (1...5).contains(number) ? .key(Key(.function(number)), length: 4) : .nothing(length: 4)
        }
        if pending[2] == UInt8(ascii: "M") {
            guard pending.count >= 6 else { return .incomplete }
            let fields = pending[3..<6].map { Int($0) - 32 }
            let event = MouseReport.event(
                code: fields[0], column: fields[1], row: fields[2], isRelease: false)
            return .events(event.map { [.mouse($0)] } ?? [], length: 6)
        }
        guard let sequence = ControlSequence(pending.dropFirst(2)) else { return .incomplete }
        let length = 2 + sequence.length
        if sequence.isPasteStart { return .pasteBegins(length: length) }
        return .events(sequence.event.map { [$0] } ?? [], length: length)
    }
}
