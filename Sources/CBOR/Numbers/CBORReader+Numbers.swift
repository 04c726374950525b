extension CBORReader {
    /// Reads a bignum or decimal fraction; nil, with nothing read, for anything else and too large numbers.
    package mutating func readLargeNumber() throws(CBORError) -> DecimalNumber? {
        let start = offset
        var number: DecimalNumber?
        if case .tag(let tag) = try readHead() {
            switch tag {
            case TagNumber.decimalFraction: number = try readDecimalFraction()
            case TagNumber.unsignedBignum, TagNumber.negativeBignum:
                if let (isNegative, magnitude) = try readBignum(tag: tag) {
                    number = DecimalNumber(
                        isNegative: isNegative, digits: magnitude.decimalDigits, exponent: 0)
                }
            default: break
            }
        }
        if number == nil { offset = start }
        return number
    }

    /// Reads the content of a bignum: its sign and magnitude. Nil, with nothing read, if it isn't a byte string or is too long.
    mutating func readBignum(tag: UInt64) throws(CBORError) -> (isNegative: Bool, magnitude: Magnitude)? {
        let start = offset
        guard case .bytes(let count) = try readHead() else {
            offset = start
            return nil
        }
        let content = try readBytes(count: count).drop { $0 == 0 }
        guard content.count <= Magnitude.maximumBytes else {
            offset = start
            return nil
        }
        let argument = Magnitude(bigEndian: content)
        let isNegative = tag == TagNumber.negativeBignum
        return (isNegative, isNegative ? argument.incremented() : argument)
    }

    /// Reads a decimal fraction's content; nil, with nothing read, unless it is an `Int64` exponent and an integer or bignum.
    mutating func readDecimalFraction() throws(CBORError) -> DecimalNumber? {
        let start = offset
        if let number = try readExponentAndMantissa() { return number }
        offset = start
        return nil
    }

    private mutating func readExponentAndMantissa() throws(CBORError) -> DecimalNumber? {
        guard case .array(let count) = try readHead(), count ?? 2 == 2, let exponent = try readExponent(),
            let mantissa = try readMantissa()
        else { return nil }
        if count == nil, !readBreak() { return nil }
        return DecimalNumber(
            isNegative: mantissa.isNegative, digits: mantissa.magnitude.decimalDigits, exponent: exponent)
    }

    private mutating func readExponent() throws(CBORError) -> Int128? {
        if readBreak() { return nil }
        return switch try readHead() {
        case .unsigned(let number): Int64(exactly: number).map { Int128($0) }
        case .negative(let number): Int64(exactly: number).map { Int128(~$0) }
        default: nil
        }
    }

    private mutating func readMantissa() throws(CBORError) -> (isNegative: Bool, magnitude: Magnitude)? {
        if readBreak() { return nil }
        return switch try readHead() {
        case .unsigned(let number): (false, Magnitude(number))
        case .negative(let number): (true, Magnitude(number).incremented())
        case .tag(let tag) where tag == TagNumber.unsignedBignum || tag == TagNumber.negativeBignum:
            try readBignum(tag: tag)
        default: nil
        }
    }
}
