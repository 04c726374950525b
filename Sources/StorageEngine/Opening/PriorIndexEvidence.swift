import CPlatform

/// An existing index's record of its log: the only trace of lost operations. OnDiskFormat, "Losses of the log".
struct PriorIndexEvidence {
    let noted: LogLoss?
    /// The log reached at least this location; `none` if nothing is known.
    private(set) var end = Location.none
    private(set) var sequence: UInt64 = 0
    private var missing: [UInt32] = []
    /// For a log archive: absent segments, which count as lost if it has fewer messages than ``messages``.
    private var gaps: [UInt32] = []
    private var messages = 0
    private let isTrustworthy: Bool
    /// Whether a repair that kept this index was interrupted.
    private(set) var isReplaced = false
    /// Whether the index was built from a damaged log: then it may name outdated entries.
    private(set) var isOfDamagedLog = false
    /// Whether a repair has found damage. Without damage or a loss, no entry is outdated.
    var isDamaged = false
    /// For a repair, or after an interrupted one: the locations that the index names, if it is of this boot; sorted.
    private var listed: [Location]?
    /// Those of entries that the index has as deleted, though an undo could restore them; sorted.
    private var deleted: [Location] = []

    /// `nil`: no readable index of this archive. `mark`: its clean mark, if removed. For a repair, sorts the entries' locations.
    init?(
        _ folder: FileDescriptor, _ descriptor: Descriptor, mark knownMark: MarkStanding? = nil,
        forRepair: Bool = false
    ) throws(StorageError) {
        let found = try StorageError.ignoring(\.isPermissionDenied) { () throws(StorageError) in
            try folder.fileIfPresent(named: ArchiveFile.index, writable: false)
        }
        guard let file = found ?? nil else { return nil }
        let status = try file.status()
        guard status.bytes >= IndexLayout.fileBytes(chunks: 1), let header = try IndexHeader(file),
            header.isOf(descriptor.identity)
        else { return nil }
        let memory = try IndexMemory(file, as: .open(file, in: folder), writable: false)
        defer { withExtendedLifetime(memory) {} }
        let index = IndexView(memory)
        noted = header.loss
        let state = header.state
        let mark = if let knownMark { knownMark } else { try index.cleanMark.standing() }
        isTrustworthy = mark == .right || (mark == .none && header.isOf(file, status))
        let head = header.head
        guard isTrustworthy, state == .ready || state == .syncFailed || state == .replaced else { return }
        sequence = min(index.sequence, Frame.latestStamp)
        guard header.isOfThisBoot, state != .syncFailed else {
            if header.syncedHead <= head { end = header.syncedHead }
            return
        }
        end = head
        let numbers = header.olderSegments
        let present = try Set(folder.names().compactMap(SegmentHeader.number(ofFileName:)))
        // A segment that was reclaimed since is older than the present oldest (the index is updated first).
        let oldest = index.oldestSegment
        let absent = numbers.filter { !present.contains($0) && $0 >= oldest }
        missing = absent.filter {
            $0 == oldest || index.liveFrames(ofSegment: $0) >> IndexLayout.liveCountShift != 0
        }
        if descriptor.configuration.kind == .log, index.lockOwner == 0, !absent.isEmpty {
            (gaps, messages) = (absent, index.entryCount)
        }
        isReplaced = state == .replaced
        guard forRepair || isReplaced else { return }
        isOfDamagedLog = index.damagedPlaces > 0 || noted != nil && !isReplaced
        listed = (0..<index.usedEntries).compactMap { index.entry($0 + 1)?.location }.sorted()
        // An operation that was interrupted may have recorded more in the log than in the slots.
        guard index.lockOwner == 0 else { return }
        deleted = (0..<index.usedEntries).compactMap { place in
            let mark = index.marks[place + 1]
            // The mark, too: without it, a flipped bit of a slot would delete the entry.
            guard let slot = index.entry(place + 1), mark.isSet, index.marks.isHidden(place + 1, slot),
                !index.undo[mark.place].isRestored
            else { return nil }
            return slot.location
        }.sorted()
    }

    /// Marks the index as evidence, with `loss`, for a repeated repair. No process trusts it from then on.
    func markReplaced(in folder: FileDescriptor, _ loss: LogLoss?) throws(StorageError) {
        guard isTrustworthy, let file = try folder.fileIfPresent(named: ArchiveFile.index, writable: true)
        else { return }
        let memory = try IndexMemory(file, as: .open(file, in: folder), writable: true)
        defer { withExtendedLifetime(memory) {} }
        let index = ChangingIndex(unshared: memory)
        index.cleanMark.remove()
        if index.state == .ready { index.setState(.replaced) }
        index.setLoss(loss)
        // A copy of the file is evidence only with the mark.
        try? index.cleanMark.set()
    }

    /// Numbers of a damaged archive's entries that a repair removes, according to this index: those that it has as deleted; of
    /// a cache also those that it should name, but doesn't.
    func outdated(in index: IndexView, _ kind: ArchiveKind) -> [UInt32] {
        guard isDamaged || isReplaced || index.loss != nil, let found = olderValues(in: index) else {
            return []
        }
        return kind == .cache ? found.deleted + found.unnamed : found.deleted
    }

    /// Numbers of entries of another index of this log that this one has as deleted, or that it should name, but doesn't;
    /// `nil` if this one's entries are unknown.
    func olderValues(in index: IndexView) -> (deleted: [UInt32], unnamed: [UInt32])? {
        guard let listed else { return nil }
        var found: (deleted: [UInt32], unnamed: [UInt32]) = ([], [])
        for number in 1..<index.usedEntries + 1 {
            guard let slot = index.entry(number), index.marks.isVisible(number, slot), slot.location < end
            else { continue }
            let (place, next) = (slot.location, slot.location.advanced(by: 8))
            if deleted.hasLocation(from: place, before: next) { found.deleted.append(number) }
            if !listed.hasLocation(from: place, before: next) { found.unnamed.append(number) }
        }
        return found
    }

    /// Batches of which the index names no frame; others were complete once.
    func unknown(of batches: [DroppedBatch]) -> [DroppedBatch] {
        batches.filter { listed?.hasLocation(from: $0.first, before: $0.end) != true }
    }

    /// The known loss and segments with entries that are missing before a repair; of a log archive also these missing segments.
    func lossBeforeRepair(gaps missing: [ClosedRange<UInt32>] = []) -> LogLoss? {
        missing.filter { $0.contains(where: gaps.contains) }.reduce(loss(logEndsAt: end, messages: .max)) {
            .joining($0, LogLoss(segments: $1))
        }
    }

    /// The loss of a log that ends at `end` and, for a log archive, has this number of messages, according to this evidence.
    func loss(logEndsAt end: Location, messages: Int) -> LogLoss? {
        var loss = noted
        let first = Location(segment: 1, offset: SegmentHeader.bytes)
        loss = .joining(loss, LogLoss(from: end == .none ? first : end, to: self.end))
        for number in missing + (messages < self.messages ? gaps : []) {
            loss = .joining(loss, LogLoss(segments: number...number))
        }
        return loss
    }
}

extension [Location] {
    /// Whether one of these sorted locations is in a range.
    fileprivate func hasLocation(from first: Location, before end: Location) -> Bool {
        let place = partitioningIndex(where: { $0 >= first })
        return place < count && self[place] < end
    }
}
