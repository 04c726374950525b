extension Lexer {
    /// Scans a text in quotes, with the escapes of JSON (RFC 8259, section 7).
    mutating func scanText() -> Token.Kind {
        offset += 1
        var content: [UInt8] = []
        var problem: String?
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            switch byte {
            case UInt8(ascii: "\""):
                if let problem { return .invalid(problem) }
                return .quoted(String(decoding: content, as: UTF8.self))
            case UInt8(ascii: "\\"):
                if let escaped = takeEscape() {
                    content.append(contentsOf: escaped)
                } else {
                    problem = problem ?? "an escape that JSON doesn't have; a backslash itself is \\\\"
                }
            default: content.append(byte)
            }
        }
        return .invalid("the text has no closing quote")
    }

    /// The character of the escape after a backslash; nil for an invalid escape.
    private mutating func takeEscape() -> [UInt8]? {
        guard offset < bytes.count else { return nil }
        let letter = bytes[offset]
        offset += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [letter]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0c]
        case UInt8(ascii: "n"): return [0x0a]
        case UInt8(ascii: "r"): return [0x0d]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): return takeScalar().map { Array(String(Character($0)).utf8) }
        default: return nil
        }
    }

    private mutating func takeScalar() -> Unicode.Scalar? {
        guard let first = takeCodeUnit() else { return nil }
        guard UTF16.isLeadSurrogate(first) else { return Unicode.Scalar(first) }
        guard byte() == UInt8(ascii: "\\"), byte(ahead: 1) == UInt8(ascii: "u") else { return nil }
        offset += 2
        guard let second = takeCodeUnit(), UTF16.isTrailSurrogate(second) else { return nil }
        let value = 0x10000 + (UInt32(first) - 0xd800) << 10 + UInt32(second) - 0xdc00
        return Unicode.Scalar(value)
    }

    private mutating func takeCodeUnit() -> UInt16? {
        guard offset + 4 <= bytes.count else { return nil }
        var unit: UInt16 = 0
        for byte in bytes[offset..<offset + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        offset += 4
        return unit
    }
}
