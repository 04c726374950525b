/// A moment in microseconds since 1970-01-01 00:00 UTC, as in the store's files.
public struct Timestamp: Sendable, Hashable, Comparable, Codable {
    /// Microseconds since 1970-01-01 00:00 UTC; negative before that.
    public var microseconds: Int64

    /// The moment this many microseconds after 1970-01-01 00:00 UTC.
    public init(microseconds: Int64) { self.microseconds = microseconds }

    /// Seconds since 1970-01-01 00:00 UTC. A `Double` is exact to about a microsecond.
    public var secondsSince1970: Double { Double(microseconds) / 1_000_000 }

    /// Whether `left` is the earlier moment.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.microseconds < right.microseconds
    }
}
