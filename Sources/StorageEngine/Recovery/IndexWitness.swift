import CPlatform

/// What the index that lies in an archive's folder tells of the log, also one that can't be used any more. Asked before
/// that index is given up, and held against the log that the new one is made from: it is all that is left of
/// operations whose segments were cut off or taken away. When it is believed: OnDiskFormat, "Losses of the log".
struct IndexWitness {
    /// The loss that it has a note of.
    let noted: LogLoss?
    /// The log went on at least to here; none where nothing is known.
    let end: Location
    /// Segments that must be there, and aren't.
    private let missing: [UInt32]
    /// Of a log archive: segments that aren't there, if it has fewer messages than this.
    private let gaps: [UInt32]
    private let messages: Int
    /// The index, where it is one of this boot that can be trusted. Its room on the disk isn't given back as long as it is here.
    private var memory: IndexMemory?

    /// `nil` when there is no index of this archive that may be read. `mark`: its clean mark, if that has been looked
    /// at and taken away. `keepsIndex`: for ``takeUnknown(of:)``.
    init?(
        _ folder: OpenFile, _ descriptor: Descriptor, mark knownMark: MarkStanding? = nil,
        keepsIndex: Bool = false
    ) throws(StorageError) {
        let found: OpenFile?
        do throws(StorageError) {
            found = try folder.fileIfPresent(named: ArchiveOpening.indexName, writable: false)
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
        // A view takes no hold on it.
        defer { withExtendedLifetime(memory) {} }
        let index = IndexView(memory)
        noted = header.loss
        let state = header.state
        let mark = if let knownMark { knownMark } else { try index.cleanMark.standing() }
        let isTrustworthy = mark == .right || (mark == .none && header.isOf(file, status))
        let head = header.head
        guard isTrustworthy, state == .ready || state == .syncFailed else {
            (end, missing, gaps, messages, self.memory) = (.none, [], [], 0, nil)
            return
        }
        guard header.isOfThisBoot, state == .ready else {
            let synced = header.syncedHead
            (end, missing, gaps, messages, self.memory) = (synced <= head ? synced : .none, [], [], 0, nil)
            return
        }
        end = head
        let numbers = header.olderSegments
        let present = try Set(folder.names().compactMap(SegmentHeader.number(ofFileName:)))
        // A segment that was reclaimed meanwhile is older than the oldest is now (the index says so first).
        let oldest = index.oldestSegment
        let absent = numbers.filter { !present.contains($0) && $0 >= oldest }
        missing = absent.filter {
            $0 == oldest || index.liveFrames(ofSegment: $0) >> IndexLayout.liveCountShift != 0
        }
        let isLog = descriptor.configuration.kind == .log
        let isQuiet = index.sectionOwner == 0
        gaps = isLog && isQuiet ? absent : []
        messages = gaps.isEmpty ? 0 : index.entryCount
        self.memory = keepsIndex ? memory : nil
    }

    /// Those of the batches, which are in their order, of which it names no frame: the others were whole once. Costs a pass
    /// over the index where there are any, and lets go of that.
    mutating func takeUnknown<Item>(of batches: [BatchSieve<Item>.Dropped]) -> [BatchSieve<Item>.Dropped] {
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

    /// What the log lacks, by this witness, when it ends at `end` and, of a log archive, has that many messages.
    func loss(logEndsAt end: Location, messages: Int) -> LogLoss? {
        var loss = noted
        let first = Location(segment: 1, offset: SegmentHeader.bytes)
        loss = .joining(loss, LogLoss(from: end == .none ? first : end, to: self.end))
        for number in missing + (messages < self.messages ? gaps : []) {
            // Where it ended is not known; the next number is behind that.
            loss = .joining(
                loss,
                LogLoss(
                    from: Location(segment: number, offset: SegmentHeader.bytes),
                    to: Location(segment: number &+ 1, offset: SegmentHeader.bytes)))
        }
        return loss
    }
}
