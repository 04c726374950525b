import CPlatform

/// The processes that hold an entry's object in memory: a word for each entry, a bit for each slot of the process table
/// (OnDiskFormat, "Residency"). A view of the mapped index. Words change atomically, without the lock. They are informative, as
/// the entry decides whether an object is current (S9), except for memory-only entries, which belong to the process whose bit is
/// set (S11), under the archive's lock, before the entry is committed.
struct Residency<Right> {
    private let index: MappedIndex<Right>

    @inline(__always) fileprivate init(_ index: MappedIndex<Right>) { self.index = index }

    @inline(__always)
    private func word(_ number: UInt32) -> UnsafeMutableRawPointer? { index.memory.residencyAddress(number) }

    /// Whether any process has ever held an object. Until then all words are 0.
    @inline(__always) var isUsed: Bool { index.isResidencyUsed }

    subscript(number: UInt32) -> UInt64 { word(number).map { cp_relaxed64($0) } ?? 0 }

    func isMarked(_ number: UInt32, line: Int) -> Bool { self[number] & 1 << UInt64(line & 63) != 0 }

    func mark(_ number: UInt32, line: Int) {
        // A removed entry gets no mark: writing to a hole in the file would need a block that was not reserved (F4).
        guard let word = word(number), index.entry(number)?.location != Location.none else { return }
        if !isUsed { index.isResidencyUsed = true }
        cp_or64(word, 1 << UInt64(line & 63))
    }

    func unmark(_ number: UInt32, line: Int) {
        let bit: UInt64 = 1 << UInt64(line & 63)
        if let word = word(number), cp_relaxed64(word) & bit != 0 { cp_and64(word, ~bit) }
    }
}

extension Residency where Right == Changing {
    /// Called when an entry's value is no longer the one that processes hold.
    @inline(__always) func forget(_ number: UInt32) {
        if isUsed, let word = word(number) { cp_relaxed_store64(word, 0) }
    }

    /// Called when an entry is renumbered; the caller clears the old number's word.
    func copy(from old: UInt32, to new: UInt32) {
        guard let old = word(old), let new = word(new) else { return }
        cp_relaxed_store64(new, cp_relaxed64(old))
    }
}

extension MappedIndex {
    @inline(__always) var residency: Residency<Right> { Residency(self) }
}
