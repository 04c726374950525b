import CPlatform

/// Touches that are not yet applied to the order: accesses, and puts of existing keys. A view of the mapped index: OnDiskFormat,
/// "The touch ring". A touch takes a stamp (one atomic addition, which orders all touches) and writes a cell, without a lock. A
/// write lock guard applies the cells in that order before it chooses a victim, so eviction is exact LRU (S5).
///
/// Invariants: stamps only grow. Only the taker of a stamp publishes its cell, by one compare-and-swap of its first word. If the
/// guard finds a cell whose writer died or stopped before that, it marks the cell as skipped (F5, F6), and the writer takes a new
/// stamp. Touches below ``drained``, which only a guard increases, are applied. A stamp's cell is its number modulo the cells (F4).
struct TouchRing<Right> {
    let index: MappedIndex<Right>

    @inline(__always) fileprivate init(_ index: MappedIndex<Right>) { self.index = index }

    @inline(__always) func cell(_ stamp: UInt64) -> TouchCell {
        TouchCell(index.memory.touchAddress(Int(truncatingIfNeeded: stamp)), stamp)
    }

    @inline(__always) func nextStamp() -> UInt64 {
        cp_add64(index.memory.field(IndexLayout.touchTailOffset), 1)
    }
    /// All stamps below this one are taken.
    @inline(__always) var taken: UInt64 { index.memory.word64(IndexLayout.touchTailOffset) }
    /// All touches with lower stamps are applied.
    @inline(__always) var drained: UInt64 { index.memory.word64(IndexLayout.touchDrainedOffset) }

    @inline(__always) func record(_ number: UInt32, tag: UInt32, time: Int64) -> Touch {
        while true {
            if taken &- drained >= UInt64(IndexLayout.touchCells) { return .ringFull }
            let stamp = nextStamp()
            if stamp &- drained >= UInt64(IndexLayout.touchCells) { return .ringFull }
            let cell = cell(stamp)
            let previous = cell.relaxedWord
            if previous >= cell.lap { continue }
            cell.fill(mark: UInt64(tag), time: time)
            if cell.publish(number, over: previous) {
                return stamp & (Touch.drainEvery - 1) == Touch.drainEvery - 1 ? .drainDue : .published
            }
        }
    }

    /// Whether few enough touches are pending that the touch of `stamp` can be applied later.
    @inline(__always) func canBeDelayed(_ stamp: UInt64) -> Bool { stamp &- drained < Touch.drainEvery }
}

enum Touch {
    case published
    /// Published, and pending touches should be applied now.
    case drainDue
    /// No cell is free: apply pending touches, then record this one again.
    case ringFull

    /// Largest accepted stamp. A valid index never reaches it, and arithmetic below it can't overflow.
    static let largestStamp: UInt64 = 1 << 62
    /// Number of touches after which pending ones should be applied; a power of two, well below the length of the ring.
    fileprivate static let drainEvery: UInt64 = 512
    static let skipped: UInt32 = .max
    /// Set beside the tag if the entry was stored again.
    static let stored: UInt64 = 1 << 32
}

struct TouchCell {
    private let base: UnsafeMutableRawPointer
    /// The high half of the first word once the cell belongs to this stamp.
    let lap: UInt64

    @inline(__always) init(_ base: UnsafeMutableRawPointer, _ stamp: UInt64) {
        self.base = base
        lap = (stamp / UInt64(IndexLayout.touchCells) + 1) << 32
    }

    /// The lap, with the entry's number in the low half.
    @inline(__always) var word: UInt64 { cp_load64(base) }
    @inline(__always) var relaxedWord: UInt64 { cp_relaxed64(base) }
    @inline(__always) var mark: UInt64 { cp_relaxed64(base + 8) }
    @inline(__always) var time: Int64 { Int64(bitPattern: cp_relaxed64(base + 16)) }

    @inline(__always) func fill(mark: UInt64, time: Int64) {
        cp_relaxed_store64(base + 8, mark)
        cp_relaxed_store64(base + 16, UInt64(bitPattern: time))
    }

    @inline(__always) func publish(_ number: UInt32, over previous: UInt64) -> Bool {
        cp_cas64(base, previous, lap | UInt64(number))
    }

    @inline(__always) func publish(_ number: UInt32) { cp_store64(base, lap | UInt64(number)) }
}

