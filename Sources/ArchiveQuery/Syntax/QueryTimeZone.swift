import StorageEngine
import Synchronization
import SystemC

/// The time zone of dates without one, in queries and in stored texts.
///
/// A local time that is skipped or repeated uses the offset before the change: 02:30 of a skipped hour is 03:30, and of a
/// repeated hour it is the first.
public struct QueryTimeZone: Sendable {
    /// Seconds east of Greenwich at a moment.
    let offset: @Sendable (_ secondsSince1970: Int64) -> Int

    /// Creates a zone from offsets to UTC in seconds, positive in the east and less than a day. Called by several threads.
    public init(offset: @escaping @Sendable (_ secondsSince1970: Int64) -> Int) { self.offset = offset }

    /// Coordinated Universal Time.
    public static let utc = QueryTimeZone { _ in 0 }

    /// The zone of this process, set by `TZ` in its environment.
    public static let local = QueryTimeZone { seconds in
        var clock = time_t(seconds)
        var parts = tm()
        guard !usesUTC.load(ordering: .relaxed), localtime_r(&clock, &parts) != nil else { return 0 }
        return Int(parts.tm_gmtoff)
    }

    /// Whether ``local`` is UTC, by a setting of the program.
    package static let usesUTC = Atomic<Bool>(false)

    /// Converts local time to UTC, both in seconds since 1970. A skipped midnight of a day is the moment of the clock change.
    func seconds(ofWall wall: Int64, isDay: Bool) -> Int64 {
        let (before, after) = (offset(wall - 86_400), offset(wall + 86_400))
        for candidate in [before, after] where offset(wall - Int64(candidate)) == candidate {
            return wall - Int64(candidate)
        }
        // The clocks change after `low`, and at `high` or earlier.
        var (low, high) = (wall - Int64(after), wall - Int64(before))
        while isDay, high - low > 1 {
            let middle = low + (high - low) / 2
            if offset(middle) == before { low = middle } else { high = middle }
        }
        return high
    }
}

/// The time and the zone of a running query.
final class QueryClock: Sendable {
    private let now: Timestamp
    private let zone: QueryTimeZone
    private let resolved = Mutex<[String]>([])

    init(now: Timestamp, zone: QueryTimeZone) {
        self.now = now
        self.zone = zone
    }

    @TaskLocal static var running: QueryClock?

    static var zone: QueryTimeZone { running?.zone ?? .local }

    /// The dates that were resolved, such as `today is 2026-01-31T00:00:00+01:00`.
    var dates: [String] { resolved.withLock { $0 } }

    /// Microseconds since 1970.
    static func moment(of date: QueryDate) -> Int64 {
        let clock = running ?? QueryClock(now: .now(), zone: .local)
        let moment = date.moment(at: clock.now, in: clock.zone)
        clock.note("\(date)", moment)
        return moment
    }

    /// Adds the date and its time, in microseconds since 1970, to the resolved dates of the running query.
    static func note(_ text: String, _ moment: Int64) { running?.note(text, moment) }

    private func note(_ text: String, _ moment: Int64) {
        let offset = zone.offset(DateText.floorDivide(moment, 1_000_000).0)
        let line = "\(text) is " + DateText.text(microseconds: moment, offset: offset)
        resolved.withLock { if !$0.contains(line) { $0.append(line) } }
    }
}
