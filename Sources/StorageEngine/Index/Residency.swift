import CPlatform

/// Which processes hold an entry's object in memory: a word for each entry, a bit for each line of the process table. A
/// view of the mapped index, valid as long as that is. Layout: OnDiskFormat, "Residency".
///
/// Words are changed with atomic instructions by anyone and guarded by nothing: they are for people to see, and whether
/// an object that a process holds is still the archive's is asked of the entry itself (S9). One thing depends on them:
/// an entry that is only in memory belongs to the process whose bit it has, and has no other (S11). The bit of such an
/// entry is set under the archive's lock, before the entry is committed.
struct Residency<Right> {
    private let index: MappedIndex<Right>

    @inline(__always)
    fileprivate init(_ index: MappedIndex<Right>) { self.index = index }

    /// The one door to the words; `nil` past the capacity.
    @inline(__always)
    private func word(_ number: UInt32) -> UnsafeMutableRawPointer? { index.memory.residencyAddress(number) }

    /// Whether any process has ever held an object. Until then all words are 0.
    @inline(__always) var isUsed: Bool { index.isResidencyUsed }

    /// The lines whose processes hold the entry's object; 0 past the capacity.
    subscript(number: UInt32) -> UInt64 { word(number).map { cp_relaxed64($0) } ?? 0 }

    func isMarked(_ number: UInt32, line: Int) -> Bool { self[number] & 1 << UInt64(line & 63) != 0 }

    func mark(_ number: UInt32, line: Int) {
        // Not where no entry is any more: the place may be a hole by now, and writing there would take a block that
        // nobody has reserved (F4).
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
    /// For an entry whose value is no longer the one that anybody holds.
    @inline(__always)
    func forget(_ number: UInt32) {
        if isUsed, let word = word(number) { cp_relaxed_store64(word, 0) }
    }

    /// For an entry that gets another number; the word of the old one is forgotten when that is free.
    func copy(from old: UInt32, to new: UInt32) {
        guard let old = word(old), let new = word(new) else { return }
        cp_relaxed_store64(new, cp_relaxed64(old))
    }
}

extension MappedIndex {
    @inline(__always) var residency: Residency<Right> { Residency(self) }
}
