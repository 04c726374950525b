/// A moment as microseconds since 1970-01-01 00:00 UTC, as the store's files keep it.
public struct Timestamp: Sendable, Hashable, Comparable, Codable {
    public var microseconds: Int64

    public init(microseconds: Int64) { self.microseconds = microseconds }

    /// The wall clock, right within a few milliseconds; costs a few nanoseconds.
    public static func now() -> Timestamp { Timestamp(microseconds: Clock.wall()) }

    public var secondsSince1970: Double { Double(microseconds) / 1_000_000 }

    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.microseconds < right.microseconds
    }
}
