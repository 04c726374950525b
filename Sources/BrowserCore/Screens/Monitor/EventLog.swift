import StorageEngine
import StoreInspection
import TerminalKit

/// At least the last 20,000 events that were read since the store was opened, and the last 2,048 of each archive (fewer if they
/// exceed 20,000 in total). Each has a permanent number; numbers ascend with gaps.
struct EventLog: Sendable {
    typealias Page = (archive: String, batch: EventBatch)

    struct Change {
        /// The number from which events are new or were moved.
        var start: Int
        var dropsEvents = false
    }

    private var records: [(number: Int, event: StoreEvent)] = []
    /// The number of the next event.
    private(set) var end = 0
    private(set) var next: [ExactText: UInt64] = [:]
    /// The number of events that were overwritten before they were read, by archive.
    private(set) var missed: [ExactText: UInt64] = [:]
    private(set) var busy: Set<ExactText> = []
    private var latest: [ExactText: Timestamp] = [:]
    /// Times between which events were missed, by archive, oldest first.
    private var gaps: [ExactText: [ClosedRange<Timestamp>]] = [:]
    /// Keys that were recorded again after their eviction, by archive.
    private var returns: [ExactText: EvictedReturns] = [:]
    private(set) var isCutOff = false
    /// The ticket of the read that is running.
    var pending: Int?

    static let minimum = 20_000
    private static let minimumPerArchive = 2_048
    private static let busyMinimum = 64
    /// Number of events at which old ones are dropped: a quarter above the minimum, so that dropping is rare.
    private var limit = minimum + minimum / 4

    var count: Int { records.count }

    func number(at index: Int) -> Int { records[index].number }

    subscript(number: Int) -> StoreEvent { records[index(of: number)].event }

    /// The index of an event, or of the next one.
    private func index(of number: Int) -> Int {
        records.partitioningIndex { $0.number >= number }
    }

    /// Merges events of several archives by time. The pages of an archive are in their order.
    mutating func add(_ pages: [Page]) -> Change {
        var new: [StoreEvent] = []
        var counts: [ExactText: Int] = [:]
        for page in pages {
            let archive = ExactText(page.archive)
            next[archive] = page.batch.next
            counts[archive, default: 0] += page.batch.events.count
            if page.batch.lost > 0 {
                missed[archive, default: 0] &+= page.batch.lost
                noteGap(in: archive, before: page.batch.events.first)
            }
            returns[archive, default: EvictedReturns()].note(page.batch)
            if let last = page.batch.events.last { latest[archive] = last.time }
            new += page.batch.events.map { StoreEvent(archive: page.archive, $0) }
        }
        busy = Set(counts.filter { $0.value >= EventLog.busyMinimum }.keys)
        return insert(new)
    }

    /// Adds the removal of an archive; a new archive with its name has separate events.
    mutating func add(_ removal: StoreEvent) -> Change {
        let archive = ExactText(removal.archive)
        (next[archive], missed[archive], latest[archive]) = (nil, nil, nil)
        (gaps[archive], returns[archive]) = (nil, nil)
        return insert([removal])
    }

    private mutating func insert(_ new: [StoreEvent]) -> Change {
        guard let earliest = new.map(\.time).min() else { return Change(start: end) }
        // Archives are read one after the other, so some events arrive out of order.
        var start = records.count
        while start > 0, records[start - 1].event.time > earliest { start -= 1 }
        let changed = start < records.count ? records[start].number : end
        let tail = (records[start...].map(\.event) + new).enumerated()
            .sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
        end += new.count
        records.replaceSubrange(start..., with: zip(end - tail.count..<end, tail).map { ($0, $1) })
        let isFull = records.count > limit
        if isFull { dropOldest() }
        return Change(start: changed, dropsEvents: isFull)
    }

    private mutating func dropOldest() {
        isCutOff = true
        let archives = Set(records.map(\.event.archiveName)).count
        let share = min(EventLog.minimumPerArchive, EventLog.minimum / max(1, archives))
        var counts: [ExactText: Int] = [:]
        var kept: [(number: Int, event: StoreEvent)] = []
        for record in records.reversed() {
            let count = counts[record.event.archiveName, default: 0]
            counts[record.event.archiveName] = count + 1
            if kept.count < EventLog.minimum || count < share { kept.append(record) }
        }
        records = kept.reversed()
        limit = records.count + EventLog.minimum / 4
    }

    private mutating func noteGap(in archive: ExactText, before event: ArchiveEvent?) {
        guard let end = event?.time, let start = latest[archive], start <= end else { return }
        let oldest = records.first?.event.time ?? start
        gaps[archive] = (gaps[archive] ?? []).filter { $0.upperBound >= oldest } + [start...end]
    }

    var hasDrop: Bool { records.contains { $0.event.removal == .dropped } }

