import CPlatform

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

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
    /// Uses with stamps below are applied.
    @inline(__always) private(set) var stampsDrained: UInt64 {
        get { cp_load64(base + IndexLayout.touchDrainedOffset) }
        set { cp_store64(base + IndexLayout.touchDrainedOffset, newValue) }
    }

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

    /// Stamps for as many changes, one behind another, as ``takeStampAndDrain()`` takes one.
    func takeStampsAndDrain(_ count: Int) -> UInt64 {
        let first = cp_add64(base + IndexLayout.touchTailOffset, UInt64(max(count, 1)))
        drainTouches(before: first)
        stampsDrained = first &+ UInt64(max(count, 1))
        return first
    }

    /// Stamps that are taken from now on are above `recency`; nothing is pending.
    func raiseStamps(above recency: UInt64) {
        guard stampsTaken <= recency else { return }
        let first = min(recency, Frame.latestStamp) + 1
        cp_store64(base + IndexLayout.touchTailOffset, first)
        stampsDrained = first
    }

    /// Applies all that came before `stamp`, which the holder of the lock took and uses itself.
    @inline(__always)
    func finish(_ stamp: UInt64) {
        drainTouches(before: stamp)
        stampsDrained = stamp &+ 1
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
            stampsDrained = end
            drain(stamp, before: stamp &+ UInt64(IndexLayout.touchCells))
            stamp = end &- UInt64(IndexLayout.touchCells)
        }
        drain(stamp, before: end)
        stampsDrained = end
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
            stampsDrained = stamp
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

    /// Uses not yet applied, for readers that show order and hits without the lock.
    func pendingTouches() -> PendingTouches {
        let drained = stampsDrained
        var pending = PendingTouches(drained: drained)
        var stamp = drained
        let end = min(stampsTaken, stamp &+ UInt64(IndexLayout.touchCells))
        while stamp < end {
            let cell = cell(stamp)
            let word = cp_load64(cell)
            let number = UInt32(truncatingIfNeeded: word)
            if word & ~0xffff_ffff == lap(stamp), number != IndexMemory.skipped {
                let mark = cp_relaxed64(cell + 8)
                pending.append(
                    PendingTouch(
                        stamp: stamp, time: Int64(bitPattern: cp_relaxed64(cell + 16)),
                        tag: UInt32(truncatingIfNeeded: mark), isStored: mark & IndexMemory.stored != 0),
                    of: number)
            }
            stamp += 1
        }
        return pending
    }

    /// The last use of an entry, and its hits, with those uses that waited when `pending` was made. Each counts once, though
    /// they may be applied while this looks.
    func lastUse(of number: UInt32, _ slot: EntrySlot, _ pending: PendingTouches) -> LastUse {
        guard let touches = pending[number] else { return LastUse(slot) }
        // A use sets the stamp first and the rest thereafter; when many are applied, that is told behind the last of them.
        // So what was applied since is whole as soon as that was told.
        for attempt in 0..<1_000 {
            let use = LastUse(slot)
            if use.recency < pending.drained || use.recency < stampsDrained, slot.recency == use.recency {
                return use.adding(touches, tag: slot.tag)
            }
            if attempt > 10 { sched_yield() }
        }
        // Whoever applies them was stopped amid it.
        return LastUse(slot).adding(touches, tag: slot.tag)
    }

    /// The same of an entry whose line is not filled yet.
    func lastUse(of number: UInt32, _ frame: Frame, tag: UInt32, _ pending: PendingTouches) -> LastUse {
        LastUse(frame).adding(pending[number] ?? [], tag: tag)
    }
}

/// A use of an entry that waits to be applied.
struct PendingTouch {
    var stamp: UInt64
    var time: Int64
    var tag: UInt32
    /// Whether the entry was stored anew: hits count from there.
    var isStored: Bool
}

/// Uses that wait to be applied, by entry, oldest first.
struct PendingTouches {
    /// All uses with stamps below had been applied.
    let drained: UInt64
    private var touches: [UInt32: [PendingTouch]] = [:]

    init(drained: UInt64) { self.drained = drained }

    subscript(number: UInt32) -> [PendingTouch]? { touches.isEmpty ? nil : touches[number] }

    fileprivate mutating func append(_ touch: PendingTouch, of number: UInt32) {
        touches[number, default: []].append(touch)
    }
}

/// When an entry was last used, and how often since it was stored.
struct LastUse {
    /// The stamp of the use.
    private(set) var recency: UInt64
    private(set) var accessed: Int64
    private(set) var hits: UInt32

    fileprivate init(_ slot: EntrySlot) {
        recency = slot.recency
        hits = slot.hits
        accessed = slot.accessed
    }

    /// That in which the frame was written.
    fileprivate init(_ frame: Frame) {
        recency = frame.recency
        hits = 0
        accessed = frame.time
    }

    /// With those of the uses that its line doesn't count yet.
    fileprivate func adding(_ touches: [PendingTouch], tag: UInt32) -> LastUse {
        var use = self
        for touch in touches where touch.tag == tag && touch.stamp > use.recency {
            use.recency = touch.stamp
            use.accessed = touch.time
            use.hits = touch.isStored ? 0 : use.hits == .max ? .max : use.hits + 1
        }
        return use
    }
}
