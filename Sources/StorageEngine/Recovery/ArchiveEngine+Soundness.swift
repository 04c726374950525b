/// Whether an index without a clean mark, that nobody has open, agrees with itself and with the log. Anything
/// that does not agree means that the index is built anew from the log, at the cost of recency and counters;
/// each check is for something that would otherwise let an operation write over, drop or evict what is intact.
///
/// Costs one pass over the index and one segment's frame headers; no value is read.
extension ArchiveEngine {
    /// What must hold even after a change that was interrupted by the death of its process, so that a repair may
    /// go by it.
    func headerIsSound(wasInterrupted: Bool) -> Bool {
        guard let numbers = try? log.segmentNumbers(), chunksAddUp() else { return false }
        // Stamps and sequences never come near this; sums with them must not overflow.
        guard index.stampsTaken < IndexMemory.largestStamp, index.stampsDrained <= index.stampsTaken,
            index.word64(IndexLayout.sequenceOffset) < 1 << 62
        else { return false }
        guard head != .none else { return numbers.isEmpty && index.usedEntries == 0 }
        let oldest = oldestSegment
        // A removal goes file by file, so at most one that no longer counts is left by an interrupted one.
        guard oldest > 0, oldest <= head.segment, numbers.contains(oldest), numbers.contains(head.segment),
            numbers.count(where: { $0 < oldest }) <= (wasInterrupted ? 1 : 0),
            let newest = try? log.checkHeader(of: head.segment), newest.oldest <= oldest
        else { return false }
        return headIsBehindAFrame(wasInterrupted: wasInterrupted)
            && entriesAreWithin(oldest, wasInterrupted: wasInterrupted)
    }

    private func chunksAddUp() -> Bool {
        let capacity = Int(index.word32(IndexLayout.entryCapacityOffset))
        let bytes = IndexLayout.fileBytes(chunks: capacity / IndexLayout.chunkEntries)
        return capacity % IndexLayout.chunkEntries == 0 && bytes <= index.fileBytes
            && index.size(IndexLayout.indexBytesOffset) <= bytes
            && index.bucketCount >= IndexMemory.firstBuckets
    }

    /// A head inside a frame or before one would have the next operation write over it.
    private func headIsBehindAFrame(wasInterrupted: Bool) -> Bool {
        guard let pin = log.pin(head.segment) else { return false }
        defer { log.unpin(pin) }
        var offset = SegmentHeader.bytes
        var sequence: UInt64 = 0
        while offset < head.offset, let frame = log.frame(pin, at: offset), frame.rawKind != 0 {
            sequence = max(sequence, min(frame.sequence, Frame.latestStamp))
            offset += frame.bytes
        }
        guard offset == head.offset, sequence <= index.word64(IndexLayout.sequenceOffset) else {
            return false
        }
        return wasInterrupted || log.validFrame(pin, at: offset) == nil
    }

    private func entriesAreWithin(_ oldest: UInt32, wasInterrupted: Bool) -> Bool {
        let first = Location(segment: oldest, offset: SegmentHeader.bytes)
        let end = wasInterrupted ? Location(raw: .max) : head
        for number in 0..<index.usedEntries {
            guard let location = index.entry(number + 1)?.location, location != .none else { continue }
            if location < first || location >= end { return false }
        }
        return true
    }

    // MARK: What holds between two operations

    /// Entries against totals, segments' counts, recency list, buckets and free list.
    func addsUp() -> Bool {
        kind == .log
            ? index.word64(IndexLayout.structureOffset) & 1 == 0 && messagesAddUp()
            : IndexChecker(self, most: 1).found.isEmpty
    }
}
