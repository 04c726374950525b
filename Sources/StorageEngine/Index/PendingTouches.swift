#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension TouchRing {
    /// Uses not yet applied, for readers that show order and hits without the lock.
    func pending() -> PendingTouches {
        let drained = drained
        var pending = PendingTouches(drained: drained)
        var stamp = drained
        let end = min(taken, stamp &+ UInt64(IndexLayout.touchCells))
        while stamp < end {
            let cell = cell(stamp)
            let word = cell.word
            let number = UInt32(truncatingIfNeeded: word)
            if word & ~0xffff_ffff == cell.lap, number != Touch.skipped {
                let mark = cell.mark
                pending.append(
                    PendingTouch(
                        stamp: stamp, time: cell.time, tag: UInt32(truncatingIfNeeded: mark),
                        isStored: mark & Touch.stored != 0),
                    of: number)
            }
            stamp += 1
        }
        return pending
    }

    /// The last use of an entry, and its hits, with those uses that waited when `pending` was made. Each counts once, though
    /// they may be applied while this looks.
    @inline(__always)
    func lastUse(of number: UInt32, _ slot: EntrySlot<Right>, _ pending: PendingTouches) -> LastUse {
        guard let touches = pending[number] else { return LastUse(slot) }
        return lastUse(slot, touches, drained: pending.drained)
    }

    @inline(never)
    private func lastUse(_ slot: EntrySlot<Right>, _ touches: [PendingTouch], drained before: UInt64)
        -> LastUse
    {
        // A use sets the stamp first and the rest thereafter; when many are applied, that is told behind the last of them.
        // So what was told before the line is read is whole in it, unless another use begins meanwhile.
        for attempt in 0..<600 {
            let told = max(before, drained)
            let use = LastUse(slot)
            if use.recency < told, slot.recency == use.recency { return use.adding(touches, tag: slot.tag) }
            if attempt > 200 { usleep(50) } else if attempt > 10 { sched_yield() }
        }
        // Whoever applies them was stopped amid it, and not only out of turn: some tens of milliseconds have passed.
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

    @inline(__always)
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

    fileprivate init<Right>(_ slot: EntrySlot<Right>) {
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
