/// Deletes entries, and removes expired, idle or an owner's entries in slices, each under one hold of the lock.
struct EntryRemover: ArchiveOperation {
    let engine: ArchiveEngine

    /// Slots examined under one hold of the lock; at most `actionBatch` entries are removed.
    private static let slotsAtOnce: UInt32 = 8192

    /// Removes every entry for which `isChosen` is true, in slices, each under one hold of the lock, from the highest number down,
    /// because renumbering lowers numbers. Returns the number of the action if `isReversible`. `progress` returns `false` to stop.
    func removeAll(
        _ kind: EventKind, _ cause: EventCause, isReversible: Bool = false,
        progress: (Int) -> Bool = { _ in true }, where isChosen: (ChangingSlot) throws(StorageError) -> Bool
    ) throws(StorageError) -> (removal: Removal, group: UInt32) {
        defer { keepRemovalReserve() }
        var removal = Removal(entries: 0, bytes: 0)
        var group: UInt32 = 0
        var next = UInt32.max
        while next > 0 {
            let section = try engine.acquireDrained()
            if isReversible { group = section.continued(group, after: removal.entries) }
            next = min(next, index.usedEntries)
            let end = next - min(next, EntryRemover.slotsAtOnce)
            var chosen: [UInt32] = []
            while next > end, chosen.count < ArchiveEngine.actionBatch {
                if let slot = section.index.entry(next), section.index.marks.isLive(next, slot),
                    try isChosen(slot)
                {
                    chosen.append(next)
                }
                next -= 1
            }
            let part = try section.removeBatch(chosen, kind, cause, group: group)
            removal += part
            section.compactIfSparse(removed: chosen.count)
            section.yieldLock()
            try LogCleaner(engine).reclaimInSlices()
            if next > 0, !progress(removal.entries) { break }
        }
        return (removal, group)
    }

    func removeExpired() throws(StorageError) -> Removal {
        var removal = Removal(entries: 0, bytes: 0)
        while let part = try removeSomeExpired() {
            removal += part
            engine.yieldLock()
            try LogCleaner(engine).reclaimInSlices()
        }
        return removal
    }

    func removeSomeExpired() throws(StorageError) -> Removal? {
        let now = Clock.boot()
        let next = index.nextDeadline
        guard next != Deadline.never, next <= now else { return nil }
        let section = try engine.acquireDrained()
        let due = section.index.deadlines.due(
            at: now, most: ArchiveEngine.actionBatch, rows: EntryRemover.rowsAtOnce)
        let removal = try section.expire(due.numbers)
        section.compactIfSparse(removed: removal.entries)
        return due.isDone || (!due.numbers.isEmpty && removal.entries == 0) ? nil : removal
    }

    /// Rows of 32 entries examined under one hold of the lock.
    static let rowsAtOnce = 512

    /// Removes an entry that a look-up found expired, if the lock is free; otherwise a later call does (F6).
    @inline(never) func removeIfExpired(_ entry: FoundEntry, tag: UInt32) {
        guard let section = engine.tryAcquire() else { return }
        section.drainTouches()
        // The expiry time may have changed since.
        guard section.index.marks.isLive(entry.number, section.index.changing(entry.slot)),
            engine.standing(of: entry.number, entry.slot, at: entry.location) == .expired
        else { return }
        if entry.slot.isMemoryOnly {
            _ = try? section.removeBatch([entry.number], .expiry, .processEnded)
        } else {
            _ = try? section.expire([entry.number])
        }
        section.reclaim(forAppended: 0)
        _ = consume section
        // The look-up doesn't wait for the remaining compaction.
        LogCleaner(engine).leaveCompaction()
    }

    /// Deletes the entries whose last access was longer ago than `interval` (S6).
    func removeIdle(longerThan interval: Duration) throws(StorageError) -> Removal {
        let before = Clock.wall().subtractingSaturating(interval.clampedMicroseconds)
        return try removeAll(.delete, .idle, where: { $0.accessed < before }).removal
    }

