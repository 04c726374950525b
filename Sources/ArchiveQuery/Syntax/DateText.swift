/// Dates in ISO 8601, RFC 3339 and RFC 9557, and of databases. The manual of the query language lists all forms.
package enum DateText {
    struct Written {
        /// Days from 1970-01-01.
        var day: Int
        /// Microseconds from midnight; nil for a day without a time.
        var time: Int64?
        /// Seconds east of Greenwich; nil without a zone.
        var offset: Int?

        /// Microseconds since 1970; nil beyond 64 bits.
        func moment(in zone: @autoclosure () -> QueryTimeZone) -> Int64? {
            let (rest, micros) = DateText.floorDivide(time ?? 0, 1_000_000)
            let wall = Int64(day) * 86_400 + rest
            let seconds = offset.map { wall - Int64($0) } ?? zone().seconds(ofWall: wall, isDay: time == nil)
            let (moment, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000)
            let (sum, isTooLate) = moment.addingReportingOverflow(micros)
            return overflows || isTooLate ? nil : sum
        }
    }

    /// The stored form of a moment in microseconds since 1970: seconds since 2001, as Foundation counts.
    static func date(microseconds: Int64) -> Double {
        let (seconds, rest) = floorDivide(microseconds, 1_000_000)
        let isExact = microseconds.magnitude <= 1 << 53
        let time = isExact ? Double(microseconds) / 1_000_000 : Double(seconds) + Double(rest) / 1_000_000
        return time - 978_307_200
    }

    /// The date of a whole text, in seconds since 2001, by default in the running query's zone.
    /// - Parameter takesDigits: whether 7 or 8 digits are a date, for conversions.
    static func date(_ text: UnsafeRawBufferPointer, takesDigits: Bool = false) -> Double? {
        guard let written = read(text, takesDigits: takesDigits) else { return nil }
        return written.moment(in: QueryClock.zone).map(date(microseconds:))
    }

    /// Parses the whole text. Nil for other texts, and for dates and times that don't exist.
    static func read(_ text: UnsafeRawBufferPointer, takesDigits: Bool = false) -> Written? {
        // Excludes most texts.
        guard (7...100).contains(text.count), text[0].isDigit || "+-\u{2212}".utf8.contains(text[0]) else {
            return nil
        }
        var cursor = DateCursor(text: text)
        guard let day = cursor.day() else { return nil }
        var written = Written(day: day)
        if cursor.takeTimeSeparator() {
            guard let time = cursor.time() else { return nil }
            written.time = time
            if cursor.hasZone {
                guard let offset = cursor.offset() else { return nil }
                written.offset = offset
            }
        } else if cursor.isBasic {
            guard takesDigits else { return nil }
        } else if cursor.take("Z") {
            written.offset = 0
        }
        return cursor.takeSuffixes(hasOffset: written.offset != nil) && cursor.isAtEnd ? written : nil
    }

    /// The moments whose text in UTC is a literal, because the year has four digits.
    private static let literals: Range<Int64> = -62_167_219_200_000_000..<253_402_300_800_000_000

    /// The exact time as in a query, in UTC. Outside years 0 to 9999: a duration before their first day or after their last.
    static func literal(_ moment: Int64) -> String {
        guard !literals.contains(moment) else { return text(microseconds: moment) }
        let nearest = moment < 0 ? literals.lowerBound : literals.upperBound - 86_400_000_000
        return text(microseconds: nearest) + (moment < 0 ? " - " : " + ")
            + DurationText.text(microseconds: abs(moment - nearest))
    }

    /// The exact time, `2026-01-31T09:05:00.5+02:00`, with `Z` for 0; years beyond 0 to 9999 have a sign and six digits.
    package static func text(microseconds: Int64, offset: Int = 0) -> String {
        let (seconds, fraction) = floorDivide(microseconds, 1_000_000)
        let (day, time) = floorDivide(seconds + Int64(offset), 86_400)
        let date = civil(day: Int(day))
        let year =
            (0...9999).contains(date.year)
            ? padded(date.year, 4) : (date.year < 0 ? "-" : "+") + padded(abs(date.year), 6)
        var text = "\(year)-\(padded(date.month, 2))-\(padded(date.day, 2))T\(clock(Int(time)))"
        if fraction != 0 {
            var digits = padded(Int(fraction), 6)
            while digits.last == "0" { digits.removeLast() }
            text += "." + digits
        }
        guard offset != 0 else { return text + "Z" }
        let zone = clock(abs(offset))
        return text + (offset < 0 ? "-" : "+") + (zone.hasSuffix(":00") ? String(zone.dropLast(3)) : zone)
    }

    /// The time in the zone of the process, with its offset.
    package static func local(microseconds: Int64) -> String {
        let zone = QueryTimeZone.local
        return text(microseconds: microseconds, offset: zone.offset(floorDivide(microseconds, 1_000_000).0))
    }

    private static func clock(_ seconds: Int) -> String {
        [seconds / 3600, seconds / 60 % 60, seconds % 60].map { padded($0, 2) }.joined(separator: ":")
    }

    static func floorDivide(_ number: Int64, _ divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    private static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    // Years begin in March, so that the leap day is the last day of its year.

    /// Days from 1970-01-01 to a date of the proleptic Gregorian calendar.
    static func days(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(day: Int) -> (year: Int, month: Int, day: Int) {
        let since = day + 719_468
        let era = (since >= 0 ? since : since - 146_096) / 146_097
        let dayOfEra = since - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}
