/// When the next entry expires, as far as is known: never later than the earliest deadline, perhaps earlier, so
/// that nobody has to look for expired entries before. Guarded by the archive's lock.
extension IndexMemory {
    /// On the boot clock; 0: no entry has a deadline.
    var nextDeadline: Int64 { Int64(bitPattern: word64(IndexLayout.nextDeadlineOffset)) }

    /// An entry has been given this deadline.
    @inline(__always)
    func expect(_ deadline: Int64) {
        for offset in [IndexLayout.nextDeadlineOffset, IndexLayout.newDeadlineOffset] {
            let known = Int64(bitPattern: word64(offset))
            if known == Deadline.never || deadline < known { set64(offset, UInt64(bitPattern: deadline)) }
        }
    }

    /// A search of all entries begins; deadlines that are given meanwhile are remembered apart.
    func beginSweep() { set64(IndexLayout.newDeadlineOffset, 0) }

    /// It found `earliest` among the entries that stay (0: none).
    func endSweep(earliest: Int64) {
        let new = Int64(bitPattern: word64(IndexLayout.newDeadlineOffset))
        let next = earliest == Deadline.never ? new : new == Deadline.never ? earliest : min(new, earliest)
        set64(IndexLayout.nextDeadlineOffset, UInt64(bitPattern: next))
    }
}
