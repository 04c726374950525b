/// The order in which entries are evicted: under LRU (S5) a doubly linked list of all entries, by their stamps (the slots' words 16 to
/// 28, the header's words 464 and 468), and under S3-FIFO ``EntryQueues``. Available only with a write lock guard.
///
/// Invariants of LRU: each entry, tombstoned or not, is in the list once; neighbors name each other; stamps fall from front to back
/// once pending touches (``TouchRing``) are applied. Only ``victims(toFree:most:sparing:)`` chooses victims. Links stay in the mapping;
/// walks end (F4).
struct EntryOrder {
    private let index: ChangingIndex

    @inline(__always) fileprivate init(_ index: ChangingIndex) { self.index = index }

    @inline(__always) var hasQueues: Bool { index.evictionPolicy == .s3fifo }
    @inline(__always) private var queues: EntryQueues { EntryQueues(index, self) }

    /// Under LRU.
    @inline(__always) var mostRecent: UInt32 { index.newest(in: .main) }
    @inline(__always) private var oldEnd: UInt32 { index.oldest(in: .main) }
    /// The oldest visible entry of the main list.
    @inline(__always) var leastRecent: UInt32 { index.tombstoneCount == 0 ? oldEnd : leastVisible() }

    /// The least recent visible entry. Resumes where the last search ended. Invariant: no less recent entry is visible.
    @inline(never) private func leastVisible() -> UInt32 {
        let known = index.leastVisible
        let found = visible(from: known == 0 ? oldEnd : known)
        index.setLeastVisible(found)
        return found
    }

    private func visible(from number: UInt32) -> UInt32 {
        var number = number
        var steps: UInt32 = 0
        while let slot = index.entry(number), slot.isTombstoned, !index.marks.unmarkIfRestored(number, slot),
            steps <= index.usedEntries
        {
            number = slot.newer
            steps += 1
        }
        return number
    }

    @inline(__always) func prefetchNeighbors(of slot: ChangingSlot) {
        if let neighbor = index.entry(slot.newer) { neighbor.prefetch() }
        if let neighbor = index.entry(slot.older) { neighbor.prefetch() }
    }

    @inline(__always) func prefetchVictim() {
        guard !hasQueues else { return queues.prefetchVictim() }
        guard let victim = index.entry(leastRecent) else { return }
        index.table.prefetch(victim.tag)
        if let next = index.entry(victim.newer) { next.prefetch() }
    }

    // MARK: Changes of entries

    @inline(__always) func add(_ number: UInt32, _ slot: ChangingSlot) {
        if hasQueues { queues.add(number, slot) } else { link(number, slot) }
    }

    /// Records an access, or a put of the entry's key, under `stamp`.
    @inline(__always) func access(_ number: UInt32, _ slot: ChangingSlot, stamp: UInt64) {
        guard !hasQueues else {
            slot.setRecency(stamp)
            return queues.access(number, slot)
        }
        unlink(number, slot)
        crashPoint(.recencyUnlinked)
        slot.setRecency(stamp)
        link(number, slot)
    }

    /// Like ``access(_:_:stamp:)`` for a slot that has the stamp. `hasQueues`: as of this hold of the lock.
    @inline(__always) func applyTouch(_ number: UInt32, _ slot: ChangingSlot, hasQueues: Bool) {
        guard !hasQueues else { return queues.access(number, slot) }
        guard mostRecent != number else { return }
        unlink(number, slot)
        link(number, slot)
    }

    @inline(__always) func resize(_ number: UInt32, by amount: Int) {
        if hasQueues { queues.resize(number, by: amount) }
    }

    /// Called before the entry is tombstoned.
    @inline(__always) func hide(_ number: UInt32, _ slot: ChangingSlot) {
        if hasQueues { queues.keepInMain(number, slot) }
    }

    @inline(__always) func remove(_ number: UInt32, _ slot: ChangingSlot) {
        if hasQueues { queues.remove(number, slot) } else { unlink(number, slot) }
    }

    func renumber(from old: UInt32, to new: UInt32, _ slot: ChangingSlot) {
        if hasQueues {
            queues.renumber(from: old, to: new, slot)
        } else {
            renumber(from: old, to: new, slot, in: .main)
        }
    }

    // MARK: All entries

    /// Clears the bytes of all entries, which are removed.
    func clear() { if hasQueues { queues.clear() } }

    /// Clears the byte of an entry that recovery frees.
    func forget(_ number: UInt32) { if hasQueues { index.setQueuePlace(of: number, .none) } }

    /// Adds an entry to the empty lists; under S3-FIFO to the queue that it was in. Called by ascending stamps.
    func restore(_ number: UInt32, _ slot: ChangingSlot) {
        if hasQueues { queues.restore(number, slot) } else { link(number, slot) }
    }

