import BrowserCore
import StorageEngine
import StoreInspection

/// Events, messages, and confirmed changes.
extension MockSource {
    func events(in archive: ArchiveAddress, from: UInt64?) throws(SourceError) -> EventBatch {
        try check()
        return with { state in
            state.eventCalls += 1
            let all = state.events[archive.name] ?? []
            let oldest = state.overwritten[archive.name] ?? 0
            let wanted = Int(from ?? UInt64(oldest))
            return EventBatch(
                events: Array(all[max(wanted, oldest)...]),
                lost: UInt64(from == nil ? 0 : max(0, oldest - wanted)), next: UInt64(all.count))
        }
    }

    func history(of key: String, in archive: ArchiveAddress) throws(SourceError) -> KeyHistory {
        try check()
        return with { state in
            let events = (state.events[archive.name] ?? []).dropFirst(state.overwritten[archive.name] ?? 0)
            return KeyHistory(
                events: events.filter { $0.key == key }, reachesBackTo: events.first?.time, isCutOff: true)
        }
    }

    func absence(of key: String, in archive: ArchiveAddress) throws(SourceError) -> KeyAbsence? {
        with { $0.logged[key] != nil ? .removed : nil }
    }

    func logHistory(
        of key: String, in archive: ArchiveAddress, progress: (Double) -> Bool
    ) throws(SourceError) -> LogHistory {
        try check()
        return with { $0.logged[key] ?? LogHistory() }
    }

    func messages(
        count: Int, behind: Int, at moment: LogMoment, limit: Int, in archive: ArchiveAddress
    ) throws(SourceError) -> LogBatch {
        try check()
        return with { state in
            state.messageCalls += 1
            let all = state.messages[archive.name] ?? []
            let appended = Int((all.last?.sequence ?? 0) - min(moment.appended, all.last?.sequence ?? 0))
            let first = all.count - 1 - behind - appended
            let missing = min(count, max(0, -first))
            return LogBatch(
                missing: missing, lines: Array(all.dropFirst(max(0, first)).prefix(count - missing)))
        }
    }

    func reversible(in archive: ArchiveAddress) throws(SourceError) -> [ReversibleAction] {
        try check()
        return with { $0.undoable[archive.name]?.map(\.action) ?? [] }
    }

    // MARK: Editing

    func readOnlyReason(_ key: String, in archive: ArchiveAddress) -> SourceError? { nil }

    func stored(_ key: String, in archive: ArchiveAddress) throws(SourceError) -> StoredValue? {
        try check()
        return with { state in
            state.record(key, in: archive.name).map {
                StoredValue(
                    $0.bytes, encoding: $0.entry.encoding, sequence: $0.entry.sequence,
                    created: $0.entry.created)
            }
        }
    }

    func store(_ edit: StoredEdit, in archive: ArchiveAddress) throws(SourceError) -> Carried<Bool> {
        try check()
        let old = with { $0.record(edit.key, in: archive.name)?.entry }
        guard old?.sequence == edit.replacing?.sequence else { return Carried(false) }
        record(edit.key, edit.bytes, archive: archive.name, at: with { $0.now })
        with { state in
            state.writeCalls += 1
            if let old { state.archives[archive.name]?[0].entry.encoding = old.encoding }
        }
        return Carried(true, longestCall: 0.0001)
    }

    func carryOut(
        _ action: PlannedAction, on targets: [Target], in archive: ArchiveAddress,
        checkpoint: (Int) -> Bool
    ) throws(SourceError) -> Carried<PlanOutcome> {
        try check()
        return with { state in
            state.writeCalls += 1
            if action == .delete { state.deleteCalls += 1 }
            var outcome = PlanOutcome()
            var undoable = Undoable(
                action: ReversibleAction(
                    id: state.nextAction, kind: .delete, time: state.now, entries: 0, bytes: 0))
            undoable.action.pid = MockSource.ownPid
            undoable.action.bytesLeft = 100_000
            for target in targets {
                guard let index = state.index(of: target.key, in: archive.name),
                    let record = state.archives[archive.name]?[index]
                else {
                    outcome.skips.append(PlanSkip(key: target.key, reason: .absent))
                    continue
                }
                guard record.entry.sequence == target.sequence else {
                    outcome.skips.append(PlanSkip(key: target.key, reason: .changed))
                    continue
                }
                switch action {
                case .expireIdle(let before) where record.entry.accessed >= before:
                    outcome.skips.append(PlanSkip(key: target.key, reason: .used))
                    continue
                case .delete, .expireNow, .expireIdle:
                    undoable.action.kind = action == .delete ? .delete : .expire
                    undoable.removed.append(record)
                    state.archives[archive.name]?.remove(at: index)
                case .setLifetime(nil) where record.entry.expires == nil:
                    outcome.unchanged += 1
                    continue
                case .setLifetime(let lifetime):
                    undoable.action.kind = .deadline
                    undoable.deadlines[target.key] = .some(record.entry.expires)
                    state.archives[archive.name]?[index].entry.expires = lifetime.map {
                        state.now.adding(seconds: $0 / .seconds(1))
                    }
                }
                outcome.entries += 1
                outcome.bytes += UInt64(target.size)
            }
            if outcome.entries > 0 {
                undoable.action.entries = outcome.entries
                undoable.action.bytes = outcome.bytes
                state.undoable[archive.name, default: []].insert(undoable, at: 0)
                state.nextAction += 1
                outcome.action = undoable.action
            }
            return Carried(outcome, longestCall: 0.0004)
        }
    }

