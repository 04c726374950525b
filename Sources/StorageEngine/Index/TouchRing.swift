import CPlatform

/// Uses of entries that have happened and are not yet applied to the recency list: accesses, and puts of keys that
/// exist.
///
/// An access takes a stamp (one atomic addition, the order of all uses of the archive's entries), writes a
/// cell and is done: no lock. Whoever next holds the lock applies the cells in the order of their stamps,
/// always before choosing a victim, so eviction is exact LRU (S5). A cell whose writer died or was stopped
/// between the two steps is marked as skipped; a writer that finds its cell skipped takes a new stamp.
/// Cell layout: OnDiskFormat, "The touch ring".
extension IndexMemory {
    private static let skipped: UInt32 = .max
    /// No index honestly gets there, and sums with stamps below don't overflow.
    static let largestStamp: UInt64 = 1 << 62
    /// Uses after which it is time to apply what is pending; a power of two, well below the length of the ring.
    private static let drainEvery: UInt64 = 512
    /// Set beside the tag where the entry was stored anew.
    private static let stored: UInt64 = 1 << 32

    @inline(__always)
    private func cell(_ stamp: UInt64) -> UnsafeMutableRawPointer {
        base + IndexLayout.touchRingOffset
            + Int(stamp & UInt64(IndexLayout.touchCells - 1)) * IndexLayout.touchCellBytes
    }

    @inline(__always)
    private func lap(_ stamp: UInt64) -> UInt64 {
        (stamp / UInt64(IndexLayout.touchCells) + 1) << 32
    }

    @inline(__always) func nextStamp() -> UInt64 { cp_add64(base + IndexLayout.touchTailOffset, 1) }
    @inline(__always) var stampsTaken: UInt64 { cp_load64(base + IndexLayout.touchTailOffset) }
    @inline(__always) var stampsDrained: UInt64 { cp_load64(base + IndexLayout.touchDrainedOffset) }

    enum Touch {
        case published
        /// Published, and it is time for someone to apply what is pending.
        case drainDue
        /// No cell is free: apply what is pending, then touch again.
        case ringFull
    }

    /// Notes an access of entry `number`. Needs no lock.
    @inline(__always)
    func touch(_ number: UInt32, tag: UInt32, time: Int64) -> Touch {
        while true {
            if stampsTaken &- stampsDrained >= UInt64(IndexLayout.touchCells) { return .ringFull }
            let stamp = nextStamp()
            if stamp &- stampsDrained >= UInt64(IndexLayout.touchCells) { return .ringFull }
            let cell = cell(stamp)
            let previous = cp_relaxed64(cell)
            if previous >= lap(stamp) { continue }
            cp_relaxed_store64(cell + 8, UInt64(tag))
            cp_relaxed_store64(cell + 16, UInt64(bitPattern: time))
            if cp_cas64(cell, previous, lap(stamp) | UInt64(number)) {
                return stamp & (IndexMemory.drainEvery - 1) == IndexMemory.drainEvery - 1
                    ? .drainDue : .published
            }
        }
    }

    /// The stamp of a change that the holder of the lock makes now, after everything that came before it.
    @inline(__always)
    func takeStampAndDrain() -> UInt64 {
        let stamp = nextStamp()
        finish(stamp)
        return stamp
    }

    /// Applies all that came before `stamp`, which the holder of the lock took and uses itself.
    @inline(__always)
    func finish(_ stamp: UInt64) {
        drainTouches(before: stamp)
        set64(IndexLayout.touchDrainedOffset, stamp &+ 1)
    }

    /// Whether so little is pending that the use of `stamp` can wait as well.
    @inline(__always)
    func mayWait(_ stamp: UInt64) -> Bool { stamp &- stampsDrained < IndexMemory.drainEvery }

    /// Notes that the holder of the lock has stored entry `number` anew under `stamp`, which may wait. It is applied as an
    /// access is, many together: so a put does not wait for the lines of the entry's two neighbours in the list.
    @inline(__always)
    func noteStored(_ number: UInt32, tag: UInt32, stamp: UInt64, time: Int64) {
        let cell = cell(stamp)
        cp_relaxed_store64(cell + 8, UInt64(tag) | IndexMemory.stored)
        cp_relaxed_store64(cell + 16, UInt64(bitPattern: time))
        cp_store64(cell, lap(stamp) | UInt64(number))
    }

