/// Reads the parts of a date in ISO 8601 from left to right. Its position is undefined after a failure.
struct DateCursor {
    let text: UnsafeRawBufferPointer
    private var place = 0
    /// Whether the date has no separators.
    private(set) var isBasic = false

    init(text: UnsafeRawBufferPointer) { self.text = text }

    var isAtEnd: Bool { place == text.count }

    private func byte(ahead: Int = 0) -> UInt8 { place + ahead < text.count ? text[place + ahead] : 0 }

    mutating func take(_ character: Character) -> Bool {
        guard !isAtEnd, text[place] == character.asciiValue else { return false }
        place += 1
        return true
    }

    private mutating func number(_ digits: Int, in range: ClosedRange<Int>) -> Int? {
        var number = 0
        for ahead in 0..<digits {
            guard byte(ahead: ahead).isDigit else { return nil }
            number = number * 10 + Int(byte(ahead: ahead) - 0x30)
        }
        place += digits
        return range.contains(number) ? number : nil
    }

    private var digits: Int {
        var count = 0
        while byte(ahead: count).isDigit { count += 1 }
        return count
    }

    /// 1 or -1; nil without a sign. U+2212 is the minus of ISO 8601.
    private mutating func sign() -> Int? {
        if take("+") { return 1 }
        if take("-") { return -1 }
        guard byte() == 0xe2, byte(ahead: 1) == 0x88, byte(ahead: 2) == 0x92 else { return nil }
        place += 3
        return -1
    }

    // MARK: Days

    /// Days from 1970-01-01 of a calendar, ordinal or week date.
    mutating func day() -> Int? {
        let sign = sign()
        let yearDigits = sign == nil ? 4 : digits
        guard (4...6).contains(yearDigits), let magnitude = number(yearDigits, in: 0...999_999),
            sign != -1 || magnitude > 0
        else { return nil }
        let year = magnitude * (sign ?? 1)
        let isExtended = take("-")
        // Without separators a longer year has no clear end.
        guard isExtended || sign == nil else { return nil }
        if take("W") {
            guard let week = number(2, in: 1...53), !isExtended || take("-"), let day = number(1, in: 1...7)
            else { return nil }
            return Self.day(year: year, week: week, day: day)
        }
        isBasic = !isExtended
        if digits == 3 {
            let first = DateText.days(year: year, month: 1, day: 1)
            let length = DateText.days(year: year + 1, month: 1, day: 1) - first
            return number(3, in: 1...length).map { first + $0 - 1 }
        }
        guard let month = number(2, in: 1...12), !isExtended || take("-") else { return nil }
        let first = DateText.days(year: year, month: month, day: 1)
        let next = DateText.days(year: month == 12 ? year + 1 : year, month: month % 12 + 1, day: 1)
        return number(2, in: 1...next - first).map { first + $0 - 1 }
    }

    /// Weeks begin on Monday; the first contains January 4. Nil for a week 53 of a year without one.
    private static func day(year: Int, week: Int, day: Int) -> Int? {
        func firstMonday(_ year: Int) -> Int {
            let fourth = DateText.days(year: year, month: 1, day: 4)
            // 1970-01-01 was a Thursday.
            return fourth - ((fourth + 3) % 7 + 7) % 7
        }
        let monday = firstMonday(year) + (week - 1) * 7
        return monday < firstMonday(year + 1) ? monday + day - 1 : nil
    }

    // MARK: Times

    /// A `T`, or a space before hours and minutes with a colon.
    mutating func takeTimeSeparator() -> Bool {
        if take("T") || take("t") { return true }
        let isTime = byte() == 0x20 && byte(ahead: 1).isDigit && byte(ahead: 3) == UInt8(ascii: ":")
        return isTime && take(" ")
    }

    /// Microseconds from midnight.
    mutating func time() -> Int64? {
        guard let hour = number(2, in: 0...24) else { return nil }
        var (time, unit) = (Int64(hour) * 3600, 3600 as Int64)
        var hasColons: Bool?
        for (smaller, largest) in [(60, 59), (1, 60)] as [(Int64, Int)] {
            let hasColon = byte() == UInt8(ascii: ":")
            guard hasColon || byte().isDigit else { break }
            guard hasColons == nil || hasColons == hasColon else { return nil }
            hasColons = hasColon
            if hasColon { place += 1 }
            guard let number = number(2, in: 0...largest) else { return nil }
            unit = smaller
            time += Int64(number) * unit
        }
        time *= 1_000_000
        if take(".") || take(",") {
            guard let fraction = fraction(of: unit * 1_000_000) else { return nil }
            time += fraction
        }
        // 24:00 is the end of a day, and the only time with that hour.
        return hour < 24 || time == 86_400_000_000 ? time : nil
    }

    /// The fraction of the unit, in microseconds, rounded down.
    private mutating func fraction(of unit: Int64) -> Int64? {
        let count = digits
        // More digits would overflow 128 bits.
        guard (1...28).contains(count) else { return nil }
        var (number, scale) = (0 as Int128, 1 as Int128)
        for ahead in 0..<count {
            number = number * 10 + Int128(byte(ahead: ahead) - 0x30)
            scale *= 10
        }
        place += count
        return Int64(number * Int128(unit) / scale)
    }

    // MARK: Zones

    var hasZone: Bool { !isAtEnd && byte() != UInt8(ascii: "[") }

    /// Seconds east of Greenwich. A space may precede it.
    mutating func offset() -> Int? {
        _ = take(" ")
        if take("Z") || take("z") { return 0 }
        if take("U") { return take("T") && take("C") ? 0 : nil }
        guard let sign = sign(), let hours = number(2, in: 0...23) else { return nil }
        var offset = hours * 3600
        let hasColons = byte() == UInt8(ascii: ":")
        for unit in [60, 1] where !isAtEnd && byte() != UInt8(ascii: "[") {
            guard !hasColons || take(":"), let number = number(2, in: 0...59) else { return nil }
            offset += number * unit
        }
        return sign * offset
    }

    /// Skips suffixes of RFC 9557 in brackets, only after an offset, unless marked as critical.
    mutating func takeSuffixes(hasOffset: Bool) -> Bool {
        while take("[") {
            let start = place
            while !isAtEnd, byte() != UInt8(ascii: "]") { place += 1 }
            let suffix = text[start..<place]
            guard take("]"), !suffix.isEmpty, suffix.first != UInt8(ascii: "!"),
                !suffix.contains(where: { $0 <= 0x20 || $0 >= 0x7f || $0 == UInt8(ascii: "[") }),
                hasOffset || suffix.contains(UInt8(ascii: "="))
            else { return false }
        }
        return true
    }
}
