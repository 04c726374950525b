import CPlatform

/// Reversible actions (S12). What a person deletes or expires is set aside: no look-up finds it and it counts
/// against no limit, but its line in the index and its frame in the log stay until the grace is over. So undoing
/// links lines again and copies nothing. Which frames say so: OnDiskFormat, "Undo".
extension ArchiveEngine {
    static let graceMicroseconds: Int64 = 600_000_000
    private static let leastGraceBytes: UInt64 = 64 << 10
    /// Entries that one action handles under one hold of the lock.
    private static let actionBatch = 256

    // MARK: Acting

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
                let before = index.word64(IndexLayout.appendedBytesOffset)
                defer { extendGrace(of: group, writtenSince: before) }
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
        outcome.action = index.undoLine(of: group).map(describe)
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
        var number = index.leastRecent
        while let slot = index.entry(number), numbers.count < entryCount {
            numbers.append(number)
            number = slot.newer
        }
        let before = index.word64(IndexLayout.appendedBytesOffset)
        let removal = try removeBatch(numbers, .delete, .person, group: group)
        extendGrace(of: group, writtenSince: before)
        return PlanOutcome(
            entries: removal.entries, bytes: removal.bytes, skipped: [],
            action: index.undoLine(of: group).map(describe))
    }

    private func nextGroup() -> UInt32 {
        let group = max(1, index.word32(IndexLayout.nextGroupOffset))
        index.set32(IndexLayout.nextGroupOffset, group == .max ? 1 : group + 1)
        return group
    }

    // MARK: Setting aside. Needs the lock; is also what a replay of the log does

    /// Takes an entry out of every look-up, and notes it in the line of its action.
    func setAside(_ number: UInt32, _ slot: EntrySlot, note removal: RemovalNote, at location: Location) {
        guard slot.isLive else { return }
        note(removal, first: location, bytes: UInt64(slot.valueBytes))
        index.beginStructureChange()
        index.removeFromBucket(number, slot)
        index.unlinkFromRecency(number, slot)
        index.forgetResidency(number)
        crashPoint(.setAsideUnlinked)
        adjust(IndexLayout.valueBytesOffset, by: -Int(slot.valueBytes))
        adjust(IndexLayout.entryCountOffset, by: -1)
        slot.group = removal.group
        slot.markSetAside(frameBytes: slot.frameBytes)
        index.linkAsNewestSetAside(number, slot)
        crashPoint(.setAsideLinked)
        index.endStructureChange()
    }

    /// Counts an entry into its action's line, and makes the line if it is the first.
    func note(_ removal: RemovalNote, first: Location, bytes: UInt64) {
        let line = index.undoLinePlace(of: removal.group)
        if line.group != removal.group {
            let now = Clock.read()
            let past = min(
                max(0, now.wall.subtractingSaturating(removal.time)), ArchiveEngine.graceMicroseconds)
            let room = max(ArchiveEngine.leastGraceBytes, (diskLimit ?? valueBytes) / 20)
            line.group = removal.group
            line.state = .reversible
            line.time = removal.time
            line.end = now.boot.addingSaturating(ArchiveEngine.graceMicroseconds - past)
            line.endBytes = index.word64(IndexLayout.appendedBytesOffset) &+ room
            line.entries = 0
            line.bytes = 0
            // A replay of the log does not know.
            line.pid = processSlot == nil ? 0 : UInt32(bitPattern: pid)
            line.kind = (removal.kind ?? .delete).rawValue
            line.first = first
            if index.word32(IndexLayout.nextGroupOffset) <= removal.group {
                index.set32(IndexLayout.nextGroupOffset, removal.group &+ 1)
            }
        }
        // What expires because of an action was counted when its deadline was set.
        guard removal.kind == .deadline || line.kind != ReversibleAction.Kind.deadline.rawValue else {
            return
        }
        line.entries += 1
        line.bytes &+= bytes
    }

    /// What an action itself writes doesn't shorten the time in which it can be undone.
    private func extendGrace(of group: UInt32, writtenSince before: UInt64) {
        guard let line = index.undoLine(of: group) else { return }
        line.endBytes &+= index.word64(IndexLayout.appendedBytesOffset) &- before
    }

    /// The deadlines that reversible actions have set, with their numbers: what expires by one of them is part of
    /// what the action did, unless it was recorded later.
    func deadlinesOfActions() -> [Int64: (group: UInt32, sequence: UInt64)] {
        var groups: [Int64: (group: UInt32, sequence: UInt64)] = [:]
        for line in index.undoLines
        where line.kind == ReversibleAction.Kind.deadline.rawValue && isReversible(line) {
            let (deadline, sequence) =
                withFrame(at: line.first) {
                    (FrameExtension.deadline(.deadline, of: $0)?.resolved(now: Clock.read()), $0.sequence)
                } ?? (nil, 0)
            if let deadline { groups[deadline] = (line.group, sequence) }
        }
        return groups
    }

    /// The action by which an entry expires; 0: it expires by itself.
    func action(expiring number: UInt32, among actions: [Int64: (group: UInt32, sequence: UInt64)]) -> UInt32
    {
        guard let slot = index.entry(number), let action = actions[slot.deadline],
            let sequence = withFrame(at: slot.location, { $0.sequence }), sequence < action.sequence
        else { return 0 }
        return action.group
    }

    /// Whether an action can still be undone.
    func isReversible(_ line: UndoLine) -> Bool {
        line.group != 0 && line.state == .reversible && Clock.boot() < line.end
            && index.word64(IndexLayout.appendedBytesOffset) < line.endBytes
    }

    private func describe(_ line: UndoLine) -> ReversibleAction {
        let appended = index.word64(IndexLayout.appendedBytesOffset)
        return ReversibleAction(
            id: line.group, kind: ReversibleAction.Kind(rawValue: line.kind) ?? .delete,
            time: Timestamp(microseconds: line.time), entries: Int(clamping: line.entries), bytes: line.bytes,
            pid: Int32(bitPattern: line.pid),
            end: Timestamp(microseconds: Clock.wall(atBoot: line.end)),
            bytesLeft: line.endBytes > appended ? line.endBytes - appended : 0)
    }

    /// Latest first.
    func reversibleActions() -> [ReversibleAction] {
        index.undoLines.filter(isReversible).map(describe)
    }

    // MARK: Undoing

    /// Takes back an action, the latest when none is named; `nil` when there is none that could be. What was removed
    /// comes back in one step, deadlines some at a time: then `progress` is told how much of it is done, 0 to 1, and
    /// ends it by `false`.
    func undo(_ group: UInt32?, progress: (Double) -> Bool) throws(StorageError) -> UndoOutcome? {
        // Most of it while nobody waits for the lock.
        try synchronizeBeforeRestoring()
        try acquire()
        var isHeld = true
        defer { if isHeld { release() } }
        try synchronizeBeforeRestoring()
        _ = index.takeStampAndDrain()
        let lines = index.undoLines.filter(isReversible)
        guard let line = lines.first(where: { group == nil || $0.group == group }) else { return nil }
        var outcome = UndoOutcome(
            action: describe(line), entries: 0, bytes: 0, skipped: [], skippedCount: 0, evicted: 0)
        let isDeadlines = line.kind == ReversibleAction.Kind.deadline.rawValue
        let back = try restore(line, isAll: !isDeadlines)
        crashPoint(.restoreCommitted)
        if isDeadlines {
            // What expired by it is back, and counted here with the others.
            guard try undoDeadlines(line, &outcome, &isHeld, progress) else { return outcome }
        } else {
            outcome.entries = back.entries
            outcome.bytes = back.bytes
            outcome.skipped = back.skipped
            outcome.skippedCount = back.skippedCount
        }
        if let limit = diskLimit { outcome.evicted = try evict(downTo: limit) }
        if isDeadlines { _ = try restore(line, isAll: true) }
        line.state = .undone
        reclaim(forAppended: Int(clamping: outcome.bytes))
        return outcome
    }

    /// A `restore` frame leaves out what was recorded anew before it. If a power loss kept the frame without those
    /// records, replaying it would bring back what was deleted for good.
    private func synchronizeBeforeRestoring() throws(StorageError) {
        if level != .process { try synchronize(upTo: head) }
    }

    /// Logs that what an action removed is back, and brings it back. Unless that is all that there was to undo, the
    /// action remains one that can be undone: whoever dies before the rest is done leaves it to be done again.
    private func restore(_ line: UndoLine, isAll: Bool) throws(StorageError) -> UndoOutcome {
        let note = RemovalNote(
            group: line.group, cause: .undo, kind: isAll ? nil : .deadline, time: Clock.wall())
        var back = UndoOutcome.nothing
        try withExtension(bytes: FrameExtension.partBytes(RemovalNote.bytes)) {
            (writer) throws(StorageError) in
            writer.append(note)
            try appendBare(.restore, extensionBytes: writer.written) { location, time in
                crashPoint(.restoreFrameWritten)
                bringBack(note, time: time, &back)
            }
        }
        return back
    }

    /// Puts the entries of an action back where they were, their places in the recency order included. Entries
    /// whose key was recorded anew stay set aside. Needs the lock; is also what a replay does.
    func bringBack(_ note: RemovalNote, time: Int64, _ outcome: inout UndoOutcome) {
        var back: [(recency: UInt64, number: UInt32)] = []
        // A death while an entry was being copied leaves it twice; its copy, which is younger, comes back.
        let numbers = index.setAsideNumbers().filter { index.entry($0)?.group == note.group }
            .sorted { index.entry($0)?.location ?? .none > index.entry($1)?.location ?? .none }
        for number in numbers {
            guard let slot = index.entry(number) else { continue }
            switch present(instead: slot) {
            case .none: break
            case .itself:
                forget(number, slot)
                continue
            case .another(let key):
                outcome.skip(key)
                continue
            }
            index.beginStructureChange()
            index.unlinkFromSetAside(slot)
            // Takes the mark away.
            slot.frameBytes = slot.frameBytes
            index.insertIntoBucket(number, slot)
            crashPoint(.broughtBack)
            adjust(IndexLayout.valueBytesOffset, by: Int(slot.valueBytes))
            adjust(IndexLayout.entryCountOffset, by: 1)
            index.endStructureChange()
            if slot.deadline != Deadline.never { index.expect(slot.deadline) }
            back.append((slot.recency, number))
            outcome.entries += 1
            outcome.bytes += UInt64(slot.valueBytes)
            guard !isRebuilding else { continue }
            index.note(
                .restore, .undo, tag: slot.tag, bytes: Int(slot.valueBytes), location: slot.location,
                pid: pid,
                time: time)
        }
        back.sort { $0.recency < $1.recency }
        index.linkByRecency(back)
        crashPoint(.restoreLinked)
        if note.kind != .deadline { index.undoLine(of: note.group)?.state = .undone }
    }

    private enum Present {
        case none, itself
        /// Or its own bytes can't be read.
        case another(key: String)
    }

    /// What look-ups find under the key of an entry that is set aside.
    private func present(instead slot: EntrySlot) -> Present {
        withFrame(at: slot.location) { frame -> Present in
            guard let present = try? find(frame.key, tag: slot.tag) else { return .none }
            defer { letGo(present) }
            if present.frame.sequence == frame.sequence { return .itself }
            return .another(key: String(decoding: frame.key, as: UTF8.self))
        } ?? .another(key: "?")
    }

    /// A deadline that an action gave to the entry of a key, and the one that it replaced.
    private struct DeadlineChange {
        let key: String
        let new: Int64
        let old: Int64
        /// Of the frame that says so: an entry with a later one was recorded after the action.
        let sequence: UInt64
    }

    /// Gives the entries of an action the deadlines that they had, except where they were changed or recorded anew
    /// since. Others get at the archive every few hundred entries. `false` when it was ended before its end: the
    /// action then remains one that can be undone.
    private func undoDeadlines(
        _ line: UndoLine, _ outcome: inout UndoOutcome, _ isHeld: inout Bool, _ progress: (Double) -> Bool
    ) throws(StorageError) -> Bool {
        let group = line.group
        let changes = try deadlineChanges(of: line)
        // Those that others removed or changed between two parts: perhaps they expired by this very action.
        var missed: [DeadlineChange] = []
        var done = 0
        while changes.count - done > ArchiveEngine.actionBatch {
            for change in changes[done..<done + ArchiveEngine.actionBatch] {
                if try !undo(change, &outcome) { missed.append(change) }
            }
            done += ArchiveEngine.actionBatch
            let goesOn = try giveWay(&isHeld) { progress(Double(done) / Double(changes.count)) }
            guard goesOn, line.group == group, line.state == .reversible else {
                outcome.isComplete = false
                return false
            }
        }
        if done > 0 { _ = try restore(line, isAll: false) }
        for change in missed + changes[done...] where try !undo(change, &outcome) { outcome.skip(change.key) }
        return true
    }

    /// Lets the lock go for a moment, in which `body` runs; says whether it is held again when this throws.
    private func giveWay<Result>(_ isHeld: inout Bool, _ body: () -> Result) throws(StorageError) -> Result {
        release()
        isHeld = false
        let result = body()
        try acquire()
        isHeld = true
        _ = index.takeStampAndDrain()
        return result
    }

    /// What an action did to deadlines, by the word of the log up to its head. Needs the lock.
    private func deadlineChanges(of line: UndoLine) throws(StorageError) -> [DeadlineChange] {
        var changes: [DeadlineChange] = []
        var place = line.first
        let end = head
        while place < end, place.segment >= oldestSegment {
            guard let pin = log.pin(place.segment) else { break }
            defer { log.unpin(pin) }
            var offset = place.offset
            while Location(segment: place.segment, offset: offset) < end,
                let frame = log.validFrame(pin, at: offset)
            {
                if frame.kind == .deadline, RemovalNote(of: frame)?.group == line.group {
                    let now = Clock.read()
                    let new = FrameExtension.deadline(.deadline, of: frame)?.resolved(now: now)
                    let old = FrameExtension.deadline(.previousDeadline, of: frame)?.resolved(now: now)
                    changes.append(
                        DeadlineChange(
                            key: String(decoding: frame.key, as: UTF8.self), new: new ?? Deadline.never,
                            old: old ?? Deadline.never, sequence: frame.sequence))
                }
                offset += frame.bytes
            }
            guard place.segment < end.segment else { break }
            place = Location(
                segment: try log.nextSegment(after: place.segment, upTo: end.segment),
                offset: SegmentHeader.bytes
            )
        }
        return changes
    }

    /// How much each change of deadlines was about, made anew: whoever died in one may have counted its last frame
    /// already, which is behind the head and is replayed. Needs the lock and whole buckets.
    func recountDeadlineActions() throws(StorageError) {
        for line in index.undoLines
        where line.kind == ReversibleAction.Kind.deadline.rawValue && isReversible(line) {
            line.entries = 0
            line.bytes = 0
            for change in try deadlineChanges(of: line) {
                line.entries += 1
                let bytes: UInt64 = try withBytes(of: change.key) { (key) throws(StorageError) in
                    guard let entry = try find(key, tag: UInt32(truncatingIfNeeded: hash(key))) else {
                        return 0
                    }
                    defer { letGo(entry) }
                    return UInt64(entry.slot.valueBytes)
                }
                line.bytes &+= bytes
            }
        }
    }

    /// `false` when the entry is gone, or is not as the action left it.
    private func undo(_ change: DeadlineChange, _ outcome: inout UndoOutcome) throws(StorageError) -> Bool {
        let bytes: UInt64? = try withBytes(of: change.key) { (key) throws(StorageError) in
            guard let entry = try find(key, tag: UInt32(truncatingIfNeeded: hash(key))) else { return nil }
            // The deadline alone would not tell: what was recorded anew may have the same, or none like it.
            let isSame = entry.slot.deadline == change.new && entry.frame.sequence < change.sequence
            let bytes = UInt64(entry.slot.valueBytes)
            letGo(entry)
            guard isSame,
                try changeDeadline(
                    of: key, to: change.old, ifSequence: nil, cause: .undo, evenExpired: true)
                    == .deleted
            else { return nil }
            return bytes
        }
        guard let bytes else { return false }
        outcome.entries += 1
        outcome.bytes += bytes
        return true
    }

    // MARK: The end of the grace

    /// Gives up entries whose action can no longer be undone, the oldest first, at most `most`. Needs the lock.
    func forgetSetAside(most: Int) {
        var left = most
        while left > 0, let slot = index.entry(index.setAsideOldest), slot.isSetAside {
            if let line = index.undoLine(of: slot.group), isReversible(line) { return }
            forget(index.setAsideOldest, slot)
            left -= 1
        }
    }

    func forget(_ number: UInt32, _ slot: EntrySlot) {
        index.unlinkFromSetAside(slot)
        crashPoint(.setAsideForgotten)
        adjustLive(slot.location, by: -Int(slot.frameBytes))
        index.freeEntry(number, slot)
    }

    /// Copies what is set aside in a segment that is being reclaimed; `false` when there is no room to.
    func carryOnSetAside(in segment: UInt32) -> Bool {
        guard index.setAsideCount > 0 else { return true }
        forgetSetAside(most: .max)
        for number in index.setAsideNumbers() {
            guard let slot = index.entry(number), slot.location.segment == segment else { continue }
            guard let line = index.undoLine(of: slot.group), isReversible(line) else {
                forget(number, slot)
                continue
            }
            let note = RemovalNote(
                group: slot.group, cause: .person,
                kind: ReversibleAction.Kind(rawValue: line.kind), time: line.time)
            let moved = withFrame(at: slot.location) { move($0, number, slot, kept: note) }
            if moved == nil { forget(number, slot) }
            if moved == false { return false }
        }
        return true
    }
}

extension UndoOutcome {
    fileprivate mutating func skip(_ key: String) {
        skippedCount += 1
        if skipped.count < 100 { skipped.append(key) }
    }
}
