/// Whether an index without a clean mark, which no process has open, is consistent in itself and with the log. An inconsistent
/// one is rebuilt, which costs recency and counters. Each check prevents an operation from overwriting, removing or evicting
/// intact entries. Costs one pass over the index and the frame headers of one segment.
struct IndexSoundness: ArchiveOperation {
    let engine: ArchiveEngine

    /// Conditions that hold even after a process crashed during a change, so that recovery can rely on them.
    func isHeaderSound(wasInterrupted: Bool) throws(StorageError) -> Bool {
        let numbers = try log.segmentNumbers()
        guard try chunksAddUp() else { return false }
        // Valid stamps and sequences never reach this; sums with them must not overflow.
        guard index.touches.taken < Touch.largestStamp, index.touches.drained <= index.touches.taken,
            index.sequence < 1 << 62, wasInterrupted || index.firstMessage <= index.head
        else { return false }
        guard index.head != .none else { return numbers.isEmpty && index.usedEntries == 0 }
        let oldest = index.oldestSegment
        // A removal deletes one file after another, so an interrupted one leaves at most one file that is no longer part of the log.
        guard oldest > 0, oldest <= index.head.segment, numbers.contains(oldest),
            numbers.contains(index.head.segment),
            numbers.count(where: { $0 < oldest }) <= (wasInterrupted ? 1 : 0),
            let newest = try StorageError.ignoring(
                \.isCorrupted, { () throws(StorageError) in try log.checkHeader(of: index.head.segment) }),
            newest.oldest <= oldest
        else { return false }
        // Look-ups would miss the entries of a segment that isn't in the index.
        if !wasInterrupted, try log.highestSegment(above: index.head.segment) != nil { return false }
        guard try headIsBehindAFrame(wasInterrupted: wasInterrupted) else { return false }
        return entriesAreWithin(oldest, wasInterrupted: wasInterrupted)
    }

    private func chunksAddUp() throws(StorageError) -> Bool {
        let capacity = Int(index.entryCapacity)
        let bytes = IndexLayout.fileBytes(chunks: capacity / IndexLayout.chunkEntries)
        let fileBytes = try index.storage.fileStatus()?.bytes ?? 0
        return capacity % IndexLayout.chunkEntries == 0 && bytes <= fileBytes
            && index.indexBytes <= bytes
            && index.bucketCount >= IndexLayout.firstBuckets
    }

    /// Whether the log tail is behind a frame. If it were inside or before one, the next operation would overwrite the frame.
    private func headIsBehindAFrame(wasInterrupted: Bool) throws(StorageError) -> Bool {
        guard let pin = try log.pinIfPresent(index.head.segment) else { return false }
        defer { log.unpin(pin) }
        try log.updateSize(pin)
        var offset = SegmentHeader.bytes
        var sequence: UInt64 = 0
        while offset < index.head.offset, let frame = log.frame(pin, at: offset), frame.rawKind != 0 {
            sequence = max(sequence, min(frame.sequence, Frame.latestStamp))
            offset += frame.bytes
        }
        guard offset == index.head.offset, sequence <= index.sequence else { return false }
        return wasInterrupted || log.validFrame(pin, at: offset) == nil
    }

    private func entriesAreWithin(_ oldest: UInt32, wasInterrupted: Bool) -> Bool {
        let first = Location(segment: oldest, offset: SegmentHeader.bytes)
        let end = wasInterrupted ? Location(raw: .max) : index.head
        for number in 0..<index.usedEntries {
            guard let location = index.entry(number + 1)?.location, location != .none else { continue }
            if location < first || location >= end { return false }
        }
        return true
    }

    /// Compares the entries with totals, segments' counts, order of recency, buckets and free list.
    func isConsistent() throws(StorageError) -> Bool {
        if engine.kind == .log {
            guard index.structureVersion & 1 == 0 else { return false }
            let found = try MessageReader(engine).countMessages(before: index.head)
            return found.count == index.entryCount && found.bytes == Int(index.valueBytes)
        }
        return IndexChecker(engine, most: 1).found.isEmpty
    }
}
