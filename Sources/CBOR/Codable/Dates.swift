#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `Date` counts from 2001, CBOR from 1970: half of all dates need more bits, and become bigfloats to round-trip exactly.
enum Dates {
    /// Seconds from 1970 to 2001.
    static let reference = Int128(Date.timeIntervalBetween1970AndReferenceDate)

    /// The key of extended time's number of seconds as bigfloat (RFC 9581, section 3.3).
    static let bigfloatKey: UInt64 = 5
    /// The key of extended time's number of seconds as integer or float (RFC 9581, section 3.2).
    static let numberKey: UInt64 = 1
    /// Keys of extended time's decimal fractions of a second, with their divisors (RFC 9581, section 3.4).
    static let partsOfSecond: [Int: Double] = [
        -3: 1e3, -6: 1e6, -9: 1e9, -12: 1e12, -15: 1e15, -18: 1e18,
    ]

    /// The date `mantissa` * 2^`exponent` seconds after 1970. Nil if that needs more than 128 bits.
    static func date(mantissa: Int128, exponent: Int) -> Date? {
        guard (-100...100).contains(exponent) else { return nil }
        // The unit is the smaller of 1 s and 2^exponent s; dates that this module writes are exact in it.
        let unit = min(exponent, 0)
        let (since1970, overflow) = mantissa.multipliedReportingOverflow(by: 1 << Int128(max(exponent, 0)))
        let (offset, offsetOverflow) = reference.multipliedReportingOverflow(by: 1 << Int128(-unit))
        let (since2001, differenceOverflow) = since1970.subtractingReportingOverflow(offset)
        if overflow || offsetOverflow || differenceOverflow { return nil }
        return Date(
            timeIntervalSinceReferenceDate: Double(
                sign: .plus, exponent: unit, significand: Double(since2001)))
    }

    /// Mantissa and exponent of the seconds since 1970, the mantissa odd or the exponent 0; nil beyond 128 bits.
    static func bigfloat(_ date: Date) -> (mantissa: Int128, exponent: Int)? {
        let seconds = date.timeIntervalSinceReferenceDate
        guard seconds.isFinite, seconds != 0 else { return nil }
        let unit = min(0, Int(seconds.exponent) - (seconds.significandWidth))
        guard unit > -97, seconds.magnitude < 0x1p100 else { return nil }
        let units = Int128(seconds * Double(sign: .plus, exponent: -unit, significand: 1))
        let (sum, overflow) = units.addingReportingOverflow(reference << Int128(-unit))
        return overflow ? nil : (sum, unit)
    }
}
