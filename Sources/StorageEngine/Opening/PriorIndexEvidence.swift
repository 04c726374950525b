import CPlatform

/// An existing index as a record of its log, and the only evidence of lost operations. OnDiskFormat, "Losses of the log".
struct PriorIndexEvidence {
    private(set) var noted: LogLoss?
    /// The log reached at least this location; `none` if nothing is known.
    private(set) var end = Location.none
    private(set) var sequence: UInt64 = 0
    private var missing: [UInt32] = []
    /// For a log archive: absent segments, which count as lost if it has fewer messages than ``messages``.
    private var gaps: [UInt32] = []
    private var messages = 0
    /// By segment, the last offset that an entry names. Known if the clean mark is right.
    private var lastNamed: [UInt32: Int] = [:]
    /// The latest access of an entry, microseconds on the wall clock. Known likewise.
    private var lastAccess: Int64 = 0
    private let isTrustworthy: Bool
    private let mark: MarkStanding
    /// Whether the index has all changes up to the log tail: it is of this boot or was closed last after the log was synced, and the
    /// log has no more.
    private var isComplete = false
    private var isOfThisBoot = false
    /// The hash of its tags, which depends on the index.
    private let hash: KeyHash
    /// Whether a repair that kept this index was interrupted.
    private(set) var isReplaced = false
    /// Whether the index was built from a damaged log without an index from before the damage: it may name outdated entries.
    private(set) var isOfDamagedLog = false
    /// Whether a repair has found damage. Without damage or a loss, no entry is outdated.
    var isDamaged = false
    private let isForRepair: Bool
    /// The entries of the index, if it has all changes.
    private var entries: Entries?
    /// Whether the rows contain all changes of the log.
    private var areRowsComplete = false

    /// Microseconds by which an expiry time may differ if the clock was set between two conversions of a wall-clock time.
    private static let tolerance: Int64 = 1_000_000

    private struct Row {
        let location: Location
        /// On this boot's clock.
        let deadline: Int64
        let tag: UInt32
        /// Whether the entry is tombstoned.
        let isDeleted: Bool
        /// Whether neither its slot nor its mark says that it was deleted.
        let isLive: Bool
    }

    /// The entries of the index, which are read from it when they are needed. Used by one thread.
    private final class Entries {
        /// Sorted by location.
        var rows: [Row]?
        /// The index, until it is known to be consistent. Keeps its space on the disk.
        var unverified: IndexMemory?
        var isRejected = false
        /// The clocks at the closing of an index of another boot.
        let reading: Clock.Reading?

        init(_ memory: IndexMemory, _ reading: Clock.Reading?) {
            (unverified, self.reading) = (memory, reading)
        }
    }

    private var rows: [Row]? { entries?.rows }
    /// Whether the index contradicts itself, so that its entries were not used.
    var isRejected: Bool { entries?.isRejected ?? false }

    /// Entries of a rebuilt index that the prior one contradicts, by number.
    struct Contradictions {
        /// Entries that the prior index has tombstoned, and older ones of their keys.
        var deleted: [UInt32] = []
        /// Other entries that it doesn't name.
        var unnamed: [UInt32] = []
        /// Entries with another expiry time, and that time.
        var deadlines: [(number: UInt32, deadline: Int64)] = []
        /// Entries that only the prior index has, with their expiry times.
        var lacking: [(location: Location, deadline: Int64)] = []
    }

