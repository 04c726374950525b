import CPlatform

/// By which action an entry was set aside: one byte an entry, beside the chunk's residency. Layout: OnDiskFormat,
/// "Marks of undo".
struct EntryMark: Equatable {
    private(set) var raw: UInt8

    init(raw: UInt8) { self.raw = raw }
    init(place: Int) { raw = EntryMark.set | UInt8(place & EntryMark.placeBits) }

    static let none = EntryMark(raw: 0)

    var isSet: Bool { raw & EntryMark.set != 0 }
    /// The action's line in the table.
    var place: Int { Int(raw) & EntryMark.placeBits }
    /// Whether its key has been recorded anew since: then it stays out for good, also when that newer entry is gone.
    var isSuperseded: Bool {
        get { raw & EntryMark.superseded != 0 }
        set { raw = newValue ? raw | EntryMark.superseded : raw & ~EntryMark.superseded }
    }

    private static let set: UInt8 = 0x80
    private static let superseded: UInt8 = 0x40
    private static let placeBits = 0x3f
}

/// Which entries are set aside (S12), and by which action. What is set aside stays in its bucket and at its place in the
/// order, and is hidden: its line has a flag, its cell the bit that sends look-ups to the line, and its mark names the
/// action, whose state decides. So one word brings a whole action back for everybody at once; flags and marks are cleared
/// in slices afterwards, or by whoever changes such an entry first (``settle(_:_:)``). A view of the mapped index, valid as
/// long as that is.
///
/// Invariants: flag and mark go together, but for the instant between the two stores, the mark being set before the flag
/// and cleared after it (F5); at most one entry of a key is neither superseded nor hidden behind a visible one; sums of
/// ``UndoLine`` and the header are those of the marks. Changed by whoever has a section, read by anyone: eight marks are
/// one atomic word.
struct EntryMarks<Right> {
    let index: MappedIndex<Right>

    @inline(__always)
    fileprivate init(_ index: MappedIndex<Right>) { self.index = index }

    /// The mark of an entry; none past the capacity.
    subscript(number: UInt32) -> EntryMark {
        guard let address = index.memory.markAddress(number) else { return .none }
        let shift = UInt64(UInt(bitPattern: address) & 7) * 8
        return EntryMark(raw: UInt8(truncatingIfNeeded: cp_relaxed64(wordOfMark(address)) >> shift))
    }

    fileprivate func wordOfMark(_ address: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        address - Int(UInt(bitPattern: address) & 7)
    }

    /// Whether look-ups must not find the entry although its bucket has it.
    @inline(__always)
    func isHidden(_ number: UInt32, _ slot: EntrySlot<Right>) -> Bool {
        slot.isSetAside && isHiddenSlowly(number, slot)
    }

    /// Whether look-ups find the entry.
    @inline(__always)
    func isVisible(_ number: UInt32, _ slot: EntrySlot<Right>) -> Bool {
        slot.read { (_, _) in !isHidden(number, slot) } ?? false
    }

    @inline(never)
    private func isHiddenSlowly(_ number: UInt32, _ slot: EntrySlot<Right>) -> Bool {
        let mark = self[number]
        if mark.isSet, !mark.isSuperseded, index.undo[mark.place].isBack { return false }
        // Settled between two looks: then its flag is gone.
        return slot.isSetAside
    }

    /// The next entry above `number` with a mark that names one of these lines (a bit each), among the `most` numbers
    /// that follow; and up to where was looked. Costs a load for eight entries.
    func nextMarked(above number: UInt32, lines: UInt64, most: UInt32) -> (found: UInt32?, seen: UInt32) {
        let end = UInt32(min(UInt64(index.usedEntries), UInt64(number) + UInt64(most)))
        var next = number
        while next < end {
            guard let address = index.memory.markAddress(next + 1) else { break }
            if next & 7 == 0, cp_relaxed64(address) == 0 {
                next += 8
                continue
            }
            next += 1
            let mark = self[next]
            if mark.isSet, lines & 1 << UInt64(mark.place) != 0 { return (next, next) }
        }
        return (nil, min(next, end))
    }

    /// Every entry that is set aside by that line; for few, or where nobody waits.
    func marked<Line>(by line: UndoLine<Line>) -> [UInt32] {
        var numbers: [UInt32] = []
        var next: UInt32 = 0
        while let found = nextMarked(above: next, lines: 1 << UInt64(line.place), most: .max).found {
            numbers.append(found)
            next = found
        }
        return numbers
    }
}

extension EntryMarks where Right == Changing {
    func set(_ number: UInt32, _ mark: EntryMark) {
        guard let address = index.memory.markAddress(number) else { return }
        let shift = UInt64(UInt(bitPattern: address) & 7) * 8
        let word = wordOfMark(address)
        cp_store64(word, cp_relaxed64(word) & ~(0xff << shift) | UInt64(mark.raw) << shift)
    }

