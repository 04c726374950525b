import CBOR

package enum NumberValue: Sendable, Hashable {
    case integer(Int128)
    case float(Double)
    /// A number that is neither a 64-bit integer nor a `Double`.
    case decimal(DecimalNumber)
    /// An integer of more than 64 bits, stored as one.
    case bignum(DecimalNumber)

    /// Normalizes to an integer or `Double` if the number is exactly representable, so that equal numbers have equal forms.
    /// A number that is stored as an integer stays one.
    package init(_ number: DecimalNumber, isInteger: Bool = false) {
        if let integer = number.integer, integer.magnitude < 1 << 64 {
            self = .integer(integer)
        } else if isInteger {
            self = .bignum(number)
        } else if let float = number.nearestDouble, float.isFinite,
            // By the same rule as other comparisons.
            NumberValue.compare(.float(float), .decimal(number)) == 0
        {
            self = .float(float)
        } else {
            self = .decimal(number)
        }
    }

    /// Negative if `left` is less, positive if it is greater; nil if either is NaN. A float compares with a decimal number as
    /// the shortest decimal that reads as that float or, beyond the exact integers, as its integer. So the order is total.
    static func compare(_ left: NumberValue, _ right: NumberValue) -> Int? {
        switch (left, right) {
        case (.integer(let a), .integer(let b)): a < b ? -1 : a > b ? 1 : 0
        case (.float(let a), .float(let b)): a < b ? -1 : a > b ? 1 : a == b ? 0 : nil
        case (.integer(let a), .float(let b)): compare(a, b)
        case (.float(let a), .integer(let b)): compare(b, a).map { -$0 }
        default: compareDecimals(left, right)
        }
    }

    private static func compare(_ integer: Int128, _ float: Double) -> Int? {
        if float.isNaN { return nil }
        // Both bounds are exact floats, and no integer here exceeds them.
        if float >= 0x1p120 { return -1 }
        if float <= -0x1p120 { return 1 }
        let whole = float.rounded(.towardZero)
        let other = Int128(whole)
        if integer != other { return integer < other ? -1 : 1 }
        return float > whole ? -1 : float < whole ? 1 : 0
    }

    private static func compareDecimals(_ left: NumberValue, _ right: NumberValue) -> Int? {
        if case .float(let float) = left, !float.isFinite { return float.isNaN ? nil : float < 0 ? -1 : 1 }
        if case .float(let float) = right, !float.isFinite { return float.isNaN ? nil : float < 0 ? 1 : -1 }
        let (a, b) = (left.decimal, right.decimal)
        return a < b ? -1 : b < a ? 1 : 0
    }

    /// The exact value by the rule of ``compare(_:_:)``; not for infinity and NaN.
    var decimal: DecimalNumber {
        switch self {
        case .integer(let number): DecimalNumber(text: number.description.utf8)
        case .float(let number) where (0x1p53..<0x1p100).contains(number.magnitude):
            DecimalNumber(text: Int128(number).description.utf8)
        case .float(let number): DecimalNumber(text: number.description.utf8)
        case .decimal(let number), .bignum(let number): number
        }
    }

    /// The nearest `Double`; infinite beyond its range.
    var double: Double {
        switch self {
        case .integer(let number): Double(number)
        case .float(let number): number
        case .decimal(let number), .bignum(let number): number.roundedDouble
        }
    }

    var isNaN: Bool {
        if case .float(let number) = self { number.isNaN } else { false }
    }
}
