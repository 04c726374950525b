extension Lexer {
    /// Scans a token that begins with a digit: a number, a number with a unit, or a date.
    mutating func scanNumber() -> Token.Kind {
        let start = offset
        if let date = scanDate() { return date }
        if byte() == UInt8(ascii: "-") { offset += 1 }
        takeDigits()
        if byte() == UInt8(ascii: "."), byte(ahead: 1).isDigit {
            offset += 1
            takeDigits()
        }
        if let exponent = exponentLength() {
            offset += exponent
            takeDigits()
        }
        let number = String(decoding: bytes[start..<offset], as: UTF8.self)
        let unitStart = offset
        while offset < bytes.count,
            bytes[offset].isWordPart || bytes[offset] == UInt8(ascii: ":") || isInnerPoint(after: unitStart)
        { offset += 1 }
        let attached = String(decoding: bytes[unitStart..<offset], as: UTF8.self)
        if let unit = attached.isEmpty ? takeSpacedUnit() : attached { return Self.measure(number, unit) }
        return QueryLiteral(number: number).map { .literal($0) }
            ?? .invalid("a number with too many digits")
    }

    /// Scans the unit of `500 kB`; nil, with nothing consumed, for another word.
    private mutating func takeSpacedUnit() -> String? {
        var next = self
        while next.byte() == 0x20 { next.offset += 1 }
        guard next.offset > offset else { return nil }
        let unit = next.takeWord()
        guard SizeText.isUnit(unit) || DurationText.isUnit(unit) else { return nil }
        let end = next.offset
        // In `a = 1 b = 2` it is a property, and `and` is missing; in `a + 1 h > 2` it is a unit.
        while next.byte() == 0x20 { next.offset += 1 }
        guard !(isAfterOperator ? "=!<>.[" : ".[").utf8.contains(next.byte()) else { return nil }
        offset = end
        return unit
    }

    /// Whether the point belongs to a later number of a duration, as in `1h2.5s`.
    private func isInnerPoint(after start: Int) -> Bool {
        offset > start && byte() == UInt8(ascii: ".") && bytes[offset - 1].isDigit && byte(ahead: 1).isDigit
    }

    private mutating func takeDigits() {
        while byte().isDigit { offset += 1 }
    }

    private func exponentLength() -> Int? {
        guard byte() | 0x20 == UInt8(ascii: "e") else { return nil }
        if byte(ahead: 1).isDigit { return 1 }
        let isSigned = byte(ahead: 1) == UInt8(ascii: "-") || byte(ahead: 1) == UInt8(ascii: "+")
        return isSigned && byte(ahead: 2).isDigit ? 2 : nil
    }

    private static func measure(_ number: String, _ unit: String) -> Token.Kind {
        if SizeText.isUnit(unit) {
            return SizeText.bytes(number + unit).map { .literal(.size(bytes: $0)) }
                ?? .invalid("a size is a whole number of bytes, of at most 64 bits")
        }
        let first = String(unit.prefix { $0.isLetter })
        if DurationText.isUnit(first) {
            switch DurationText.read(number + unit) {
            case .microseconds(let length): return .literal(.duration(microseconds: length))
            case .noDuration where first != unit && !number.hasPrefix("-"):
                return .invalid("each number of a duration needs a unit, ms, s, m, h, d or w: 1h30m")
            case .noDuration, .tooLong:
                return .invalid("a duration is 0 or more, and less than 292,000 years")
            }
        }
        return .invalid(
            "\(unit) is not a unit; durations have ms, s, m, h, d or w, sizes B, kB, MB, GB, TB, KiB, MiB, GiB or TiB"
        )
    }

    // MARK: Dates

    /// Scans a date; nil, with nothing consumed, for other text. A comma ends it, because it may be in a list.
    private mutating func scanDate() -> Token.Kind? {
        guard isDate else { return nil }
        let start = offset
        takeDateParts()
        while let end = extent(ofDateFrom: start) { offset = end }
        if byte() == UInt8(ascii: "[") {
            return .invalid("a zone in brackets needs an offset before it, as in +02:00[Europe/Berlin]")
        }
        let text = bytes[start..<offset]
        guard let date = text.withUnsafeBytes({ DateText.read($0) }), let moment = date.moment(in: .utc)
        else {
            return .invalid(
                "not a date; write 2026-01-31, 2026-01-31T09:05:00Z or 2026-01-31T09:05:00.5+02:00")
        }
        guard date.offset != nil else {
            return .literal(.localDate(QueryDate(written: String(decoding: text, as: UTF8.self))))
        }
        return .literal(.date(microseconds: moment))
    }

    /// Whether the token is a date: four digits, `-` or `W`, and a digit; or seven or eight digits before a `T`.
    private var isDate: Bool {
        var digits = 0
        while digits < 9, byte(ahead: digits).isDigit { digits += 1 }
        let following = byte(ahead: digits + 1)
        switch byte(ahead: digits) {
        case UInt8(ascii: "-"): return digits == 4 && (following.isDigit || following == UInt8(ascii: "W"))
        case UInt8(ascii: "W"): return digits == 4 && following.isDigit
        case UInt8(ascii: "T"), UInt8(ascii: "t"): return (7...8).contains(digits) && following.isDigit
        default: return false
        }
    }

    private mutating func takeDateParts() {
        while offset < bytes.count, bytes[offset].isDatePart { offset += 1 }
    }

    /// The end of a date that continues after a space with `12:00`, `+02:00` or `UTC`, or in brackets; else nil.
    private func extent(ofDateFrom start: Int) -> Int? {
        guard byte() == 0x20 || byte() == UInt8(ascii: "[") else { return nil }
        var next = self
        next.offset += 1
        if byte() == 0x20 {
            next.takeDateParts()
        } else {
            next.offset = (bytes[offset...].firstIndex(of: UInt8(ascii: "]")) ?? offset) + 1
        }
        let part = bytes[offset..<next.offset]
        // After a day, a sign and digits are an operator and a number.
        guard
            byte() != 0x20 || part.contains(UInt8(ascii: ":")) || part.elementsEqual(" UTC".utf8)
                || bytes[start..<offset].contains(UInt8(ascii: ":")) && part.count > 2,
            bytes[start..<next.offset].withUnsafeBytes({ DateText.read($0) }) != nil
        else { return nil }
        return next.offset
    }
}

extension UInt8 {
    fileprivate var isDatePart: Bool {
        isDigit || isLetter || self == 0x2d || self == 0x3a || self == 0x2e || self == 0x2b
    }
}
