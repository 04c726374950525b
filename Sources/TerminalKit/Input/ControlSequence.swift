/// A control sequence after its introducer: parameters, intermediates and the final byte (ECMA-48 §5.4).
struct ControlSequence {
    private let prefix: UInt8?
    private let parameters: [Int?]
    private let final: UInt8
    let length: Int

    /// Parses a sequence; nil without a final byte. An invalid byte ends the sequence as unknown.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard let end = bytes.firstIndex(where: { !(0x20...0x3f).contains($0) }) else { return nil }
        var fields = bytes[..<end]
        if let first = fields.first, (0x3c...0x3f).contains(first) {
            prefix = first
            fields = fields.dropFirst()
        } else {
            prefix = nil
        }
        // A colon separates fields of a parameter; only the first is used.
        parameters = fields.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map {
            ControlSequence.number($0.prefix { $0 != UInt8(ascii: ":") })
        }
        final = bytes[end]
        // An ESC begins the next sequence.
        length = end - bytes.startIndex + (final == 0x1b ? 0 : 1)
    }

    /// A decimal number of at most seven digits.
    static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard !digits.isEmpty, digits.count < 8, digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return digits.reduce(0) { $0 * 10 + Int($1) - 0x30 }
    }

    var isPasteStart: Bool { prefix == nil && final == UInt8(ascii: "~") && parameter(0) == 200 }

    /// The event that the sequence reports; nil for unknown sequences.
    var event: InputEvent? {
        if prefix == UInt8(ascii: "<"), final == UInt8(ascii: "M") || final == UInt8(ascii: "m") {
            guard let code = parameter(0), let column = parameter(1), let row = parameter(2) else {
                return nil
            }
            return MouseReport.event(
                code: code, column: column, row: row, isRelease: final == UInt8(ascii: "m")
            ).map { .mouse($0) }
        }
        guard prefix == nil else { return nil }
        let modifiers = KeySequences.modifiers(parameter(1) ?? 1)
        switch final {
        case UInt8(ascii: "I"): return .focus(true)
        case UInt8(ascii: "O"): return .focus(false)
        case UInt8(ascii: "Z"): return .key(Key(.backTab))
        case UInt8(ascii: "u"): return character(parameter(0), modifiers).map { .key($0) }
        case UInt8(ascii: "~"):
            if parameter(0) == 27 { return character(parameter(2), modifiers).map { .key($0) } }
            return parameter(0).flatMap { KeySequences.numbers[$0] }.map {
                .key(Key($0, modifiers: modifiers))
            }
        default: return KeySequences.letters[final].map { .key(Key($0, modifiers: modifiers)) }
        }
    }

    private func parameter(_ index: Int) -> Int? { index < parameters.count ? parameters[index] : nil }

    /// A key given by its code point, as CSI u and xterm's modifyOtherKeys do.
    private func character(_ code: Int?, _ modifiers: Modifiers) -> Key? {
        guard let code, let scalar = UInt32(exactly: code).flatMap(Unicode.Scalar.init) else { return nil }
        switch code {
        case 9: return modifiers.contains(.shift) ? Key(.backTab) : Key(.tab, modifiers: modifiers)
        case 13: return Key(.enter, modifiers: modifiers)
        case 27: return Key(.escape, modifiers: modifiers)
        case 8, 127: return Key(.backspace, modifiers: modifiers)
        case 0..<32: return nil
        default: return Key(.character(Character(scalar)), modifiers: modifiers.subtracting(.shift))
        }
    }
}

/// Keys of xterm (<https://invisible-island.net/xterm/ctlseqs/ctlseqs.html>), rxvt and the Linux console.
enum KeySequences {
    /// Keys by the final byte of CSI and SS3 sequences.
    static let letters: [UInt8: KeyCode] = [
        UInt8(ascii: "A"): .up, UInt8(ascii: "B"): .down, UInt8(ascii: "C"): .right,
        UInt8(ascii: "D"): .left, UInt8(ascii: "H"): .home, UInt8(ascii: "F"): .end,
        UInt8(ascii: "M"): .enter, UInt8(ascii: "P"): .function(1), UInt8(ascii: "Q"): .function(2),
        UInt8(ascii: "R"): .function(3), UInt8(ascii: "S"): .function(4),
    ]

    /// Keys by the first parameter of a sequence that ends in `~`.
    static let numbers: [Int: KeyCode] = {
        var codes: [Int: KeyCode] = [
            1: .home, 2: .insert, 3: .delete, 4: .end, 5: .pageUp, 6: .pageDown, 7: .home, 8: .end,
        ]
        let functions = [11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 23, 24, 25, 26, 28, 29, 31, 32, 33, 34]
        for (index, number) in functions.enumerated() { codes[number] = .function(index + 1) }
        return codes
    }()

    /// A modifier parameter is 1 plus the sum of shift 1, alt 2, control 4 and meta 8.
    static func modifiers(_ parameter: Int) -> Modifiers {
        let bits = max(0, parameter - 1)
        // Meta counts as alt.
        return Modifiers(rawValue: UInt8(bits & 7 | bits >> 2 & 2))
    }
}

/// Mouse reports: X10's and SGR's carry the same code.
enum MouseReport {
    /// The event of a report. Columns and rows are from 1. Nil for unused reports, such as a motion without a button.
    static func event(code: Int, column: Int, row: Int, isRelease: Bool) -> MouseEvent? {
        guard code >= 0, code < 256, column >= 1, row >= 1 else { return nil }
        let modifiers = Modifiers(rawValue: UInt8(code >> 2 & 7))
        let point = Point(column: column - 1, row: row - 1)
        if code & 64 != 0 {
            // 66 and 67: the wheel's horizontal movements.
            guard code & 3 < 2, !isRelease else { return nil }
            return MouseEvent(
                kind: code & 1 == 0 ? .wheelUp : .wheelDown, button: .none, at: point, modifiers: modifiers)
        }
        let button: MouseEvent.Button = [.left, .middle, .right, .none][code & 3]
        let kind: MouseEvent.Kind
        if isRelease || button == .none {
            guard code & 32 == 0 || isRelease else { return nil }
            kind = .release
        } else {
            kind = code & 32 != 0 ? .drag : .press
        }
        return MouseEvent(kind: kind, button: button, at: point, modifiers: modifiers)
    }
}
