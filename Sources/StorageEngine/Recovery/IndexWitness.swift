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

    /// `nil` when there is no index of this archive that may be read. `mark`: its clean mark, if that has been looked
    /// at and taken away.
    init?(
        _ folder: OpenFile, _ descriptor: Descriptor, mark knownMark: IndexMemory.CleanMark? = nil
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
            header.word64(IndexLayout.magicOffset) == IndexLayout.magic,
            header.word32(IndexLayout.versionOffset) == IndexLayout.version,
            header.identity(IndexLayout.identityOffset) == descriptor.identity
        else { return nil }
        let index = try IndexMemory(file, as: .open(file), writable: false)
        noted = LogLoss(
            from: header.location(IndexLayout.lossFromOffset), to: header.location(IndexLayout.lossToOffset))
        let state = IndexLayout.State(rawValue: header.word32(IndexLayout.stateOffset))
        let mark = if let knownMark { knownMark } else { try index.cleanMark() }
        let isTrustworthy = mark == .right || (mark == .none && header.isOf(file, status))
        let head = header.location(IndexLayout.headOffset)
        guard isTrustworthy, state == .ready || state == .syncFailed else {
            (end, missing, gaps, messages) = (.none, [], [], 0)
            return
        }
        guard header.isOfThisBoot, state == .ready else {
            let synced = header.location(IndexLayout.syncedHeadOffset)
            (end, missing, gaps, messages) = (synced <= head ? synced : .none, [], [], 0)
            return
        }
        end = head
        let numbers = header.olderSegments
        let present = try Set(folder.names().compactMap(SegmentHeader.number(ofFileName:)))
        // A segment that was reclaimed meanwhile is older than the oldest is now (the index says so first).
        let oldest = index.word32(IndexLayout.oldestSegmentOffset)
        let absent = numbers.filter { !present.contains($0) && $0 >= oldest }
        missing = absent.filter {
            $0 == oldest || index.liveFrames(ofSegment: $0) >> IndexLayout.liveCountShift != 0
        }
        let isLog = descriptor.configuration.kind == .log
        let isQuiet = index.word64(IndexLayout.sectionOwnerOffset) == 0
        gaps = isLog && isQuiet ? absent : []
        messages = gaps.isEmpty ? 0 : index.size(IndexLayout.entryCountOffset)
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

/// Fields of an index's header, as they are in its file.
struct IndexHeader: Equatable {
    private let bytes: [UInt8]

    init?(_ file: OpenFile) throws(StorageError) {
        bytes = try file.read(atMost: 4096)
        guard bytes.count == 4096 else { return nil }
    }

    func word32(_ offset: Int) -> UInt32 {
        var reader = ByteReader(Array(bytes[offset..<offset + 4]))
        return reader.uint32()
    }

    func word64(_ offset: Int) -> UInt64 {
        var reader = ByteReader(Array(bytes[offset..<offset + 8]))
        return reader.uint64()
    }

    func identity(_ offset: Int) -> [UInt8] { Array(bytes[offset..<offset + 16]) }

    func location(_ offset: Int) -> Location { Location(raw: word64(offset)) }

    var head: Location { location(IndexLayout.headOffset) }

    var isOfThisBoot: Bool {
        let boot = BootIdentity.current
        return boot.contains(where: { $0 != 0 }) && identity(IndexLayout.bootOffset) == boot
    }

    /// Whether the file is the one that it says it is, and no copy.
    func isOf(_ file: OpenFile, _ status: OpenFile.Status) -> Bool {
        word64(IndexLayout.deviceOffset) == status.device && word64(IndexLayout.inodeOffset) == status.inode
            // The number of a removed file is used again, perhaps by its own copy.
            && word64(IndexLayout.birthOffset) == cp_birth_time(file.descriptor)
    }

    /// Numbers that the log's segments may have, those that were skipped included; none where it says something
    /// that can't be.
    fileprivate var olderSegments: Range<UInt32> {
        let oldest = word32(IndexLayout.oldestSegmentOffset)
        let newest = head.segment
        guard oldest > 0, oldest <= newest, newest - oldest < UInt32(SegmentLayout.slots) else {
            return 0..<0
        }
        // The head's own is seen by where the log ends.
        return oldest..<newest
    }
}