    /// Applies all touches with stamps below `end`. Needs the lock.
    func drainTouches(before end: UInt64) {
        var stamp = stampsDrained
        guard stamp < end else { return }
        guard end <= IndexMemory.largestStamp else { return declareDamaged() }
        // Stamps further ahead than the ring is long belong to writers that found it full, and published nothing.
        if end &- stamp > UInt64(8 * IndexLayout.touchCells) {
            set64(IndexLayout.touchDrainedOffset, end)
            drain(stamp, before: stamp &+ UInt64(IndexLayout.touchCells))
            stamp = end &- UInt64(IndexLayout.touchCells)
        }
        drain(stamp, before: end)
        set64(IndexLayout.touchDrainedOffset, end)
    }

    private func drain(_ first: UInt64, before end: UInt64) {
        var stamp = first
        while stamp < end {
            let batchEnd = min(end, stamp &+ 64)
            for ahead in stamp..<batchEnd {
                let word = cp_relaxed64(cell(ahead))
                if word >= lap(ahead), let slot = entry(UInt32(truncatingIfNeeded: word)) {
                    cp_prefetch(slot.base)
                }
            }
            for ahead in stamp..<batchEnd {
                let word = cp_relaxed64(cell(ahead))
                guard word >= lap(ahead), let slot = entry(UInt32(truncatingIfNeeded: word)) else { continue }
                order.prefetchNeighbours(of: slot)
            }
            while stamp < batchEnd {
                apply(stamp)
                stamp += 1
            }
            set64(IndexLayout.touchDrainedOffset, stamp)
        }
    }

    @inline(__always)
    private func apply(_ stamp: UInt64) {
        let cell = cell(stamp)
        let lap = lap(stamp)
        var word = cp_load64(cell)
        while word < lap {
            if cp_cas64(cell, word, lap | UInt64(IndexMemory.skipped)) { return }
            word = cp_load64(cell)
        }
        guard word & ~0xffff_ffff == lap, let slot = entry(UInt32(truncatingIfNeeded: word)),
            slot.recency < stamp
        else { return }
        let mark = cp_relaxed64(cell + 8)
        let number = UInt32(truncatingIfNeeded: word)
        guard slot.tag == UInt32(truncatingIfNeeded: mark), isLive(number, slot) else { return }
        slot.recency = stamp
        slot.hits = mark & IndexMemory.stored != 0 ? 0 : slot.hits == .max ? .max : slot.hits + 1
        slot.accessed = Int64(bitPattern: cp_relaxed64(cell + 16))
        order.moveToFront(number, slot)
    }

    /// Uses not yet applied, oldest first, for readers that show the order without the lock.
    func pendingTouches() -> [PendingTouch] {
        var stamp = stampsDrained
        let end = min(stampsTaken, stamp &+ UInt64(IndexLayout.touchCells))
        var touches: [PendingTouch] = []
        while stamp < end {
            let cell = cell(stamp)
            let word = cp_load64(cell)
            let number = UInt32(truncatingIfNeeded: word)
            if word & ~0xffff_ffff == lap(stamp), number != IndexMemory.skipped {
                let mark = cp_relaxed64(cell + 8)
                let isStored = mark & IndexMemory.stored != 0
                touches.append(
                    PendingTouch(
                        number: number, tag: UInt32(truncatingIfNeeded: mark), stamp: stamp,
                        time: Int64(bitPattern: cp_relaxed64(cell + 16)), isStored: isStored,
                        hits: isStored ? 0 : 1))
            }
            stamp += 1
        }
        return touches
    }
}

/// Uses of one entry that wait to be applied: the last of them, and what they come to.
struct PendingTouch {
    var number: UInt32
    var tag: UInt32
    var stamp: UInt64
    var time: Int64
    /// Whether the entry was stored anew: hits count from there.
    var isStored: Bool
    /// Accesses, since then if it was stored anew.
    var hits: UInt32

    /// The use after this one, which it becomes part of.
    mutating func add(_ later: PendingTouch) {
        let before = later.isStored ? 0 : hits
        let wasStored = isStored
        self = later
        isStored = isStored || wasStored
        hits += before
    }

    /// How many hits the entry has, given those that its line counts.
    func hits(after counted: UInt32) -> UInt32 {
        let (sum, isTooMany) = (isStored ? 0 : counted).addingReportingOverflow(hits)
        return isTooMany ? .max : sum
    }
}
