/// Sendable value type; safe to use from any thread. A value that is written in a query.
public enum QueryLiteral: Sendable, Hashable {
    case null
    case boolean(Bool)
    case integer(Int64)
    /// An integer above `Int64.max`; smaller ones are ``integer(_:)``.
    case unsigned(UInt64)
    /// A finite number that is written with a point or an exponent.
    case number(Double)
    case text(String)
    /// `90s`, `5m`: compares as the number of its seconds. Zero or more.
    case duration(microseconds: Int64)
    /// `10KB`, `2MiB`: compares as the number of its bytes.
    case size(bytes: UInt64)
    /// A moment in microseconds since 1970-01-01 00:00 UTC, within the years 1 to 9999.
    case date(microseconds: Int64)

    /// Whether values of its kind have an order.
    var isOrdered: Bool {
        switch self {
        case .null, .boolean: false
        case .integer, .unsigned, .number, .text, .duration, .size, .date: true
        }
    }
}
