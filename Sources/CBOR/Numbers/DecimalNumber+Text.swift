extension DecimalNumber {
    /// The number in JSON's grammar, with a decimal point or an exponent, unlike an integer: `12.5`, `1200.0`, `1.0e+300`,
    /// `6.1e-7`. Without an exponent from 10^-6 to 10^21, like ECMAScript's `Number::toString`, and with the point between or after
    /// longer digits. At most 45 characters longer than the digits.
    package var text: String { text(wholeDigits: 21) }

    /// Likewise, with up to `wholeDigits` digits before the point.
    package func text(wholeDigits: Int) -> String {
        var text = isNegative ? "-" : ""
        let all = isZero ? [UInt8(ascii: "0")] : digits
        // Position of the point, counted from the first digit.
        let point = isZero ? 1 : exponent + Int128(digits.count)
        switch point {
        case -5...0:
            text += "0." + String(repeating: "0", count: Int(-point)) + String(decoding: all, as: UTF8.self)
        case 1...Int128(max(wholeDigits, all.count)) where point >= Int128(all.count):
            text += String(decoding: all, as: UTF8.self)
            text += String(repeating: "0", count: Int(point) - all.count) + ".0"
        case 1...Int128(max(wholeDigits, all.count)):
            text += String(decoding: all.prefix(Int(point)), as: UTF8.self) + "."
            text += String(decoding: all.dropFirst(Int(point)), as: UTF8.self)
        default:
            text += String(decoding: all.prefix(1), as: UTF8.self) + "."
            text += all.count > 1 ? String(decoding: all.dropFirst(), as: UTF8.self) : "0"
            text += (point > 0 ? "e+" : "e") + "\(point - 1)"
        }
        return text
    }
}
