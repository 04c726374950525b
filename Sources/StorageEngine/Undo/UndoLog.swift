/// Undoes reversible actions (S12). One frame and one store to the index restore removed entries; slices then clear their marks.
/// Expiry times are restored in parts (`UndoLog+Deadlines.swift`).
struct UndoLog: ArchiveOperation {
    let engine: ArchiveEngine

    func describe<Right>(_ line: UndoLine<Right>) -> ReversibleAction {
        let appended = index.appendedBytes
        return ReversibleAction(
            id: line.group, kind: ReversibleAction.Kind(rawValue: line.kind) ?? .delete,
            time: Timestamp(microseconds: line.time), entries: Int(clamping: line.entries), bytes: line.bytes,
            pid: Int32(bitPattern: line.pid), end: Timestamp(microseconds: Clock.wall(atBoot: line.end)),
            bytesLeft: line.endBytes == .max ? nil : line.endBytes > appended ? line.endBytes - appended : 0)
    }

    func reversibleActions() -> [ReversibleAction] {
        index.undo.lines.filter { UndoWindow(engine).isReversible($0) }.map { describe($0) }
    }

    /// Undoes an action, or the latest if `group` is `nil`; `nil`: no such action. Removed entries are restored in one step for
    /// every process. Expiry times are restored in parts: `progress` gets the fraction done, and returns `false` to stop.
    func undo(_ group: UInt32?, progress: (Double) -> Bool) throws(StorageError) -> UndoOutcome? {
        // Does most of the sync before taking the lock.
        try synchronizeBeforeRestoring()
        let lines = index.undo.lines.filter { UndoWindow(engine).isReversible($0) }
        guard let line = lines.first(where: { group == nil || $0.group == group }) else { return nil }
        defer { EntryRemover(engine).keepRemovalReserve() }
        let outcome = UndoOutcome(
            action: describe(line), entries: 0, bytes: 0, skipped: [], skippedCount: 0, evicted: 0)
        if line.isOfDeadlines { return try undoDeadlines(line, outcome, progress) }
        return try undoRemoval(line, outcome)
    }

    /// A `restore` frame leaves out keys that were recorded before it. If these records were lost, a replay would restore deleted
    /// entries.
    func synchronizeBeforeRestoring() throws(StorageError) {
        if index.durability != .process { try engine.synchronize(upTo: index.head) }
    }

    private func undoRemoval(_ line: UndoView, _ begun: UndoOutcome) throws(StorageError) -> UndoOutcome? {
        var outcome = begun
        let group = outcome.action.id
        let missing = Int(clamping: line.missing)
        let coming = PendingRestore(index, line)
        let damage = try damagedEntries(of: line)
        guard try commitRestore(of: line, group, isAll: true, coming, &outcome) else { return nil }
        crashPoint(.restoreCommitted)
        // Entries dropped for space are counted already.
        let (dropped, droppedBytes) = (outcome.expired, outcome.expiredBytes)
        outcome.expired = max(dropped, min(coming.expired, dropped + outcome.entries))
        outcome.entries -= outcome.expired - dropped
        outcome.bytes -= min(coming.expiredBytes - min(coming.expiredBytes, droppedBytes), outcome.bytes)
        outcome.damaged = min(damage.entries, outcome.entries)
        outcome.entries -= outcome.damaged
        outcome.bytes -= min(damage.bytes, outcome.bytes)
        try finishRestore(of: line, group) { outcome.skip($0) }
        // Reclaiming may have dropped entries since, together with their keys.
        outcome.skippedCount = max(
            outcome.skippedCount,
            missing + outcome.action.entries
                - min(
                    outcome.action.entries,
                    outcome.entries + outcome.damaged + outcome.expired + outcome.displaced))
        return outcome
    }

