/// Splits a query's text into tokens, some of which may be invalid. O(length).
struct Lexer {
    let bytes: [UInt8]
    var offset = 0
    /// Whether the previous token is an operator of conditions.
    var isAfterOperator = false

    static func tokens(of bytes: [UInt8]) -> [Token] {
        var lexer = Lexer(bytes: bytes)
        var tokens: [Token] = []
        repeat { tokens.append(lexer.next()) } while tokens.last?.kind != .end
        return tokens
    }

    /// The byte at this distance; 0 beyond the end.
    func byte(ahead: Int = 0) -> UInt8 { offset + ahead < bytes.count ? bytes[offset + ahead] : 0 }

    private mutating func next() -> Token {
        while offset < bytes.count, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[offset]) { offset += 1 }
        let start = offset
        let kind = offset < bytes.count ? scan() : .end
        let token = Token(kind: kind, range: start..<offset)
        isAfterOperator = token.isOperator
        return token
    }

    private mutating func scan() -> Token.Kind {
        let first = bytes[offset]
        switch first {
        case UInt8(ascii: "\""): return scanText()
        case UInt8(ascii: "@"):
            offset += 1
            return .metadata(takeWord())
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return scanNumber()
        case UInt8(ascii: "-") where byte(ahead: 1).isDigit: return scanNumber()
        case _ where first.isWordStart:
            if let invalid = scanLookalike() { return invalid }
            return .word(takeWord())
        default: return scanSymbol()
        }
    }

    mutating func takeWord() -> String {
        let start = offset
        while offset < bytes.count, bytes[offset].isWordPart, lookalike == nil { offset += 1 }
        return String(decoding: bytes[start..<offset], as: UTF8.self)
    }

    private mutating func scanSymbol() -> Token.Kind {
        for length in [2, 1] where offset + length <= bytes.count {
            let text = String(decoding: bytes[offset..<offset + length], as: UTF8.self)
            if let symbol = Token.Symbol(rawValue: text == "==" ? "=" : text) {
                offset += length
                return .symbol(symbol)
            }
            if let advice = Lexer.advice[text] {
                offset += length
                return .invalid(advice)
            }
        }
        offset += 1
        return .invalid("it has no meaning here")
    }

    /// Advice for syntax of other languages.
    private static let advice = [
        "&&": "write and", "||": "write or", "<>": "write !=", "!": "write not", "'": "write texts in \"…\"",
        "`": "write names in \"…\"", "{": "write lists in […]",
        "%": "there is no modulo operator; a pattern follows \"like\"",
        "~": "write matches",
    ]

    /// The quote, space or control character beyond ASCII that is next; nil for others.
    private var lookalike: Unicode.Scalar? {
        guard byte() >= 0xc2 else { return nil }
        let scalar = String(decoding: bytes[offset...].prefix(4), as: UTF8.self).unicodeScalars.first
        return scalar.flatMap { QueryText.isPlain($0) ? nil : $0 }
    }

    private mutating func scanLookalike() -> Token.Kind? {
        guard let scalar = lookalike else { return nil }
        offset += UTF8.width(scalar)
        if scalar.properties.isQuotationMark { return .invalid("a typographic quote; write texts in \"…\"") }
        return .invalid(
            scalar.properties.isWhitespace
                ? "a space of another kind; use a plain one"
                : "a control character; names with it need quotes")
    }
}
