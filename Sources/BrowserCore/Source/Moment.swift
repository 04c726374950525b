/// A time of the wall clock. A value; safe to share between threads.
///
/// The model never asks a clock: every moment it knows came in a message, so that a test can choose it.
public struct Moment: Sendable, Hashable, Comparable {
    /// Since 1970-01-01 UTC.
    public var microseconds: Int64

    public init(microseconds: Int64) { self.microseconds = microseconds }

    public init(seconds: Double) { microseconds = Int64((seconds * 1e6).rounded()) }

    public static func < (left: Moment, right: Moment) -> Bool { left.microseconds < right.microseconds }

    /// Seconds from `other` to this moment; negative when this one is earlier. Never traps.
    public func seconds(since other: Moment) -> Double {
        Double(microseconds) / 1e6 - Double(other.microseconds) / 1e6
    }

    public func adding(seconds: Double) -> Moment {
        let (sum, overflow) = microseconds.addingReportingOverflow(Int64(seconds * 1e6))
        return Moment(microseconds: overflow ? .max : sum)
    }
}