    /// The entries that an undo would restore, but that can't be read. Reads all their bytes, without holding the lock.
    private func damagedEntries(of line: UndoView) throws(StorageError) -> (entries: Int, bytes: UInt64) {
        var damaged = (entries: 0, bytes: UInt64(0))
        let now = Clock.boot()
        for number in index.marks.marked(by: line) where !index.marks[number].isOverwritten {
            guard let slot = index.entry(number), slot.deadline == Deadline.never || slot.deadline > now
            else { continue }
            let location = slot.location
            let pin = try log.pinIfPresent(location.segment)
            defer { if let pin { log.unpin(pin) } }
            let isIntact = pin.flatMap { log.validFrame($0, at: location.offset) } != nil
            // Otherwise the entry was moved or dropped since.
            guard !isIntact, slot.location == location, !engine.isDropped(location) else { continue }
            damaged = (damaged.entries + 1, damaged.bytes &+ UInt64(slot.valueBytes))
        }
        return damaged
    }

    /// Evicts entries in slices until the action's entries fit, then restores them. `coming`: the entries to restore, as counted
    /// before the call. Returns `false` if the action can no longer be undone.
    func commitRestore(
        of line: UndoView, _ group: UInt32, isAll: Bool, _ coming: PendingRestore,
        _ outcome: inout UndoOutcome
    ) throws(StorageError) -> Bool {
        var order: RestoreOrder?
        var isOrderWanted = false
        while true {
            // Sorts the entries without holding the lock.
            if isOrderWanted { order = RestoreOrder(index, line) }
            let section = try engine.acquireDrained()
            guard line.group == group, line.state == .reversible,
                UndoWindow(engine).isReversible(line)
            else { return false }
            // The action may have continued in the meantime.
            guard coming.covers(line) || PendingRestore(index, line).covers(line) else {
                throw section.miscounted()
            }
            let wanted = index.valueBytes &+ line.pendingBytes
            if let limit = engine.diskLimit, wanted > limit {
                isOrderWanted = order.map { index.renumberings != $0.renumberings } ?? true
                guard !isOrderWanted, let known = order else { continue }
                // The largest value would displace all other entries and still not fit.
                if known.largestValue > limit {
                    throw .valueTooLarge(bytes: Int(known.largestValue), limit: limit, archive: engine.name)
                }
                order = try evictForRestore(section, wanted - limit, for: line, known, &outcome)
                section.yieldLock()
                continue
            }
            try synchronizeBeforeRestoring()
            outcome.entries += Int(clamping: line.pendingEntries)
            outcome.bytes &+= line.pendingBytes
            if isAll || line.pendingEntries > 0 {
                try restore(section, section.index.changing(line), isAll: isAll)
            }
            return true
        }
    }

    /// Whether no present entry has the key of a tombstoned one. `false` if the tombstoned entry can't be read.
    private func isKeyFree(_ slot: ChangingSlot) throws(StorageError) -> Bool {
        guard let (pin, frame) = try log.pinnedFrame(at: slot.location) else { return false }
        defer { log.unpin(pin) }
        return try StorageError.ignoring(\.isCorrupted) { () throws(StorageError) in
            guard let present = try engine.find(frame.key, tag: slot.tag) else { return true }
            engine.unpin(present)
            return false
        } ?? true
    }

    /// Clears the marks of restored entries in slices. Look-ups find these anyway; after a crash, changes or maintenance continue.
    func finishRestore(of line: UndoView, _ group: UInt32, skip: (String) -> Void) throws(StorageError) {
        let lines: UInt64 = 1 << UInt64(line.place)
        var next: UInt32 = 0
        var renumberings = index.renumberings
        var isDone = false
        while !isDone {
            let section = try engine.acquire()
            guard line.group == group, line.isRestored else { return }
            if index.renumberings != renumberings { next = 0 }
            renumberings = index.renumberings
            for _ in 0..<ArchiveEngine.actionBatch {
                let (found, seen) = index.marks.nextMarked(above: next, lines: lines, most: 1 << 20)
                next = seen
                guard let found, let slot = section.index.entry(found) else {
                    isDone = next >= index.usedEntries
                    break
                }
                engine.countHandled(entries: 1)
                if section.index.marks.unmarkIfRestored(found, slot) {
                    engine.trace(.restore, tag: slot.tag, entry: found)
                    continue
                }
                skip(engine.withFrame(at: slot.location) { String(decoding: $0.key, as: UTF8.self) } ?? "?")
                section.forget(found, slot)
            }
            if isDone, line.state == .returning { section.index.changing(line).setState(.reversible) }
            section.yieldLock()
        }
        try LogCleaner(engine).reclaimInSlices()
    }

