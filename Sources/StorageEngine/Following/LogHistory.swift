/// The changes of a key that frames of the log still show, from the last segment that stores it on.
package struct LogHistory: Sendable, Hashable {
    package struct Change: Sendable, Hashable {
        /// The change as an event, without process and sequence, which frames don't have.
        package var event: ArchiveEvent
        /// If not nil, only a copy of the frame remains; the change happened between this time and that of ``event``.
        package var notBefore: Timestamp?

        package init(_ event: ArchiveEvent, notBefore: Timestamp? = nil) {
            (self.event, self.notBefore) = (event, notBefore)
        }
    }

    /// The changes, oldest first, at most ``LogHistory/mostChanges``.
    package var changes: [Change]
    package var searchedBytes = 0
    package var totalBytes = 0
    /// Whether the search ended, stopped or at its limit, before it found the key's value or the whole log was read.
    package var isPartial = false

    package static let mostChanges = 64
    package static let maximumBytes = 1 << 30

    package init(_ changes: [Change] = []) { self.changes = changes }
}

/// Searches the log for the frames of a key. Takes no lock, writes nothing; leaves out segments reclaimed during the search.
struct LogHistoryReader: ArchiveOperation {
    let engine: ArchiveEngine

    /// Reads the newest segments until one of them stores the key, or `most` bytes have been read; then these segments once more,
    /// from the oldest with a frame of the key on. `progress` gets the share done, 0 to 1, after each segment; `false` stops.
    func history(
        of key: UnsafeRawBufferPointer, most: Int, progress: (Double) -> Bool
    ) throws(StorageError) -> LogHistory {
        var history = LogHistory()
        let end = index.head
        guard engine.kind != .log, end != .none else { return history }
        let oldest = index.oldestSegment
        let segments = PinnedSegments(log)
        var sizes: [(number: UInt32, bytes: Int)] = []
        for number in try engine.isCopy ? Array(oldest...max(oldest, end.segment)) : log.segmentNumbers()
        where number >= oldest && number <= end.segment {
            let bytes = number == end.segment ? end.offset : try log.fileBytes(of: number)
            sizes.append((number, bytes))
            history.totalBytes += bytes
        }
        var first: UInt32?
        var isStored = false
        for (number, bytes) in sizes.reversed() where !isStored {
            let share = Double(history.searchedBytes) / Double(max(1, min(most, history.totalBytes)))
            guard history.searchedBytes < most, progress(min(1, share)) else {
                history.isPartial = true
                break
            }
            guard try segments.add(number), let pin = segments.pins[number] else {
                history.totalBytes -= bytes
                continue
            }
            try log.scan(pin, before: end) { (item) in
                guard case .frame(let frame, _) = item, frame.keyBytes == key.count,
                    let kind = frame.kind, kind.hasKey, frame.key.elementsEqual(key)
                else { return }
                first = number
                isStored = isStored || kind.storesEntry || kind == .kept
            }
            history.searchedBytes += bytes
        }
        guard let first else { return history }
        var trace = KeyTrace(key, kind: engine.kind)
        var reader = LogReader(log, kind: engine.kind)
        func apply(_ frame: Frame, _ location: Location) {
            if location < end { trace.apply(frame, at: location) }
        }
        for (number, _) in sizes where number >= first {
            guard let pin = segments.pins[number] else { continue }
            _ = try reader.read(pin, apply)
        }
        _ = try reader.filter.endLog(apply)
        trace.expire()
        history.changes = trace.changes
        return history
    }
}

/// The state of one key while the frames of a log are applied in order.
private struct KeyTrace {
    private let key: UnsafeRawBufferPointer
    private let name: String
    private let kind: ArchiveKind
    private(set) var changes: [LogHistory.Change] = []
    private var isPresent = false
    /// Frame of the present or tombstoned entry.
    private var location = Location.none
    private var sequence: UInt64 = 0
    private var created: Int64 = 0
    private var bytes = 0
    /// Expiry time on the boot clock.
    private var deadline = Deadline.never
    /// Action that tombstoned the entry; 0: none.
    private var group: UInt32 = 0

