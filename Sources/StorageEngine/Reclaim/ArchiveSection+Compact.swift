/// Shrinks the index after many entries have been removed, so that disk usage keeps S3.
extension ArchiveSection {
    private var usedLines: Int {
        (engine.kind == .log ? 0 : index.entryCount) + Int(index.tombstoneCount)
    }

    /// Whether the index has many more slots than entries, and exceeds its share of disk usage because of that.
    private var isSparse: Bool {
        let used = Int(index.entryHighWater)
        let needed = usedLines
        guard used > needed + needed / 8 + 2 * IndexLayout.chunkEntries else { return false }
        return SpaceBudget(engine).leastSegmentBytes > SpaceBudget(engine).grantedSegmentBytes
    }

    /// Whether the index has far more capacity than it ever used, and exceeds its share because of that.
    private var isRoomy: Bool {
        let used = Int(index.entryHighWater)
        return Int(index.entryCapacity) > used + used / 8 + 2 * IndexLayout.chunkEntries
            && index.segmentBytes > SpaceBudget(engine).grantedSegmentBytes
    }

    func compactAfterRebuild() {
        while isSparse, vacateLastChunk() {}
        if isRoomy { releaseSpareChunks() }
    }

    /// Compacts in proportion to the entries removed under this hold of the lock. Requires drained touches.
    @inline(__always) func compactIfSparse(removed: Int = 1) {
        if isSparse { compact(chunks: 1 + removed / IndexLayout.chunkEntries) }
    }

    @inline(never) private func compact(chunks: Int) {
        for _ in 0..<chunks { guard isSparse, vacateLastChunk() else { return } }
        // Other threads may be waiting for the lock: the rest becomes pending compaction.
        if isSparse { LogCleaner(engine).deferCompaction() }
    }

    func compactSome() -> Bool { releaseSomeSpareChunks() || isSparse && vacateLastChunk() }

    /// Drops undo records, removes the oldest dead segments, and shrinks the index. Requires drained touches.
    func discardUndoAndShrink() {
        dropTombstones(most: .max, evenReversible: true)
        dropDeadSegments()
        while vacateLastChunk() {}
        releaseSpareChunks()
    }

    /// Removes the oldest segment if it is dead and, unless `evenForUndo`, no undo needs it. Returns whether it was removed.
    func dropDeadSegment(evenForUndo: Bool = false) -> Bool {
        let oldest = index.oldestSegment
        guard SpaceBudget(engine).isOldestDead,
            evenForUndo || index.isReady && !UndoWindow(engine).isNeededToUndo(oldest),
            let next = try? nextSegmentOrLoss(after: oldest)
        else { return false }
        dropSegments(before: next)
        return index.oldestSegment > oldest
    }

    /// Drops the oldest segments while they are dead, also those that an undo needs.
    func dropDeadSegments() { while dropDeadSegment(evenForUndo: true) {} }

    /// Moves the last chunk's entries to free slots in other chunks, and frees its blocks; `false` if it has too many. Takes less
    /// than half a millisecond. Requires drained touches. Readers without the lock find an entry by its location, which doesn't
    /// change, and repeat a search that misses. Later touches of old numbers are dropped. After a crash in between, two slots may
    /// name one entry; recovery keeps one.
    @inline(never) func vacateLastChunk() -> Bool {
        let used = index.usedEntries
        guard used > 0 else { return false }
        let last = (used - 1) / UInt32(IndexLayout.chunkEntries) * UInt32(IndexLayout.chunkEntries)
        guard last > 0, usedLines <= Int(last) else { return false }
        guard !mergeSpareBuckets() else { return true }
        index.beginStructureChange()
        // Counts the end as well, for lists that are made in between.
        index.setRenumberings(index.renumberings &+ 1)
        defer {
            index.setRenumberings(index.renumberings &+ 1)
            index.endStructureChange()
        }
        // Unlinks the last chunk's free slots first, so that the free list has only lower numbers.
        for number in last + 1...used {
            if let slot = index.entry(number), slot.location == .none { index.numbers.unlink(number, slot) }
        }
        for number in last + 1...used {
            guard let slot = index.entry(number), slot.location != .none else { continue }
            guard renumber(number, slot, below: last) else { return false }
        }
        let buckets = IndexLayout.buckets(forCapacity: last)
        while Int(index.bucketCount) > buckets { guard index.table.mergeLast() else { return false } }
        crashPoint(.compactEmptied)
        index.setEntryHighWater(last)
        engine.countHandled(chunks: 1)
        index.shrink(toHold: Int(last))
        return true
    }

    func releaseSpareChunks() {
        while mergeSpareBuckets() {}
        index.shrink(toHold: Int(index.entryHighWater))
    }

    func releaseSomeSpareChunks() -> Bool {
        guard engine.kind != .log, index.isReady, SpaceBudget(engine).isIndexWasted else {
            return false
        }
        if mergeSpareBuckets() { return true }
        let capacity = Int(index.entryCapacity)
        let most = ArchiveSection.chunksAtOnce * IndexLayout.chunkEntries
        index.shrink(toHold: max(Int(index.entryHighWater), capacity - min(capacity, most)))
        let given = capacity - Int(index.entryCapacity)
        engine.countHandled(chunks: given / IndexLayout.chunkEntries)
        return given > 0
    }

    /// Chunks freed under one hold of the lock: 3 MiB.
    private static let chunksAtOnce = 32

    /// Merges some buckets of chunks without entries; `false`: no such bucket.
    private func mergeSpareBuckets() -> Bool {
        let chunks = (Int(index.usedEntries) + IndexLayout.chunkEntries - 1) / IndexLayout.chunkEntries
        let least = max(1, chunks) * IndexLayout.chunkBuckets
        guard Int(index.bucketCount) > least else { return false }
        index.beginStructureChange()
        defer { index.endStructureChange() }
        for _ in 0..<4 * IndexLayout.chunkBuckets where Int(index.bucketCount) > least {
            guard index.table.mergeLast() else { return false }
        }
        return true
    }

    private func renumber(_ number: UInt32, _ slot: ChangingSlot, below last: UInt32) -> Bool {
        let new = index.freeHead
        guard new != 0, new <= last, let place = index.entry(new), place.location == .none else {
            index.declareDamaged()
            return false
        }
        index.setFreeHead(place.chainNext)
        place.copy(slot)
        index.marks.set(new, index.marks[number])
        index.residency.copy(from: number, to: new)
        if slot.deadline != Deadline.never { index.deadlines.expect(slot.deadline, of: new) }
        place.setLocation(slot.location)
        crashPoint(.compactMoved)
        index.table.renumber(from: number, to: new, slot)
        index.order.renumber(from: number, to: new, slot)
        slot.setLocation(.none)
        index.marks.set(number, .none)
        index.residency.forget(number)
        return true
    }
}