    /// Logs and publishes an action's restored entries. Unless `isAll`, the undo can be repeated if this process crashes.
    func restore(_ section: borrowing ArchiveSection, _ line: ChangingUndoLine, isAll: Bool)
        throws(StorageError)
    {
        let note = RemovalNote(
            group: line.group, cause: .undo, kind: isAll ? nil : .deadline, time: Clock.wall())
        try section.withExtension(bytes: FrameExtension.partBytes(RemovalNote.bytes)) {
            (writer) throws(StorageError) in
            writer.append(note)
            try section.appendBare(.restore, extensionBytes: writer.written) { _, time in
                crashPoint(.restoreFrameWritten)
                applyRestore(section, line, isAll: isAll, time: time)
                crashPoint(.broughtBack)
            }
        }
    }

    private func applyRestore(
        _ section: borrowing ArchiveSection, _ line: ChangingUndoLine, isAll: Bool, time: Int64
    ) {
        let index = section.index
        index.beginRestore()
        crashPoint(.returnBegun)
        line.setUndone(at: time, by: UInt32(bitPattern: engine.pid))
        line.setState(isAll ? .undone : .returning)
        index.adjust(.valueBytes, by: Int(clamping: line.pendingBytes))
        index.adjust(.entryCount, by: Int(clamping: line.pendingEntries))
        line.clearPending()
        index.endRestore()
    }

    func replayRestore(_ section: borrowing ArchiveSection, _ note: RemovalNote, time: Int64)
        throws(StorageError)
    {
        guard let line = section.index.undo.line(of: note.group) else { return }
        let isAll = note.kind != .deadline
        if !note.keepsOut { try restoreOverwritten(section, line) }
        applyRestore(section, line, isAll: isAll, time: time)
        section.dropTombstones(of: line)
        if !isAll { line.setState(.reversible) }
    }

    /// Restores the overwritten entries, too, for a `restore` frame from a version that restored them.
    private func restoreOverwritten(_ section: borrowing ArchiveSection, _ line: ChangingUndoLine)
        throws(StorageError)
    {
        let index = section.index
        for number in section.marked(by: line) where index.marks[number].isOverwritten {
            guard index.marks[number].place == line.place, let slot = index.entry(number),
                try isKeyFree(slot)
            else { continue }
            // No other entry of its key may be restored as well.
            _ = engine.withFrame(at: slot.location) { section.markOverwritten($0.key, tag: slot.tag) }
            index.marks.markOverwritten(number, slot, as: false)
        }
    }

    /// Evicts the least recent entries in slices, restored ones last (S12), before any is restored: the limit always holds (S3).
    private func evictForRestore(
        _ section: borrowing ArchiveSection,
        _ excess: UInt64, for line: UndoView, _ known: RestoreOrder, _ outcome: inout UndoOutcome
    ) throws(StorageError) -> RestoreOrder {
        let index = section.index
        var order = known
        let present = index.order.victims(toFree: Int(clamping: excess), most: ArchiveEngine.actionBatch)
        var left = excess - min(excess, UInt64(present.bytes))
        var victims = present.compactMap { number in index.entry(number).map { (number: number, slot: $0) } }
        while left > 0, victims.count < ArchiveEngine.actionBatch,
            let coming = next(section, in: &order, of: line)
        {
            victims.append(coming)
            order.next += 1
            left -= min(left, UInt64(coming.slot.valueBytes))
        }
        guard !victims.isEmpty else { throw section.miscounted() }
        try evict(section, victims, &outcome)
        return order
    }

