import CPlatform

/// Reversible actions (S12). What a person deletes or expires is set aside: no look-up finds it and it counts
/// against no limit, but its line in the index and its frame in the log stay until the grace is over. So undoing
/// links lines again and copies nothing. Which frames say so: OnDiskFormat, "Undo".
extension ArchiveEngine {
    static let graceMicroseconds: Int64 = 600_000_000
    private static let leastGraceBytes: UInt64 = 64 << 10
    /// Entries that one action handles under one hold of the lock.
    static let actionBatch = 256

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

    /// Does what is part of an action: what that writes, and the reclaiming that it pays for, doesn't shorten the time
    /// in which the action can be undone.
    func withinGrace<Result>(
        of group: UInt32, _ body: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        guard group != 0 else { return try body() }
        let before = index.word64(IndexLayout.appendedBytesOffset)
        let left = index.undoLine(of: group).map { $0.endBytes &- before }
        // Nor does it end meanwhile: reclaiming may move far more than that.
        if left != nil { index.undoLine(of: group)?.endBytes = .max }
        defer {
            let after = index.word64(IndexLayout.appendedBytesOffset)
            if let line = index.undoLine(of: group) {
                line.endBytes = left.map { $0 &+ after } ?? line.endBytes &+ after &- before
            }
        }
        return try body()
    }

    /// Whether an action can still be undone. What deadlines were before is in the log alone.
    func isReversible(_ line: UndoLine) -> Bool {
        line.group != 0 && line.state == .reversible && Clock.boot() < line.end
            && index.word64(IndexLayout.appendedBytesOffset) < line.endBytes
            && (line.kind != ReversibleAction.Kind.deadline.rawValue || line.first.segment >= oldestSegment)
    }

    func describe(_ line: UndoLine) -> ReversibleAction {
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
    func restore(_ line: UndoLine, isAll: Bool) throws(StorageError) -> UndoOutcome {
        let note = RemovalNote(
            group: line.group, cause: .undo, kind: isAll ? nil : .deadline, time: Clock.wall())
        var back = UndoOutcome.nothing
        try withExtension(bytes: FrameExtension.partBytes(RemovalNote.bytes)) {
            (writer) throws(StorageError) in
            writer.append(note)
            try appendBare(.restore, extensionBytes: writer.written) { location, time in
                crashPoint(.restoreFrameWritten)
                // Only a replay fails.
                try? bringBack(note, time: time, &back)
            }
        }
        return back
    }

    /// Puts the entries of an action back where they were, their places in the recency order included. Entries
    /// whose key was recorded anew stay set aside. Needs the lock; is also what a replay does.
    func bringBack(
        _ note: RemovalNote, time: Int64, _ outcome: inout UndoOutcome
    ) throws(StorageError) {
        var back: [(recency: UInt64, number: UInt32)] = []
        // A death while an entry was being copied leaves it twice; its copy, which is younger, comes back.
        let numbers = index.setAsideNumbers().filter { index.entry($0)?.group == note.group }
            .sorted { index.entry($0)?.location ?? .none > index.entry($1)?.location ?? .none }
        for number in numbers {
            guard let slot = index.entry(number) else { continue }
            switch try present(instead: slot) {
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
    private func present(instead slot: EntrySlot) throws(StorageError) -> Present {
        do throws(StorageError) {
            guard let pin = try log.pinIfPresent(slot.location.segment) else { return .another(key: "?") }
            defer { log.unpin(pin) }
            guard let frame = try log.frameIfPresent(pin, at: slot.location.offset) else {
                return .another(key: "?")
            }
            guard let present = try find(frame.key, tag: slot.tag) else { return .none }
            defer { letGo(present) }
            if present.frame.sequence == frame.sequence { return .itself }
            return .another(key: String(decoding: frame.key, as: UTF8.self))
        } catch {
            if case .corrupted = error { return .none }
            // An index must not be made without it; whoever undoes an action hears of what was left out.
            if isRebuilding { throw error }
            return .another(key: "?")
        }
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
            do throws(StorageError) {
                let moved = try withFrameIfPresent(at: slot.location) { move($0, number, slot, kept: note) }
                if moved == nil { forget(number, slot) }
                if moved == false { return false }
            } catch {
                // What can't be read now, another operation will carry on.
                return false
            }
        }
        return true
    }
}

extension UndoOutcome {
    mutating func skip(_ key: String) {
        skippedCount += 1
        if skipped.count < 100 { skipped.append(key) }
    }
}
