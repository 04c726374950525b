import CPlatform

/// Reclaiming: the oldest segment's live frames are copied to the head of the log, and its file is removed.
///
/// Always the oldest, in log order: then a delete or an eviction that reaches the end of the log has
/// nothing older left to hide and can simply be dropped. Each operation pays for the bytes it appended, so
/// there is no background work and no long pause. Why: OnDiskFormat, "Reclaiming".
extension ArchiveEngine {
    /// Bytes that the segments may take before old ones are reclaimed, so that the footprint keeps S3.
    private var allowedSegmentBytes: Int {
        let limit = Double(diskLimit ?? valueBytes)
        let bound = 1.25 * (limit + 128 * Double(entryCount)) + 1_048_576
        let target = segmentTarget
        let margin = target + 2 * SegmentLayout.stepBytes(target: target) + 65_536
        // Keys longer than the rule's 128 bytes an entry allow for need room all the same.
        let live = Double(index.word64(IndexLayout.liveFrameBytesOffset))
        let least = Int(live * 1.25) + 3 * target
        return max(Int(bound) - Int(index.word64(IndexLayout.indexBytesOffset)) - margin, least)
    }

    /// Does the share of reclaiming that appending `bytes` owes. Needs the lock.
    @inline(__always)
    func reclaim(forAppended bytes: Int) {
        let used = Int(index.word64(IndexLayout.segmentBytesOffset))
        if used > allowedSegmentBytes { reclaimSlowly(share: 8 * bytes + 1024) }
    }

    @inline(never)
    private func reclaimSlowly(share: Int) {
        let allowed = allowedSegmentBytes
        let hard = allowed + segmentTarget
        var work = 0
        while true {
            let used = Int(index.word64(IndexLayout.segmentBytesOffset))
            guard used > allowed, work < share || used > hard, oldestSegment < head.segment else { return }
            let segment = oldestSegment
            if index.liveBytes(ofSegment: segment) == 0 {
                dropSegments(before: log.nextSegment(after: segment, upTo: head.segment))
                work += 4096
                continue
            }
            guard let done = reclaimNextFrame(of: segment) else { return }
            work += done
        }
    }

    /// Handles the frame under the cleaner. Returns the bytes it went over, or `nil` when there is no room
    /// to go on.
    private func reclaimNextFrame(of segment: UInt32) -> Int? {
        guard let pin = log.pin(segment) else {
            abandon(segment)
            return 4096
        }
        defer { log.unpin(pin) }
        var place = Location(raw: index.word64(IndexLayout.cleanerOffset))
        if place.segment != segment { place = Location(segment: segment, offset: SegmentHeader.bytes) }
        guard let frame = log.validFrame(pin, at: place.offset) else {
            guard let next = log.nextValidFrame(pin, after: place.offset) else {
                abandon(segment)
                return 4096
            }
            index.set64(IndexLayout.cleanerOffset, Location(segment: segment, offset: next).raw)
            return next - place.offset
        }
        let bytes = frame.bytes
        if frame.kind == .put || frame.kind == .move {
            let tag = UInt32(truncatingIfNeeded: hash(frame.key))
            if let number = entry(at: place, tag: tag), let slot = index.entry(number) {
                guard move(frame, slot) else { return nil }
            }
        }
        index.set64(IndexLayout.cleanerOffset, place.advanced(by: bytes).raw)
        return bytes
    }

    /// The number of the entry whose frame is at `location`, or `nil` when none is any more.
    func entry(at location: Location, tag: UInt32) -> UInt32? {
        var number = index.bucketHead(index.bucket(of: tag, count: index.bucketCount))
        var steps = 0
        while let slot = index.entry(number), steps < 1_000_000 {
            if slot.location == location { return number }
            number = slot.chainNext
            steps += 1
        }
        return nil
    }

    private func move(_ frame: Frame, _ slot: EntrySlot) -> Bool {
        let content = FrameContent(
            kind: .move, encoding: frame.encoding, sequence: frame.sequence, recency: slot.recency,
            time: slot.accessed, created: frame.created, key: frame.key, value: frame.value,
            extensionBytes: UnsafeRawBufferPointer(start: nil, count: 0))
        guard let location = try? append(content) else { return false }
        let bytes = content.frameBytes
        adjustLive(slot.location, by: -Int(slot.frameBytes))
        slot.frameBytes = UInt32(bytes)
        slot.location = location
        adjustLive(location, by: bytes)
        commit(location, bytes: bytes)
        return true
    }

    /// Drops a segment of which no more can be read; entries that it alone held are gone (R6).
    private func abandon(_ segment: UInt32) {
        if index.liveBytes(ofSegment: segment) != 0 {
            for number in 0..<index.word32(IndexLayout.entryHighWaterOffset) {
                guard let slot = index.entry(number + 1), slot.location.segment == segment else { continue }
                remove(number + 1)
            }
        }
        index.setLiveBytes(ofSegment: segment, 0)
        dropSegments(before: log.nextSegment(after: segment, upTo: head.segment))
    }

    /// Removes the files of all segments older than `segment`, oldest first: a younger file must not go
    /// while an older one, whose frames it may hide, is still there.
    func dropSegments(before segment: UInt32) {
        var oldest = oldestSegment
        while oldest < segment {
            let next = log.nextSegment(after: oldest, upTo: segment)
            guard let bytes = try? log.removeFile(of: oldest) else { return }
            index.set32(IndexLayout.oldestSegmentOffset, next)
            index.setLiveBytes(ofSegment: oldest, 0)
            adjust(IndexLayout.segmentBytesOffset, by: -bytes)
            oldest = next
        }
        log.releaseSegments(before: oldest)
    }
}