    func removeEntries(ofOwner owner: String) throws(StorageError) -> Removal {
        let bytes = Array(owner.utf8)
        let tag = bytes.withUnsafeBytes { engine.ownerTag($0) }
        return try removeAll(
            .delete, .owner,
            where: { (slot) throws(StorageError) in
                guard slot.owner == tag else { return false }
                return try StorageError.ignoring(\.isCorrupted) { () throws(StorageError) in
                    let isOwners = try engine.withFrame(at: slot.location, tag: slot.tag) {
                        $0.owner.elementsEqual(bytes)
                    }
                    if isOwners == true { return true }
                    // Another owner's name has the same hash, unless the frame is damaged or missing.
                    return try engine.withSoundFrame(at: slot.location) { _ in () } == nil
                } ?? true
            }
        ).removal
    }

    /// Extends the removal reserve, which a full disk may have used up, as far as free space allows.
    func keepRemovalReserve() {
        guard index.storage.removalReserve != nil, let section = try? engine.acquire() else { return }
        try? section.index.storage.removalReserve?.extend(forEntries: Int(index.entryCapacity), partly: true)
    }

    func delete(
        _ key: UnsafeRawBufferPointer, ifSequence sequence: UInt64?
    ) throws(StorageError) -> ConditionalDelete {
        let tag = try engine.validTag(of: key)
        let section = try engine.acquireDrained()
        guard let entry = try section.findToChange(key, tag: tag) else { return .absent }
        let isSame = sequence == nil || entry.frame.sequence == sequence
        let isExpired = engine.isExpired(entry)
        engine.unpin(entry)
        if entry.slot.isMemoryOnly {
            return try deleteMemoryOnly(section, key, tag: tag, ifSequence: sequence)
        }
        if isExpired {
            _ = try section.expire([entry.number])
            return .absent
        }
        guard isSame else { return .changed }
        try section.appendBare(.delete, key: key) { location, time in
            let bytes = Int(entry.slot.shownBytes)
            engine.trace(.delete, tag: tag, entry: entry.number)
            section.remove(entry.number)
            engine.publish(.delete, .request, tag: tag, bytes: bytes, at: location, time: time, key: key)
        }
        section.index.add(.deletes)
        section.reclaim(forAppended: Frame.bytes(key: key.count, extension: 0, value: 0))
        section.compactIfSparse()
        SpaceBudget(engine).scheduleReclaimIfNeeded()
        return .deleted
    }

    /// Deletes all entries in one step. The time under the lock grows with the index only; slow file work follows.
    func deleteAll() throws(StorageError) -> Removal {
        let section = try engine.acquireDrained()
        let index = section.index
        let removal = Removal(entries: index.entryCount, bytes: index.valueBytes)
        guard removal.entries > 0 || index.tombstoneCount > 0 else { return removal }
        // The frame begins a new segment, so that all older ones can be removed at once.
        try section.appendBare(.deleteAll, inNewSegment: true) { location, time in
            section.clearEntries()
            engine.trace(.deleteAll, tag: 0)
            engine.publish(.delete, .request, bytes: Int(removal.bytes), at: location, time: time)
        }
        index.add(.deletes, UInt64(removal.entries))
        LogCleaner(engine).deferCompaction()
        return removal
    }

    /// Deletes the memory-only entries of a key, or with `sequence` only that operation's. Requires drained touches.
    private func deleteMemoryOnly(
        _ section: borrowing ArchiveSection,
        _ key: UnsafeRawBufferPointer, tag: UInt32, ifSequence sequence: UInt64?
    ) throws(StorageError) -> ConditionalDelete {
        let numbers = engine.memoryOnlyNumbers(of: key, tag: tag)
        let meant = try engine.entries(numbers, ofSequence: sequence)
        let present = meant.filter(engine.isPresent)
        let orphans = meant.filter { !engine.isPresent($0) }
        if !orphans.isEmpty { _ = try section.removeBatch(orphans, .expiry, .processEnded) }
        guard !present.isEmpty else { return sequence == nil || !orphans.isEmpty ? .absent : .changed }
        // Deletes by location, because other entries have the same key.
        _ = try section.removeBatch(present, .delete, .request)
        section.reclaim(forAppended: 0)
        section.compactIfSparse()
        return .deleted
    }
}
