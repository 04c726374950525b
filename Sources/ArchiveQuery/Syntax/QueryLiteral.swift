/// Sendable value type; safe to use from any thread. A literal value in a query.
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
    /// A text.
    case text(String)
    /// `90s`, `5m`: compares as a number of seconds. Never negative.
    case duration(microseconds: Int64)
    /// `10KB`, `2MiB`: compares as a number of bytes.
    case size(bytes: UInt64)
    /// A time in microseconds since 1970-01-01 00:00 UTC, in the years 1 to 9999.
    case date(microseconds: Int64)

    /// Whether values of its kind have an order.
    var isOrdered: Bool {
        switch self {
        case .null, .boolean: false
        case .integer, .unsigned, .number, .text, .duration, .size, .date: true
        }
    }
}