    private func next(_ section: borrowing ArchiveSection, in order: inout RestoreOrder, of line: UndoView)
        -> (number: UInt32, slot: ChangingSlot)?
    {
        while order.next < order.items.count {
            let item = order.items[order.next]
            let mark = section.index.marks[item.number]
            if let slot = section.index.entry(item.number), slot.isTombstoned, slot.recency == item.recency,
                mark.isSet,
                mark.place == line.place, !mark.isOverwritten
            {
                return (item.number, slot)
            }
            order.next += 1
        }
        return nil
    }

    private func evict(
        _ section: borrowing ArchiveSection,
        _ victims: [(number: UInt32, slot: ChangingSlot)], _ outcome: inout UndoOutcome
    ) throws(StorageError) {
        let size = FrameExtension.evictionBytes(victims.count) + FrameExtension.partBytes(RemovalNote.bytes)
        var evicted = 0
        let now = Clock.boot()
        try section.withExtension(bytes: size) { (writer) throws(StorageError) in
            writer.append(evictions: victims.lazy.map { $0.slot.location })
            writer.append(RemovalNote(group: 0, cause: .limit, kind: nil, time: Clock.wall()))
            try section.appendBare(.evict, extensionBytes: writer.written) { _, time in
                for (number, slot) in victims {
                    let (tag, bytes, location) = (slot.tag, Int(slot.valueBytes), slot.location)
                    defer {
                        engine.publish(.eviction, .limit, tag: tag, bytes: bytes, at: location, time: time)
                    }
                    if slot.isTombstoned {
                        if slot.deadline != Deadline.never, slot.deadline <= now {
                            outcome.expired += 1
                            outcome.expiredBytes &+= UInt64(slot.valueBytes)
                        } else {
                            outcome.displaced += 1
                        }
                        section.forget(number, slot)
                    } else {
                        evicted += 1
                        section.remove(number)
                    }
                    crashPoint(.restoreSpaceFreed)
                }
                section.index.addLocked(.evictions, UInt64(victims.count))
            }
        }
        outcome.evicted += evicted
        section.reclaim(forAppended: Frame.bytes(key: 0, extension: size, value: 0))
    }
}

/// The tombstoned entries of an action that an undo would restore.
struct PendingRestore {
    private var entries: UInt64 = 0
    private var bytes: UInt64 = 0
    private(set) var expired = 0
    private(set) var expiredBytes: UInt64 = 0

    /// Examines the entries without holding the lock.
    init(_ index: IndexView, _ line: UndoView) {
        let now = Clock.boot()
        for number in index.marks.marked(by: line) where !index.marks[number].isOverwritten {
            guard let slot = index.entry(number) else { continue }
            entries += 1
            bytes &+= UInt64(slot.valueBytes)
            guard slot.deadline != Deadline.never, slot.deadline <= now else { continue }
            expired += 1
            expiredBytes &+= UInt64(slot.valueBytes)
        }
    }

    /// Whether the action's line counts no more entries and bytes than this. It excludes keys that were recorded since.
    func covers(_ line: UndoView) -> Bool { line.pendingEntries <= entries && line.pendingBytes <= bytes }
}

/// The entries of an action, least recent first, as they were when the undo began.
struct RestoreOrder {
    var items: [(recency: UInt64, number: UInt32)]
    var next = 0
    let renumberings: UInt64
    private(set) var largestValue: UInt64 = 0

    init(_ index: IndexView, _ line: UndoView) {
        renumberings = index.renumberings
        items = []
        for number in index.marks.marked(by: line) where !index.marks[number].isOverwritten {
            guard let slot = index.entry(number) else { continue }
            items.append((slot.recency, number))
            largestValue = max(largestValue, UInt64(slot.valueBytes))
        }
        items.sort { $0.recency < $1.recency }
    }
}

extension UndoOutcome {
    mutating func skip(_ key: String) {
        skippedCount += 1
        if skipped.count < 100 { skipped.append(key) }
    }
}
