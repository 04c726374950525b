import CPlatform

/// The doubly linked list of all entries from most to least recent, ordered by their stamps.
/// Every method needs the archive's lock.
extension IndexMemory {
    @inline(__always) var mostRecent: UInt32 { word32(IndexLayout.recencyFirstOffset) }
    @inline(__always) var leastRecent: UInt32 { word32(IndexLayout.recencyLastOffset) }

    /// Lets the lines come that unlinking will change.
    @inline(__always)
    func prefetchNeighbours(of slot: EntrySlot) {
        if let neighbour = entry(slot.newer) { cp_prefetch(neighbour.base) }
        if let neighbour = entry(slot.older) { cp_prefetch(neighbour.base) }
    }

    @inline(__always)
    func linkAsMostRecent(_ number: UInt32, _ slot: EntrySlot) {
        let first = mostRecent
        slot.newer = 0
        slot.older = first
        if let previous = entry(first) {
            previous.newer = number
        } else {
            set32(IndexLayout.recencyLastOffset, number)
        }
        set32(IndexLayout.recencyFirstOffset, number)
    }

    /// Links entries where their stamps put them; `items` are sorted, oldest first. Costs a walk from the old end
    /// up to the youngest of them.
    func linkByRecency(_ items: [(recency: UInt64, number: UInt32)]) {
        var newer = leastRecent
        var steps = 0
        let most = Int(usedEntries)
        for item in items {
            guard let slot = entry(item.number) else { continue }
            while let candidate = entry(newer), candidate.recency < item.recency {
                newer = candidate.newer
                steps += 1
                // A list that leads back into itself has no end.
                if steps > most { return declareDamaged() }
            }
            let older: UInt32
            if let candidate = entry(newer) {
                older = candidate.older
                candidate.older = item.number
            } else {
                older = mostRecent
                set32(IndexLayout.recencyFirstOffset, item.number)
            }
            slot.newer = newer
            slot.older = older
            if let neighbour = entry(older) {
                neighbour.newer = item.number
            } else {
                set32(IndexLayout.recencyLastOffset, item.number)
            }
        }
    }

    @inline(__always)
    func unlinkFromRecency(_ number: UInt32, _ slot: EntrySlot) {
        let newer = slot.newer
        let older = slot.older
        if let neighbour = entry(newer) {
            if neighbour.older != number { declareDamaged() }
            neighbour.older = older
        } else {
            set32(IndexLayout.recencyFirstOffset, older)
        }
        if let neighbour = entry(older) {
            if neighbour.newer != number { declareDamaged() }
            neighbour.newer = newer
        } else {
            set32(IndexLayout.recencyLastOffset, newer)
        }
    }
}
