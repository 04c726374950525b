import Foundation

/// Excludes most texts of a regular expression by searching for bytes that every match contains.
struct PatternFilter: Sendable {
    /// ASCII characters that every match contains; nil if unknown.
    private let literal: ByteSearch?
    /// Whether every match begins with them, at the start of the text.
    private let isPrefix: Bool
    /// Whether the expression consists only of them, except for `$` at its end.
    private let isWhole: Bool
    private let endsText: Bool

    init(_ pattern: String) {
        let scanned = PatternScan(pattern)
        literal = scanned.flatMap { ByteSearch($0.literal) }
        isPrefix = scanned?.isPrefix ?? false
        isWhole = scanned?.isWhole ?? false
        endsText = scanned?.endsText ?? false
    }

    /// Whether the expression matches; nil if it must be evaluated.
    func verdict(_ text: UnsafeRawBufferPointer) -> Bool? {
        guard let literal else { return nil }
        guard isPrefix ? literal.isPrefix(of: text) : literal.place(in: text) != nil else { return false }
        // Combining marks may change these characters, and `$` also matches before a final line end.
        guard isWhole, UTF8Text.isASCII(text) else { return nil }
        guard endsText else { return true }
        if text.contains(where: { $0 < 0x20 }) { return nil }
        if isPrefix { return text.count == literal.bytes.count }
        return text.suffix(literal.bytes.count).elementsEqual(literal.bytes)
    }
}

/// Finds the literal characters of a regular expression. Anything uncertain ends a sequence.
private struct PatternScan {
    var literal: [UInt8] = []
    var isPrefix = false
    var isWhole = false
    var endsText = false

    private let bytes: [UInt8]
    private var place = 0
    private var run: [UInt8] = []
    private var runIsPrefix = false

    /// Nil for expressions with alternatives or options.
    init?(_ pattern: String) {
        bytes = Array(pattern.utf8)
        guard !pattern.contains("(?"), !pattern.contains("\\Q") else { return nil }
        let isAnchored = bytes.first == UInt8(ascii: "^")
        place = isAnchored ? 1 : 0
        runIsPrefix = isAnchored
        isWhole = true
        while place < bytes.count {
            guard scanPart() else { return nil }
        }
        endRun()
        isPrefix = isPrefix && !literal.isEmpty
    }

    private mutating func scanPart() -> Bool {
        let byte = bytes[place]
        switch byte {
        case UInt8(ascii: "|"), UInt8(ascii: "^"): return false
        case UInt8(ascii: "$"):
            if place == bytes.count - 1 { endsText = true } else { isWhole = false }
            place += 1
            return true
        case UInt8(ascii: "\\"):
            guard place + 1 < bytes.count else { return false }
            let next = bytes[place + 1]
            place += 2
            // After a backslash, letters and digits have a meaning; other characters are literal.
            if next < 0x80, !next.isLetter, !next.isDigit { return take(next) }
            // Other letters may have operands, as in \x41 and \p{L}.
            return next.isLetter && "dDsSwWbB".utf8.contains(next) ? other() : false
        case UInt8(ascii: "."):
            place += 1
            return other()
        case UInt8(ascii: "["), UInt8(ascii: "("): return skipGroup() && other()
        case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: "{"), UInt8(ascii: "*"),
            UInt8(ascii: "+"), UInt8(ascii: "?"):
            return false
        default:
            place += 1
            return byte < 0x80 ? take(byte) : other()
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        switch quantifier() {
        case nil: run.append(byte)
        case .atLeastOne:
            run.append(byte)
            isWhole = false
            endRun()
        case .perhapsNone:
            isWhole = false
            endRun()
        }
        return true
    }

    private mutating func other() -> Bool {
        isWhole = false
        endRun()
        _ = quantifier()
        return true
    }

    private mutating func endRun() {
        if run.count > literal.count || runIsPrefix && !run.isEmpty {
            (literal, isPrefix) = (run, runIsPrefix)
        }
        (run, runIsPrefix) = ([], false)
    }

    private enum Quantifier {
        case atLeastOne, perhapsNone
    }

    private mutating func quantifier() -> Quantifier? {
        guard place < bytes.count else { return nil }
        var found: Quantifier
        switch bytes[place] {
        case UInt8(ascii: "+"): found = .atLeastOne
        case UInt8(ascii: "*"), UInt8(ascii: "?"): found = .perhapsNone
        case UInt8(ascii: "{"):
            found = .perhapsNone
            while place < bytes.count, bytes[place] != UInt8(ascii: "}") { place += 1 }
        default: return nil
        }
        place += 1
        // Reluctant or possessive.
        if place < bytes.count, bytes[place] == UInt8(ascii: "?") || bytes[place] == UInt8(ascii: "+") {
            place += 1
        }
        return found
    }

    private mutating func skipGroup() -> Bool {
        var open: [UInt8] = []
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            switch byte {
            case UInt8(ascii: "\\"): place += 1
            case UInt8(ascii: "["): open.append(byte)
            case UInt8(ascii: "(") where open.last != UInt8(ascii: "["): open.append(byte)
            case UInt8(ascii: "]"): if open.last == UInt8(ascii: "[") { open.removeLast() }
            case UInt8(ascii: ")"): if open.last == UInt8(ascii: "(") { open.removeLast() }
            default: break
            }
            if open.isEmpty { return place <= bytes.count }
        }
        return false
    }
}