extension TouchRing where Right == Changing {
    @inline(__always) private func setDrained(_ stamp: UInt64) {
        index.memory.set64(IndexLayout.touchDrainedOffset, stamp)
    }

    /// The stamp of a change made now, after all earlier touches have been applied.
    @inline(__always) func takeStampAndDrain() -> UInt64 {
        let stamp = nextStamp()
        finish(stamp)
        return stamp
    }

    func takeStampsAndDrain(_ count: Int) -> UInt64 {
        let first = cp_add64(index.memory.field(IndexLayout.touchTailOffset), UInt64(max(count, 1)))
        drain(before: first)
        setDrained(first &+ UInt64(max(count, 1)))
        return first
    }

    /// Makes all new stamps greater than `recency`. Requires that no touch is pending.
    func raiseStamps(above recency: UInt64) {
        guard taken <= recency else { return }
        let first = min(recency, Frame.latestStamp) + 1
        index.memory.set64(IndexLayout.touchTailOffset, first)
        setDrained(first)
    }

    /// Applies all touches before `stamp`, which the caller took for a change of its own.
    @inline(__always) func finish(_ stamp: UInt64) {
        drain(before: stamp)
        setDrained(stamp &+ 1)
    }

    /// Records a put of entry `number` under `stamp`, applied later, so that the put doesn't read the cache lines of its neighbors.
    @inline(__always) func recordStored(_ number: UInt32, tag: UInt32, stamp: UInt64, time: Int64) {
        let cell = cell(stamp)
        cell.fill(mark: UInt64(tag) | Touch.stored, time: time)
        cell.publish(number)
    }

    func drainAll() { drain(before: taken) }

    func drain(before end: UInt64) {
        var stamp = drained
        guard stamp < end else { return }
        guard end <= Touch.largestStamp else { return index.declareDamaged() }
        // Stamps further ahead than the ring's length belong to writers that found the ring full and published nothing.
        if end &- stamp > UInt64(8 * IndexLayout.touchCells) {
            setDrained(end)
            drain(stamp, before: stamp &+ UInt64(IndexLayout.touchCells))
            stamp = end &- UInt64(IndexLayout.touchCells)
        }
        drain(stamp, before: end)
        setDrained(end)
    }

    private func drain(_ first: UInt64, before end: UInt64) {
        let hasQueues = index.order.hasQueues
        var stamp = first
        while stamp < end {
            let batchEnd = min(end, stamp &+ 64)
            for ahead in stamp..<batchEnd {
                let cell = cell(ahead)
                let word = cell.relaxedWord
                if word >= cell.lap, let slot = index.entry(UInt32(truncatingIfNeeded: word)) {
                    slot.prefetch()
                }
            }
            if !hasQueues { prefetchNeighbors(stamp..<batchEnd) }
            while stamp < batchEnd {
                apply(stamp, hasQueues: hasQueues)
                stamp += 1
            }
            setDrained(stamp)
        }
    }

    @inline(__always) private func prefetchNeighbors(_ stamps: Range<UInt64>) {
        for stamp in stamps {
            let cell = cell(stamp)
            let word = cell.relaxedWord
            guard word >= cell.lap, let slot = index.entry(UInt32(truncatingIfNeeded: word)) else { continue }
            index.order.prefetchNeighbors(of: slot)
        }
    }

    @inline(__always) private func apply(_ stamp: UInt64, hasQueues: Bool) {
        let cell = cell(stamp)
        var word = cell.word
        while word < cell.lap {
            if cell.publish(Touch.skipped, over: word) { return }
            word = cell.word
        }
        guard word & ~0xffff_ffff == cell.lap, let slot = index.entry(UInt32(truncatingIfNeeded: word)),
            slot.recency < stamp
        else { return }
        let mark = cell.mark
        let number = UInt32(truncatingIfNeeded: word)
        guard slot.tag == UInt32(truncatingIfNeeded: mark), index.marks.isLive(number, slot) else { return }
        slot.setRecency(stamp)
        crashPoint(.touchBegun)
        slot.setHits(mark & Touch.stored != 0 ? 0 : slot.hits == .max ? .max : slot.hits + 1)
        slot.setAccessed(cell.time)
        index.order.applyTouch(number, slot, hasQueues: hasQueues)
    }
}

extension MappedIndex {
    @inline(__always) var touches: TouchRing<Right> { TouchRing(self) }
}