    /// Under LRU, sorts by stamps.
    func sort(entries: Int) {
        guard !hasQueues else { return }
        var isSorted = true
        var previous = UInt64.max
        var number = mostRecent
        var steps = 0
        while let slot = index.entry(number), steps <= entries {
            if slot.recency > previous {
                isSorted = false
                break
            }
            previous = slot.recency
            number = slot.older
            steps += 1
        }
        if !isSorted { relink(entries: entries) }
    }

    private func relink(entries: Int) {
        var order: [(recency: UInt64, number: UInt32)] = []
        order.reserveCapacity(min(entries, Int(index.usedEntries)))
        for number in 0..<index.usedEntries {
            guard let slot = index.entry(number + 1), slot.location != .none else { continue }
            order.append((slot.recency, number + 1))
        }
        order.sort { $0.recency < $1.recency }
        index.clear(.main)
        for item in order {
            if let slot = index.entry(item.number) { link(item.number, slot) }
        }
    }

    /// Changes the policy. To S3-FIFO, the list becomes the main queue. To LRU, all entries are sorted by their stamps.
    /// After a crash in between, recovery rebuilds the order of the former policy.
    func adopt(_ policy: EvictionPolicy) {
        guard policy != index.evictionPolicy else { return }
        switch policy {
        case .lru:
            queues.clear()
            relink(entries: index.entryCount + Int(index.tombstoneCount))
        case .s3fifo: queues.begin()
        }
        crashPoint(.policyPrepared)
        index.setEvictionPolicy(policy)
    }

    // MARK: Lists

    @inline(__always) func link(_ number: UInt32, _ slot: ChangingSlot, in list: IndexLayout.Queue = .main) {
        let first = index.newest(in: list)
        slot.setNewer(0)
        slot.setOlder(first)
        if let previous = index.entry(first) {
            previous.setNewer(number)
        } else {
            index.setOldest(in: list, number)
        }
        index.setNewest(in: list, number)
    }

    @inline(__always)
    func unlink(_ number: UInt32, _ slot: ChangingSlot, from list: IndexLayout.Queue = .main) {
        let newer = slot.newer
        let older = slot.older
        if index.leastVisible == number { index.setLeastVisible(newer) }
        if let neighbor = index.entry(newer) {
            if neighbor.older != number { index.declareDamaged() }
            neighbor.setOlder(older)
        } else {
            index.setNewest(in: list, older)
        }
        if let neighbor = index.entry(older) {
            if neighbor.newer != number { index.declareDamaged() }
            neighbor.setNewer(newer)
        } else {
            index.setOldest(in: list, newer)
        }
    }

    func renumber(from old: UInt32, to new: UInt32, _ slot: ChangingSlot, in list: IndexLayout.Queue) {
        if index.leastVisible == old { index.setLeastVisible(new) }
        if let neighbor = index.entry(slot.newer) {
            neighbor.setOlder(new)
        } else {
            index.setNewest(in: list, new)
        }
        if let neighbor = index.entry(slot.older) {
            neighbor.setNewer(new)
        } else {
            index.setOldest(in: list, new)
        }
    }

    // MARK: Victims

    /// The next victims that free at least `bytes`, or `most` of them; fewer if no more entries can be evicted. `isSpared`: entries
    /// that stay. Skips memory-only entries, because they use no disk space.
    @inline(__always) func victims(
        toFree bytes: Int, most: Int = .max, sparing isSpared: (UInt32) -> Bool = { _ in false }
    ) -> Victims {
        guard !hasQueues else { return queues.victims(toFree: bytes, most: most, sparing: isSpared) }
        var victims = Victims()
        var number = leastRecent
        var left = index.usedEntries
        while victims.bytes < bytes, victims.count < most, left > 0, let slot = index.entry(number) {
            if !isSpared(number), !slot.isMemoryOnly,
                !slot.isTombstoned || index.marks.unmarkIfRestored(number, slot)
            {
                victims.append(number, bytes: Int(slot.valueBytes))
            }
            number = slot.newer
            left -= 1
        }
        return victims
    }
}

/// Entries to evict, in this order, chosen once for an eviction. The first needs no memory, because most evictions have one victim.
struct Victims: Sequence {
    private var first: UInt32 = 0
    private var others: [UInt32] = []
    /// Sum of the sizes of their values.
    private(set) var bytes = 0

    @inline(__always) var count: Int { first == 0 ? 0 : 1 + others.count }

    @inline(__always) mutating func append(_ number: UInt32, bytes: Int) {
        if first == 0 { first = number } else { others.append(number) }
        self.bytes += bytes
    }

    struct Iterator: IteratorProtocol {
        fileprivate let victims: Victims
        private var place = 0

        @inline(__always) fileprivate init(_ victims: Victims) { self.victims = victims }

        @inline(__always) mutating func next() -> UInt32? {
            defer { place += 1 }
            if place == 0 { return victims.first == 0 ? nil : victims.first }
            return place <= victims.others.count ? victims.others[place - 1] : nil
        }
    }

    @inline(__always) func makeIterator() -> Iterator { Iterator(self) }
}

extension ChangingIndex {
    @inline(__always) var order: EntryOrder { EntryOrder(self) }
}
