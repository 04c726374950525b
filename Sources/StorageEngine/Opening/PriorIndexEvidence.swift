import CPlatform

/// An existing index's record of its log: the only trace of lost operations. OnDiskFormat, "Losses of the log".
struct PriorIndexEvidence {
    let noted: LogLoss?
    /// The log reached at least this location; `none` if nothing is known.
    let end: Location
    let sequence: UInt64
    private let missing: [UInt32]
    /// For a log archive: absent segments, which count as lost if it has fewer messages than ``messages``.
    private let gaps: [UInt32]
    private let messages: Int
    /// The index, if it is a trusted one of this boot. Its disk space isn't freed as long as this object exists.
    private var memory: IndexMemory?
    private let isTrustworthy: Bool
    /// Whether a repair that kept this index was interrupted.
    private(set) var isReplaced = false
    /// Whether a repair has found damage. Only then, or after a loss, is an entry outdated that the index doesn't name.
    var isDamaged = false
    /// For a repair of a cache, or after an interrupted one: the locations that the index names.
    private var listed: Set<Location>?

    /// `nil`: no readable index of this archive. `mark`: its clean mark, if removed. For a repair, costs O(entries) and keeps the
    /// index for ``takeUnknown(of:)``.
    init?(
        _ folder: FileDescriptor, _ descriptor: Descriptor, mark knownMark: MarkStanding? = nil,
        forRepair: Bool = false
    ) throws(StorageError) {
        let found: FileDescriptor?
        do throws(StorageError) {
            found = try folder.fileIfPresent(named: ArchiveFile.index, writable: false)
        } catch {
            guard case .permissionDenied = error else { throw error }
            found = nil
        }
        guard let file = found else { return nil }
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
        guard isTrustworthy, state == .ready || state == .syncFailed || state == .replaced else {
            (end, missing, gaps, messages, self.memory) = (.none, [], [], 0, nil)
            sequence = 0
            return
        }
        sequence = min(index.sequence, Frame.latestStamp)
        guard header.isOfThisBoot, state != .syncFailed else {
            let synced = header.syncedHead
            (end, missing, gaps, messages, self.memory) = (synced <= head ? synced : .none, [], [], 0, nil)
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
        let isLog = descriptor.configuration.kind == .log
        let isQuiet = index.lockOwner == 0
        gaps = isLog && isQuiet ? absent : []
        messages = gaps.isEmpty ? 0 : index.entryCount
        self.memory = forRepair ? memory : nil
        isReplaced = state == .replaced
        guard descriptor.configuration.kind == .cache, forRepair || isReplaced else { return }
        listed = Set((0..<index.usedEntries).compactMap { index.entry($0 + 1)?.location })
    }

    /// Keeps the index only as evidence, with a loss, for the case that a repair is interrupted: no process trusts it then.
    func markReplaced(in folder: FileDescriptor, _ loss: LogLoss?) throws(StorageError) {
        guard isTrustworthy, let file = try folder.fileIfPresent(named: ArchiveFile.index, writable: true)
        else { return }
        let memory = try IndexMemory(file, as: .open(file, in: folder), writable: true)
        defer { withExtendedLifetime(memory) {} }
        let index = ChangingIndex(unshared: memory)
        index.cleanMark.remove()
        if index.state == .ready { index.state = .replaced }
        index.loss = loss
        // For a copied file, which is evidence only with its mark.
        try? index.cleanMark.set()
    }

    /// Numbers of the entries of a new index of a damaged log that this one should name, but doesn't. O(entries).
    func outdated(in index: IndexView) -> [UInt32] {
        guard let listed, isDamaged || isReplaced || index.loss != nil else { return [] }
        return (0..<index.usedEntries).map { $0 + 1 }.filter {
            guard let location = index.entry($0)?.location else { return false }
            return location != .none && location < end && !listed.contains(location)
        }
    }

    /// Batches, in order, of which the index names no frame; others were complete once. Releases the index.
    mutating func takeUnknown(of batches: [DroppedBatch]) -> [DroppedBatch] {
        let memory = memory
        self.memory = nil
        guard let memory, !batches.isEmpty else { return batches }
        defer { withExtendedLifetime(memory) {} }
        let index = IndexView(memory)
        var isKnown = [Bool](repeating: false, count: batches.count)
        for number in 0..<index.usedEntries {
            guard let location = index.entry(number + 1)?.location else { continue }
            var (low, high) = (0, batches.count)
            while low < high {
                let middle = (low + high) / 2
                if batches[middle].end <= location { low = middle + 1 } else { high = middle }
            }
            if low < batches.count, batches[low].first <= location { isKnown[low] = true }
        }
        return zip(batches, isKnown).filter { !$0.1 }.map(\.0)
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
