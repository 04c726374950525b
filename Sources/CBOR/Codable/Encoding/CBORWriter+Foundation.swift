#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CBORWriter {
    /// Writes epoch time (RFC 8949, section 3.4.2) if that converts back to the same date, otherwise extended time. NaN, and
    /// dates within 2^-44 s of 2001, are plain numbers of seconds since 2001, which `Date` itself would encode.
    mutating func write(_ date: Date) {
        let seconds = date.timeIntervalSince1970
        let again = Date(timeIntervalSince1970: seconds).timeIntervalSinceReferenceDate
        if again.bitPattern == date.timeIntervalSinceReferenceDate.bitPattern {
            write(tag: TagNumber.epochTime)
            if let whole = Int64(exactly: seconds), seconds.bitPattern != (-0.0).bitPattern {
                write(integer: whole)
            } else {
                write(seconds)
            }
        } else if let (mantissa, exponent) = Dates.bigfloat(date) {
            write(tag: TagNumber.extendedTime)
            beginMap(count: 1)
            write(unsigned: Dates.bigfloatKey)
            beginArray(count: 2)
            write(integer: Int64(exponent))
            write(wide: mantissa)
        } else {
            write(date.timeIntervalSinceReferenceDate)
        }
    }

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

    /// Writes the 16 bytes of the identifier (RFC 9562, registered for CBOR as tag 37).
    mutating func write(_ identifier: UUID) {
        write(tag: TagNumber.uuid)
        withUnsafeBytes(of: identifier.uuid) { write(bytes: $0) }
    }

    /// Writes the text (RFC 8949, 3.4.5.3); false, with nothing written, for URLs that can't be recreated (relative ones).
    mutating func write(_ url: URL) -> Bool {
        guard url.baseURL == nil, URL(string: url.relativeString) == url else { return false }
        write(tag: TagNumber.url)
        write(url.relativeString)
        return true
    }
}
