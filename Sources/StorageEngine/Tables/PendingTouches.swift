extension TouchRing {
    func pending() -> PendingTouches {
        let drained = drained
        var pending = PendingTouches(drained: drained, wait: WriterWait(index))
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

    /// The last access and the hits of an entry, including touches that were pending when `pending` was made. Each counts once.
    @inline(__always)
    func lastUse(of number: UInt32, _ slot: EntrySlot<Right>, _ pending: PendingTouches) -> LastUse {
        guard let touches = pending[number] else { return LastUse(slot) }
        return lastUse(slot, touches, pending)
    }

    @inline(never) private func lastUse(
        _ slot: EntrySlot<Right>, _ touches: [PendingTouch], _ pending: PendingTouches
    ) -> LastUse {
        // The stamp is set first; `drained` advances last. The slot includes earlier touches, unless a newer one is being
        // applied.
        pending.wait.restart()
        while true {
            let applied = max(pending.drained, drained)
            let use = LastUse(slot)
            let isWhole = use.recency < applied && slot.recency == use.recency
            // If the process that applies the touches was stopped, the hits of this entry may lack one.
            if isWhole || !pending.wait.shouldContinue() { return use.adding(touches, tag: slot.tag) }
        }
    }

    func lastUse(of number: UInt32, _ frame: Frame, tag: UInt32, _ pending: PendingTouches) -> LastUse {
        LastUse(frame).adding(pending[number] ?? [], tag: tag)
    }
}

struct PendingTouch {
    var stamp: UInt64
    var time: Int64
    var tag: UInt32
    /// Whether the touch is a put. Hits are counted from the last put.
    var isStored: Bool
}

struct PendingTouches {
    let drained: UInt64
    /// Bounds the time that one list waits for touches that are being applied.
    fileprivate let wait: WriterWait
    private var touches: [UInt32: [PendingTouch]] = [:]

    fileprivate init(drained: UInt64, wait: WriterWait) { (self.drained, self.wait) = (drained, wait) }

    var numbers: Dictionary<UInt32, [PendingTouch]>.Keys { touches.keys }

    @inline(__always) subscript(number: UInt32) -> [PendingTouch]? { touches.isEmpty ? nil : touches[number] }

    fileprivate mutating func append(_ touch: PendingTouch, of number: UInt32) {
        touches[number, default: []].append(touch)
    }
}

/// When an entry was last accessed, and how often since it was stored.
struct LastUse {
    private(set) var recency: UInt64
    private(set) var accessed: Int64
    private(set) var hits: UInt32

    fileprivate init<Right>(_ slot: EntrySlot<Right>) {
        recency = slot.recency
        hits = slot.hits
        accessed = slot.accessed
    }

    fileprivate init(_ frame: Frame) {
        recency = frame.recency
        hits = 0
        accessed = frame.time
    }

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

extension PendingTouches {
    /// The entry's queue under S3-FIFO, with the accesses that aren't applied yet.
    func queueState<Right>(of number: UInt32, _ tag: UInt32, _ index: MappedIndex<Right>) -> QueueState {
        let place = index.queuePlace(of: number)
        let more = self[number]?.count { $0.tag == tag } ?? 0
        return QueueState(
            isSmall: place.isSmall,
            frequency: UInt8(min(Int(place.frequency) + more, Int(QueuePlace.highestFrequency))))
    }
}
