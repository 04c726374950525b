import CPlatform
import SystemC

/// A found entry. Its frame stays pinned until ``ArchiveEngine/unpin(_:)``.
struct FoundEntry {
    var number: UInt32
    var slot: SlotView
    var location: Location
    var frame: Frame
    var pin: SegmentLog.Pin
    /// The slot's state: expired, memory-only or hidden; `nil`: valid.
    var standing: ArchiveEngine.Standing?
}

extension ArchiveEngine {
    private enum Walk {
        case found(FoundEntry)
        case absent
        /// A frame on the search path was reclaimed during the search, or is damaged.
        case unreadable(Location)
        /// The chain is broken: it is being changed, is damaged, or leads to memory that can't be mapped now.
        case broken
    }

    /// Finds the entry of `key` without the lock (F6). A hit is valid: a location always names the same bytes, and a slot that
    /// was read still named the frame afterwards. A miss is valid only if no chain changed. About two cache misses.
    @inline(__always) func find(
        _ key: UnsafeRawBufferPointer, tag: UInt32, forChange: Bool = false
    ) throws(StorageError) -> FoundEntry? {
        let entry = try findFrame(key, tag: tag, forChange: forChange)
        guard let entry, entry.frame.isInBatch else { return entry }
        return try resolve(entry) { () throws(StorageError) in try findFrame(key, tag: tag) }
    }

    /// Like ``find(_:tag:forChange:)``, but doesn't resolve a frame of a batch.
    @inline(__always) private func findFrame(
        _ key: UnsafeRawBufferPointer, tag: UInt32, forChange: Bool = false
    ) throws(StorageError) -> FoundEntry? {
        let before = index.structureVersion
        switch walk(key, tag: tag, forChange: forChange) {
        case .found(let entry): return entry
        case .absent where before & 1 == 0 && index.structureVersion == before: return nil
        default: return try findRetrying(key, tag: tag)
        }
    }

    @inline(__always) func unpin(_ entry: FoundEntry) { log.unpin(entry.pin) }

    /// Prefetches the index data that a look-up of this tag reads. Called before the lock is taken, to hold it for less time.
    @inline(__always) func prefetch(_ tag: UInt32) {
        guard let bucket = index.table.bucket(of: tag) else { return }
        let mark = Bucket.mark(tag)
        for place in 0..<Bucket.cells {
            let cell = bucket.cell(place)
            guard Bucket.mark(in: cell) == mark, cell != 0 else { continue }
            log.prefetch(Bucket.location(in: cell, near: index.head.segment), lines: 2)
            index.entry(bucket.number(place))?.prefetch()
        }
    }

    @inline(__always)
    private func walk(_ key: UnsafeRawBufferPointer, tag: UInt32, forChange: Bool = false) -> Walk {
        // The bucket can't be mapped at the moment, so the key isn't known to be absent.
        guard let bucket = index.table.bucket(of: tag) else { return .unreadable(index.head) }
        let mark = Bucket.mark(tag)
        var unreadable: Location?
        for place in 0..<Bucket.cells {
            let cell = bucket.cell(place)
            guard Bucket.mark(in: cell) == mark, cell != 0 else { continue }
            let location = Bucket.location(in: cell, near: index.head.segment)
            let number = bucket.number(place)
            guard let slot = index.entry(number) else {
                unreadable = location
                continue
            }
            // A look-up reads the frame but not the slot, so it prefetches the frame's first cache lines. A change reads the
            // slot, prefetched here while the frame's key is read.
            if forChange { slot.prefetch() } else { log.prefetch(location, lines: 2) }
            if var found = compare(key, number, slot, tag: tag, location, &unreadable) {
                if cell & Bucket.look == 0 || standsVisibly(&found, &unreadable) { return .found(found) }
                log.unpin(found.pin)
                if let found = renamed(key, number, slot, tag: tag, from: location, &unreadable) {
                    return .found(found)
                }
            }
        }
        if bucket.overflow != 0 {
            var isBroken = false
            if let found = walkOverflow(bucket, key, tag: tag, &unreadable, &isBroken) {
                return .found(found)
            }
            if isBroken { return .broken }
        }
        if let unreadable { return .unreadable(unreadable) }
        // If the count is damaged, the search may have used another key's bucket.
        return index.canHoldBuckets ? .absent : .broken
    }

