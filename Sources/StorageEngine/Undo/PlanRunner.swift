/// Carries out reversible deletions and changes of expiry times (S12). Their records and undo: `UndoLog.swift`.
struct PlanRunner: ArchiveOperation {
    let engine: ArchiveEngine

    /// Carries out a plan; skips entries that have changed since. Throws only before the first change.
    func carryOut(
        _ action: PlannedAction, on planned: [PlannedEntry], progress: (Int) -> Bool
    ) throws(StorageError) -> PlanOutcome {
        try engine.requireEntries(to: "delete or change entries")
        var outcome = PlanOutcome()
        var group: UInt32 = 0
        // Drops duplicates: they would be counted twice, or count as missing.
        var seen = Set<PlannedEntry>(minimumCapacity: planned.count)
        let entries = planned.filter { seen.insert($0).inserted }
        // All entries of the action get one expiry time that no other action has. It identifies the entries that expire by it.
        var deadline = Deadline.never
        if case .setLifetime(let lifetime) = action { deadline = Deadline.boot(in: lifetime) }
        // An action without effect isn't recorded: its record would displace one that can be undone.
        guard try hasWork(action, entries, &outcome) else { return outcome }
        try releaseNextUndoLine()
        defer { EntryRemover(engine).keepRemovalReserve() }
        let removes = if case .setLifetime = action { false } else { true }
        var (start, most) = (0, ArchiveEngine.actionBatch)
        while start < entries.count {
            guard start == 0 || progress(start) else { break }
            let batch = entries[start..<min(start + most, entries.count)]
            let before = outcome
            do throws(StorageError) {
                let section = try engine.acquireDrained()
                let former = group
                if !outcome.isFinal { group = section.continued(group, after: outcome.entries) }
                if group != former, deadline != Deadline.never {
                    // A rebuild may restore the former record, which must not share its expiry time.
                    if former != 0 { deadline += 1 }
                    let others = try UndoWindow(engine).deadlinesOfActions()
                    while others[deadline] != nil { deadline += 1 }
                }
                switch action {
                case .delete: try remove(section, batch, .delete, group: group, &outcome)
                case .expireNow: try remove(section, batch, .expiry, group: group, &outcome)
                case .expireIdle(let before):
                    try remove(section, batch, .expiry, unusedSince: before, group: group, &outcome)
                case .setLifetime: try changeDeadlines(section, batch, to: deadline, group: group, &outcome)
                }
                _ = consume section
                start += batch.count
                most = min(2 * most, ArchiveEngine.actionBatch)
                engine.yieldLock()
                try LogCleaner(engine).reclaimInSlices()
            } catch {
                if case .noSpace = error, removes, before.entries == outcome.entries {
                    outcome = before
                    if let isFinal = try? discardUndoRecords(toContinue: group) {
                        outcome.isFinal = outcome.isFinal || isFinal
                        if isFinal { group = 0 }
                        continue
                    }
                    // The removal reserve may have space for fewer entries.
                    if most > 1 {
                        most /= 2
                        continue
                    }
                }
                // Completed parts stay deleted, so the caller needs the outcome to undo them.
                guard outcome.entries > 0 else { throw error }
                outcome.failure = error
                break
            }
        }
        outcome.action = reversibleAction(group)
        return outcome
    }

    /// On a full disk, where a removal needs some bytes: drops earlier undo records, then that of this action, `group`, which can
    /// then no longer be undone. Returns whether the action became final; `nil` if there was no record to drop.
    private func discardUndoRecords(toContinue group: UInt32) throws(StorageError) -> Bool? {
        let section = try engine.acquireDrained()
        let before = (index.segmentBytes, index.entryCapacity, index.tombstoneCount)
        for place in 0..<IndexLayout.undoLines {
            let line = section.index.undo[place]
            if line.group != group, line.state == .reversible { line.setEnd(0) }
        }
        section.dropTombstones(most: .max)
        section.dropDeadSegments()
        if before.0 > index.segmentBytes || before.2 > index.tombstoneCount { return false }
        section.discardUndoAndShrink()
        let isMore = before.0 > index.segmentBytes || before.1 > index.entryCapacity
        return isMore || before.2 > index.tombstoneCount ? true : nil
    }

    private func hasWork(
        _ action: PlannedAction, _ entries: [PlannedEntry], _ outcome: inout PlanOutcome
    ) throws(StorageError) -> Bool {
        var idleBefore: Timestamp?
        if case .expireIdle(let before) = action {
            idleBefore = before
            // Applies pending touches, so that access times are exact.
            _ = try engine.acquire().drainTouches()
        }
        var result = PlanOutcome()
        for planned in entries where try !present([planned], unusedSince: idleBefore, &result).isEmpty {
            return true
        }
        outcome = result
        return false
    }

    /// The entries that are as planned, with their numbers; notes the others as skipped.
    private func present(
        _ planned: ArraySlice<PlannedEntry>, unusedSince: Timestamp? = nil, _ outcome: inout PlanOutcome
    ) throws(StorageError) -> [(entry: PlannedEntry, number: UInt32)] {
        var found: [(entry: PlannedEntry, number: UInt32)] = []
        for entry in planned {
            switch try match(of: entry, unusedSince: unusedSince) {
            case .present(let number): found.append((entry, number))
            case .skipped(let reason): outcome.skips.append(PlanSkip(key: entry.key, reason: reason))
            }
        }
        return found
    }

    private enum Match {
        case present(UInt32)
        case skipped(PlanSkip.Reason)
    }

