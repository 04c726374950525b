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

    /// `nil`: no readable index of this archive. `mark`: its clean mark, if removed. `keepsIndex`: for ``takeUnknown(of:)``.
    init?(
        _ folder: FileDescriptor, _ descriptor: Descriptor, mark knownMark: MarkStanding? = nil,
        keepsIndex: Bool = false
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
        let isTrustworthy = mark == .right || (mark == .none && header.isOf(file, status))
        let head = header.head
        guard isTrustworthy, state == .ready || state == .syncFailed else {
            (end, missing, gaps, messages, self.memory) = (.none, [], [], 0, nil)
            sequence = 0
            return
        }
        sequence = min(index.sequence, Frame.latestStamp)
        guard header.isOfThisBoot, state == .ready else {
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
        self.memory = keepsIndex ? memory : nil
    }

    /// The locations that the index names, if it is trusted and of this boot; else `nil`. O(entries).
    var locations: Set<Location>? {
        guard let memory else { return nil }
        defer { withExtendedLifetime(memory) {} }
        let index = IndexView(memory)
        return Set((0..<index.usedEntries).compactMap { index.entry($0 + 1)?.location })
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
            let place = batches.count(before: { $0.end <= location })
            if place < batches.count, batches[place].first <= location { isKnown[place] = true }
        }
        return zip(batches, isKnown).filter { !$0.1 }.map(\.0)
    }

    /// The loss of a log that ends at `end` and, for a log archive, has this number of messages, according to this evidence.
    func loss(logEndsAt end: Location, messages: Int) -> LogLoss? {
        var loss = noted
        let first = Location(segment: 1, offset: SegmentHeader.bytes)
        loss = .joining(loss, LogLoss(from: end == .none ? first : end, to: self.end))
        for number in missing + (messages < self.messages ? gaps : []) {
            // The end of the missing segment is unknown; the beginning of the next number is beyond it.
            loss = .joining(
                loss,
                LogLoss(
                    from: Location(segment: number, offset: SegmentHeader.bytes),
                    to: Location(segment: number &+ 1, offset: SegmentHeader.bytes)))
        }
        return loss
    }
}
