/// Tombstones the entries that a reversible action removes, and drops them later (S12): `EntryMarks.swift`.
extension ArchiveSection {
    /// Hides an entry from every look-up and counts it for its action. A replay does the same.
    func tombstone(_ number: UInt32, _ slot: ChangingSlot, note removal: RemovalNote, at location: Location) {
        guard index.marks.isLive(number, slot) else { return }
        engine.countHandled(entries: 1)
        countRemoval(removal, first: location, bytes: UInt64(slot.valueBytes))
        index.residency.forget(number)
        index.order.hide(number, slot)
        index.marks.tombstone(number, slot, by: index.undo.lineToBe(of: removal.group))
        index.adjust(.valueBytes, by: -Int(slot.valueBytes))
        index.adjust(.entryCount, by: -1)
        crashPoint(.tombstoneLinked)
    }

    func countRemoval(_ removal: RemovalNote, first: Location, bytes: UInt64) {
        let line = index.undo.lineToBe(of: removal.group)
        // Frames of an action after its `restore` frame are damaged or forged: they begin the action again.
        if line.group != removal.group || line.state == .undone {
            // An action can no longer be undone after 64 later actions.
            line.setEnd(0)
            dropTombstones(of: line)
            begin(line, removal, first: first)
        }
        // An entry that expires because of an action was counted when its expiry time was set.
        guard removal.kind == .deadline || !line.isOfDeadlines else { return }
        line.addRemoved(bytes: bytes)
    }

    private func begin(_ line: ChangingUndoLine, _ removal: RemovalNote, first: Location) {
        let now = Clock.read()
        let past = min(max(0, now.wall.subtractingSaturating(removal.time)), UndoWindow.microseconds)
        let appended = index.appendedBytes
        line.setGroup(0)
        line.clearSums()
        line.setState(.reversible)
        line.setEnd(now.boot.addingSaturating(UndoWindow.microseconds - past))
        // A change of expiry times keeps the whole log from its first frame on; a removal keeps only its entries' frames.
        line.setEndBytes(removal.kind == .deadline ? appended &+ UndoWindow(engine).deadlineBytes : .max)
        line.setLastAppended(appended)
        line.setRemoved(entries: 0, bytes: 0)
        // During a replay the process isn't known.
        let pid = engine.processSlot == nil ? 0 : UInt32(bitPattern: engine.pid)
        line.describe(time: removal.time, pid: pid, kind: (removal.kind ?? .delete).rawValue, first: first)
        line.setGroup(removal.group)
        if index.nextGroup <= removal.group { index.setNextGroup(removal.group &+ 1) }
    }

    /// Runs a part of an action. Its own writes don't shorten the undo window.
    func keepingUndoWindow<Result>(
        of group: UInt32, _ body: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        guard group != 0 else { return try body() }
        let before = index.appendedBytes
        let left = index.undo.line(of: group).flatMap { $0.endBytes == .max ? nil : $0.endBytes &- before }
        // The undo window stays open during `body`, although reclaiming may write more than the bytes left.
        if left != nil { index.undo.line(of: group)?.setEndBytes(.max) }
        defer {
            if let line = index.undo.line(of: group) {
                let after = index.appendedBytes
                line.setLastAppended(after)
                if let left {
                    line.setEndBytes(left &+ after)
                } else if line.endBytes != .max {
                    line.setEndBytes(line.endBytes &+ after &- before)
                }
            }
        }
        return try body()
    }

    /// An action beyond the remaining budget can be undone only until a twentieth of the limit has been written.
    func keepWithinBudget(_ group: UInt32) {
        guard let line = index.undo.line(of: group), !line.isOfDeadlines, line.endBytes == .max else {
            return
        }
        if !UndoWindow(engine).undoCost.fits(UndoWindow(engine).undoLimits) { bound(line) }
    }

    private func bound(_ line: ChangingUndoLine) {
        line.setEndBytes(line.lastAppended &+ UndoWindow(engine).exceededBytes)
    }

    /// After a replay, decides again which actions fit into the budget, oldest first.
    func applyUndoBudget() {
        let now = Clock.boot()
        let lines = index.undo.lines.filter { $0.state == .reversible && now < $0.end && !$0.isOfDeadlines }
        var used = UndoCost()
        let limits = UndoWindow(engine).undoLimits
        for line in lines.reversed() {
            let sum = used.with(line)
            if sum.fits(limits) { used = sum } else { bound(line) }
        }
    }

    /// Marks the key's tombstoned entries as overwritten before the key is stored: no undo restores them (S12).
    @inline(never) func markOverwritten(_ key: UnsafeRawBufferPointer, tag: UInt32) {
        for (number, slot) in hidden(key, tag: tag) {
            index.marks.markOverwritten(number, slot)
            crashPoint(.overwritten)
        }
    }

