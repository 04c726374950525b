import StorageEngine

/// Sendable value type; safe to use from any thread. A date in a query whose moment depends on when or where the query runs:
/// `today - 3d`, or one without a time zone. ``QueryPipeline/parse(_:)`` makes it.
public struct QueryDate: Sendable, Hashable, CustomStringConvertible {
    /// `now`, a day by its distance from today, or a date as it was written.
    enum Base: Sendable, Hashable {
        case now
        case day(Int)
        case written(String)
    }

    let base: Base
    /// Durations that are added to it one after another, in microseconds.
    private(set) var shifts: [Int64] = []

    static let words = ["now", "today", "yesterday", "tomorrow"]

    /// One of the words, in upper or lower case, also with a duration behind a minus as in `now-2h`; nil for others.
    init?(word: String) {
        // Every name is tried, and most are told by their first letter without an allocation.
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
        shifts = [-length]
    }

    /// - Parameter text: a date that ``DateText`` reads, without a zone.
    init(written text: String) { base = .written(text) }

    /// The date before or after it. Whole days before or after a day are days, whatever the length of those between.
    func shifted(by microseconds: Int64) -> QueryDate {
        var date = self
        date.shifts.append(microseconds)
        return date
    }

    /// As it was written.
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

    /// The day or the moment before shifts, in the zone.
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

    /// The shifts that move along days, and the sum of the others in microseconds.
    func parts(isDay: Bool) -> (days: Int, microseconds: Int64) {
        var (days, rest) = (0 as Int64, shifts[...])
        while isDay, let shift = rest.first, shift % 86_400_000_000 == 0 {
            days += shift / 86_400_000_000
            rest.removeFirst()
        }
        let sum = rest.reduce(0 as Int128) { $0 + Int128($1) }
        return (Int(days), Int64(clamping: sum))
    }

    /// Microseconds since 1970, at most as many as 64 bits hold.
    func moment(at now: Timestamp, in zone: QueryTimeZone) -> Int64 {
        var start = start(at: now, in: zone)
        let (days, rest) = parts(isDay: start.time == nil)
        start.day += days
        let moment = start.moment(in: zone) ?? (start.day < 0 ? .min : .max)
        return Int64(clamping: Int128(moment) + Int128(rest))
    }
}

extension QueryLiteral {
    /// The date before or after it, if this is one and the other value a duration.
    func shifted(_ sign: QueryOperator, _ other: QueryLiteral) -> QueryLiteral? {
        guard case .duration(let length) = other, !sign.isProduct else { return nil }
        let shift = sign == .plus ? length : -length
        switch self {
        case .localDate(let date): return .localDate(date.shifted(by: shift))
        case .date(let moment):
            let (sum, overflows) = moment.addingReportingOverflow(shift)
            return overflows || !DateText.literals.contains(sum) ? nil : .date(microseconds: sum)
        default: return nil
        }
    }
}
