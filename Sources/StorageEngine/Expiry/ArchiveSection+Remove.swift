/// Removing many entries: expired, idle, or of one owner. Releases the lock after some hundred entries.
extension ArchiveSection {
    private static let entriesOfFrame = 1024

    /// Logs the removal of these entries in frames that name their locations, and removes them from the index; with a `group`
    /// they are tombstoned instead (S12). The caller reclaims the space (``ArchiveEngine/reclaimInSlices()``).
    @discardableResult
    func removeBatch(
        _ numbers: [UInt32], _ kind: EventKind, _ cause: EventCause, group: UInt32 = 0
    ) throws(StorageError) -> Removal {
        var removal = Removal(entries: 0, bytes: 0)
        for start in stride(from: 0, to: numbers.count, by: ArchiveSection.entriesOfFrame) {
            let batch = numbers[start..<min(start + ArchiveSection.entriesOfFrame, numbers.count)]
            let slots = batch.compactMap { number in index.entry(number).map { (number, $0) } }
                .filter { index.marks.isLive($0.0, $0.1) }
            guard !slots.isEmpty else { continue }
            let note = RemovalNote(
                group: group, cause: cause, kind: group == 0 ? nil : kind == .expiry ? .expire : .delete,
                time: Clock.wall())
            let size = FrameExtension.evictionBytes(slots.count) + FrameExtension.partBytes(RemovalNote.bytes)
            try withExtension(bytes: size) { (writer) throws(StorageError) in
                writer.append(evictions: slots.lazy.map { $0.1.location })
                writer.append(note)
                try withinGrace(of: group) { () throws(StorageError) in
                    try appendBare(.evict, extensionBytes: writer.written) { location, time in
                        crashPoint(.removalFrameWritten)
                        for (number, slot) in slots {
                            removal.entries += 1
                            removal.bytes += UInt64(slot.valueBytes)
                            let (tag, bytes, place) = (slot.tag, Int(slot.shownBytes), slot.location)
                            if group != 0, !slot.isMemoryOnly {
                                setAside(number, slot, note: note, at: location)
                            } else {
                                remove(number)
                            }
                            index.publish(
                                kind, cause, tag: tag, bytes: bytes, location: place, pid: engine.pid,
                                time: time)
                        }
                    }
                }
            }
            keepWithinBudget(group)
        }
        index.add(kind == .expiry ? .expirations : .deletes, UInt64(removal.entries))
        engine.scheduleReclaimIfNeeded()
        return removal
    }

    // MARK: Expired entries (S8)

    /// Removes expired entries; tombstones those that a reversible action let expire.
    func expire(_ numbers: [UInt32]) throws(StorageError) -> Removal {
        let actions = index.undo.isEmpty ? [:] : try engine.deadlinesOfActions()
        guard !actions.isEmpty else { return try removeBatch(numbers, .expiry, .deadline) }
        var removal = Removal(entries: 0, bytes: 0)
        var parts: [UInt32: [UInt32]] = [:]
        for number in numbers {
            parts[try engine.action(expiring: number, among: actions), default: []].append(number)
        }
        for (group, part) in parts {
            // An undo is about to restore the entry's former expiry time.
            if index.undo.line(of: group)?.state == .returning { continue }
            let done = try removeBatch(part, .expiry, .deadline, group: group)
            removal.entries += done.entries
            removal.bytes += done.bytes
        }
        return removal
    }
}

extension ArchiveEngine {
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
            let section = try acquire()
            section.drainTouches()
            if isReversible { group = section.continued(group, after: removal.entries) }
            next = min(next, index.usedEntries)
            let end = next - min(next, ArchiveEngine.slotsAtOnce)
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
            removal.entries += part.entries
            removal.bytes += part.bytes
            section.compactIfSparse(removed: chosen.count)
            _ = consume section
            letOthersIn()
            try reclaimInSlices()
            if next > 0, !progress(removal.entries) { break }
        }
        return (removal, group)
    }

    func removeExpired() throws(StorageError) -> Removal {
        var removal = Removal(entries: 0, bytes: 0)
        while let part = try removeSomeExpired() {
            removal.entries += part.entries
            removal.bytes += part.bytes
            letOthersIn()
            try reclaimInSlices()
        }
        return removal
    }

    func removeSomeExpired() throws(StorageError) -> Removal? {
        let now = Clock.boot()
        let next = index.nextDeadline
        guard next != Deadline.never, next <= now else { return nil }
        let section = try acquire()
        section.drainTouches()
        let due = section.index.deadlines.due(
            at: now, most: ArchiveEngine.actionBatch, rows: ArchiveEngine.rowsAtOnce)
        let removal = try section.expire(due.numbers)
        section.compactIfSparse(removed: removal.entries)
        return due.isDone || (!due.numbers.isEmpty && removal.entries == 0) ? nil : removal
    }

    /// Rows of 32 entries examined under one hold of the lock.
    static let rowsAtOnce = 512

    /// Removes an entry that a look-up found expired, if the lock is free; otherwise a later call does (F6).
    @inline(never)
    func removeIfExpired(_ entry: FoundEntry, tag: UInt32) {
        guard let section = tryAcquire() else { return }
        section.drainTouches()
        // The expiry time may have changed since.
        guard section.index.marks.isLive(entry.number, section.index.changing(entry.slot)),
            standing(of: entry.number, entry.slot, at: entry.location) == .expired
        else { return }
        if entry.slot.isMemoryOnly {
            _ = try? section.removeBatch([entry.number], .expiry, .processEnded)
        } else {
            _ = try? section.expire([entry.number])
        }
        section.reclaim(forAppended: 0)
        _ = consume section
        // The look-up doesn't wait for the remaining compaction.
        leaveCompaction()
    }

    /// Deletes the entries whose last access was longer ago than `interval` (S6).
    func removeIdle(longerThan interval: Duration) throws(StorageError) -> Removal {
        let before = Clock.wall().subtractingSaturating(interval.clampedMicroseconds)
        return try removeAll(.delete, .idle, where: { $0.accessed < before }).removal
    }

    // MARK: Owners

    func removeEntries(ofOwner owner: String) throws(StorageError) -> Removal {
        let bytes = Array(owner.utf8)
        let tag = bytes.withUnsafeBytes { ownerTag($0) }
        return try removeAll(
            .delete, .owner,
            where: { (slot) throws(StorageError) in
                guard slot.owner == tag else { return false }
                do throws(StorageError) {
                    let isOwners = try withFrame(at: slot.location, tag: slot.tag) {
                        $0.owner.elementsEqual(bytes)
                    }
                    if isOwners == true { return true }
                    // Another owner's name has the same hash, unless the frame is damaged or missing.
                    return try withSoundFrame(at: slot.location) { _ in () } == nil
                } catch {
                    guard case .corrupted = error else { throw error }
                    return true
                }
            }
        ).removal
    }

    /// Extends the removal reserve, which a full disk may have used up, as far as free space allows.
    func keepRemovalReserve() {
        guard index.removalReserve != nil, let section = try? acquire() else { return }
        try? section.index.removalReserve?.extend(forEntries: Int(index.entryCapacity), partly: true)
    }
}