    /// Whether look-ups find the entry, for who is to change it: settles it first.
    @inline(__always)
    func isLive(_ number: UInt32, _ slot: ChangingSlot) -> Bool {
        slot.isLive || slot.location != .none && unmarkIfBack(number, slot)
    }

    // MARK: Setting aside

    /// Flags an entry as set aside by the action of that line. Sums of the archive are the caller's.
    func setAside(_ number: UInt32, _ slot: ChangingSlot, by line: ChangingUndoLine) {
        let bytes = slot.frameBytes
        line.marked += 1
        line.frameBytes &+= UInt64(bytes)
        line.pendingEntries += 1
        line.pendingBytes &+= UInt64(slot.valueBytes)
        index.setAsideBytes += Int(bytes)
        index.setAsideCount &+= 1
        set(number, EntryMark(place: line.place))
        crashPoint(.setAsideMarked)
        slot.markSetAside(frameBytes: bytes)
        // Its cell sends look-ups to the line from now on.
        index.table.setLocation(number, slot, slot.location)
    }

    /// The entry's key has been recorded anew.
    func supersede(_ number: UInt32, _ slot: ChangingSlot) {
        var mark = self[number]
        guard mark.isSet, !mark.isSuperseded else { return }
        mark.isSuperseded = true
        set(number, mark)
        let line = index.undo[mark.place]
        line.pendingEntries -= min(line.pendingEntries, 1)
        line.pendingBytes -= min(line.pendingBytes, UInt64(slot.valueBytes))
    }

    /// Takes that back.
    func readmit(_ number: UInt32, _ slot: ChangingSlot) {
        var mark = self[number]
        guard mark.isSet, mark.isSuperseded else { return }
        mark.isSuperseded = false
        set(number, mark)
        let line = index.undo[mark.place]
        line.pendingEntries += 1
        line.pendingBytes &+= UInt64(slot.valueBytes)
    }

    /// Makes an entry whose action was undone one like all others; `false` if it is still set aside.
    @discardableResult
    func unmarkIfBack(_ number: UInt32, _ slot: ChangingSlot) -> Bool {
        let mark = self[number]
        guard slot.isSetAside, mark.isSet, !mark.isSuperseded else { return false }
        let line = index.undo[mark.place]
        guard line.isBack else { return false }
        if slot.deadline != Deadline.never { index.deadlines.expect(slot.deadline, of: number) }
        let bytes = slot.frameBytes
        // Takes the flag away.
        slot.frameBytes = bytes
        crashPoint(.restoreSettled)
        set(number, .none)
        index.table.setLocation(number, slot, slot.location)
        countOut(line, frameBytes: bytes)
        guard index.state != .building else { return true }
        index.note(
            .restore, .undo, tag: slot.tag, bytes: Int(slot.valueBytes), location: slot.location,
            pid: Int32(bitPattern: line.undoer), time: line.undone)
        return true
    }

    /// Takes the mark of an entry away that is given up; its flag goes with its line.
    func unmark(_ number: UInt32, _ slot: ChangingSlot) {
        let mark = self[number]
        guard mark.isSet else { return }
        let line = index.undo[mark.place]
        if !mark.isSuperseded, !line.isBack {
            line.pendingEntries -= min(line.pendingEntries, 1)
            line.pendingBytes -= min(line.pendingBytes, UInt64(slot.valueBytes))
        }
        set(number, .none)
        countOut(line, frameBytes: slot.frameBytes)
    }

    private func countOut(_ line: ChangingUndoLine, frameBytes: UInt32) {
        line.marked -= min(line.marked, 1)
        line.frameBytes -= min(line.frameBytes, UInt64(frameBytes))
        index.setAsideBytes -= min(index.setAsideBytes, Int(frameBytes))
        index.setAsideCount &-= min(index.setAsideCount, 1)
        if index.setAsideCount == 0 { index.leastVisible = 0 }
    }

    /// Its frame was copied, and is as long as this now.
    func resizeSetAside(_ number: UInt32, _ slot: ChangingSlot, to bytes: UInt32) {
        let before = UInt64(slot.frameBytes)
        slot.markSetAside(frameBytes: bytes)
        let line = index.undo[self[number].place]
        line.frameBytes = line.frameBytes &- min(line.frameBytes, before) &+ UInt64(bytes)
        index.setAsideBytes += Int(bytes) - min(index.setAsideBytes, Int(before))
    }
}

extension MappedIndex {
    @inline(__always) var marks: EntryMarks<Right> { EntryMarks(self) }
}