    /// `nil`: no readable index of this archive. `mark`: its clean mark, if removed. `withRows`: reads the entries, as always for a
    /// repair, and after one that was interrupted. `isAlone`: no other process can change the index.
    init?(
        _ folder: FileDescriptor, _ descriptor: Descriptor, mark knownMark: MarkStanding? = nil,
        withRows: Bool = false, forRepair: Bool = false, isAlone: Bool = false
    ) throws(StorageError) {
        isForRepair = forRepair
        let found = try StorageError.nilIf(
            \.isPermissionDenied, folder.fileIfPresent(named: ArchiveFile.index, writable: false))
        guard let file = found ?? nil else { return nil }
        let status = try file.status()
        guard status.bytes >= IndexLayout.fileBytes(chunks: 1), let header = try IndexHeader(file),
            header.isOf(descriptor.identity)
        else { return nil }
        let memory = try IndexMemory(file, in: folder, writable: false)
        defer { withExtendedLifetime(memory) {} }
        let index = IndexView(memory)
        hash = descriptor.hash(salt: index.salt)
        noted = header.loss
        let state = header.state
        mark = if let knownMark { knownMark } else { try index.cleanMark.standing() }
        isTrustworthy = mark == .right || (mark == .none && header.isOf(file, status))
        let head = header.head
        guard isTrustworthy, state == .ready || state == .syncFailed || state == .replaced else { return }
        sequence = min(index.sequence, Frame.latestStamp)
        isOfThisBoot = header.isOfThisBoot
        isReplaced = state == .replaced
        let log = try SegmentLog(folder: folder, identity: descriptor.identity, writable: false)
        let numbers = try log.segmentNames().numbers
        // After a crash of the machine, the index or some of its chunks may be from an earlier closing. Without the index's
        // clocks, expiry times are unknown.
        let isLatest =
            mark == .right && header.syncedHead == head && status.bytes <= IndexMemory.wholeBytes
            && header.markedReading != nil
        isComplete = (isOfThisBoot || isLatest) && state != .syncFailed && index.evidence != .outdated
        // Files may have been copied, and a repair appends to the log.
        if isComplete, mark == .right, !isReplaced {
            isComplete = try !log.extends(beyond: index, numbers, afterRestart: !isOfThisBoot)
        }
        end = isComplete ? head : header.syncedHead <= head ? header.syncedHead : .none
        let isLog = descriptor.configuration.kind == .log
        var visible: Set<UInt32> = []
        if mark == .right, !isLog { visible = noteSegments(of: index) }
        guard isComplete else { return }
        let present = Set(numbers)
        // A segment that was reclaimed since is older than the present oldest (the index is updated first).
        let oldest = index.oldestSegment
        let absent = header.olderSegments.filter { !present.contains($0) && $0 >= oldest }
        missing = absent.filter {
            // An index of another boot may be older than the removal of segments with dead or tombstoned frames only.
            if !isOfThisBoot, !isLog { return visible.contains($0) }
            return $0 == oldest && isOfThisBoot
                || index.liveFrames(ofSegment: $0) >> IndexLayout.liveCountShift != 0
        }
        if isLog, index.lockOwner == 0, !absent.isEmpty {
            (gaps, messages) = (absent, index.entryCount)
        }
        let reading = isOfThisBoot ? nil : header.markedReading
        // If the wall clock was behind when the index was closed, or is behind that moment now, its expiry times are unknown.
        if let reading {
            let bound = min(reading.wall, Clock.wall()).addingSaturating(Self.tolerance)
            if lastAccess > bound || reading.wall > bound { return }
        }
        // Other processes change only an index of this boot.
        let isFixed = mark == .right && (isAlone || !isOfThisBoot)
        guard withRows || forRepair || isReplaced || isFixed && !isLog else { return }
        isOfDamagedLog = (index.damagedPlaces > 0 || noted != nil) && index.evidence != .reconciled
        // An operation that was interrupted may have recorded more in the log than in the slots.
        areRowsComplete = index.lockOwner == 0
        let entries = Entries(memory, reading)
        self.entries = entries
        guard withRows || forRepair || isReplaced else { return }
        entries.rows = rows(of: index, entries.reading)
        if mark != .right || status.bytes <= IndexMemory.wholeBytes { entries.unverified = nil }
    }

    /// Notes the latest access, and the last offset that an entry names in each segment; returns the segments of entries that aren't
    /// tombstoned.
    private mutating func noteSegments(of index: IndexView) -> Set<UInt32> {
        var visible: Set<UInt32> = []
        for number in 1..<index.usedEntries + 1 {
            guard let slot = index.entry(number), case let location = slot.location, location != .none,
                location < end
            else { continue }
            lastNamed[location.segment] = max(lastNamed[location.segment] ?? 0, location.offset)
            lastAccess = max(lastAccess, slot.accessed)
            if !index.marks.isHidden(number, slot) { visible.insert(location.segment) }
        }
        return visible
    }

