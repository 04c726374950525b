/// How much space an archive takes and may take: the basis for reclaiming and compacting (S3, S14).
extension ArchiveEngine {
    /// Bytes that the segments may take before old ones are reclaimed, by S3. A collection, without a limit, may take one and a
    /// half times its values, which makes storing again some three times cheaper than a fifth would.
    var allowedSegmentBytes: Int { max(grantedSegmentBytes, leastSegmentBytes) }

    /// The most bytes of values, for all processes; `nil`: no limit. A collection has none, whatever a damaged index says.
    @inline(__always) var diskLimit: UInt64? { kind == .collection ? nil : index.diskLimit }

    /// Bytes that S3 leaves for segments.
    var grantedSegmentBytes: Int {
        let target = segmentTarget
        // Each file also takes a block of the file system.
        let files = index.segmentBytes / target + 8
        return boundBytes - reservedIndexBytes - SegmentLayout.slackBytes(target: target) - 8192 * files
    }

    /// Bytes that the index takes, including the blocks that it keeps when it gets smaller, and the reserve for removals.
    @inline(__always) var reservedIndexBytes: Int {
        let bytes = IndexLayout.reservedBytes(for: index.indexBytes)
        return kind == .collection
            ? bytes + RemovalReserve.bytes(forEntries: Int(index.entryCapacity)) : bytes
    }

    /// Bytes that S3 grants to the archive's files. Entries that can be restored by undo get extra room.
    @inline(__always) var boundBytes: Int {
        let values = index.valueBytes
        let limit = Double(
            diskLimit.map { min($0, ArchiveConfiguration.maximumDiskLimit) } ?? values + values / 2)
        let undo = min(
            index.setAsideBytes, Int(clamping: ArchiveConfiguration.maximumDiskLimit))
        let entries = index.entryCount + Int(index.setAsideCount)
        return Int(1.25 * (limit + Double(undo) + 128 * Double(entries)) + 1_048_576)
    }

    /// The least that the segments take, so that reclaiming doesn't run in circles where S3 leaves less.
    @inline(__always) var leastSegmentBytes: Int {
        let target = segmentTarget
        let live = Double(index.liveFrameBytes)
        let unused = Double(2 * SegmentLayout.reserveBytes) / Double(target)
        return Int(live * (1.09 + unused)) + 2 * target
    }

    /// Bytes that the segments may take while nothing is written: 1.5 times the live frames, and some segments.
    var quietSegmentBytes: Int {
        let live = index.liveFrameBytes
        return max(live + live / 2 + 2 * segmentTarget + 65_536, leastSegmentBytes)
    }

    /// Whether more of the log is dead than allowed while nothing is written (S14).
    var isRoomWasted: Bool {
        guard kind != .log else { return false }
        return
            (index.oldestSegment < index.head.segment && index.segmentBytes > quietSegmentBytes)
            || isIndexWasted
    }

    /// Asks the background duty to check, if too much space is dead.
    @inline(__always)
    func scheduleReclaimIfNeeded() {
        if isRoomWasted, !isCompactionDue.load(ordering: .relaxed) {
            isCompactionDue.store(true, ordering: .relaxed)
        }
    }

    var isIndexWasted: Bool {
        let used = Int(index.entryCapacity)
        return used > 2 * (index.entryCount + Int(index.setAsideCount)) + IndexLayout.chunkEntries
    }

    var isOldestDead: Bool {
        let (oldest, head) = (index.oldestSegment, index.head.segment)
        guard oldest < head else { return false }
        guard kind == .log else { return index.liveFrames(ofSegment: oldest) == 0 }
        let first = index.firstMessage
        return first == .none ? index.entryCount == 0 && index.valueBytes == 0 : oldest < first.segment
    }
}
