import CPlatform

/// Which processes hold an entry's object in memory: one bit a line of the process table. The words are
/// changed with atomic instructions by anyone, and are for people to see: whether an object that a process holds
/// is still the archive's is asked of the entry itself (S9).
extension IndexMemory {
    func residency(_ number: UInt32) -> UInt64 { residencyAddress(number).map { cp_relaxed64($0) } ?? 0 }

    func setResident(_ number: UInt32, line: Int) {
        // Not where no entry is any more: the place may be a hole by now, and writing there would take a block that
        // nobody has reserved (F4).
        guard let word = residencyAddress(number), entry(number)?.isLive == true else { return }
        if word32(IndexLayout.residencyUsedOffset) == 0 { set32(IndexLayout.residencyUsedOffset, 1) }
        cp_or64(word, 1 << UInt64(line))
    }

    func clearResident(_ number: UInt32, line: Int) {
        let bit = UInt64(1) << UInt64(line)
        if let word = residencyAddress(number), cp_relaxed64(word) & bit != 0 { cp_and64(word, ~bit) }
    }

    /// For an entry whose value is no longer the one that anybody holds.
    @inline(__always)
    func forgetResidency(_ number: UInt32) {
        if word32(IndexLayout.residencyUsedOffset) != 0, let word = residencyAddress(number) {
            cp_relaxed_store64(word, 0)
        }
    }
}