    /// Reads the entries unless that was done, and discards them if the index isn't consistent. Called before they are used, because
    /// the clean mark of a large index covers only its header.
    func readEntries(_ isConsistent: (IndexMemory) throws(StorageError) -> Bool) throws(StorageError) {
        guard let entries, let memory = entries.unverified else { return }
        entries.isRejected = try !isConsistent(memory)
        entries.rows =
            entries.isRejected ? nil : entries.rows ?? rows(of: IndexView(memory), entries.reading)
        entries.unverified = nil
    }

    private func rows(of index: IndexView, _ reading: Clock.Reading?) -> [Row] {
        let now = Clock.read()
        return (1..<index.usedEntries + 1).compactMap { number in
            guard let slot = index.entry(number), slot.location != .none else { return nil }
            let mark = index.marks[number]
            let isRestored = mark.isSet && index.undo[mark.place].isRestored
            let isHidden = index.marks.isHidden(number, slot)
            let deadline = reading.map { Deadline.boot(slot.deadline, from: $0, now: now) } ?? slot.deadline
            // Slot and mark must agree: otherwise a flipped bit would delete or restore the entry.
            return Row(
                location: slot.location, deadline: deadline, tag: slot.tag,
                isDeleted: isHidden && mark.isSet && !isRestored,
                isLive: !isHidden && (isRestored || !mark.isSet))
        }.sorted { $0.location < $1.location }
    }

    /// Whether the entries of the index are known, and no damage of the log has changed them.
    var predatesDamage: Bool { entries != nil && areRowsComplete && !isOfDamagedLog && !isRejected }

    /// Marks the index as evidence, with `loss`, for a repeated repair. No process trusts it from then on.
    func markReplaced(in folder: FileDescriptor, _ loss: LogLoss?) throws(StorageError) {
        guard isTrustworthy, let file = try folder.fileIfPresent(named: ArchiveFile.index, writable: true)
        else { return }
        let memory = try IndexMemory(file, in: folder, writable: true)
        defer { withExtendedLifetime(memory) {} }
        let index = ChangingIndex(unshared: memory)
        index.cleanMark.remove()
        if index.state == .ready { index.setState(.replaced) }
        index.setLoss(loss)
        if !isComplete {
            index.setEvidence(.outdated)
        } else if predatesDamage {
            index.setEvidence(.reconciled)
        }
        // Makes the index count as complete also after a restart. (The repair syncs the log; if that fails, the log's end is lost.)
        if isComplete { index.syncedHead = index.head }
        // A copy of the file is evidence only with the clean mark. After a crash of the machine, an index must not get a mark.
        if isComplete || mark == .right { try? index.cleanMark.set(at: isOfThisBoot ? Clock.read() : nil) }
        // The crash of a machine must not leave the index without its loss after the log was changed.
        try memory.synchronize()
    }

    /// The remaining evidence after an index was reconciled with this one and the changes were appended to the log.
    func recorded(withLoss loss: LogLoss?) -> PriorIndexEvidence {
        var rest = self
        (rest.noted, rest.entries) = (loss, nil)
        entries?.unverified = nil
        return rest
    }

    /// Whether a rebuilt index must agree with this one: after a repair that found damage or was interrupted; else, for a log with damage
    /// or a loss, in a repair, or if the log hasn't grown behind this index.
    func outranks<Right>(_ index: MappedIndex<Right>) -> Bool {
        if isReplaced { return true }
        guard isDamaged || index.loss != nil || index.damagedPlaces > 0 else { return false }
        // A crashed process may have appended a frame that is not in its index.
        return index.head <= end ? isForRepair || areRowsComplete : isForRepair && mark == .none
    }

