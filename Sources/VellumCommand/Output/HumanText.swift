import BrowserCore
import StorageEngine

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Stateless; safe from any thread. Figures as a person reads them.
enum HumanText {
    private static let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"]

    /// Bytes in the largest decimal unit that keeps a digit before the point, rounded to a tenth: `999 B`, `1.5 MB`.
    static func size(_ bytes: UInt64) -> String {
        guard bytes >= 1000 else { return "\(bytes) B" }
        var unit = 1
        var scale: UInt64 = 1000
        while unit < units.count - 1, bytes / scale >= 1000 {
            unit += 1
            scale *= 1000
        }
        let (whole, rest) = bytes.quotientAndRemainder(dividingBy: scale)
        var tenths = whole * 10 + (rest / (scale / 1000) + 50) / 100
        if tenths >= 10_000, unit < units.count - 1 {
            tenths = 10
            unit += 1
        }
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    /// A count with its noun, in the plural unless it is 1.
    static func count(_ count: some BinaryInteger, _ singular: String, _ plural: String) -> String {
        "\(count) \(count == 1 ? singular : plural)"
    }

    /// Entries and the sum of their values, exact: `2 entries, 310 bytes`.
    static func entries(_ entries: Int, bytes: UInt64) -> String {
        count(entries, "entry", "entries") + ", " + count(bytes, "byte", "bytes")
    }

    /// Entries and about how much their values are: `6204 entries, 634.8 kB`.
    static func entries(_ entries: Int, size bytes: UInt64) -> String {
        count(entries, "entry", "entries") + ", " + size(bytes)
    }

    /// A number with `digits` digits after the point, 1 or more.
    static func fixed(_ number: Double, digits: Int) -> String {
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let scaled = (number * scale).rounded()
        guard scaled.isFinite, abs(scaled) < 1e15 else { return String(number) }
        let units = Int(abs(scaled))
        let fraction = String(units % Int(scale))
        let sign = scaled < 0 ? "-" : ""
        return sign + String(units / Int(scale)) + "."
            + String(repeating: "0", count: digits - fraction.count)
            + fraction
    }

    /// Seconds since 1970 with six digits after the point, exact.
    static func seconds(_ time: Timestamp) -> String {
        let magnitude = time.microseconds.magnitude
        let fraction = String(magnitude % 1_000_000)
        return (time.microseconds < 0 ? "-" : "") + String(magnitude / 1_000_000) + "."
            + String(repeating: "0", count: 6 - fraction.count) + fraction
    }

    /// Date and time of day to the second, in the time zone of the process: `2026-01-31 09:05:00`.
    static func localTime(_ time: Timestamp) -> String {
        guard let parts = parts(of: time) else { return seconds(time) }
        return "\(Int(parts.tm_year) + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday)) " + clock(parts)
    }

    /// Time of day to the millisecond, in the time zone of the process: `09:05:00.123`.
    static func localClock(_ time: Timestamp) -> String {
        guard let parts = parts(of: time) else { return seconds(time) }
        let rest = time.microseconds % 1_000_000
        let fraction = String((rest < 0 ? rest + 1_000_000 : rest) / 1000)
        return clock(parts) + "." + String(repeating: "0", count: 3 - fraction.count) + fraction
    }

    /// Nil for a year that doesn't fit the calendar's own type.
    private static func parts(of time: Timestamp) -> tm? {
        let (seconds, rest) = time.microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        var clock = time_t(rest < 0 ? seconds - 1 : seconds)
        var parts = tm()
        return localtime_r(&clock, &parts) == nil ? nil : parts
    }

    private static func clock(_ parts: tm) -> String {
        "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
    }

    private static func two(_ number: Int32) -> String { (number < 10 ? "0" : "") + String(number) }

    /// A length of time in its two largest units, rounded to the smaller: `<1s`, `42s`, `4m 12s`, `3h 5m`, `2d 4h`.
    static func interval(_ seconds: Double) -> String {
        seconds < 0.5 ? "<1s" : Figures.duration(seconds)
    }

    /// How long ago that was: `4m 12s ago`, `just now`.
    static func ago(_ time: Timestamp, now: Timestamp) -> String {
        let seconds = now.secondsSince1970 - time.secondsSince1970
        return seconds < 1 ? "just now" : interval(seconds) + " ago"
    }
}