    /// Evicted keys that were recorded again, in the current and the previous minute.
    func returns(in archive: String, at now: Timestamp) -> EvictedReturns {
        var found = returns[ExactText(archive)] ?? EvictedReturns()
        found.advance(to: now)
        return found
    }

    func count(of archive: String?) -> Int {
        guard let archive = archive.map(ExactText.init) else { return records.count }
        return records.count { $0.event.archiveName == archive }
    }

    /// The numbers of events that match a filter, by kind. O(events).
    func counts(matching filter: EventFilter) -> [EventKind: Int] {
        records.reduce(into: [:]) { if filter.matches($1.event) { $0[$1.event.kind, default: 0] += 1 } }
    }

    func last(_ count: Int, _ filter: EventFilter) -> [Int] {
        guard count > 0 else { return [] }
        var found: [Int] = []
        for record in records.reversed() where filter.matches(record.event) {
            found.append(record.number)
            if found.count == count { break }
        }
        return found.reversed()
    }

    /// The numbers of the events that match, from `start` on.
    func numbers(from start: Int, matching filter: EventFilter) -> [Int] {
        records[index(of: start)...].filter { filter.matches($0.event) }.map(\.number)
    }

    /// The numbers whose events are still kept. Requires and returns ascending order.
    func kept(_ numbers: [Int]) -> [Int] {
        var place = 0
        return numbers.filter { number in
            while place < records.count, records[place].number < number { place += 1 }
            return place < records.count && records[place].number == number
        }
    }

    /// Adds the events of a key that are kept here but no longer in the store, and the gaps between them.
    func completing(_ history: KeyHistory, of key: String, in archive: String) -> KeyHistory {
        // Events before a removal are of another archive.
        let archive = ExactText(archive)
        let own = records.map(\.event).filter { $0.archiveName == archive }
        let kept = own[(own.lastIndex { $0.removal != nil }.map { $0 + 1 } ?? 0)...]
        guard history.isCutOff, let reach = history.reachesBackTo, let first = kept.first?.time,
            let last = kept.last?.time, first <= reach
        else { return history }
        var history = history
        let known = history.events
        let older = kept.map(\.event).filter { event in
            event.time <= reach && event.keyIsComplete && event.key.map(ExactText.init) == ExactText(key)
                && !known.contains { $0.sequence == event.sequence && $0.time == event.time }
        }
        history.events = older + known
        history.gaps = (gaps[archive] ?? []).filter { $0.upperBound > first && $0.lowerBound < reach }
        if last < reach { history.gaps.append(last...reach) }
        history.reachesBackTo = first
        return history
    }

    /// The number of missed events of an archive or, with nil, of all.
    func missing(of archive: String?, _ look: Look) -> [Span] {
        let count = archive.map { missed[ExactText($0)] ?? 0 } ?? missed.values.reduce(0, &+)
        return count > 0 ? [Span(" \(Figures.count(count)) missed ", look[.warning])] : []
    }
}

extension StoreEvent {
    /// The archive's name as a key of dictionaries: names that differ only in their Unicode form are different.
    fileprivate var archiveName: ExactText { ExactText(archive) }
}

struct EventFilter: Sendable, Hashable {
    var archive: String?
    var kind: EventKind?
    var text = "" { didSet { pattern = SearchText(text) } }
    private var pattern: SearchText?

    init(archive: String? = nil) { self.archive = archive }

    var isEmpty: Bool { archive == nil && kind == nil && pattern == nil }

    func matches(_ event: StoreEvent) -> Bool {
        if let archive, event.archiveName != ExactText(archive) { return false }
        if let kind, event.kind != kind { return false }
        guard let pattern else { return true }
        let words = [
            event.key ?? event.keyCell(ellipsis: ""), event.label, event.cause.label(of: event.kind),
            archive == nil ? event.archive : nil,
        ]
        return words.contains { $0.map(pattern.matches) ?? false } || String(event.pid) == text
    }
}

/// Detects archives that are too small: counts recorded keys that the current disk limit evicted in the ten minutes before. Keys
/// are compared by their hashes, since the events of evictions may lack the key.
///
/// Keys are evicted in LRU order. So to keep a key until it is recorded again, a limit needs space for what the archive holds after the
/// record, and for the values that were evicted after the key and are still absent.
struct EvictedReturns: Sendable {
    private var evicted: [UInt32: (time: Timestamp, bytes: UInt64, place: Int)] = [:]
    /// Bytes of ``evicted`` in the order of their evictions.
    private var sizes = SuffixSums()
    private var minute: Int64 = 0
    private var present = Counts()
    private var before = Counts()

    private struct Counts {
        var (records, returns, missed) = (0, 0, UInt64(0))
        /// Maximum number of bytes beyond the limit that a key recorded again needed.
        var excess: UInt64 = 0
    }

