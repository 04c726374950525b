extension CBORWriter {
    /// Writes an integer as an integer item if it fits, otherwise as a bignum (RFC 8949, section 3.4.3).
    mutating func write(isNegative: Bool, magnitude: Magnitude) {
        // Both negative forms of CBOR store n for -1 - n.
        let argument = isNegative ? magnitude.decremented() : magnitude
        if let word = argument.word {
            writeHead(isNegative ? .negative : .unsigned, word)
        } else {
            write(tag: isNegative ? TagNumber.negativeBignum : TagNumber.unsignedBignum)
            write(bytes: argument.bigEndianBytes)
        }
    }

    /// Writes an integer of any size; the number must be whole.
    package mutating func write(whole number: DecimalNumber) {
        let zeros = repeatElement(UInt8(ascii: "0"), count: Int(number.exponent))
        write(isNegative: number.isNegative, magnitude: Magnitude(decimalDigits: number.digits + zeros))
    }

    /// Writes a decimal fraction (RFC 8949, section 3.4.4): the array of exponent and mantissa. The number must not be 0.
    mutating func write(isNegative: Bool, mantissa: Magnitude, exponent: Int64) {
        write(tag: TagNumber.decimalFraction)
        beginArray(count: 2)
        write(integer: exponent)
        write(isNegative: isNegative, magnitude: mantissa)
    }
}
