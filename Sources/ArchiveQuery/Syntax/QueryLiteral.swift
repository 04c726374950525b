import CBOR

/// A literal value in a query.
public enum QueryLiteral: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case boolean(Bool)
    /// An integer in the range of `Int64`.
    case integer(Int64)
    /// An integer above `Int64.max`; smaller ones are ``integer(_:)``.
    case unsigned(UInt64)
    /// A finite number, written with a point or an exponent.
    case number(Double)
    /// Any other number, such as `1e400`, `9007199254740993.0` or an integer of more than 64 bits.
    case exact(ExactNumber)
    /// A text.
    case text(String)
    /// `90s`, `5m`: compares as a number of seconds. Never negative.
    case duration(microseconds: Int64)
    /// `10KB`, `2MiB`: compares as a number of bytes.
    case size(bytes: UInt64)
    /// A time in microseconds since 1970-01-01 00:00 UTC.
    case date(microseconds: Int64)
    /// `today - 3d`, or a date without a zone, which depends on the query's clock and time zone.
    case localDate(QueryDate)

    var isDate: Bool {
        switch self {
        case .date, .localDate: true
        default: false
        }
    }

    var isOrdered: Bool {
        switch self {
        case .null, .boolean: false
        case .integer, .unsigned, .number, .exact, .text, .duration, .size, .date, .localDate: true
        }
    }
}

/// A number of up to 16,384 digits in a query. Created by ``QueryPipeline/parse(_:)``.
public struct ExactNumber: Sendable, Hashable, CustomStringConvertible {
    /// The number as written.
    public let description: String
    let value: NumberValue
}

extension QueryLiteral {
    /// Parses a number like an import, so that it is found by its text. Nil beyond the limits of stored numbers.
    package init?(number text: String) {
        if let number = Int64(text) {
            self = .integer(number)
        } else if let number = UInt64(text) {
            self = .unsigned(number)
        } else {
            let decimal = DecimalNumber(text: text.utf8)
            let isInteger = text.utf8.allSatisfy { $0.isDigit || $0 == UInt8(ascii: "-") }
            if !isInteger, let number = decimal.double {
                self = .number(number)
            } else if decimal.hasStorableDigits {
                self = .exact(ExactNumber(description: text, value: NumberValue(decimal)))
            } else {
                return nil
            }
        }
    }
}
