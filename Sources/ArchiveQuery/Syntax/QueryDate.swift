import StorageEngine

/// A date in a query that depends on clock or time zone: `today - 3d`, or one without a time zone. Created by
/// ``QueryPipeline/parse(_:)``.
public struct QueryDate: Sendable, Hashable, CustomStringConvertible {
    /// `now`, a day by its distance from today, or a written date.
    enum Base: Sendable, Hashable {
        case now
        case day(Int)
        case written(String)
    }

    let base: Base
    /// Durations to add one after another, in microseconds.
    private(set) var shifts: [Int64] = []
    /// The sum of ``shifts``.
    private var shift: Int128 = 0

    static let words = ["now", "today", "yesterday", "tomorrow"]

    /// One of the words, in either case, optionally minus a duration as in `now-2h`; nil for others.
    init?(word: String) {
        // Called for every name; the first letter excludes most without an allocation.
        guard let first = word.utf8.first, "nty".utf8.contains(first | 0x20) else { return nil }
        let parts = word.lowercased().split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        switch parts.first {
        case "now": base = .now
        case "today": base = .day(0)
        case "yesterday": base = .day(-1)
        case "tomorrow": base = .day(1)
        default: return nil
        }
        guard parts.count == 2 else { return }
        guard case .microseconds(let length) = DurationText.read(parts[1]) else { return nil }
        (shifts, shift) = ([-length], Int128(-length))
    }

    /// - Parameter text: a date that ``DateText`` reads, without a zone.
    init(written text: String) { base = .written(text) }

    /// Maximum of ``shift`` in either direction: 270,000 years in microseconds, so that 64 bits hold every moment.
    private static let longestShift: UInt128 = 270_000 * 31_556_952_000_000

    /// Adds a duration; nil if all durations together are too long. Whole days move a day by calendar days, whatever their length.
    func shifted(by microseconds: Int64) -> QueryDate? {
        var date = self
        date.shifts.append(microseconds)
        date.shift += Int128(microseconds)
        return date.shift.magnitude > Self.longestShift ? nil : date
    }

    /// The date as written.
    public var description: String {
        let start: String =
            switch base {
            case .now: "now"
            case .day(let distance): distance == 0 ? "today" : distance < 0 ? "yesterday" : "tomorrow"
            case .written(let text): text
            }
        return shifts.reduce(start) {
            $0 + ($1 < 0 ? " - " : " + ") + DurationText.text(microseconds: abs($1))
        }
    }

    /// The day or time before shifts, in the zone.
    private func start(at now: Timestamp, in zone: QueryTimeZone) -> DateText.Written {
        let (seconds, rest) = DateText.floorDivide(now.microseconds, 1_000_000)
        let (today, time) = DateText.floorDivide(seconds + Int64(zone.offset(seconds)), 86_400)
        switch base {
        case .now:
            return DateText.Written(
                day: Int(today), time: time * 1_000_000 + rest, offset: zone.offset(seconds))
        case .day(let distance): return DateText.Written(day: Int(today) + distance)
        case .written(let text):
            var text = text
            return text.withUTF8 { DateText.read(UnsafeRawBufferPointer($0)) } ?? DateText.Written(day: 0)
        }
    }

    /// The shifts by days, and the sum of the others in microseconds.
    func parts(isDay: Bool) -> (days: Int, microseconds: Int64) {
        var (days, rest) = (0 as Int64, shifts[...])
        while isDay, let shift = rest.first, shift % 86_400_000_000 == 0 {
            days += shift / 86_400_000_000
            rest.removeFirst()
        }
        let sum = rest.reduce(0 as Int128) { $0 + Int128($1) }
        return (Int(days), Int64(clamping: sum))
    }

    /// Microseconds since 1970, clamped to 64 bits.
    func moment(at now: Timestamp, in zone: QueryTimeZone) -> Int64 {
        var start = start(at: now, in: zone)
        let (days, rest) = parts(isDay: start.time == nil)
        start.day += days
        let moment = start.moment(in: zone) ?? (start.day < 0 ? .min : .max)
        return Int64(clamping: Int128(moment) + Int128(rest))
    }
}

extension QueryLiteral {
    static let shiftAdvice = "dates lie within 270,000 years of 1970"

    /// Whether this is a date and the other value a duration, to be added or subtracted.
    func isShifted(_ sign: QueryOperator, _ other: QueryLiteral) -> Bool {
        if case .duration = other { isDate && !sign.isProduct } else { false }
    }

    /// Adds or subtracts a duration; nil for other values, and beyond 64 bits of microseconds from 1970.
    func shifted(_ sign: QueryOperator, _ other: QueryLiteral) -> QueryLiteral? {
        guard case .duration(let length) = other, !sign.isProduct else { return nil }
        let shift = sign == .plus ? length : -length
        switch self {
        case .localDate(let date): return date.shifted(by: shift).map { .localDate($0) }
        case .date(let moment):
            let (sum, overflows) = moment.addingReportingOverflow(shift)
            return overflows ? nil : .date(microseconds: sum)
        default: return nil
        }
    }
}
