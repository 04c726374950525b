#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
        guard let count = try open(.map) else { throw try mismatch(Date.self) }
        var read = 0
        while !readEnd(count: count, read: read) {
            switch try decodeInteger(Int.self) {
            case Int(Dates.numberKey): date = Date(timeIntervalSince1970: try decodeFloat(Double.self))
            case Int(Dates.bigfloatKey):
                guard try open(.array) == .some(2) else { throw try mismatch(Date.self) }
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

    /// Reads a decimal fraction, integer, bignum or float. A float stands for the shortest decimal number that reads as that
    /// float. A number that a `Decimal` can't hold exactly is an error.
    mutating func decodeDecimal() throws(ReadFault) -> Decimal {
        let start = offset
        let number: DecimalNumber
        switch try nextTag() {
        case TagNumber.decimalFraction:
            let fraction = try checked { reader throws(CBORError) in try reader.readDecimalFraction() }
            guard let fraction else { throw .unfit(Decimal.self, "a decimal fraction") }
            number = fraction
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

    /// Reads an identifier as 16 bytes or as text of hexadecimal digits, tagged or not.
    mutating func decodeUUID() throws(ReadFault) -> UUID {
        try skipTags()
        if try nextType() == .text {
            let text = try decodeText()
            guard let identifier = UUID(uuidString: text) else { throw .unfit(UUID.self, "\"\(text)\"") }
            return identifier
        }
        let content = try decodeByteString(UUID.self)
        guard content.count == 16 else { throw .unfit(UUID.self, "\(content.count) bytes") }
        var identifier = uuid_t(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &identifier) { $0.copyBytes(from: content) }
        return UUID(uuid: identifier)
    }

    mutating func decodeURL() throws(ReadFault) -> URL {
        let text = try decodeText()
        guard let url = URL(string: text) else { throw .unfit(URL.self, "\"\(text)\"") }
        return url
    }
}
