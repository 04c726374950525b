/// Removes many entries: expired, idle, or of one owner. Releases the lock after some hundred entries.
extension ArchiveSection {
    private static let entriesOfFrame = 1024

    /// Logs the removal of these entries in frames that name their locations, and removes them from the index; with a `group`
    /// they are tombstoned instead (S12). The caller reclaims the space (``LogCleaner/reclaimInSlices()``).
    @discardableResult func removeBatch(
        _ numbers: [UInt32], _ kind: EventKind, _ cause: EventCause, group: UInt32 = 0
    ) throws(StorageError) -> Removal {
        var removal = Removal(entries: 0, bytes: 0)
        for start in stride(from: 0, to: numbers.count, by: ArchiveSection.entriesOfFrame) {
            let batch = numbers[start..<min(start + ArchiveSection.entriesOfFrame, numbers.count)]
            let slots = batch.compactMap { number in index.entry(number).map { (number, $0) } }
                .filter { index.marks.isLive($0.0, $0.1) }
            guard !slots.isEmpty else { continue }
            // Uses the precise time: number and time identify an action, also in an archive recreated within a step of the coarse clock.
            let note = RemovalNote(
                group: group, cause: cause, kind: group == 0 ? nil : kind == .expiry ? .expire : .delete,
                time: group == 0 ? Clock.wall() : Clock.preciseWall())
            let size = FrameExtension.evictionBytes(slots.count) + FrameExtension.partBytes(RemovalNote.bytes)
            try withExtension(bytes: size) { (writer) throws(StorageError) in
                writer.append(evictions: slots.lazy.map { $0.1.location })
                writer.append(note)
                try keepingUndoWindow(of: group) { () throws(StorageError) in
                    try appendBare(.evict, extensionBytes: writer.written) { location, time in
                        crashPoint(.removalFrameWritten)
                        for (number, slot) in slots {
                            removal += Removal(entries: 1, bytes: UInt64(slot.valueBytes))
                            let (tag, bytes, place) = (slot.tag, Int(slot.shownBytes), slot.location)
                            switch kind {
                            case .delete: engine.trace(.delete, tag: tag, entry: number)
                            case .expiry: engine.trace(.expiry, tag: tag, entry: number)
                            default: break
                            }
                            if group != 0, !slot.isMemoryOnly {
                                tombstone(number, slot, note: note, at: location)
                            } else {
                                remove(number)
                            }
                            engine.publish(kind, cause, tag: tag, bytes: bytes, at: place, time: time)
                        }
                    }
                }
            }
            keepWithinBudget(group)
        }
        index.add(kind == .expiry ? .expirations : .deletes, UInt64(removal.entries))
        SpaceBudget(engine).scheduleReclaimIfNeeded()
        return removal
    }

    /// Removes expired entries; tombstones those that a reversible action let expire.
    func expire(_ numbers: [UInt32]) throws(StorageError) -> Removal {
        let actions = index.undo.isEmpty ? [:] : try UndoWindow(engine).deadlinesOfActions()
        guard !actions.isEmpty else { return try removeBatch(numbers, .expiry, .deadline) }
        var removal = Removal(entries: 0, bytes: 0)
        var parts: [UInt32: [UInt32]] = [:]
        for number in numbers {
            parts[try UndoWindow(engine).action(expiring: number, among: actions), default: []].append(number)
        }
        for (group, part) in parts {
            // An undo is about to restore the entry's former expiry time.
            if index.undo.line(of: group)?.state == .returning { continue }
            removal += try removeBatch(part, .expiry, .deadline, group: group)
        }
        return removal
    }

    /// Changes an entry's expiry time without writing its value (S8). With `sequence`, only if that stored the present entry.
    func changeDeadline(
        of key: UnsafeRawBufferPointer, to deadline: Int64, ifSequence sequence: UInt64?, cause: EventCause,
        group: UInt32 = 0, evenExpired: Bool = false
    ) throws(StorageError) -> ConditionalDelete {
        let tag = engine.hash.tag(key)
        guard let entry = try findToChange(key, tag: tag) else { return .absent }
        var isSame = sequence == nil || entry.frame.sequence == sequence
        let isExpired = engine.isExpired(entry)
        engine.unpin(entry)
        var numbers = [entry.number]
        if entry.slot.isMemoryOnly {
            // Each process may have a memory-only entry of this key. Without a sequence, changes all of them.
            numbers = try engine.entries(engine.memoryOnlyNumbers(of: key, tag: tag), ofSequence: sequence)
            isSame = !numbers.isEmpty
        }
        guard !isExpired || evenExpired else { return .absent }
        guard isSame else { return .changed }
        let now = Clock.read()
        let old = entry.slot.deadline
        let note = RemovalNote(group: group, cause: cause, kind: .deadline, time: Clock.preciseWall())
        let size = 2 * FrameExtension.partBytes(Deadline.bytes) + FrameExtension.partBytes(RemovalNote.bytes)
        try withExtension(bytes: size) { (writer) throws(StorageError) in
            if deadline != Deadline.never { writer.append(.deadline, Deadline(boot: deadline, now: now)) }
            if group != 0 {
                writer.append(note)
                if old != Deadline.never { writer.append(.previousDeadline, Deadline(boot: old, now: now)) }
            }
            try keepingUndoWindow(of: group) { () throws(StorageError) in
                try appendBare(.deadline, key: key, extensionBytes: writer.written) { location, time in
                    crashPoint(.deadlineWritten)
                    for number in numbers {
                        if let slot = index.entry(number) { setDeadline(of: number, slot, to: deadline) }
                    }
                    engine.trace(.deadline, tag: tag, entry: entry.number)
                    if group != 0 {
                        countRemoval(note, first: location, bytes: UInt64(entry.slot.valueBytes))
                    }
                    crashPoint(.deadlineSet)
                    engine.publish(
                        .deadline, cause, tag: tag, bytes: Int(entry.slot.shownBytes), at: location,
                        time: time, key: key)
                }
            }
        }
        reclaim(forAppended: Frame.bytes(key: key.count, extension: size, value: 0))
        return .deleted
    }

    /// Appends an entry's expiry time to the log and sets it, for a repair.
    func recordDeadline(of number: UInt32, _ slot: ChangingSlot, as deadline: Int64) throws(StorageError) {
        guard let key = engine.withFrame(at: slot.location, { Array($0.key) }) else { return }
        try withExtension(bytes: FrameExtension.partBytes(Deadline.bytes)) { (writer) throws(StorageError) in
            if deadline != Deadline.never {
                writer.append(.deadline, Deadline(boot: deadline, now: Clock.read()))
            }
            try withBytes(of: key) { (key) throws(StorageError) in
                try appendBare(.deadline, key: key, extensionBytes: writer.written) { _, _ in
                    setDeadline(of: number, slot, to: deadline)
                }
            }
        }
    }

    func setDeadline(of number: UInt32, _ slot: ChangingSlot, to deadline: Int64) {
        if deadline != Deadline.never { index.deadlines.expect(deadline, of: number) }
        slot.setDeadline(deadline)
        // Updates the cell too, which has the bit that sends look-ups to the slot.
        index.table.setLocation(number, slot, slot.location)
    }
}
