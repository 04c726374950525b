import CPlatform

/// The reversible actions of the last minutes, and the list of entries that they removed (S12).
///
/// Guarded by the archive's lock for writing; a line is read by anyone who shows it. Layout: OnDiskFormat,
/// "Undo".
struct UndoLine {
    private let base: UnsafeMutableRawPointer

    init(_ base: UnsafeMutableRawPointer) { self.base = base }

    enum State: UInt32 {
        case free = 0
        case reversible = 1
        case undone = 2
    }

    /// Number of the action; 0: the line is free.
    var group: UInt32 {
        get { cp_load32(base) }
        nonmutating set { cp_store32(base, newValue) }
    }
    var state: State {
        get { State(rawValue: cp_relaxed32(base + 4)) ?? .free }
        nonmutating set { cp_relaxed_store32(base + 4, newValue.rawValue) }
    }
    /// When the action began, microseconds since 1970.
    var time: Int64 {
        get { Int64(bitPattern: cp_relaxed64(base + 8)) }
        nonmutating set { cp_relaxed_store64(base + 8, UInt64(bitPattern: newValue)) }
    }
    /// When its grace is over, on the boot clock.
    var end: Int64 {
        get { Int64(bitPattern: cp_relaxed64(base + 16)) }
        nonmutating set { cp_relaxed_store64(base + 16, UInt64(bitPattern: newValue)) }
    }
    /// How many bytes the archive has ever appended when its grace is over.
    var endBytes: UInt64 {
        get { cp_relaxed64(base + 24) }
        nonmutating set { cp_relaxed_store64(base + 24, newValue) }
    }
    var entries: UInt64 {
        get { cp_relaxed64(base + 32) }
        nonmutating set { cp_relaxed_store64(base + 32, newValue) }
    }
    var bytes: UInt64 {
        get { cp_relaxed64(base + 40) }
        nonmutating set { cp_relaxed_store64(base + 40, newValue) }
    }
    var pid: UInt32 {
        get { cp_relaxed32(base + 48) }
        nonmutating set { cp_relaxed_store32(base + 48, newValue) }
    }
    /// A ``ReversibleAction/Kind``.
    var kind: UInt32 {
        get { cp_relaxed32(base + 52) }
        nonmutating set { cp_relaxed_store32(base + 52, newValue) }
    }
    /// The first frame of the action.
    var first: Location {
        get { Location(raw: cp_relaxed64(base + 56)) }
        nonmutating set { cp_relaxed_store64(base + 56, newValue.raw) }
    }
}

extension IndexMemory {
    private func undoAddress(_ place: Int) -> UnsafeMutableRawPointer {
        base + IndexLayout.undoTableOffset + min(max(place, 0), IndexLayout.undoLines - 1)
            * IndexLayout.undoLineBytes
    }

    /// The line of an action, if the table still has it.
    func undoLine(of group: UInt32) -> UndoLine? {
        guard group != 0 else { return nil }
        let line = UndoLine(undoAddress(Int(group) % IndexLayout.undoLines))
        return line.group == group ? line : nil
    }

    /// The line where an action of that number belongs, whatever is there now.
    func undoLinePlace(of group: UInt32) -> UndoLine {
        UndoLine(undoAddress(Int(group) % IndexLayout.undoLines))
    }

    /// Latest first.
    var undoLines: [UndoLine] {
        (0..<IndexLayout.undoLines).map { UndoLine(undoAddress($0)) }.filter { $0.group != 0 }
            .sorted { $0.group > $1.group }
    }

    // MARK: The list of entries that are set aside, latest first; each needs the lock

    var setAsideNewest: UInt32 { word32(IndexLayout.setAsideNewestOffset) }
    var setAsideOldest: UInt32 { word32(IndexLayout.setAsideOldestOffset) }
    var setAsideCount: UInt32 { word32(IndexLayout.setAsideCountOffset) }

    func linkAsNewestSetAside(_ number: UInt32, _ slot: EntrySlot) {
        let first = setAsideNewest
        slot.newer = 0
        slot.older = first
        if let previous = entry(first) {
            previous.newer = number
        } else {
            set32(IndexLayout.setAsideOldestOffset, number)
        }
        set32(IndexLayout.setAsideNewestOffset, number)
        set32(IndexLayout.setAsideCountOffset, setAsideCount &+ 1)
    }

    func unlinkFromSetAside(_ slot: EntrySlot) {
        let newer = slot.newer
        let older = slot.older
        if let neighbour = entry(newer) {
            neighbour.older = older
        } else {
            set32(IndexLayout.setAsideNewestOffset, older)
        }
        if let neighbour = entry(older) {
            neighbour.newer = newer
        } else {
            set32(IndexLayout.setAsideOldestOffset, newer)
        }
        set32(IndexLayout.setAsideCountOffset, setAsideCount &- min(setAsideCount, 1))
    }

    /// Numbers of the entries that are set aside, oldest first.
    func setAsideNumbers() -> [UInt32] {
        var numbers: [UInt32] = []
        var number = setAsideOldest
        while let slot = entry(number), slot.isSetAside, numbers.count < Int(min(setAsideCount, usedEntries))
        {
            numbers.append(number)
            number = slot.newer
        }
        return numbers
    }
}
