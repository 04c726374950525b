import CPlatform

/// The reversible actions of the last minutes (S12): 64 lines in mapped memory (OnDiskFormat, "The table of reversible actions").
/// Writes require the archive's lock; reads are atomic. A line that an ``EntryMark`` names stays.
struct UndoTable<Right> {
    private let index: UnsafeMutableRawPointer

    fileprivate init(_ index: MappedIndex<Right>) { self.index = index.memory.base }

    func lineToBe(of group: UInt32) -> UndoLine<Right> { self[IndexLayout.undoPlace(of: group)] }

    /// A position outside the table is clamped.
    subscript(place: Int) -> UndoLine<Right> {
        let place = min(max(place, 0), IndexLayout.undoLines - 1)
        return UndoLine(
            place: place, line: index + IndexLayout.undoTableOffset + place * IndexLayout.undoLineBytes,
            sums: index + IndexLayout.undoSumsOffset + place * IndexLayout.undoSumBytes)
    }

    func line(of group: UInt32) -> UndoLine<Right>? {
        guard group != 0 else { return nil }
        let line = lineToBe(of: group)
        return line.group == group ? line : nil
    }

    var lines: [UndoLine<Right>] {
        (0..<IndexLayout.undoLines).map { self[$0] }.filter { $0.group != 0 }.sorted { $0.group > $1.group }
    }

    var isEmpty: Bool { (0..<IndexLayout.undoLines).allSatisfy { self[$0].group == 0 } }
}

extension UndoTable where Right == Changing {
    /// Removes all actions. The caller clears the entries' marks.
    func clear() {
        for place in 0..<IndexLayout.undoLines {
            self[place].setGroup(0)
            self[place].clearSums()
        }
    }
}

extension MappedIndex {
    var undo: UndoTable<Right> { UndoTable(self) }
}

extension ChangingIndex {
    func changing(_ line: UndoView) -> ChangingUndoLine { undo[line.place] }
}

enum UndoState: UInt32 {
    case free = 0
    case reversible = 1
    case undone = 2
    /// The action's removals are undone; its changes of expiry times can still be undone.
    case returning = 3
}

/// One line of the table, guarded like ``UndoTable``.
struct UndoLine<Right> {
    let place: Int
    fileprivate let line: UnsafeMutableRawPointer
    fileprivate let sums: UnsafeMutableRawPointer

    /// Number of the action; 0 if the line is free.
    var group: UInt32 { cp_load32(line) }
    /// Storing this one word makes all the action's removals visible again.
    var state: UndoState { UndoState(rawValue: cp_load32(line + 4)) ?? .free }
    /// Whether look-ups find the entries that the action removed.
    var isRestored: Bool { state == .undone || state == .returning }
    /// When the action began, microseconds since 1970.
    var time: Int64 { signed(line + 8) }
    /// When the action can no longer be undone, in microseconds on the boot clock.
    var end: Int64 { signed(line + 16) }
    /// Value of ``MappedIndex/appendedBytes`` at which the action can no longer be undone; all ones: no limit.
    var endBytes: UInt64 { cp_relaxed64(line + 24) }
    var entries: UInt64 { cp_relaxed64(line + 32) }
    var bytes: UInt64 { cp_relaxed64(line + 40) }
    var pid: UInt32 { cp_relaxed32(line + 48) }
    var kind: UInt32 { cp_relaxed32(line + 52) }
    var first: Location { Location(raw: cp_relaxed64(line + 56)) }
    var isOfDeadlines: Bool { kind == ReversibleAction.Kind.deadline.rawValue }

    /// Entries that an undo would restore: tombstoned, not restored yet, and not overwritten.
    var pendingEntries: UInt64 { cp_relaxed64(sums) }
    var pendingBytes: UInt64 { cp_relaxed64(sums + 8) }
    /// Sum of the sizes of the frames of all entries whose marks name this line, in bytes.
    var frameBytes: UInt64 { cp_relaxed64(sums + 16) }
    var marked: UInt64 { cp_relaxed64(sums + 24) }
    /// When the action was undone, in microseconds since 1970, and by which process.
    var undone: Int64 { signed(sums + 40) }
    var undoer: UInt32 { cp_relaxed32(sums + 48) }
    /// Entries of the action that the log no longer had when the index was rebuilt. ``entries`` and ``bytes`` leave them out.
    var missing: UInt64 { cp_relaxed64(sums + 56) }

    fileprivate func signed(_ place: UnsafeMutableRawPointer) -> Int64 {
        Int64(bitPattern: cp_relaxed64(place))
    }
}

typealias UndoView = UndoLine<Reading>

typealias ChangingUndoLine = UndoLine<Changing>

extension ChangingUndoLine {
    func setGroup(_ value: UInt32) { cp_store32(line, value) }
    func setState(_ value: UndoState) { cp_store32(line + 4, value.rawValue) }
    func setEnd(_ value: Int64) { set(line + 16, value) }
    func setEndBytes(_ value: UInt64) { cp_relaxed_store64(line + 24, value) }
    func setRemoved(entries: UInt64, bytes: UInt64) { set(line + 32, entries, bytes) }
    func addRemoved(bytes: UInt64) { setRemoved(entries: entries &+ 1, bytes: self.bytes &+ bytes) }
    func clearPending() { set(sums, 0, 0) }
    func addPending(bytes: UInt64) { set(sums, pendingEntries &+ 1, pendingBytes &+ bytes) }
    func subtractPending(bytes: UInt64) {
        set(sums, pendingEntries - min(pendingEntries, 1), pendingBytes - min(pendingBytes, bytes))
    }
    func addMarked(frameBytes bytes: UInt64) { set(sums + 16, frameBytes &+ bytes, marked &+ 1) }
    func subtractMarked(frameBytes bytes: UInt64) {
        set(sums + 16, frameBytes - min(frameBytes, bytes), marked - min(marked, 1))
    }
    func resizeMarked(from before: UInt64, to bytes: UInt64) {
        cp_relaxed_store64(sums + 16, frameBytes &- min(frameBytes, before) &+ bytes)
    }
    /// Value of ``MappedIndex/appendedBytes`` after the action's latest frame.
    var lastAppended: UInt64 { cp_relaxed64(sums + 32) }
    func setLastAppended(_ value: UInt64) { cp_relaxed_store64(sums + 32, value) }
    func setMissing(_ value: UInt64) { cp_relaxed_store64(sums + 56, value) }

    func describe(time: Int64, pid: UInt32, kind: UInt32, first: Location) {
        set(line + 8, time)
        cp_relaxed_store32(line + 48, pid)
        cp_relaxed_store32(line + 52, kind)
        cp_relaxed_store64(line + 56, first.raw)
    }

    func setUndone(at time: Int64, by process: UInt32) {
        set(sums + 40, time)
        cp_relaxed_store32(sums + 48, process)
    }

    /// Clears the sums; with `ofMarks`, only those over marks, which must be zero if no mark names the line.
    func clearSums(ofMarks: Bool = false) {
        for offset in stride(from: 0, to: ofMarks ? 32 : IndexLayout.undoSumBytes, by: 8) {
            cp_relaxed_store64(sums + offset, 0)
        }
    }

    private func set(_ place: UnsafeMutableRawPointer, _ value: Int64) {
        cp_relaxed_store64(place, UInt64(bitPattern: value))
    }

    private func set(_ place: UnsafeMutableRawPointer, _ first: UInt64, _ second: UInt64) {
        cp_relaxed_store64(place, first)
        cp_relaxed_store64(place + 8, second)
    }
}