    /// A planned entry, or the reason to skip it, such as an access since `idleBefore` (exact with drained touches).
    private func match(
        of planned: PlannedEntry, unusedSince idleBefore: Timestamp? = nil
    ) throws(StorageError) -> Match {
        try withBytes(of: planned.key) { (key) throws(StorageError) in
            if planned.sequence == PlannedEntry.unknownSequence, let number = try damagedNumber(of: key) {
                return .present(number)
            }
            guard !key.isEmpty, key.count <= Frame.maximumKeyBytes,
                let entry = try engine.find(key, tag: engine.hash.tag(key))
            else { return .skipped(.absent) }
            defer { engine.unpin(entry) }
            var number = entry.number
            if entry.slot.isMemoryOnly {
                let held = engine.memoryOnlyNumbers(of: key, tag: entry.slot.tag).filter(engine.isHeld)
                guard let meant = try engine.entries(held, ofSequence: planned.sequence).first else {
                    return .skipped(held.isEmpty ? .absent : .changed)
                }
                number = meant
            } else if engine.isExpired(entry) {
                return .skipped(.absent)
            } else if entry.frame.sequence != planned.sequence {
                return .skipped(.changed)
            }
            if let idleBefore, let slot = index.entry(number), slot.accessed >= idleBefore.microseconds {
                return .skipped(.used)
            }
            return .present(number)
        }
    }

    /// The damaged entry whose key has the hash of `key`: the bytes of its key may be damaged, too.
    private func damagedNumber(of key: UnsafeRawBufferPointer) throws(StorageError) -> UInt32? {
        let tag = engine.hash.tag(key)
        for number in index.table.entries(ofTag: tag) {
            guard let slot = index.entry(number), !slot.isMemoryOnly else { continue }
            guard let (pin, frame) = try log.pinnedFrame(at: slot.location) else { return number }
            defer { log.unpin(pin) }
            let isOther = !frame.key.elementsEqual(key) && engine.hash.tag(frame.key) == tag
            let seed = Frame.seed(segmentSeed: pin.seed, offset: slot.location.offset)
            if !isOther, !frame.passesChecksum(seed: seed) { return number }
        }
        return nil
    }

    /// Deletes in batches every entry of a version (`nil`: that exists when it begins), as one reversible action.
    func deleteAllReversibly(
        of version: ArchiveVersion?, progress: (Int) -> Bool
    ) throws(StorageError) -> PlanOutcome {
        try engine.requireEntries(to: "delete reversibly")
        var outcome = PlanOutcome()
        guard index.entryCount > 0, version.map({ $0.identity == log.identity }) ?? true else {
            return outcome
        }
        try releaseNextUndoLine()
        let (salt, stamp) = (version?.salt ?? index.salt, version?.recency ?? index.touches.taken)
        let sequence = version?.sequence ?? index.sequence
        // A renumbered entry is examined again.
        var storedSince: Set<UInt64> = []
        let (removal, group) = try EntryRemover(engine).removeAll(
            .delete, .person, isReversible: true, progress: progress,
            where: { (slot) throws(StorageError) in
                // The entry was accessed since then, and perhaps stored: its sequence decides.
                if slot.recency < stamp, index.salt == salt { return true }
                guard let stored = try engine.withFrameIfPresent(at: slot.location, { $0.sequence }),
                    stored > sequence
                else { return true }
                storedSince.insert(slot.location.raw)
                return false
            })
        outcome.storedSince = storedSince.count
        (outcome.entries, outcome.bytes) = (removal.entries, removal.bytes)
        outcome.action = reversibleAction(group)
        return outcome
    }

    private func reversibleAction(_ group: UInt32) -> ReversibleAction? {
        index.undo.line(of: group).flatMap {
            UndoWindow(engine).isReversible($0) ? UndoLog(engine).describe($0) : nil
        }
    }

    /// Drops, in batches, the undo record of an old action if the next action needs its line of the undo table.
    private func releaseNextUndoLine() throws(StorageError) {
        while true {
            let section = try engine.acquire()
            let group = index.nextGroup
            let line = section.index.undo.lineToBe(of: group)
            guard line.marked > 0 else { return }
            if line.state == .reversible { line.setEnd(0) }
            section.dropTombstones(most: ArchiveEngine.actionBatch)
            section.yieldLock()
        }
    }

    private func remove(
        _ section: borrowing ArchiveSection, _ batch: ArraySlice<PlannedEntry>, _ kind: EventKind,
        unusedSince: Timestamp? = nil, group: UInt32, _ outcome: inout PlanOutcome
    ) throws(StorageError) {
        let numbers = try present(batch, unusedSince: unusedSince, &outcome).map(\.number)
        let removal = try section.removeBatch(numbers, kind, .person, group: group)
        outcome.entries += removal.entries
        outcome.bytes += removal.bytes
    }

    private func changeDeadlines(
        _ section: borrowing ArchiveSection,
        _ batch: ArraySlice<PlannedEntry>, to deadline: Int64, group: UInt32, _ outcome: inout PlanOutcome
    ) throws(StorageError) {
        for (planned, number) in try present(batch, &outcome) {
            guard let slot = section.index.entry(number) else { continue }
            guard slot.deadline != deadline else {
                outcome.unchanged += 1
                continue
            }
            _ = try withBytes(of: planned.key) { (key) throws(StorageError) in
                try section.changeDeadline(
                    of: key, to: deadline, ifSequence: planned.sequence, cause: .person, group: group)
            }
            outcome.entries += 1
            outcome.bytes += UInt64(slot.valueBytes)
        }
    }
}
