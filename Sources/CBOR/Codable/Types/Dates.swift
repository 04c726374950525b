#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `Date` counts from 2001, CBOR from 1970: half of all dates need more bits, and become bigfloats to round-trip exactly.
enum Dates {
    /// Seconds from 1970 to 2001.
    fileprivate static let reference = Int128(Date.timeIntervalBetween1970AndReferenceDate)

    /// The key of extended time's number of seconds as bigfloat (RFC 9581, section 3.3).
    static let bigfloatKey: UInt64 = 5
    /// The key of extended time's number of seconds as integer or float (RFC 9581, section 3.2).
    static let numberKey: UInt64 = 1
    /// Keys of extended time's decimal fractions of a second, with their divisors (RFC 9581, section 3.4).
    fileprivate static let partsOfSecond: [Int: Double] = [
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
}

extension CBORReader {
    /// Reads what `CBORWriter.write(_:)` writes for dates; extended time may also hold an integer or a float.
    mutating func decodeDate() throws(ReadFault) -> Date {
        let start = offset
        switch try nextTag() {
        case TagNumber.epochTime: return Date(timeIntervalSince1970: try decodeFloat(Double.self))
        case TagNumber.extendedTime: return try decodeExtendedTime()
        case nil: return Date(timeIntervalSinceReferenceDate: try decodeFloat(Double.self))
        default:
            offset = start
            throw try mismatch(Date.self)
        }
    }

    /// Reads the next item, and returns the date if its tag says that it is one. An untagged number isn't.
    package mutating func readDate() throws(CBORError) -> Date? {
        var copy = self
        var head = self
        try skipItem()
        switch try head.readHead() {
        case .tag(TagNumber.epochTime), .tag(TagNumber.extendedTime): return try? copy.decodeDate()
        default: return nil
        }
    }

    private mutating func decodeExtendedTime() throws(ReadFault) -> Date {
        var date: Date?
        var fraction = 0.0
        guard let count = try openMap() else { throw try mismatch(Date.self) }
        var read = 0
        while !readEnd(count: count, read: read) {
            switch try decodeInteger(Int.self) {
            case Int(Dates.numberKey): date = Date(timeIntervalSince1970: try decodeFloat(Double.self))
            case Int(Dates.bigfloatKey):
                guard try openArray() == .some(2) else { throw try mismatch(Date.self) }
                let exponent = try decodeInteger(Int.self)
                date = Dates.date(mantissa: try decodeInteger(Int128.self), exponent: exponent)
            case let key:
                // Another key may hold a time scale or a zone, which must not be dropped silently.
                guard let parts = Dates.partsOfSecond[key] else {
                    throw .unfit(Date.self, "a kind of extended time")
                }
                fraction += Double(try decodeInteger(UInt64.self)) / parts
            }
            read += 1
        }
        guard let date else { throw .unfit(Date.self, "extended time") }
        return date + fraction
    }
}