    init(_ key: UnsafeRawBufferPointer, kind: ArchiveKind) {
        (self.key, self.kind) = (key, kind)
        name = String(decoding: key, as: UTF8.self)
    }

    mutating func apply(_ frame: Frame, at place: Location) {
        if isPresent, frame.part(.evictions) != nil, frame.evictions.contains(location) {
            let note = RemovalNote(of: frame)
            remove(note, cause: note?.cause ?? .limit, time: frame.time)
        }
        let isOwn = frame.keyBytes == key.count && frame.key.elementsEqual(key)
        switch frame.change(in: kind, at: place) {
        case .store(let isCopy) where isOwn: store(frame, at: place, isCopy: isCopy)
        case .storeInMemory where isOwn: store(frame, at: place, isCopy: false)
        case .storeDamaged where isOwn: location = place
        case .remove where isOwn:
            isPresent = false
            let cause = frame.isDamaged ? .damage : RemovalNote(of: frame)?.cause ?? .request
            add(.delete, cause, time: frame.time)
        case .removeAll:
            if isPresent { add(.delete, .request, ofAll: true, time: frame.time) }
            (isPresent, group) = (false, 0)
        case .setDeadline(let note) where isOwn:
            deadline = frame.deadline(.deadline)
            add(.deadline, note?.cause ?? .request, time: frame.time)
        case .tombstone(let note) where isOwn:
            if changes.isEmpty {
                take(frame, at: place)
                addCopy(frame, until: min(frame.time, note.time))
                remove(note, cause: note.cause, time: note.time)
            } else if note.group == group {
                location = place
            }
        case .restore(let note?) where group != 0 && note.group == group && !isPresent:
            (isPresent, group) = (true, 0)
            add(.restore, .undo, time: frame.time)
        default: break
        }
    }

    private mutating func store(_ frame: Frame, at place: Location, isCopy: Bool) {
        if isPresent, frame.sequence == sequence { return location = place }
        guard !isCopy || changes.isEmpty else { return }
        // An update keeps the creation time.
        let isUpdate = isPresent ? frame.created == created : changes.isEmpty && frame.created != frame.time
        take(frame, at: place)
        (isPresent, group) = (true, 0)
        if isCopy { return addCopy(frame, until: frame.time) }
        add(isUpdate ? .update : .record, .request, time: frame.time)
    }

    private mutating func take(_ frame: Frame, at place: Location) {
        let options = frame.options
        (location, sequence, deadline) = (place, frame.sequence, options.deadline)
        created = frame.created
        bytes = frame.kind == .resident ? Int(clamping: options.residentBytes) : frame.valueBytes
    }

    /// Adds the change of a copied frame, which has the time of the last access. The change was between the creation and that.
    private mutating func addCopy(_ frame: Frame, until time: Int64) {
        add(.record, .request, time: max(time, frame.created), notBefore: frame.created)
    }

    private mutating func remove(_ note: RemovalNote?, cause: EventCause, time: Int64) {
        (isPresent, group) = (false, note?.group ?? 0)
        let kind: EventKind =
            switch (note?.kind, cause) {
            case (.expire, _), (_, .deadline), (_, .processEnded): .expiry
            case (_, .limit), (_, .noSpace), (_, .damage): .eviction
            default: .delete
            }
        add(kind, cause, time: time)
    }

    /// Adds the expiry of an entry whose time has passed, whether or not it has been removed.
    mutating func expire() {
        guard isPresent, deadline != Deadline.never, deadline <= Clock.boot() else { return }
        add(.expiry, .deadline, time: Clock.wall(atBoot: deadline))
    }

    private mutating func add(
        _ kind: EventKind, _ cause: EventCause, ofAll: Bool = false, time: Int64, notBefore: Int64? = nil
    ) {
        if changes.count == LogHistory.mostChanges { changes.removeFirst() }
        var event = ArchiveEvent(
            kind, cause, key: ofAll ? nil : name, bytes: ofAll ? 0 : bytes,
            time: Timestamp(microseconds: time))
        if kind.setsExpiry { event.expires = Deadline.date(atBoot: deadline) }
        let earliest = notBefore.flatMap { $0 < time ? Timestamp(microseconds: $0) : nil }
        changes.append(LogHistory.Change(event, notBefore: earliest))
    }
}
