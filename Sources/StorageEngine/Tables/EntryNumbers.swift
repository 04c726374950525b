/// The numbers of entries: used, free, and the next new one. A view of the mapped index, through a write lock guard.
///
/// Invariants: a number up to ``MappedIndex/entryHighWater`` is in use, and its slot names a frame, or is in the free list that
/// begins with ``MappedIndex/freeHead``. Even with a damaged list, no number in use or beyond the file's end is allocated (F4).
struct EntryNumbers {
    private let index: ChangingIndex

    @inline(__always) fileprivate init(_ index: ChangingIndex) { self.index = index }

    /// Ensures that the file has a slot for the next ``allocate()``.
    @inline(__always) func reserve() throws(StorageError) {
        let free = index.freeHead
        if free != 0 {
            if let slot = index.entry(free), slot.location == .none { return }
            // An entry in use must not be allocated. The rest of the free list is lost until the index is rebuilt.
            index.declareDamaged()
            index.setFreeHead(0)
        }
        let used = index.entryHighWater
        let capacity = index.entryCapacity
        if used >= capacity {
            // More entries in use than the capacity: growing by such a number would have no bound.
            guard used == capacity else { throw index.contradiction(at: IndexLayout.entryHighWaterOffset) }
            try index.grow(toHold: Int(used) + 1 + Int(used) / 16)
        }
        // The file is shorter than the capacity claims: an entry beyond its end would be acknowledged and lost.
        guard index.entry(used &+ 1) != nil else {
            throw index.contradiction(at: IndexLayout.entryCapacityOffset)
        }
    }

    /// Takes an entry number after ``reserve()``, and splits a bucket if there are many entries.
    @inline(__always) func allocate() -> UInt32 {
        let free = index.freeHead
        if free != 0, let slot = index.entry(free) {
            index.setFreeHead(slot.chainNext)
            return free
        }
        let next = index.entryHighWater &+ 1
        index.setEntryHighWater(next)
        let count = Int(index.bucketCount)
        if Int(next) * IndexLayout.chunkBuckets > count * IndexLayout.chunkEntries { index.table.splitNext() }
        return next
    }

    @inline(__always) func free(_ number: UInt32, _ slot: ChangingSlot) {
        slot.clear()
        let next = index.freeHead
        slot.setChainNext(next)
        index.entry(next)?.setNewer(number)
        index.setFreeHead(number)
    }

    func unlink(_ number: UInt32, _ slot: ChangingSlot) {
        guard index.freeHead != number else { return index.setFreeHead(slot.chainNext) }
        // The back link is valid only while the entry that it names is free too.
        guard let before = index.entry(slot.newer), before.location == .none, before.chainNext == number
        else {
            return index.declareDamaged()
        }
        before.setChainNext(slot.chainNext)
        index.entry(slot.chainNext)?.setNewer(slot.newer)
    }
}

extension ChangingIndex {
    @inline(__always) var numbers: EntryNumbers { EntryNumbers(self) }
}
