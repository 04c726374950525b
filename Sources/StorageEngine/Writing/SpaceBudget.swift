/// Disk usage of an archive and its bounds, which start reclaiming and compacting (S3, S14).
struct SpaceBudget: ArchiveOperation {
    let engine: ArchiveEngine

    /// Bytes that the segments may use before old ones are reclaimed, by S3. A collection, without a limit, may use one and a
    /// half times its values; with a fifth, storing values again would cost some three times as much.
    var allowedSegmentBytes: Int { max(grantedSegmentBytes, leastSegmentBytes) }

    /// Bytes that S3 leaves for segments.
    var grantedSegmentBytes: Int {
        let target = engine.segmentTarget
        // Each file also uses a block of the file system.
        let files = index.segmentBytes / target + 8
        return boundBytes - reservedIndexBytes - SegmentLayout.slackBytes(target: target) - 8192 * files
    }

    /// Bytes of the index, including the blocks that it keeps when it shrinks, and the removal reserve.
    @inline(__always) var reservedIndexBytes: Int {
        let bytes = IndexLayout.reservedBytes(for: index.indexBytes)
        return engine.kind == .collection
            ? bytes + RemovalReserve.bytes(forEntries: Int(index.entryCapacity)) : bytes
    }

    /// Bytes that S3 grants to the archive's files, plus extra space for entries that an undo can restore.
    @inline(__always) var boundBytes: Int {
        let values = index.valueBytes
        let limit = Double(
            engine.diskLimit.map { min($0, ArchiveConfiguration.maximumDiskLimit) } ?? values + values / 2)
        let undo = min(index.tombstoneBytes, Int(clamping: ArchiveConfiguration.maximumDiskLimit))
        let entries = index.entryCount + Int(index.tombstoneCount)
        return Int(1.25 * (limit + Double(undo) + 128 * Double(entries)) + 1_048_576)
    }

    /// Lower bound for the segments: without it, reclaiming would repeat endlessly where S3 leaves less.
    @inline(__always) var leastSegmentBytes: Int {
        let target = engine.segmentTarget
        let live = Double(index.liveFrameBytes)
        let unused = Double(2 * SegmentLayout.reserveBytes) / Double(target)
        return Int(live * (1.09 + unused)) + 2 * target
    }

    /// Bytes that the segments may use while nothing is written: 1.5 times the live frames, and some segments.
    var quietSegmentBytes: Int {
        let live = index.liveFrameBytes
        return max(live + live / 2 + 2 * engine.segmentTarget + 65_536, leastSegmentBytes)
    }

    /// The size of the segments if almost no frame in them is dead: the live frames, and two partly filled segments.
    var compactSegmentBytes: Int {
        let live = index.liveFrameBytes
        return live + live / 32 + 2 * engine.segmentTarget
    }

    /// About the bytes of segments and index that a compaction frees. It keeps entries that undo can restore. Takes no lock.
    var reclaimableBytes: Int {
        guard engine.kind != .log, index.isReady else { return 0 }
        let oldest = index.oldestSegment
        let isHeld = oldest >= index.head.segment || UndoWindow(engine).isNeededToUndo(oldest)
        let entries = index.entryCount + Int(index.tombstoneCount)
        let chunks = max(1, (entries + IndexLayout.chunkEntries - 1) / IndexLayout.chunkEntries)
        let spare = max(0, index.indexBytes - IndexLayout.fileBytes(chunks: chunks))
        return (isHeld ? 0 : max(0, index.segmentBytes - compactSegmentBytes)) + spare
    }

    /// Whether the log has more dead bytes than S14 allows at rest.
    var isSpaceWasted: Bool {
        guard engine.kind != .log else { return false }
        return
            (index.oldestSegment < index.head.segment && index.segmentBytes > quietSegmentBytes)
            || isIndexWasted
    }

    /// Wakes the maintenance task if too much of the log is dead.
    @inline(__always) func scheduleReclaimIfNeeded() {
        if isSpaceWasted, !engine.isCompactionDue.load(ordering: .relaxed) {
            engine.isCompactionDue.store(true, ordering: .relaxed)
        }
    }

    var isIndexWasted: Bool {
        let used = Int(index.entryCapacity)
        return used > 2 * (index.entryCount + Int(index.tombstoneCount)) + IndexLayout.chunkEntries
    }

    var isOldestDead: Bool {
        let (oldest, head) = (index.oldestSegment, index.head.segment)
        guard oldest < head else { return false }
        guard engine.kind == .log else { return index.liveFrames(ofSegment: oldest) == 0 }
        let first = index.firstMessage
        return first == .none ? index.entryCount == 0 && index.valueBytes == 0 : oldest < first.segment
    }
}
