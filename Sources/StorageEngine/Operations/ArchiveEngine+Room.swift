/// The room that an archive takes, and how much it may: what reclaiming and compacting go by (S3, S14).
extension ArchiveEngine {
    /// Bytes that the segments may take before old ones are reclaimed, so that the footprint keeps S3. A
    /// collection has no limit; it may have half as many bytes again as its values, which makes storing
    /// anew some three times cheaper than a fifth would.
    var allowedSegmentBytes: Int { max(grantedSegmentBytes, leastSegmentBytes) }

    /// What S3 leaves for segments.
    var grantedSegmentBytes: Int {
        let target = segmentTarget
        // Beside it a block of the file system's own for each file.
        let files = index.segmentBytes / target + 8
        return boundBytes - reservedIndexBytes - SegmentLayout.slackBytes(target: target) - 8192 * files
    }

    /// What the index takes, with the blocks that it keeps when it gets smaller.
    @inline(__always) var reservedIndexBytes: Int { IndexLayout.reservedBytes(for: index.indexBytes) }

    /// What S3 grants the archive's files: what can be undone has room of its own beside the limit.
    @inline(__always) var boundBytes: Int {
        let values = index.valueBytes
        let limit = Double(
            index.diskLimit.map { min($0, ArchiveConfiguration.maximumDiskLimit) } ?? values + values / 2)
        let undo = min(
            index.setAsideBytes, Int(clamping: ArchiveConfiguration.maximumDiskLimit))
        let entries = index.entryCount + Int(index.setAsideCount)
        return Int(1.25 * (limit + Double(undo) + 128 * Double(entries)) + 1_048_576)
    }

    /// What the segments take at least. Where the rule leaves no more (long keys, tiny values), reclaiming must not
    /// go round in circles.
    @inline(__always) var leastSegmentBytes: Int {
        let target = segmentTarget
        let live = Double(index.liveFrameBytes)
        let unused = Double(2 * SegmentLayout.reserveBytes) / Double(target)
        return Int(live * (1.09 + unused)) + 2 * target
    }

    /// What the segments may take when nobody writes: half as much again as what lives in them, and some segments.
    var quietSegmentBytes: Int {
        let live = index.liveFrameBytes
        return max(live + live / 2 + 2 * segmentTarget + 65_536, leastSegmentBytes)
    }

    /// Whether more of the log is dead than may stay when nobody writes (S14).
    var isRoomWasted: Bool {
        // A log's messages go by its own rule.
        guard kind != .log else { return false }
        return
            (index.oldestSegment < index.head.segment && index.segmentBytes > quietSegmentBytes)
            || isIndexWasted
    }

    /// Lets the background look if too much room is dead.
    @inline(__always)
    func noteRoom() {
        if isRoomWasted, !isRoomDue.load(ordering: .relaxed) { isRoomDue.store(true, ordering: .relaxed) }
    }

    /// Whether the index has more than twice the lines that are used: given back when nobody writes.
    var isIndexWasted: Bool {
        let used = Int(index.entryCapacity)
        return used > 2 * (index.entryCount + Int(index.setAsideCount)) + IndexLayout.chunkEntries
    }

    /// Whether nothing lives in the oldest segment, and it isn't the only one.
    var isOldestDead: Bool {
        let (oldest, head) = (index.oldestSegment, index.head.segment)
        guard oldest < head else { return false }
        // Messages are not counted by segment.
        guard kind == .log else { return index.liveFrames(ofSegment: oldest) == 0 }
        let first = index.firstMessage
        return first == .none ? index.entryCount == 0 && index.valueBytes == 0 : oldest < first.segment
    }
}
