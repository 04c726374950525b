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
    /// Whether a repair has found damage. Without damage or a loss, no entry is outdated.
    var isDamaged = false
    /// For a repair, or after an interrupted one: the locations that the index names, if it is of this boot; sorted.
    private var listed: [Location]?

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
        listed = (0..<index.usedEntries).compactMap { index.entry($0 + 1)?.location }.sorted()
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

    /// Numbers of the new index's entries that this index doesn't name, although they are older than its end. For a damaged cache.
    func outdated(in index: IndexView) -> [UInt32] {
        guard let listed, isDamaged || isReplaced || index.loss != nil else { return [] }
        return (0..<index.usedEntries).map { $0 + 1 }.filter {
            guard let location = index.entry($0)?.location else { return false }
            let isListed = listed.hasLocation(from: location, before: location.advanced(by: 8))
            return location != .none && location < end && !isListed
        }
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