    /// An archive that uses less than this share of its disk limit isn't too small: it was emptied since.
    private static let fullShare = 0.8
    /// Number of the latest evicted keys that are always kept.
    private static let minimumEvicted = 65_536

    mutating func note(_ batch: EventBatch) {
        for event in batch.events {
            switch event.kind {
            case .eviction where event.cause == .limit: noteEviction(event)
            case .record: noteRecord(event)
            case .update, .restore: _ = remove(event.keyHash)
            case .resize: self = EvictedReturns()
            default: break
            }
        }
        present.missed &+= batch.lost
    }

    private mutating func noteEviction(_ event: ArchiveEvent) {
        _ = remove(event.keyHash)
        let bytes = UInt64(clamping: event.bytes)
        evicted[event.keyHash] = (event.time, bytes, sizes.append(bytes))
        guard sizes.count >= 4 * EvictedReturns.minimumEvicted else { return }
        let latest = evicted.sorted { $0.value.place < $1.value.place }.suffix(EvictedReturns.minimumEvicted)
        (evicted, sizes) = ([:], SuffixSums())
        for (key, value) in latest { evicted[key] = (value.time, value.bytes, sizes.append(value.bytes)) }
    }

    private mutating func noteRecord(_ event: ArchiveEvent) {
        advance(to: event.time)
        present.records += 1
        guard let old = remove(event.keyHash), event.time.seconds(since: old.time) < 600 else { return }
        present.returns += 1
        present.excess = max(present.excess, sizes.sum(after: old.place))
    }

    /// Starts the counts of a new minute. Events may be slightly older than the previous ones.
    fileprivate mutating func advance(to moment: Timestamp) {
        let now = GraphColumn.index(of: moment, step: 60)
        guard now != minute, now != minute - 1 else { return }
        before = now == minute + 1 ? present : Counts()
        (present, minute) = (Counts(), now)
    }

    private mutating func remove(_ key: UInt32) -> (time: Timestamp, place: Int)? {
        guard let old = evicted.removeValue(forKey: key) else { return nil }
        sizes.remove(old.bytes, at: old.place)
        return (old.time, old.place)
    }

    private var returns: Int { present.returns + before.returns }
    private var records: Int { present.records + before.records }
    private var missed: UInt64 { present.missed &+ before.missed }

    /// Whether the archive is full, and at least ten of its recorded keys, and at least 10 % of them, had been evicted.
    func isTooSmall(_ archive: ArchiveSample) -> Bool {
        returns >= 10 && returns * 10 >= records && (archive.diskShare ?? 0) >= EvictedReturns.fullShare
    }

    /// The smallest disk limit that would have kept the keys, estimated from the events. Nil if the archive isn't too small.
    func neededLimit(of archive: ArchiveSample) -> UInt64? {
        guard isTooSmall(archive), let limit = archive.diskLimit else { return nil }
        return limit + max(before.excess, present.excess)
    }

    /// Why an archive is too small; nil if it isn't.
    func reason(of archive: ArchiveSample) -> String? {
        guard let needed = neededLimit(of: archive) else { return nil }
        let share = (missed > 0 ? "~" : "") + Figures.percent(Double(returns) / Double(max(1, records)))
        return "\(share) of recorded keys had been evicted; needs at least \(Figures.bytes(needed))"
    }

    /// A note about missed events that could change the result of ``isTooSmall(_:)``.
    func uncertainty(in archive: ArchiveSample) -> (name: String, value: String)? {
        let count = Figures.count(missed)
        if isTooSmall(archive) { return missed > 0 ? ("missed", "\(count) events; ~ marks estimates") : nil }
        return missed > UInt64(records) ? ("too small", "unknown, \(count) events missed") : nil
    }
}

/// Sums over the end of a sequence of numbers: a binary indexed tree. Each operation takes O(log count).
private struct SuffixSums {
    /// Element `place`, from 1 on, is the sum of the `place & -place` numbers that end with number `place`.
    private var tree: [UInt64] = [0]
    private var total: UInt64 = 0

    var count: Int { tree.count - 1 }

    /// Returns the place of the number.
    mutating func append(_ number: UInt64) -> Int {
        let place = tree.count
        tree.append(number + sum(after: place & (place - 1)))
        total += number
        return place
    }

    /// Replaces a number by 0.
    mutating func remove(_ number: UInt64, at place: Int) {
        total -= number
        var place = place
        while place < tree.count {
            tree[place] -= number
            place += place & -place
        }
    }

    func sum(after place: Int) -> UInt64 {
        var (sum, place) = (total, place)
        while place > 0 {
            sum -= tree[place]
            place &= place - 1
        }
        return sum
    }
}
