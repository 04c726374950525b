/// An expiry time that an action gave to the entry of a key, and the former one.
private struct DeadlineChange {
    let key: String
    let new: Int64
    let old: Int64
    /// Sequence of the frame that changed the expiry time. An entry with a higher sequence was recorded after the action.
    let sequence: UInt64
}

/// Undoes changes of expiry times (S12). The former expiry times are in the log.
extension UndoLog {
    /// Restores the expiry times that an action changed, unless they or the entries changed again. Releases the lock after every
    /// few hundred entries. If stopped, it can be repeated. `nil` if the action can no longer be undone.
    func undoDeadlines(
        _ line: UndoView, _ begun: UndoOutcome, _ progress: (Double) -> Bool
    ) throws(StorageError) -> UndoOutcome? {
        var outcome = begun
        outcome.isComplete = false
        let group = outcome.action.id
        // Reads the log from the action on, without the lock.
        let changes = try deadlineChanges(of: [line])[group] ?? []
        guard try returnExpired(of: line, group, &outcome) else { return nil }
        // Entries that others removed or changed between two parts; they may have expired because of this action.
        var missed: [DeadlineChange] = []
        var done = 0
        while changes.count - done > ArchiveEngine.actionBatch {
            let part = changes[done..<done + ArchiveEngine.actionBatch]
            guard try undo(engine.acquire(), part, of: line, group, &missed, &outcome) else { return outcome }
            done += ArchiveEngine.actionBatch
            engine.yieldLock()
            guard progress(Double(done) / Double(changes.count)) else { return outcome }
        }
        // Other processes may have removed more of its entries as expired; the last part drops the rest of the tombstoned ones.
        var isReturned = done == 0
        while true {
            if !isReturned {
                guard try returnExpired(of: line, group, &outcome) else { return outcome }
            }
            let section = try engine.acquire()
            guard line.group == group, UndoWindow(engine).isReversible(line) else { return outcome }
            isReturned = line.pendingEntries == 0
            guard isReturned else { continue }
            try finish(section, missed + changes[done...], of: line, &outcome)
            outcome.isComplete = true
            return outcome
        }
    }

    private func returnExpired(
        of line: UndoView, _ group: UInt32, _ outcome: inout UndoOutcome
    ) throws(StorageError) -> Bool {
        // These entries are counted when their expiry times are restored.
        var back = UndoOutcome.nothing
        defer {
            outcome.evicted += back.evicted
            outcome.displaced += back.displaced
        }
        guard try commitRestore(of: line, group, isAll: false, PendingRestore(index, line), &back) else {
            return false
        }
        crashPoint(.restoreCommitted)
        try finishRestore(of: line, group) { _ in }
        return true
    }

    /// The changes of expiry times of these actions, by action number. Reads the log up to its tail once for all of them.
    private func deadlineChanges<Right>(
        of lines: [UndoLine<Right>]
    ) throws(StorageError) -> [UInt32: [DeadlineChange]] {
        var changes: [UInt32: [DeadlineChange]] = [:]
        let groups = Set(lines.map(\.group))
        let end = index.head
        guard let first = lines.map(\.first).min(), first.segment >= index.oldestSegment else {
            return changes
        }
        for number in try log.segmentNumbers() where number >= first.segment && number <= end.segment {
            guard let pin = try log.pinIfPresent(number) else { break }
            defer { log.unpin(pin) }
            try log.scan(pin, from: first, before: end) { (item) throws(StorageError) in
                guard case .frame(let frame, let location) = item,
                    case .setDeadline(let note?) = frame.change(in: engine.kind, at: location),
                    groups.contains(note.group)
                else { return }
                changes[note.group, default: []].append(
                    DeadlineChange(
                        key: String(decoding: frame.key, as: UTF8.self), new: frame.deadline(.deadline),
                        old: frame.deadline(.previousDeadline), sequence: frame.sequence))
            }
        }
        return changes
    }

    private func undo(
        _ section: borrowing ArchiveSection, _ part: ArraySlice<DeadlineChange>, of line: UndoView,
        _ group: UInt32, _ missed: inout [DeadlineChange], _ outcome: inout UndoOutcome
    ) throws(StorageError) -> Bool {
        section.drainTouches()
        guard line.group == group, UndoWindow(engine).isReversible(line) else { return false }
        for change in part {
            let isUndone = try undo(section, change, &outcome)
            if !isUndone { missed.append(change) }
        }
        return true
    }

    /// Completes the undo. Requires that no entry to be restored is still tombstoned.
    private func finish(
        _ section: borrowing ArchiveSection,
        _ changes: [DeadlineChange], of line: UndoView, _ outcome: inout UndoOutcome
    ) throws(StorageError) {
        section.drainTouches()
        for change in changes {
            let isUndone = try undo(section, change, &outcome)
            if !isUndone { outcome.skip(change.key) }
        }
        // Entries that didn't fit are counted as displaced.
        outcome.skippedCount -= min(outcome.skippedCount, outcome.displaced)
        if let limit = engine.diskLimit { outcome.evicted += try section.evict(downTo: limit) }
        section.dropTombstones(of: section.index.changing(line))
        try restore(section, section.index.changing(line), isAll: true)
        crashPoint(.restoreCommitted)
        section.reclaim(forAppended: 0)
    }

    /// `false` if the entry isn't as the action left it. An entry that already has its former expiry time counts as restored.
    private func undo(
        _ section: borrowing ArchiveSection, _ change: DeadlineChange, _ outcome: inout UndoOutcome
    ) throws(StorageError) -> Bool {
        let bytes: UInt64? = try withBytes(of: change.key) { (key) throws(StorageError) in
            guard let entry = try engine.find(key, tag: engine.hash.tag(key)) else { return nil }
            // The expiry time alone is not enough: an entry recorded later may have the same one.
            let isThere = entry.frame.sequence < change.sequence
            let (deadline, bytes) = (entry.slot.deadline, UInt64(entry.slot.valueBytes))
            engine.unpin(entry)
            guard isThere, deadline == change.new || deadline == change.old else { return nil }
            if deadline != change.old {
                guard
                    try section.changeDeadline(
                        of: key, to: change.old, ifSequence: nil, cause: .undo, evenExpired: true) == .deleted
                else { return nil }
            }
            return bytes
        }
        guard let bytes else { return false }
        if change.old != Deadline.never, change.old <= Clock.boot() {
            outcome.expired += 1
            return true
        }
        outcome.entries += 1
        outcome.bytes += bytes
        return true
    }

    /// Recounts changes of expiry times: a crashed process may have counted a frame that is replayed. Requires valid buckets.
    func recountDeadlineActions(_ section: borrowing ArchiveSection) throws(StorageError) {
        let lines = section.index.undo.lines.filter {
            $0.isOfDeadlines && UndoWindow(engine).isReversible($0)
        }
        let changes = try deadlineChanges(of: lines)
        for line in lines {
            line.setRemoved(entries: 0, bytes: 0)
            for change in changes[line.group] ?? [] {
                let bytes: UInt64 = try withBytes(of: change.key) { (key) throws(StorageError) in
                    guard let entry = try engine.find(key, tag: engine.hash.tag(key)) else { return 0 }
                    defer { engine.unpin(entry) }
                    return UInt64(entry.slot.valueBytes)
                }
                line.addRemoved(bytes: bytes)
            }
        }
    }
}
