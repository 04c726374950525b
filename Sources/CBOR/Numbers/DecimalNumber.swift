/// A decimal number of any precision, digits * 10^exponent, normalized: digits neither begin nor end with a zero.
package struct DecimalNumber: Sendable, Hashable {
    /// The most digits that the shortest text of a double can have (IEEE 754, binary64).
    static let maximumDoubleDigits = 17

    var isNegative: Bool
    /// ASCII digits; none for zero.
    var digits: [UInt8]
    /// Wide enough for an `Int64` exponent after the point has moved.
    var exponent: Int128

    init(isNegative: Bool, digits: some BidirectionalCollection<UInt8>, exponent: Int128) {
        let zero = UInt8(ascii: "0")
        let withoutStart = digits.drop { $0 == zero }
        let kept = withoutStart.count - withoutStart.reversed().prefix { $0 == zero }.count
        self.isNegative = isNegative
        self.digits = Array(withoutStart.prefix(kept))
        self.exponent = kept == 0 ? 0 : exponent + Int128(withoutStart.count - kept)
    }

    /// Parses a number in JSON's grammar. An exponent of more than 30 digits becomes 10^30, out of every range.
    package init(text: some Sequence<UInt8>) {
        var digits: [UInt8] = []
        var fractionDigits = 0
        var exponent: Int128 = 0
        var isNegative = false
        var exponentIsNegative = false
        var isInFraction = false
        var isInExponent = false
        for byte in text {
            switch byte {
            case UInt8(ascii: "-") where isInExponent: exponentIsNegative = true
            case UInt8(ascii: "-"): isNegative = true
            case UInt8(ascii: "+"): break
            case UInt8(ascii: "."): isInFraction = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"): isInExponent = true
            case let digit where isInExponent:
                exponent = min(exponent * 10 + Int128(digit - UInt8(ascii: "0")), Self.saturatedExponent)
            case let digit:
                digits.append(digit)
                if isInFraction { fractionDigits += 1 }
            }
        }
        self.init(
            isNegative: isNegative, digits: digits,
            exponent: (exponentIsNegative ? -exponent : exponent) - Int128(fractionDigits))
    }

    private static let saturatedExponent: Int128 = 1_000_000_000_000_000_000_000_000_000_000

    package var isZero: Bool { digits.isEmpty }

    package var hasStorableDigits: Bool { digits.count <= Magnitude.maximumDigits }

    /// The number as an integer; nil unless it is one of at most 30 digits.
    package var integer: Int128? {
        if isZero { return 0 }
        guard exponent >= 0, exponent + Int128(digits.count) <= 30 else { return nil }
        let magnitude = digits.reduce(Int128(0)) { $0 * 10 + Int128($1 - UInt8(ascii: "0")) }
        let number = (0..<Int(exponent)).reduce(magnitude) { value, _ in value * 10 }
        return isNegative ? -number : number
    }

    /// The double that prints as this number; nil if none does.
    package var double: Double? {
        guard digits.count <= Self.maximumDoubleDigits, let number = nearestDouble else { return nil }
        return isZero || DecimalNumber(text: number.description.utf8) == self ? number : nil
    }

    /// The finite double nearest to the number, if there is one.
    package var nearestDouble: Double? {
        if isZero { return isNegative ? -0.0 : 0.0 }
        guard (-20_000...20_000).contains(exponent) else { return nil }
        let text = (isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self) + "e\(exponent)"
        return Double(text).flatMap { $0.isFinite ? $0 : nil }
    }

    /// The nearest double; infinite for a number that is too large for one, and 0 for one that is too small.
    package var roundedDouble: Double {
        if let nearestDouble { return nearestDouble }
        let magnitude: Double = exponent + Int128(digits.count) > 0 ? .infinity : 0
        return isNegative ? -magnitude : magnitude
    }
}

extension DecimalNumber: Comparable {
    package static func < (left: DecimalNumber, right: DecimalNumber) -> Bool {
        if left.isZero || right.isZero {
            return left.isZero ? !right.isZero && !right.isNegative : left.isNegative
        }
        if left.isNegative != right.isNegative { return left.isNegative }
        return left.isNegative ? right.hasLessMagnitude(than: left) : left.hasLessMagnitude(than: right)
    }

    /// For numbers other than zero. Digits never begin with a zero, so the longer integer part is the greater one.
    private func hasLessMagnitude(than other: DecimalNumber) -> Bool {
        let length = exponent + Int128(digits.count)
        let otherLength = other.exponent + Int128(other.digits.count)
        return length == otherLength ? digits.lexicographicallyPrecedes(other.digits) : length < otherLength
    }
}