    /// Finds the entries of another index of this log that disagree with this one; `nil` if this one's entries are unknown. Reads
    /// the frames of entries that only the other index has.
    func contradictions(in engine: ArchiveEngine) throws(StorageError) -> Contradictions? {
        guard let rows else { return nil }
        for row in rows where try namesOtherKey(row, engine.log) {
            entries?.isRejected = true
            return nil
        }
        let index = engine.index
        var found = Contradictions()
        let deletions = rows.lazy.filter { areRowsComplete && $0.isDeleted }.map { ($0.tag, $0.location) }
        let deleted = Dictionary(deletions, uniquingKeysWith: max)
        var isFound = [Bool](repeating: false, count: rows.count)
        for number in 1..<index.usedEntries + 1 {
            guard let slot = index.entry(number), index.marks.isVisible(number, slot), slot.location < end
            else { continue }
            if let place = first(from: slot.location), case let row = rows[place],
                row.location == slot.location
            {
                isFound[place] = true
                guard areRowsComplete else { continue }
                if row.isDeleted {
                    found.deleted.append(number)
                } else if row.deadline.subtractingSaturating(slot.deadline).magnitude
                    > Self.tolerance.magnitude
                {
                    found.deadlines.append((number, row.deadline))
                }
            } else if let tag = engine.withFrame(at: slot.location, { hash.tag($0.key) }),
                let deletion = deleted[tag], slot.location < deletion
            {
                found.deleted.append(number)
            } else {
                found.unnamed.append(number)
            }
        }
        guard areRowsComplete else { return found }
        for (row, isFound) in zip(rows, isFound) where row.isLive && !isFound && row.location < end {
            found.lacking.append((row.location, row.deadline))
        }
        return found
    }

    /// Whether the entry's frame is intact and of another key: the index is of a copy of the archive, and both have changed since.
    private func namesOtherKey(_ row: Row, _ log: SegmentLog) throws(StorageError) -> Bool {
        guard row.location < end, let pin = try log.pinIfPresent(row.location.segment) else { return false }
        defer { log.unpin(pin) }
        guard let frame = log.frame(pin, at: row.location.offset), let kind = frame.kind,
            kind.storesEntry || kind == .kept, hash.tag(frame.key) != row.tag
        else { return false }
        return log.validFrame(pin, at: row.location.offset) != nil
    }

    private func first(from location: Location) -> Int? {
        guard let rows else { return nil }
        let place = rows.partitioningIndex { $0.location >= location }
        return place < rows.count ? place : nil
    }

    /// Batches of which the index names no frame; others were complete once.
    func unknown(of batches: [DroppedBatch]) -> [DroppedBatch] {
        batches.filter { batch in
            guard let rows, let place = first(from: batch.first) else { return true }
            return rows[place].location >= batch.end
        }
    }

    /// The known loss, extended by missing segments with entries before a repair. For a log archive, also by the `missing` ones.
    func lossBeforeRepair(gaps missing: [ClosedRange<UInt32>] = []) -> LogLoss? {
        missing.filter { $0.contains(where: gaps.contains) }.reduce(loss(logEndsAt: end, messages: .max)) {
            .joining($0, LogLoss(segments: $1))
        }
    }

    /// The loss of a log that ends at `end` and, for a log archive, has this number of messages, according to this evidence.
    /// `ends`: where older segments have no more frames.
    func loss(logEndsAt end: Location, messages: Int, ends: [UInt32: Int] = [:]) -> LogLoss? {
        var loss = noted
        let first = Location(segment: 1, offset: SegmentHeader.bytes)
        loss = .joining(loss, LogLoss(from: end == .none ? first : end, to: self.end))
        for number in missing + (messages < self.messages ? gaps : []) {
            loss = .joining(loss, LogLoss(segments: number...number))
        }
        for (number, offset) in ends where lastNamed[number] ?? 0 >= offset {
            let next = Location(segment: number &+ 1, offset: SegmentHeader.bytes)
            loss = .joining(loss, LogLoss(from: Location(segment: number, offset: offset), to: next))
        }
        return loss
    }
}