    @inline(never) private func walkOverflow(
        _ bucket: Bucket, _ key: UnsafeRawBufferPointer, tag: UInt32, _ unreadable: inout Location?,
        _ isBroken: inout Bool
    ) -> FoundEntry? {
        var chain = index.table.chain(of: bucket)
        while let slot = chain.next() {
            let location = slot.location
            guard slot.tag == tag, location != .none,
                var found = compare(key, chain.number, slot, tag: tag, location, &unreadable)
            else { continue }
            if standsVisibly(&found, &unreadable) { return found }
            log.unpin(found.pin)
        }
        isBroken = chain.isBroken
        return nil
    }

    /// Adds the slot's fields. `false`: search again, because look-ups must not find the entry, or the slot names another frame.
    @inline(never)
    private func standsVisibly(_ found: inout FoundEntry, _ unreadable: inout Location?) -> Bool {
        crashPoint(.frameFound)
        found.standing = standing(of: found.number, found.slot, at: found.location)
        // The slot isn't filled yet, so its frame has the content.
        if found.standing == nil, found.slot.location == found.location {
            found.standing = standing(of: found.number, found.frame)
        }
        if found.standing == nil { unreadable = found.location }
        return found.standing != nil && found.standing != .hidden
    }

    /// The entry whose slot and cell name different frames, because a process is changing it or was stopped during the change.
    @inline(never) private func renamed(
        _ key: UnsafeRawBufferPointer, _ number: UInt32, _ slot: SlotView, tag: UInt32, from before: Location,
        _ unreadable: inout Location?
    ) -> FoundEntry? {
        let location = slot.location
        guard location != before, location != .none, slot.tag == tag,
            var found = compare(key, number, slot, tag: tag, location, &unreadable)
        else { return nil }
        if standsVisibly(&found, &unreadable) { return found }
        log.unpin(found.pin)
        return nil
    }

    /// The entry, with its segment pinned, if the frame at `location` has this key.
    @inline(__always) private func compare(
        _ key: UnsafeRawBufferPointer, _ number: UInt32, _ slot: SlotView, tag: UInt32, _ location: Location,
        _ unreadable: inout Location?
    ) -> FoundEntry? {
        guard let pin = log.pin(location.segment) else {
            note(&unreadable, number, slot, location)
            return nil
        }
        if let frame = log.frame(pin, at: location.offset) {
            if equal(frame.key, key) {
                return FoundEntry(number: number, slot: slot, location: location, frame: frame, pin: pin)
            }
            if slot.tag == tag, isDamaged(frame, pin, location) { note(&unreadable, number, slot, location) }
        } else {
            note(&unreadable, number, slot, location)
        }
        log.unpin(pin)
        return nil
    }

    /// Records that the frame at `location` can't be read, unless the entry is hidden: then its key doesn't matter.
    @inline(never)
    private func note(
        _ unreadable: inout Location?, _ number: UInt32, _ slot: SlotView, _ location: Location
    ) {
        if standing(of: number, slot, at: location) != .hidden { unreadable = location }
    }

    /// Whether a frame with another key, in a slot with the wanted hash, is damaged: then the key must not count as absent.
    @inline(never)
    private func isDamaged(_ frame: Frame, _ pin: SegmentLog.Pin, _ location: Location) -> Bool {
        !frame.passesChecksum(seed: Frame.seed(segmentSeed: pin.seed, offset: location.offset))
    }

    @inline(__always)
    private func equal(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard left.count == right.count, let a = left.baseAddress, let b = right.baseAddress else {
            return false
        }
        return memcmp(a, b, left.count) == 0
    }

