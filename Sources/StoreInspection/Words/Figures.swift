import ArchiveQuery
import StorageEngine

package enum Figures {
    /// `6,204`
    package static func count(_ number: some BinaryInteger) -> String {
        let digits = String(number.magnitude)
        var text = ""
        for (position, digit) in digits.enumerated() {
            if position > 0, (digits.count - position) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return (number < 0 ? "-" : "") + text
    }

    /// The text of a number with separators, from 1 on with at most six decimals: `1,234,567.8`.
    package static func grouped(_ text: String) -> String {
        var text = text
        if text.drop(while: { $0 != "." }).count > 7, let value = Double(text), abs(value) >= 1 {
            text = decimal(value, digits: 6)
        }
        let whole = text.prefix { $0 == "-" || $0.isASCII && $0.isNumber }
        guard let number = Int(whole), whole != "-0" else { return text }
        return count(number) + text.dropFirst(whole.count)
    }

    /// A number and its noun: `1 entry`, `6,204 entries`.
    package static func count(_ number: some BinaryInteger, _ one: String, _ many: String) -> String {
        "\(count(number)) \(number == 1 ? one : many)"
    }

    /// Entries and the approximate bytes of their values: `6,204 entries, 635 kB`.
    package static func amount(_ entries: Int, bytes: UInt64) -> String {
        count(entries, "entry", "entries") + ", " + Figures.bytes(bytes)
    }

    private static let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"]

    /// Bytes in decimal units: `812 B`, `1.4 MB`, `20 MB`.
    package static func bytes(_ number: UInt64) -> String {
        let unit = unit(of: number)
        return "\(short(Double(number) / scale(unit))) \(units[unit])"
    }

    private static func unit(of number: UInt64) -> Int {
        var unit = 0
        while unit + 1 < units.count, Double(number) / scale(unit) >= (unit == 0 ? 1000 : 999.5) { unit += 1 }
        return unit
    }

    private static func scale(_ unit: Int) -> Double { (0..<unit).reduce(1) { scale, _ in scale * 1000 } }

    /// Three digits without zeros at the end: `1.42`, `20.3`, `417`.
    private static func short(_ value: Double) -> String {
        let digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2
        return decimal(value, digits: digits)
    }

    /// A decimal number without zeros at its end.
    package static func decimal(_ value: Double, digits: Int) -> String {
        guard abs(value) < 1e12 else { return String(value) }
        var text = fixed(value, digits: digits)
        while text.last == "0" { text.removeLast() }
        if text.last == "." { text.removeLast() }
        return text
    }

    package static func fixed(_ number: Double, digits: Int) -> String {
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let scaled = (number * scale).rounded()
        guard scaled.isFinite, abs(scaled) < 1e15 else { return String(number) }
        let units = Int(abs(scaled))
        let fraction = String(units % Int(scale))
        let sign = scaled < 0 ? "-" : ""
        return sign + String(units / Int(scale)) + "."
            + String(repeating: "0", count: max(0, digits - fraction.count)) + fraction
    }

    /// A rate per second: `0`, `0.4`, `12.5`, `1,204`, `12.3k`.
    package static func rate(_ value: Double) -> String {
        if value >= 9_999.5 { return "\(short(value / 1000))k" }
        if value >= 99.5 { return count(Int(value.rounded())) }
        return decimal(value, digits: 1)
    }

    /// `92.4%`; 100 and 0 only if exact, `<0.1%` for smaller shares.
    package static func percent(_ share: Double) -> String {
        let tenths = Int((share * 1000).rounded())
        if share < 1, tenths == 1000 { return "99.9%" }
        if share > 0, tenths == 0 { return "<0.1%" }
        return tenths == 1000 ? "100%" : "\(tenths / 10).\(tenths % 10)%"
    }

    /// A duration in its two largest units, rounded to the smaller: `45s`, `1m30s`, `2d4h`; from 100 days in days, from 1,000
    /// in years: `312d`, `2.7y`. At most six columns.
    package static func duration(_ seconds: Double) -> String {
        let seconds = max(0, min(seconds, 999 * year))
        func two(_ unit: Double, _ name: String, _ part: Double, _ partName: String) -> String {
            let (whole, rest) = Int((seconds / part).rounded()).quotientAndRemainder(
                dividingBy: Int(unit / part))
            return "\(whole)\(name)" + (rest == 0 ? "" : "\(rest)\(partName)")
        }
        // Each bound rounds up to the next unit.
        switch seconds {
        case ..<59.5: return "\(Int(seconds.rounded()))s"
        case ..<3599.5: return two(60, "m", 1, "s")
        case ..<(86_400 - 30): return two(3600, "h", 60, "m")
        case ..<(86_400 * 100 - 1800): return two(86_400, "d", 3600, "h")
        case ..<(86_400 * 999.5): return "\(Int((seconds / 86_400).rounded()))d"
        default: return "\(decimal(seconds / year, digits: 1))y"
        }
    }

    private static let year = 31_557_600.0

    /// An elapsed time in milliseconds or, from a second on, in seconds: `0.42 ms`, `3.24 s`, `30.8 s`.
    package static func elapsed(_ duration: Duration) -> String {
        let milliseconds = duration / .milliseconds(1)
        if milliseconds >= 999.5 {
            return decimal(milliseconds / 1000, digits: milliseconds < 9_995 ? 2 : 1) + " s"
        }
        return decimal(milliseconds, digits: milliseconds < 10 ? 2 : 0) + " ms"
    }

    /// A time until a moment: `<1s`, `42s`, `4m12s`.
    package static func interval(_ seconds: Double) -> String { seconds < 0.5 ? "<1s" : duration(seconds) }

    /// An age: `4m12s ago`, `just now`.
    package static func ago(_ time: Timestamp, now: Timestamp) -> String {
        let seconds = now.seconds(since: time)
        return seconds < 1 ? "just now" : interval(seconds) + " ago"
    }

    /// Seconds since 1970 with six decimals, exact.
    package static func seconds(_ time: Timestamp) -> String {
        var text: [UInt8] = []
        appendSeconds(time, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    static func appendSeconds(_ time: Timestamp, to output: inout [UInt8]) {
        let magnitude = UInt64(time.microseconds.magnitude)
        if time.microseconds < 0 { output.append(UInt8(ascii: "-")) }
        append(magnitude / 1_000_000, digits: 1, to: &output)
        output.append(UInt8(ascii: "."))
        append(magnitude % 1_000_000, digits: 6, to: &output)
    }

    /// Appends the decimal digits of a number, padded with zeros on the left.
    static func append(_ number: UInt64, digits: Int, to output: inout [UInt8]) {
        let start = output.count
        var rest = number
        repeat {
            output.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0 || output.count - start < digits
        output[start...].reverse()
    }

    // Times in the user's time zone, for screens only.

    /// A moment, to the second: `2026-01-31 12:09:41`.
    package static func date(_ time: Timestamp) -> String { "\(local(time).day) \(Figures.time(time))" }

    /// The time of day of a moment: `12:09:41`.
    package static func time(_ time: Timestamp) -> String { String(local(time).clock.prefix(8)) }

    /// The time of day to the millisecond: `09:05:00.123`.
    package static func clock(_ time: Timestamp) -> String {
        let rest = (time.microseconds % 1_000_000 + 1_000_000) % 1_000_000
        return Figures.time(time) + "." + String(1000 + rest / 1000).dropFirst()
    }

    /// A moment and how long ago it was: `2026-01-31 12:09:41, 4m12s ago`.
    package static func moment(_ time: Timestamp, now: Timestamp) -> String {
        "\(date(time)), \(ago(time, now: now))"
    }

    /// `1.92 of 2 MB`, in the limit's unit; `15.8 kB of 2 MB` for less than a tenth of the unit.
    package static func share(_ bytes: UInt64, of limit: UInt64?) -> String {
        guard let limit else { return Figures.bytes(bytes) }
        let value = Double(bytes) / scale(unit(of: limit))
        let amount = bytes > 0 && value < 0.095 ? Figures.bytes(bytes) : short(value)
        return "\(amount) of \(Figures.bytes(limit))"
    }

    private static func local(_ time: Timestamp) -> (day: Substring, clock: Substring) {
        let parts = DateText.local(microseconds: time.microseconds).split(separator: "T")
        return (parts[0], parts[1])
    }
}

extension Timestamp {
    package init(seconds: Double) { self.init(microseconds: Int64((seconds * 1e6).rounded())) }

    /// Seconds since `other`; negative if this moment is earlier. Never traps.
    package func seconds(since other: Timestamp) -> Double {
        Double(microseconds) / 1e6 - Double(other.microseconds) / 1e6
    }

    /// The time after this number of seconds. Saturates.
    package func adding(seconds: Double) -> Timestamp {
        let (sum, overflow) = microseconds.addingReportingOverflow(Int64(seconds * 1e6))
        return Timestamp(microseconds: overflow ? .max : sum)
    }
}