    /// The tombstoned entries of a key. Includes one whose frame can't be read now: not restoring it is safer.
    func hidden(_ key: UnsafeRawBufferPointer, tag: UInt32) -> [(UInt32, ChangingSlot)] {
        guard let bucket = index.table.bucket(of: tag) else { return [] }
        var found: [(UInt32, ChangingSlot)] = []
        func examine(_ number: UInt32) {
            guard let slot = index.entry(number), slot.tag == tag, index.marks.isHidden(number, slot) else {
                return
            }
            if engine.withFrame(at: slot.location, { $0.key.elementsEqual(key) }) ?? true {
                found.append((number, slot))
            }
        }
        for place in 0..<Bucket.cells where bucket.cell(place) & Bucket.look != 0 {
            examine(bucket.number(place))
        }
        var chain = index.table.chain(of: bucket)
        while chain.next() != nil { examine(chain.number) }
        return found
    }

    /// Drops at most `most` entries whose action can no longer be undone, and clears the marks of restored ones. `true` if there
    /// may be more. After a full sweep, corrects sums that count missing marks. Visits each line of the undo table.
    @discardableResult func dropTombstones(most: Int, evenReversible: Bool = false) -> Bool {
        var lines: UInt64 = 0
        for place in 0..<IndexLayout.undoLines {
            let line = index.undo[place]
            guard line.marked > 0 else { continue }
            // Ends the undo window before the first drop: otherwise, after a crash, an undo would restore only some entries.
            if evenReversible { line.setEnd(0) }
            if line.isRestored || !UndoWindow(engine).isReversible(line) { lines |= 1 << UInt64(place) }
        }
        guard lines != 0 else { return false }
        var left = most
        // Reads some hundred marks for each entry that may be handled.
        var words = most > 1 << 20 ? UInt32.max : UInt32(most) * 512
        var number = index.undoSweep
        var isSecondLap = false
        while left > 0, words > 0 {
            let (found, seen) = index.marks.nextMarked(above: number, lines: lines, most: words)
            words -= min(words, max(1, seen &- min(number, seen)))
            number = seen
            guard let found, let slot = index.entry(found) else {
                guard number >= index.usedEntries, !isSecondLap else { break }
                if index.marks.nextMarked(above: 0, lines: lines, most: .max).found == nil {
                    for place in 0..<IndexLayout.undoLines where lines & 1 << UInt64(place) != 0 {
                        index.undo[place].clearSums(ofMarks: true)
                    }
                    break
                }
                isSecondLap = true
                number = 0
                continue
            }
            if !index.marks.unmarkIfRestored(found, slot) { forget(found, slot) }
            left -= 1
        }
        index.setUndoSweep(number >= index.usedEntries ? 0 : number)
        if evenReversible { for line in index.undo.lines where line.marked == 0 { line.setGroup(0) } }
        return true
    }

    /// Drops a tombstoned entry. A mark on another entry is damage.
    func forget(_ number: UInt32, _ slot: ChangingSlot) {
        guard slot.isTombstoned else { return index.declareDamaged() }
        engine.countHandled(entries: 1)
        index.beginStructureChange()
        index.table.remove(number, slot)
        index.order.remove(number, slot)
        index.marks.unmark(number, slot)
        crashPoint(.tombstoneDropped)
        index.adjustLive(slot.location, by: -Int(slot.frameBytes))
        index.numbers.free(number, slot)
        index.endStructureChange()
    }

    /// The entries marked with a line, in a replay also former ones. `ends`: the caller restores or drops them all now.
    func marked(by line: ChangingUndoLine, ends: Bool = false) -> [UInt32] {
        let replayed: [UInt32]? = engine.replayedMarks.withLock { marks in
            guard !marks.isEmpty else { return nil }
            defer { if ends { marks[line.place] = [] } }
            return marks[line.place]
        }
        return replayed ?? (line.marked > 0 ? index.marks.marked(by: line) : [])
    }

    func dropTombstones(of line: ChangingUndoLine) {
        let numbers = marked(by: line, ends: true)
        guard line.marked > 0 else { return }
        for number in numbers {
            guard index.marks[number].isSet, index.marks[number].place == line.place,
                let slot = index.entry(number), !index.marks.unmarkIfRestored(number, slot)
            else { continue }
            forget(number, slot)
        }
    }

    /// The number for an action's next part: a new one for the first part, or if the record of the former parts was dropped or
    /// undone: with the former number, a replay would restore dropped entries.
    func continued(_ former: UInt32, after entries: Int) -> UInt32 {
        if former != 0 {
            let line = index.undo.line(of: former)
            if line.map({ $0.state != .undone && $0.end != 0 }) ?? (entries == 0) { return former }
        }
        let group = index.nextGroup
        index.setNextGroup(group == .max ? 1 : group + 1)
        return group
    }
}
