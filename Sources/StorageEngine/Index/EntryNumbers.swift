/// The numbers of entries: which are in use, which are free, and which come next. A view of the mapped index for whoever
/// has a section.
///
/// Invariants: numbers from 1 to ``MappedIndex/entryHighWater`` are in use, and their lines name a frame, or are in the free
/// list, which leads from ``MappedIndex/freeHead`` along the lines; nothing above has ever been used. A damaged list gives
/// away no entry that is in use, and no number that the file has no room for (F4).
struct EntryNumbers {
    private let index: ChangingIndex

    @inline(__always)
    fileprivate init(_ index: ChangingIndex) { self.index = index }

    /// Makes sure that the next ``allocate()`` finds room in the file.
    @inline(__always)
    func reserve() throws(StorageError) {
        let free = index.freeHead
        if free != 0 {
            if let slot = index.entry(free), slot.location == .none { return }
            // An entry in use must not be given away. The free ones are lost until the index is built anew.
            index.declareDamaged()
            index.freeHead = 0
        }
        let used = index.entryHighWater
        let capacity = index.entryCapacity
        if used >= capacity {
            // More in use than there is room for: what growing by such a number costs has no bound.
            guard used == capacity else { throw index.contradiction(at: IndexLayout.entryHighWaterOffset) }
            try index.grow(toHold: Int(used) + 1 + Int(used) / 16)
        }
        // The file is shorter than the capacity says: an entry that isn't there would be acknowledged and lost.
        guard index.entry(used &+ 1) != nil else {
            throw index.contradiction(at: IndexLayout.entryCapacityOffset)
        }
    }

    /// Takes an entry number after ``reserve()``, and splits a bucket when there are many entries.
    @inline(__always)
    func allocate() -> UInt32 {
        let free = index.freeHead
        if free != 0, let slot = index.entry(free) {
            index.freeHead = slot.chainNext
            return free
        }
        let next = index.entryHighWater &+ 1
        index.entryHighWater = next
        let count = Int(index.bucketCount)
        if Int(next) * IndexLayout.chunkBuckets > count * IndexLayout.chunkEntries { index.table.splitNext() }
        return next
    }

    @inline(__always)
    func free(_ number: UInt32, _ slot: ChangingSlot) {
        slot.clear()
        let next = index.freeHead
        slot.chainNext = next
        index.entry(next)?.newer = number
        index.freeHead = number
    }

    /// Takes an entry that is free out of the list.
    func unlink(_ number: UInt32, _ slot: ChangingSlot) {
        guard index.freeHead != number else { return index.freeHead = slot.chainNext }
        // What it says was before it in the list is so only while that one is free itself.
        guard let before = index.entry(slot.newer), before.location == .none, before.chainNext == number
        else {
            return index.declareDamaged()
        }
        before.chainNext = slot.chainNext
        index.entry(slot.chainNext)?.newer = slot.newer
    }
}

extension ChangingIndex {
    @inline(__always) var numbers: EntryNumbers { EntryNumbers(self) }
}
