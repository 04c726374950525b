import StorageEngine
import StoreInspection
import TerminalKit

/// The events that were read since the store was opened, of all archives that were looked at; bounded.
///
/// Each has a number that it keeps while it is kept, so that a cursor can hold to it.
struct EventLog: Sendable {
    /// Number of the oldest that is kept.
    private var first = 0
    private var records: [StoreEvent] = []
    /// The event to ask for next, by archive.
    private(set) var next: [String: UInt64] = [:]
    /// How many were overwritten before they were read although they were watched, by archive.
    private(set) var lost: [String: UInt64] = [:]
    /// How many were overwritten while nobody watched: another screen was shown, or a pause.
    private(set) var unwatched: [String: UInt64] = [:]
    /// When the events of an archive were last in view.
    private var watched: [String: Timestamp] = [:]
    var isPending = false

    private static let maximum = 20_000
    /// Seconds between two looks after which events were not watched.
    private static let gap = 2.0

    /// A little more is kept than is shown, so that not each new event moves all.
    var numbers: Range<Int> {
        let end = first + records.count
        return max(first, end - EventLog.maximum)..<end
    }

    subscript(number: Int) -> StoreEvent { records[number - first] }

    /// Takes what was read of several archives and puts it in order of time.
    /// - Returns: the number of the first event that is new or has another place than before.
    mutating func add(_ pages: [(archive: String, wasWatched: Bool, batch: EventBatch)]) -> Int {
        var new: [StoreEvent] = []
        for page in pages {
            next[page.archive] = page.batch.next
            if page.wasWatched {
                lost[page.archive, default: 0] &+= page.batch.lost
            } else {
                unwatched[page.archive, default: 0] &+= page.batch.lost
            }
            new += page.batch.events.map { StoreEvent(archive: page.archive, $0) }
        }
        guard let earliest = new.map(\.time).min() else { return numbers.upperBound }
        // Archives are read one after the other, so some events come a little late.
        var start = records.count
        while start > 0, records[start - 1].time > earliest { start -= 1 }
        let tail = (records[start...] + new).enumerated()
            .sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
        records.replaceSubrange(start..., with: tail)
        let changed = first + start
        if records.count > EventLog.maximum + EventLog.maximum / 4 {
            let dropped = records.count - EventLog.maximum
            records.removeFirst(dropped)
            first += dropped
        }
        return changed
    }

    /// How many there are of an archive, or of all.
    func count(of archive: String?) -> Int {
        guard let archive else { return numbers.count }
        return numbers.count { self[$0].archive == archive }
    }

    /// The numbers of the last events that a filter lets through, oldest first.
    func last(_ count: Int, _ filter: EventFilter) -> [Int] {
        guard count > 0 else { return [] }
        if filter.isEmpty { return Array(numbers.suffix(count)) }
        var found: [Int] = []
        for number in numbers.reversed() where filter.lets(self[number]) {
            found.append(number)
            if found.count == count { break }
        }
        return found.reversed()
    }

    /// Notes that the events of an archive are in view, which is looked at every so many seconds.
    /// - Returns: whether they have been since the last look.
    mutating func watch(_ archive: String, at now: Timestamp, every interval: Double) -> Bool {
        defer { watched[archive] = now }
        return watched[archive].map { now.seconds(since: $0) < max(EventLog.gap, interval * 2) } ?? false
    }

    /// The screen was paused: what was overwritten meanwhile wasn't watched.
    mutating func lookAway() { watched = [:] }

    /// What is to be said of events of an archive, or of all, that can't be shown.
    func missing(of archive: String?, _ look: Look) -> [Span] {
        func sum(_ counts: [String: UInt64]) -> UInt64 {
            archive.map { counts[$0] ?? 0 } ?? counts.values.reduce(0, &+)
        }
        let (lost, unwatched) = (sum(lost), sum(unwatched))
        var spans: [Span] = []
        if unwatched > 0 { spans.append(Span(" \(Figures.count(unwatched)) not watched ", look[.dim])) }
        if lost > 0 { spans.append(Span(" \(Figures.count(lost)) lost ", look[.warning])) }
        return spans
    }
}

/// Which events are shown.
struct EventFilter: Sendable, Hashable {
    /// Nil: those of all archives.
    var archive: String?
    /// Nil: all kinds.
    var kind: EventKind?
    /// Part of a key.
    var text = "" {
        didSet { pattern = SearchText(text) }
    }
    private var pattern: SearchText?

    init(archive: String? = nil) { self.archive = archive }

    var isEmpty: Bool { archive == nil && kind == nil && pattern == nil }

    func lets(_ event: StoreEvent) -> Bool {
        if let archive, event.archive != archive { return false }
        if let kind, event.kind != kind { return false }
        guard let pattern else { return true }
        return event.key.map(pattern.matches) ?? false
    }
}