    /// Repeats the search while chains are changing. If their writer was stopped, or a chain can't be followed, walks over all
    /// slots instead; this discards earlier unreadable results, because the entry may have moved.
    @inline(never)
    private func findRetrying(_ key: UnsafeRawBufferPointer, tag: UInt32) throws(StorageError) -> FoundEntry?
    {
        var doubted: Location?
        for _ in 0..<ArchiveEngine.mostRetries {
            var unreadable: Location?
            switch try lookUntilSettled(key, tag: tag) {
            case .found(let entry): return entry
            case .absent: return nil
            case .unreadable(let location): unreadable = location
            case .broken: break
            }
            try index.catchUp()
            let (version, renumberings) = (index.structureVersion, index.renumberings)
            switch try walkSlots(key, tag: tag) {
            case .found(let entry): return entry
            case .unreadable(let location): unreadable = location
            case .absent: break
            case .broken: continue
            }
            // The walk may have missed an entry that was renumbered during it.
            let isSettled = index.structureVersion == version && index.renumberings == renumberings
            if let place = unreadable, isDropped(place) { unreadable = nil }
            guard let unreadable else {
                if isSettled { return nil }
                continue
            }
            // No readable entry with this hash has the key, and one is unreadable or damaged. The result counts if it is stable.
            guard !index.isRemoved else { throw .closed(name: name) }
            if unreadable == doubted || isSettled && index.lockOwner == 0 {
                throw closedIfRemoved(
                    log.damage(at: unreadable, "the index names an entry here that cannot be read"))
            }
            doubted = unreadable
            cp_sleep(1_000_000)
        }
        throw changesTooFast
    }

    /// Repeats the search until no chain changes during it; `broken` if chains keep changing or stay broken. A time limit bounds
    /// the attempts, because each one after the hundredth may yield the processor.
    private func lookUntilSettled(_ key: UnsafeRawBufferPointer, tag: UInt32) throws(StorageError) -> Walk {
        let wait = WriterWait(index, atMost: ArchiveEngine.longestUnsettled)
        var unreadable: Location?
        for attempt in 0..<400 {
            let before = index.structureVersion
            let result = walk(key, tag: tag)
            if case .found = result { return result }
            if before & 1 == 0, index.structureVersion == before {
                switch result {
                case .unreadable(let location):
                    // Throws an error if the index or the segment can't be mapped.
                    try index.catchUp()
                    if let (pin, _) = try log.pinnedFrame(at: location) { log.unpin(pin) }
                    // The index names a frame that the log lacks: damage, unless the frame is being moved or dropped.
                    if location == unreadable, attempt > 50, !isDropped(location) { return result }
                    unreadable = location
                case .broken:
                    if attempt > 50 { return result }
                default: return result
                }
            }
            guard wait.shouldContinue() else { break }
        }
        return .broken
    }

    private static let longestUnsettled: Int64 = 1_000_000

    private func walkSlots(_ key: UnsafeRawBufferPointer, tag: UInt32) throws(StorageError) -> Walk {
        var unreadable: Location?
        for number in 0..<index.usedEntries {
            guard let slot = index.entry(number + 1), slot.tag == tag else { continue }
            switch try look(in: slot, number + 1, key, tag: tag) {
            case .absent: continue
            case .unreadable(let location): unreadable = location
            case let result: return result
            }
        }
        return unreadable.map { .unreadable($0) } ?? .absent
    }

    private func look(
        in slot: SlotView, _ number: UInt32, _ key: UnsafeRawBufferPointer, tag: UInt32
    ) throws(StorageError) -> Walk {
        var doubted = Location.none
        for _ in 0..<ArchiveEngine.mostRetries {
            let location = slot.location
            guard location != .none, slot.tag == tag else { return .absent }
            var unreadable: Location?
            if var found = compare(key, number, slot, tag: tag, location, &unreadable) {
                if standsVisibly(&found, &unreadable) { return .found(found) }
                log.unpin(found.pin)
            }
            guard unreadable != nil else { return .absent }
            if let (pin, _) = try log.pinnedFrame(at: location) { log.unpin(pin) }
            guard slot.location == location else { continue }
            if isDropped(location) { return .absent }
            if doubted == location { return .unreadable(location) }
            doubted = location
        }
        return .broken
    }

    /// Whether the location is before the oldest segment, so that its frame no longer exists.
    @inline(__always) func isDropped(_ location: Location) -> Bool { location.segment < index.oldestSegment }

    /// Verifies a frame's checksum: damage must cause an error, never a wrong value.
    @inline(__always) func verify(_ entry: FoundEntry) throws(StorageError) {
        let seed = Frame.seed(segmentSeed: entry.pin.seed, offset: entry.location.offset)
        guard entry.frame.passesChecksum(seed: seed) else { throw log.damagedEntry(at: entry.location) }
    }
}
