extension JSONScanner {
    /// 10^0...10^22, the powers of ten that a double holds exactly.
    private static let powersOfTen: [Double] = (0...22).map { exponent in
        (0..<exponent).reduce(1) { power, _ in power * 10 }
    }

    /// 10^15. A number below it has at most 15 digits, so the nearest double prints as the same number.
    private static let exactDigitsEnd: UInt64 = 1_000_000_000_000_000

    /// The most digits that can't overflow a word.
    private static let wordDigits = 19

    /// Reads a number. `place` moves from its sign or first digit to the byte after its last digit.
    @inline(__always)
    mutating func number(into writer: inout CBORWriter) throws(JSONError) {
        let start = place
        let isNegative = text[place] == UInt8(ascii: "-")
        if isNegative { place += 1 }
        var digits: UInt64 = 0
        let integerStart = place
        try integer(&digits)
        let integerDigits = place - integerStart
        guard place < text.count, Self.continuesNumber(text[place]) else {
            guard integerDigits <= Self.wordDigits, digits > 0 || !isNegative else {
                return try longInteger(from: start, isNegative: isNegative, into: &writer)
            }
            return isNegative ? writer.write(negative: digits - 1) : writer.write(unsigned: digits)
        }
        let fractionDigits = try fraction(&digits)
        let exponent = try exponent() - fractionDigits
        if integerDigits + fractionDigits <= Self.wordDigits, digits < Self.exactDigitsEnd,
            abs(exponent) <= 22
        {
            // Both operands are exact, so the one rounding gives the nearest double.
            let power = Self.powersOfTen[abs(exponent)]
            let magnitude = exponent < 0 ? Double(digits) / power : Double(digits) * power
            writer.write(isNegative ? -magnitude : magnitude)
        } else {
            try longDecimal(from: start, into: &writer)
        }
    }

    /// Whether this byte after the integer part means that the number isn't an integer.
    @inline(__always)
    private static func continuesNumber(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ".") || byte | 0x20 == UInt8(ascii: "e")
    }

    /// Reads digits without a leading zero. `digits` becomes their value if there are at most 19.
    @inline(__always)
    private mutating func integer(_ digits: inout UInt64) throws(JSONError) {
        let startsWithZero = place < text.count && text[place] == UInt8(ascii: "0")
        let start = place
        try someDigits(&digits)
        guard !startsWithZero || place == start + 1 else {
            throw JSONError(offset: start + 1, reason: .leadingZero)
        }
    }

    /// Reads a point and its digits, if any, which continue those of the integer part. Returns their count.
    @inline(__always)
    private mutating func fraction(_ digits: inout UInt64) throws(JSONError) -> Int {
        guard text[place] == UInt8(ascii: ".") else { return 0 }
        place += 1
        let start = place
        try someDigits(&digits)
        return place - start
    }

    /// Reads the exponent if there is one, otherwise returns 0. Larger exponents return 10^9 with their sign.
    @inline(__always)
    private mutating func exponent() throws(JSONError) -> Int {
        guard place < text.count, text[place] | 0x20 == UInt8(ascii: "e") else { return 0 }
        place += 1
        var isNegative = false
        if place < text.count, text[place] == UInt8(ascii: "-") || text[place] == UInt8(ascii: "+") {
            isNegative = text[place] == UInt8(ascii: "-")
            place += 1
        }
        let start = place
        var digits: UInt64 = 0
        try someDigits(&digits)
        let exponent = place - start > 9 ? 1_000_000_000 : Int(digits)
        return isNegative ? -exponent : exponent
    }

    /// Reads one or more digits and appends them to `number`, which may overflow.
    @inline(__always)
    private mutating func someDigits(_ number: inout UInt64) throws(JSONError) {
        let start = place
        while place < text.count {
            let digit = text[place] &- UInt8(ascii: "0")
            guard digit <= 9 else { break }
            number = number &* 10 &+ UInt64(digit)
            place += 1
        }
        guard place > start else { throw unexpected(.digit) }
    }

    /// Writes an integer of 20 digits or more, or -0.
    @inline(never)
    private func longInteger(
        from start: Int, isNegative: Bool, into writer: inout CBORWriter
    ) throws(JSONError) {
        let digits = text[(isNegative ? start + 1 : start)..<place]
        guard digits.count <= Magnitude.maximumDigits else {
            throw JSONError(offset: start, reason: .tooManyDigits(limit: Magnitude.maximumDigits))
        }
        let magnitude = Magnitude(decimalDigits: digits)
        if magnitude.word == 0 { return writer.write(-0.0) }
        writer.write(isNegative: isNegative, magnitude: magnitude)
    }

    /// Writes a number with a fraction or exponent that one operation on doubles may not convert exactly.
    @inline(never)
    private func longDecimal(from start: Int, into writer: inout CBORWriter) throws(JSONError) {
        let number = DecimalNumber(text: text[start..<place])
        guard number.digits.count <= Magnitude.maximumDigits else {
            throw JSONError(offset: start, reason: .tooManyDigits(limit: Magnitude.maximumDigits))
        }
        if let double = number.double { return writer.write(double) }
        guard let exponent = Int64(exactly: number.exponent) else {
            throw JSONError(offset: start, reason: .exponentOutOfRange)
        }
        let mantissa = Magnitude(decimalDigits: number.digits)
        writer.write(isNegative: number.isNegative, mantissa: mantissa, exponent: exponent)
    }
}
