/// Dates in ISO 8601 (RFC 3339): `2026-01-31`, `2026-01-31T09:05Z`, `2026-01-31T09:05:00.25+02:00`. Without a zone
/// they are in UTC.
package enum DateText {
    /// Parses the whole text into microseconds since 1970. Drops fraction digits beyond the sixth. Nil for anything
    /// else, including dates and times that don't exist.
    package static func microseconds(_ text: some Collection<UInt8>) -> Int64? {
        var text = Cursor(rest: Array(text)[...])
        guard let year = text.number(4), text.take("-"), let month = text.number(2), text.take("-"),
            let day = text.number(2), year >= 1, (1...12).contains(month),
            (1...daysIn(month: month, year: year)).contains(day)
        else { return nil }
        var seconds = days(year: year, month: month, day: day) * 86_400
        var fraction = 0
        if !text.isAtEnd {
            guard text.take("T") || text.take("t"), let hour = text.number(2), text.take(":"),
                let minute = text.number(2), hour < 24, minute < 60
            else { return nil }
            seconds += hour * 3600 + minute * 60
            if text.take(":") {
                guard let second = text.number(2), second < 60 else { return nil }
                seconds += second
                if text.take(".") {
                    guard let digits = text.fraction() else { return nil }
                    fraction = digits
                }
            }
            guard let zone = text.zone() else { return nil }
            seconds -= zone
        }
        let moment = Int64(seconds) * 1_000_000 + Int64(fraction)
        return text.isAtEnd && range.contains(moment) ? moment : nil
    }

    /// A stored text as a date, in the seconds of ``StoredItem/date(_:)``; nil unless it is in ISO 8601. A space may replace the
    /// `T`, as databases write it.
    static func date(_ text: UnsafeRawBufferPointer) -> Double? {
        // Rules out most texts.
        guard text.count >= 10, text.count <= 40, text[4] == 0x2d, text[7] == 0x2d, text[0].isDigit else {
            return nil
        }
        if text.count > 10, text[10] == 0x20 {
            var bytes = Array(text)
            bytes[10] = UInt8(ascii: "T")
            return microseconds(bytes).map(StoredItem.date(microseconds:))
        }
        return microseconds(text).map(StoredItem.date(microseconds:))
    }

    /// The years 1 to 9999.
    private static let range = -62_135_596_800_000_000..<253_402_300_800_000_000 as Range<Int64>

    /// The shortest exact text, in UTC.
    package static func text(microseconds: Int64) -> String {
        let (seconds, fraction) = floorDivide(microseconds, 1_000_000)
        let (day, time) = floorDivide(seconds, 86_400)
        let date = civil(day: Int(day))
        var text = padded(date.year, 4) + "-" + padded(date.month, 2) + "-" + padded(date.day, 2)
        if time == 0, fraction == 0 { return text }
        text +=
            "T" + padded(Int(time) / 3600, 2) + ":" + padded(Int(time) / 60 % 60, 2) + ":"
            + padded(Int(time) % 60, 2)
        if fraction != 0 {
            var digits = padded(Int(fraction), 6)
            while digits.last == "0" { digits.removeLast() }
            text += "." + digits
        }
        return text + "Z"
    }

    private static func floorDivide(_ number: Int64, _ divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    private static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    private static func daysIn(month: Int, year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    // Years begin in March, so that the leap day is the last day of its year.

    /// Days from 1970-01-01 to a date of the Gregorian calendar.
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }

    /// The date of the Gregorian calendar `day` days after 1970-01-01, for years from 0 on.
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

    private struct Cursor {
        var rest: ArraySlice<UInt8>

        var isAtEnd: Bool { rest.isEmpty }

        mutating func take(_ character: Character) -> Bool {
            guard let first = rest.first, first == character.asciiValue else { return false }
            rest.removeFirst()
            return true
        }

        mutating func number(_ digits: Int) -> Int? {
            let text = rest.prefix(digits)
            guard text.count == digits, text.allSatisfy(\.isDigit) else { return nil }
            rest.removeFirst(digits)
            return text.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }

        /// Microseconds.
        mutating func fraction() -> Int? {
            let digits = rest.prefix(while: \.isDigit)
            guard (1...9).contains(digits.count) else { return nil }
            rest.removeFirst(digits.count)
            let six = Array(digits.prefix(6)) + Array(repeating: UInt8(0x30), count: max(0, 6 - digits.count))
            return six.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }

        /// Seconds east of Greenwich; 0 without a zone.
        mutating func zone() -> Int? {
            if isAtEnd || take("Z") || take("z") { return 0 }
            let sign = take("+") ? 1 : take("-") ? -1 : 0
            guard sign != 0, let hours = number(2), take(":"), let minutes = number(2), hours < 24,
                minutes < 60
            else { return nil }
            return sign * (hours * 3600 + minutes * 60)
        }
    }
}
