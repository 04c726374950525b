import BrowserCore
import StorageEngine

/// Events, messages, and what a person confirmed.
extension MockSource {
    func events(archive: String, store: String, from: UInt64?) throws(SourceError) -> EventPage {
        try check()
        return with { state in
            state.eventCalls += 1
            let all = state.events[archive] ?? []
            let oldest = state.overwritten[archive] ?? 0
            let wanted = Int(from ?? UInt64(oldest))
            return EventPage(
                archive: archive, events: Array(all[max(wanted, oldest)...]),
                lost: UInt64(from == nil ? 0 : max(0, oldest - wanted)), next: UInt64(all.count))
        }
    }

    func biography(of key: String, archive: String, store: String) throws(SourceError) -> Biography {
        try check()
        return with { state in
            let events = state.events[archive] ?? []
            return Biography(
                events: events.filter { $0.key == key }, reachesBackTo: events.first?.time, isCutOff: true)
        }
    }

    func messages(
        count: Int, behind: Int, nextEvent: UInt64, archive: String, store: String
    ) throws(SourceError) -> [LogLine] {
        try check()
        return with { state in
            state.messageCalls += 1
            let all = state.messages[archive] ?? []
            return Array(all[max(0, all.count - 1 - behind)...].prefix(count))
        }
    }

    func reversible(archive: String, store: String) throws(SourceError) -> [Reversible] {
        try check()
        return with { $0.undoable[archive]?.map(\.action) ?? [] }
    }

    func carryOut(
        _ change: Change, on targets: [Target], archive: String, store: String, checkpoint: (Int) -> Bool
    ) throws(SourceError) -> ChangeOutcome {
        try check()
        return with { state in
            state.writeCalls += 1
            if change == .delete { state.deleteCalls += 1 }
            var outcome = ChangeOutcome()
            var undoable = Undoable(
                action: Reversible(
                    id: state.nextAction, kind: .delete, time: state.now, entries: 0, bytes: 0, pid: 77,
                    isOwn: true, end: state.now.adding(seconds: 600),
                    bytesLeft: 100_000))
            for target in targets {
                guard let index = state.archives[archive]?.firstIndex(where: { $0.entry.key == target.key }),
                    let record = state.archives[archive]?[index]
                else {
                    outcome.absent.append(target.key)
                    continue
                }
                guard record.entry.sequence == target.sequence else {
                    outcome.changed.append(target.key)
                    continue
                }
                switch change {
                case .expireIdle(let before) where record.entry.accessed >= before:
                    outcome.used.append(target.key)
                    continue
                case .delete, .expireNow, .expireIdle:
                    undoable.action.kind = change == .delete ? .delete : .expire
                    undoable.removed.append(record)
                    state.archives[archive]?.remove(at: index)
                case .lifetime(nil) where record.entry.expires == nil:
                    outcome.unchanged += 1
                    continue
                case .lifetime(let seconds):
                    undoable.action.kind = .lifetime
                    undoable.deadlines[target.key] = .some(record.entry.expires)
                    state.archives[archive]?[index].entry.expires = seconds.map {
                        state.now.adding(seconds: $0)
                    }
                }
                outcome.entries += 1
                outcome.bytes += UInt64(target.size)
            }
            if outcome.entries > 0 {
                undoable.action.entries = outcome.entries
                undoable.action.bytes = outcome.bytes
                state.undoable[archive, default: []].insert(undoable, at: 0)
                state.nextAction += 1
                outcome.isReversible = true
            }
            outcome.longestCall = 0.0004
            return outcome
        }
    }

    func undo(
        _ id: UInt32, archive: String, store: String, checkpoint: (Double) -> Bool
    ) throws(SourceError) -> UndoReport? {
        try check()
        guard checkpoint(0.5) else {
            return UndoReport(entries: 1, bytes: 190, longestCall: 0.0002, isComplete: false)
        }
        return with { state in
            state.writeCalls += 1
            guard let place = state.undoable[archive]?.firstIndex(where: { $0.action.id == id }),
                let undoable = state.undoable[archive]?.remove(at: place)
            else { return nil }
            var report = UndoReport(entries: 0, bytes: 0, longestCall: 0.0002)
            for record in undoable.removed {
                if state.archives[archive]?.contains(where: { $0.entry.key == record.entry.key }) == true {
                    report.skipped.append(record.entry.key)
                    report.skippedCount += 1
                } else {
                    state.archives[archive]?.append(record)
                    report.entries += 1
                    report.bytes += UInt64(record.entry.size)
                }
            }
            state.archives[archive]?.sort { $0.entry.accessed > $1.entry.accessed }
            for (key, expires) in undoable.deadlines {
                guard let index = state.archives[archive]?.firstIndex(where: { $0.entry.key == key }) else {
                    continue
                }
                state.archives[archive]?[index].entry.expires = expires
                report.entries += 1
            }
            return report
        }
    }

    func clearLog(archive: String, store: String) throws(SourceError) -> ChangeOutcome {
        try check()
        return with { state in
            state.writeCalls += 1
            var outcome = ChangeOutcome()
            outcome.entries = state.messages[archive]?.count ?? 0
            outcome.bytes = state.messages[archive]?.reduce(0) { $0 + UInt64($1.size) } ?? 0
            state.messages[archive] = []
            state.summaries[archive]?.entries = 0
            return outcome
        }
    }

    // MARK: What another process does

    func happen(
        _ kind: EventKind, _ key: String?, archive: String, cause: EventCause = .request, bytes: Int = 0,
        pid: Int32 = 4121, at time: Moment
    ) {
        with { state in
            state.events[archive, default: []].append(
                StoreEvent(
                    archive: archive, time: time, kind: kind, cause: cause, key: key, bytes: bytes, pid: pid))
        }
    }

    /// Appends a message to a log, as the next one.
    func append(_ text: String, archive: String, at time: Moment) {
        with { state in
            let number = (state.messages[archive]?.last?.sequence ?? 0) + 1
            state.messages[archive, default: []].append(
                LogLine(sequence: number, time: time, size: text.utf8.count, text: text))
            state.events[archive, default: []].append(
                StoreEvent(archive: archive, time: time, kind: .append, key: nil, bytes: text.utf8.count))
        }
    }
}