    func undo(
        _ action: ReversibleAction, in archive: ArchiveAddress, checkpoint: (Double) -> Bool
    ) throws(SourceError) -> Carried<UndoOutcome>? {
        try check()
        guard checkpoint(0.5) else {
            var outcome = UndoOutcome.nothing
            (outcome.entries, outcome.bytes, outcome.isComplete) = (1, 190, false)
            return Carried(outcome, longestCall: 0.0002)
        }
        return with { state in
            state.writeCalls += 1
            guard let place = state.undoable[archive.name]?.firstIndex(where: { $0.action.id == action.id }),
                let undoable = state.undoable[archive.name]?.remove(at: place)
            else { return nil }
            var report = UndoOutcome.nothing
            for record in undoable.removed {
                if state.record(record.entry.key, in: archive.name) != nil {
                    report.skipped.append(record.entry.key)
                    report.skippedCount += 1
                } else {
                    state.archives[archive.name]?.append(record)
                    report.entries += 1
                    report.bytes += UInt64(record.entry.valueBytes)
                }
            }
            state.archives[archive.name]?.sort { $0.entry.accessed > $1.entry.accessed }
            for (key, expires) in undoable.deadlines {
                guard let index = state.index(of: key, in: archive.name) else { continue }
                state.archives[archive.name]?[index].entry.expires = expires
                report.entries += 1
            }
            return Carried(report, longestCall: 0.0002)
        }
    }

    func change(
        _ archive: ArchiveAddress, _ change: ArchiveChange, seen: ArchiveSample, progress: (Double) -> Bool
    ) throws(SourceError) -> Carried<String> {
        try check()
        if case .resize(let disk, let memory, let policy) = change {
            with { state in
                state.writeCalls += 1
                state.summaries[archive.name]?.diskLimit = disk
                state.summaries[archive.name]?.memoryLimit = memory
                state.summaries[archive.name]?.evictionPolicy = policy
            }
            return Carried("\(archive.name) was resized; 0 evictions.")
        }
        guard change == .clear else { throw SourceError("This source only clears and resizes.") }
        return with { state in
            state.writeCalls += 1
            let messages = state.messages.updateValue([], forKey: archive.name) ?? []
            state.summaries[archive.name]?.entries = 0
            return Carried("Deleted \(messages.count) messages.")
        }
    }

    // MARK: Other processes

    func happen(
        _ kind: EventKind, _ key: String?, archive: String, cause: EventCause = .request, bytes: Int = 0,
        pid: Int32 = 4121, at time: Timestamp
    ) {
        with { state in
            var event = ArchiveEvent(kind, cause, key: key, bytes: bytes, pid: pid, time: time)
            event.keyHash = key.map { UInt32(truncatingIfNeeded: $0.hashValue) | 1 } ?? 0
            state.events[archive, default: []].append(event)
        }
    }

    /// Appends a message to a log, as the next one.
    func append(_ text: String, archive: String, at time: Timestamp) {
        append(bytes: Array(text.utf8), archive: archive, at: time)
    }

    func append(bytes: [UInt8], archive: String, at time: Timestamp) {
        with { state in
            let number = (state.messages[archive]?.last?.sequence ?? 0) + 1
            state.messages[archive, default: []].append(LogLine(bytes, sequence: number, time: time))
            state.events[archive, default: []].append(
                ArchiveEvent(.append, .request, key: nil, bytes: bytes.count, time: time))
        }
    }
}
