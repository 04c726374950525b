import CPlatform

/// The action that tombstoned an entry: one byte for each entry. Layout: OnDiskFormat, "Marks of undo".
struct EntryMark: Equatable {
    private(set) var raw: UInt8

    init(raw: UInt8) { self.raw = raw }
    init(place: Int) { raw = EntryMark.set | UInt8(place & EntryMark.placeBits) }

    static let none = EntryMark(raw: 0)

    var isSet: Bool { raw & EntryMark.set != 0 }
    var place: Int { Int(raw) & EntryMark.placeBits }
    /// Whether the key has been stored again since. Then the entry is never restored, even after the newer entry is removed.
    var isOverwritten: Bool {
        get { raw & EntryMark.overwritten != 0 }
        set { raw = newValue ? raw | EntryMark.overwritten : raw & ~EntryMark.overwritten }
    }

    private static let set: UInt8 = 0x80
    private static let overwritten: UInt8 = 0x40
    private static let placeBits = 0x3f
}

/// The tombstoned entries (S12), and their actions. A tombstoned entry stays in its bucket and order: its slot has a flag, its
/// cell has the bit that sends look-ups to the slot, and its mark names the action, whose state decides whether the entry is
/// hidden. So one word restores an action's entries for every process; flags and marks are cleared later
/// (``unmarkIfRestored(_:_:)``).
///
/// Invariants: flag and mark are both set or both clear, except between their two stores; the mark is set before the flag and
/// cleared after it (F5). At most one entry of a key is neither overwritten nor hidden by a visible one. The sums in ``UndoLine``
/// and in the header match the marks. Changes require a write lock guard; readers load eight marks as one atomic word.
struct EntryMarks<Right> {
    let index: MappedIndex<Right>

    @inline(__always) fileprivate init(_ index: MappedIndex<Right>) { self.index = index }

    /// The mark of an entry; none for numbers beyond the capacity.
    subscript(number: UInt32) -> EntryMark {
        guard let address = index.memory.markAddress(number) else { return .none }
        let shift = UInt64(UInt(bitPattern: address) & 7) * 8
        return EntryMark(raw: UInt8(truncatingIfNeeded: cp_relaxed64(wordOfMark(address)) >> shift))
    }

    fileprivate func wordOfMark(_ address: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        address - Int(UInt(bitPattern: address) & 7)
    }

    /// Whether look-ups must not find the entry although its bucket names it.
    @inline(__always) func isHidden(_ number: UInt32, _ slot: EntrySlot<Right>) -> Bool {
        slot.isTombstoned && isHiddenSlowly(number, slot)
    }

    @inline(__always) func isVisible(_ number: UInt32, _ slot: EntrySlot<Right>) -> Bool {
        slot.read { (_, _) in !isHidden(number, slot) } ?? false
    }

    @inline(never) private func isHiddenSlowly(_ number: UInt32, _ slot: EntrySlot<Right>) -> Bool {
        let mark = self[number]
        if mark.isSet, !mark.isOverwritten, index.undo[mark.place].isRestored { return false }
        // The flag may have been cleared between the two reads.
        return slot.isTombstoned
    }

    /// The next entry above `number`, among the following `most`, with a mark that names one of these lines (one bit each).
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

    /// Every entry that the action of this line has tombstoned. Walks over all marks: for rare calls, or without the lock.
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

    /// Whether the entry is visible, for a caller that will change it: first clears the mark of an undone action.
    @inline(__always) func isLive(_ number: UInt32, _ slot: ChangingSlot) -> Bool {
        slot.isLive || slot.location != .none && unmarkIfRestored(number, slot)
    }

    /// Marks the entry as tombstoned. The caller adjusts the archive's totals.
    func tombstone(_ number: UInt32, _ slot: ChangingSlot, by line: ChangingUndoLine) {
        let bytes = slot.frameBytes
        line.addMarked(frameBytes: UInt64(bytes))
        line.addPending(bytes: UInt64(slot.valueBytes))
        index.setTombstoneBytes(index.tombstoneBytes + Int(bytes))
        index.setTombstoneCount(index.tombstoneCount &+ 1)
        set(number, EntryMark(place: line.place))
        crashPoint(.tombstoneMarked)
        slot.markTombstoned(frameBytes: bytes)
        // From now on the cell sends look-ups to the slot.
        index.table.setLocation(number, slot, slot.location)
    }

    /// Called when the entry's key was stored again: an undo must not restore the entry. `as: false` revokes this.
    func markOverwritten(_ number: UInt32, _ slot: ChangingSlot, as isOverwritten: Bool = true) {
        var mark = self[number]
        guard mark.isSet, mark.isOverwritten != isOverwritten else { return }
        mark.isOverwritten = isOverwritten
        set(number, mark)
        let (line, bytes) = (index.undo[mark.place], UInt64(slot.valueBytes))
        if isOverwritten { line.subtractPending(bytes: bytes) } else { line.addPending(bytes: bytes) }
    }

    /// Clears flag and mark of an undone action's entry. Returns `false` if the entry is still tombstoned.
    @discardableResult func unmarkIfRestored(_ number: UInt32, _ slot: ChangingSlot) -> Bool {
        let mark = self[number]
        guard slot.isTombstoned, mark.isSet, !mark.isOverwritten else { return false }
        let line = index.undo[mark.place]
        guard line.isRestored else { return false }
        if slot.deadline != Deadline.never { index.deadlines.expect(slot.deadline, of: number) }
        let bytes = slot.frameBytes
        slot.setFrameBytes(bytes)
        crashPoint(.restoreSettled)
        set(number, .none)
        index.table.setLocation(number, slot, slot.location)
        countOut(line, frameBytes: bytes)
        guard index.state != .building else { return true }
        index.events.publish(
            index.events.claim(1), .restore, .undo, tag: slot.tag, bytes: Int(slot.valueBytes),
            location: slot.location, pid: Int32(bitPattern: line.undoer), time: line.undone)
        return true
    }

    /// Clears the mark of a dropped entry, whose flag is cleared with the slot.
    func unmark(_ number: UInt32, _ slot: ChangingSlot) {
        let mark = self[number]
        guard mark.isSet else { return }
        let line = index.undo[mark.place]
        if !mark.isOverwritten, !line.isRestored {
            line.subtractPending(bytes: UInt64(slot.valueBytes))
        }
        set(number, .none)
        countOut(line, frameBytes: slot.frameBytes)
    }

    private func countOut(_ line: ChangingUndoLine, frameBytes: UInt32) {
        line.subtractMarked(frameBytes: UInt64(frameBytes))
        index.setTombstoneBytes(index.tombstoneBytes - min(index.tombstoneBytes, Int(frameBytes)))
        index.setTombstoneCount(index.tombstoneCount &- min(index.tombstoneCount, 1))
        if index.tombstoneCount == 0 { index.setLeastVisible(0) }
    }

    func resizeTombstone(_ number: UInt32, _ slot: ChangingSlot, to bytes: UInt32) {
        let before = UInt64(slot.frameBytes)
        slot.markTombstoned(frameBytes: bytes)
        index.undo[self[number].place].resizeMarked(from: before, to: UInt64(bytes))
        index.setTombstoneBytes(index.tombstoneBytes + Int(bytes) - min(index.tombstoneBytes, Int(before)))
    }
}

extension MappedIndex {
    @inline(__always) var marks: EntryMarks<Right> { EntryMarks(self) }
}
