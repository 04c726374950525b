/// What a person does to entries, in a way that can be taken back (S12): how that is kept and undone is in
/// `ArchiveEngine+Undo.swift`.
extension ArchiveEngine {
    /// Does what a person planned; entries that have changed since are left alone. Throws only while nothing has
    /// been done.
    func carryOut(
        _ action: PlannedAction, on planned: [PlannedEntry], progress: (Int) -> Bool
    ) throws(StorageError) -> PlanOutcome {
        var outcome = PlanOutcome(entries: 0, bytes: 0, skipped: [], action: nil)
        var group: UInt32 = 0
        // An entry that is named twice would be counted twice, or be found gone the second time.
        var seen = Set<PlannedEntry>(minimumCapacity: planned.count)
        let entries = planned.filter { seen.insert($0).inserted }
        // One moment for all: by it entries that expire meanwhile are known to belong to this action.
        var deadline = Deadline.never
        if case .setLifetime(let lifetime) = action { deadline = ArchiveEngine.deadline(in: lifetime) }
        for start in stride(from: 0, to: entries.count, by: ArchiveEngine.actionBatch) {
            guard start == 0 || progress(start) else { break }
            let batch = entries[start..<min(start + ArchiveEngine.actionBatch, entries.count)]
            do throws(StorageError) {
                try acquire()
                defer { release() }
                _ = index.takeStampAndDrain()
                if group == 0 { group = nextGroup() }
                switch action {
                case .delete: try remove(batch, .delete, group: group, &outcome)
                case .expireNow: try remove(batch, .expiry, group: group, &outcome)
                case .setLifetime: try changeDeadlines(batch, to: deadline, group: group, &outcome)
                }
            } catch {
                // What was done stays done, and its caller has to know of it, and how to take it back.
                guard outcome.entries > 0 else { throw error }
                outcome.failure = error
                break
            }
        }
        outcome.action = index.undoLine(of: group).flatMap { isReversible($0) ? describe($0) : nil }
        return outcome
    }

    private func remove(
        _ batch: ArraySlice<PlannedEntry>, _ kind: EventKind, group: UInt32, _ outcome: inout PlanOutcome
    ) throws(StorageError) {
        var numbers: [UInt32] = []
        for planned in batch {
            if let number = try number(of: planned) {
                numbers.append(number)
            } else {
                outcome.skipped.append(planned.key)
            }
        }
        let removal = try removeBatch(numbers, kind, .person, group: group)
        outcome.entries += removal.entries
        outcome.bytes += removal.bytes
    }

    private func changeDeadlines(
        _ batch: ArraySlice<PlannedEntry>, to deadline: Int64, group: UInt32, _ outcome: inout PlanOutcome
    ) throws(StorageError) {
        for planned in batch {
            guard let number = try number(of: planned), let slot = index.entry(number) else {
                outcome.skipped.append(planned.key)
                continue
            }
            guard slot.deadline != deadline else {
                outcome.unchanged += 1
                continue
            }
            _ = try withBytes(of: planned.key) { (key) throws(StorageError) in
                try changeDeadline(
                    of: key, to: deadline, ifSequence: planned.sequence, cause: .person, group: group)
            }
            outcome.entries += 1
            outcome.bytes += UInt64(slot.valueBytes)
        }
    }

    /// The entry that was planned, unless it is gone, expired or changed.
    private func number(of planned: PlannedEntry) throws(StorageError) -> UInt32? {
        try withBytes(of: planned.key) { (key) throws(StorageError) in
            guard !key.isEmpty, key.count <= Frame.maximumKeyBytes,
                let entry = try find(key, tag: UInt32(truncatingIfNeeded: hash(key)))
            else { return nil }
            defer { letGo(entry) }
            if entry.slot.isMemoryOnly {
                return memoryOnlyNumbers(of: key, tag: entry.slot.tag)
                    .first { sequence(of: $0) == planned.sequence && isHeld($0) }
            }
            return entry.frame.sequence == planned.sequence && !isExpired(entry) ? entry.number : nil
        }
    }

    /// Deletes every entry so that it can be undone.
    func deleteAllReversibly() throws(StorageError) -> PlanOutcome {
        guard kind != .log else {
            throw .wrongKind(archive: name, kind: kind, operation: "delete reversibly")
        }
        try acquire()
        defer { release() }
        _ = index.takeStampAndDrain()
        let group = nextGroup()
        var numbers: [UInt32] = []
        numbers.reserveCapacity(min(entryCount, Int(index.usedEntries)))
        // Least recent first: the latest set aside is the most recent.
        var number = index.order.leastRecent
        while let slot = index.entry(number), numbers.count < listedEntries {
            numbers.append(number)
            number = slot.newer
        }
        let removal = try removeBatch(numbers, .delete, .person, group: group)
        return PlanOutcome(
            entries: removal.entries, bytes: removal.bytes, skipped: [],
            action: index.undoLine(of: group).map(describe))
    }

    private func nextGroup() -> UInt32 {
        let group = max(1, index.word32(IndexLayout.nextGroupOffset))
        index.set32(IndexLayout.nextGroupOffset, group == .max ? 1 : group + 1)
        return group
    }
}
