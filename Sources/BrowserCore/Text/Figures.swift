/// Numbers as people read them. Stateless; safe to call from any thread.
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

    /// A number and its noun: `1 entry`, `6,204 entries`.
    package static func count(_ number: some BinaryInteger, _ one: String, _ many: String) -> String {
        "\(count(number)) \(number == 1 ? one : many)"
    }

    private static let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"]

    /// Bytes in decimal units, as limits are given: `812 B`, `1.4 MB`, `20 MB`.
    package static func bytes(_ number: UInt64) -> String {
        let unit = unit(of: number)
        return "\(short(Double(number) / scale(unit))) \(units[unit])"
    }

    /// Bytes in the unit that `other` is shown in, without the unit: `0.4`, `<0.01`.
    package static func bytes(_ number: UInt64, inUnitOf other: UInt64) -> String {
        let value = Double(number) / scale(unit(of: other))
        return number > 0 && value < 0.005 ? "<0.01" : short(value)
    }

    private static func unit(of number: UInt64) -> Int {
        var unit = 0
        while unit + 1 < units.count, Double(number) / scale(unit) >= (unit == 0 ? 1000 : 999.5) { unit += 1 }
        return unit
    }

    private static func scale(_ unit: Int) -> Double { (0..<unit).reduce(1) { scale, _ in scale * 1000 } }

    /// Three digits are enough to compare: `1.42`, `20.3`, `417`; zeros at the end are left out.
    private static func short(_ value: Double) -> String {
        let digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2
        return decimal(value, digits: digits)
    }

    /// A decimal number without zeros at its end.
    package static func decimal(_ value: Double, digits: Int) -> String {
        let scale = [1, 10, 100, 1000][min(3, max(0, digits))]
        let scaled = Int((abs(value) * Double(scale)).rounded())
        var fraction = String(scaled % scale)
        fraction = String(repeating: "0", count: max(0, digits - fraction.count)) + fraction
        while fraction.last == "0" { fraction.removeLast() }
        let whole = (value < 0 && scaled > 0 ? "-" : "") + String(scaled / scale)
        return digits == 0 || fraction.isEmpty ? whole : "\(whole).\(fraction)"
    }

    /// A rate a second: `0`, `0.4`, `12.5`, `1,204`, `12.3k`.
    package static func rate(_ value: Double) -> String {
        if value >= 9_999.5 { return "\(short(value / 1000))k" }
        if value >= 99.5 { return count(Int(value.rounded())) }
        return decimal(value, digits: 1)
    }

    /// `92.4%`; 100 and 0 only when they are exact.
    package static func percent(_ share: Double) -> String {
        let tenths = Int((share * 1000).rounded())
        if share < 1, tenths == 1000 { return "99.9%" }
        if share > 0, tenths == 0 { return "0.1%" }
        return tenths == 1000 ? "100%" : "\(tenths / 10).\(tenths % 10)%"
    }

    /// A length of time in its two largest units, rounded to the smaller: `45s`, `1m 30s`, `2h`, `3h 5m`, `2d 4h`;
    /// from a hundred days on in days, from a thousand on in years: `312d`, `2.7y`.
    /// - Parameter separator: what stands between the units; without any it has at most six columns.
    package static func duration(_ seconds: Double, separator: String = " ") -> String {
        let seconds = max(0, min(seconds, 999 * year))
        func two(_ unit: Double, _ name: String, _ part: Double, _ partName: String) -> String {
            let (whole, rest) = Int((seconds / part).rounded()).quotientAndRemainder(
                dividingBy: Int(unit / part))
            return "\(whole)\(name)" + (rest == 0 ? "" : "\(separator)\(rest)\(partName)")
        }
        // Each bound is where the next larger unit is what it is rounded to.
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

    /// The time of day of a moment in UTC: `12:09:41`.
    package static func time(_ moment: Moment) -> String { String(date(moment).suffix(8)) }

    /// A moment in UTC: `2026-01-31 12:09:41`. The civil calendar from days is by the shift of years to begin in
    /// March, so that the leap day is the last.
    package static func date(_ moment: Moment) -> String {
        let seconds = moment.microseconds / 1_000_000 - (moment.microseconds % 1_000_000 < 0 ? 1 : 0)
        let day = seconds / 86_400 - (seconds % 86_400 < 0 ? 1 : 0)
        let time = seconds - day * 86_400
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let civilMonth = month < 10 ? month + 3 : month - 9
        let year = yearOfEra + era * 400 + (civilMonth <= 2 ? 1 : 0)
        let parts = [
            String(year), two(civilMonth), two(dayOfYear - (153 * month + 2) / 5 + 1),
        ]
        return parts.joined(separator: "-") + " "
            + [two(time / 3600), two(time / 60 % 60), two(time % 60)].joined(separator: ":")
    }

    private static func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
