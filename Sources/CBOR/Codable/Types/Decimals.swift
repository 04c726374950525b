#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CBORWriter {
    /// Writes a decimal fraction (RFC 8949, section 3.4.4) without trailing zeros in its mantissa, or NaN as a float.
    mutating func write(_ decimal: Decimal) {
        guard !decimal.isNaN else { return write(Double.nan) }
        let number = DecimalNumber(text: decimal.description.utf8)
        if number.isZero {
            write(tag: TagNumber.decimalFraction)
            beginArray(count: 2)
            write(unsigned: 0)
            write(unsigned: 0)
        } else {
            // A Decimal has an exponent of 8 bits and at most 39 digits.
            write(
                isNegative: number.isNegative, mantissa: Magnitude(decimalDigits: number.digits),
                exponent: Int64(truncatingIfNeeded: number.exponent))
        }
    }
}

extension CBORReader {
    /// Reads a decimal fraction, integer, bignum or float. A float stands for the shortest decimal number that reads as that
    /// float. A number that a `Decimal` can't hold exactly is an error.
    mutating func decodeDecimal() throws(ReadFault) -> Decimal {
        let start = offset
        let number: DecimalNumber
        switch try nextTag() {
        case TagNumber.decimalFraction: number = try decodeDecimalFraction()
        default:
            offset = start
            if let integer = try decodeIntegerIfThere(Int128.self) {
                number = DecimalNumber(text: integer.description.utf8)
            } else {
                let float = try decodeFloat(Double.self)
                if float.isNaN { return .nan }
                guard float.isFinite else { throw .unfit(Decimal.self, "\(float)") }
                number = DecimalNumber(text: float.description.utf8)
            }
        }
        return try Self.decimal(number)
    }

    private mutating func decodeDecimalFraction() throws(ReadFault) -> DecimalNumber {
        let number: DecimalNumber?
        do throws(CBORError) { number = try readDecimalFraction() } catch { throw .malformed(error) }
        guard let number else { throw .unfit(Decimal.self, "a decimal fraction") }
        return number
    }

    private static func decimal(_ number: DecimalNumber) throws(ReadFault) -> Decimal {
        if number.isZero { return Decimal(0) }
        let digits = String(decoding: number.digits, as: UTF8.self)
        guard digits.utf8.count <= 39, (-200...200).contains(number.exponent),
            let decimal = Decimal(string: (number.isNegative ? "-" : "") + digits + "e\(number.exponent)"),
            DecimalNumber(text: decimal.description.utf8) == number
        else {
            throw .unfit(
                Decimal.self, "a number of \(digits.utf8.count) digits and exponent \(number.exponent)")
        }
        return decimal
    }
}
