import CPlatform

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An entry that was found, with its frame pinned until ``ArchiveEngine/letGo(_:)``.
struct FoundEntry {
    var number: UInt32
    var slot: EntrySlot
    var location: Location
    var frame: Frame
    var pin: SegmentLog.Pin
}

extension ArchiveEngine {
    private enum Walk {
        case found(FoundEntry)
        case absent
        /// Something on the way could not be read: reclaimed meanwhile, or damaged.
        case unreadable(Location)
    }

    /// Finds the entry of `key`. Needs no lock (F6): a hit is right because a location names the same bytes
    /// for ever; a miss is believed only if no chain changed meanwhile. Costs about three cache misses.
    @inline(__always)
    func find(_ key: UnsafeRawBufferPointer, tag: UInt32) throws(StorageError) -> FoundEntry? {
        let before = index.word64(IndexLayout.structureOffset)
        switch walk(key, tag: tag) {
        case .found(let entry): return entry
        case .absent where before & 1 == 0 && index.word64(IndexLayout.structureOffset) == before: return nil
        default: return try findPatiently(key, tag: tag)
        }
    }

    @inline(__always)
    func letGo(_ entry: FoundEntry) { log.unpin(entry.pin) }

    @inline(__always)
    private func walk(_ key: UnsafeRawBufferPointer, tag: UInt32) -> Walk {
        var number = index.bucketHead(index.bucket(of: tag, count: index.bucketCount))
        var unreadable: Location?
        var steps = 0
        while let slot = index.entry(number), steps < 4096 {
            if slot.tag == tag {
                let location = slot.location
                if location != .none {
                    if let pin = log.pin(location.segment) {
                        if let frame = log.frame(pin, at: location.offset) {
                            if equal(frame.key, key) {
                                return .found(
                                    FoundEntry(
                                        number: number, slot: slot, location: location, frame: frame, pin: pin
                                    ))
                            }
                        } else {
                            unreadable = location
                        }
                        log.unpin(pin)
                    } else {
                        unreadable = location
                    }
                }
            }
            number = slot.chainNext
            steps += 1
        }
        if let unreadable { return .unreadable(unreadable) }
        return .absent
    }

    @inline(__always)
    private func equal(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard left.count == right.count, let a = left.baseAddress, let b = right.baseAddress else {
            return false
        }
        return memcmp(a, b, left.count) == 0
    }

    /// Looks again while chains are changing. When whoever changes them does not finish (it was stopped),
    /// every entry is looked at instead, which needs no chain: no longer than a scan of the index.
    @inline(never)
    private func findPatiently(_ key: UnsafeRawBufferPointer, tag: UInt32) throws(StorageError) -> FoundEntry?
    {
        var unreadable: Location?
        for attempt in 0..<400 {
            let before = index.word64(IndexLayout.structureOffset)
            let result = walk(key, tag: tag)
            if case .found(let entry) = result { return entry }
            if before & 1 == 0, index.word64(IndexLayout.structureOffset) == before {
                guard case .unreadable(let location) = result else { return nil }
                // Gone from the log, yet still in the index: damage, unless it is just being moved.
                if location == unreadable, attempt > 50 { break }
                unreadable = location
            }
            if attempt < 100 { cp_pause() } else { sched_yield() }
        }
        for number in 0..<index.word32(IndexLayout.entryHighWaterOffset) {
            guard let slot = index.entry(number + 1), slot.tag == tag else { continue }
            let location = slot.location
            guard location != .none, let pin = log.pin(location.segment) else { continue }
            if let frame = log.frame(pin, at: location.offset), equal(frame.key, key) {
                return FoundEntry(number: number + 1, slot: slot, location: location, frame: frame, pin: pin)
            }
            log.unpin(pin)
        }
        guard let unreadable else { return nil }
        throw .corrupted(
            path: log.path(of: unreadable.segment), offset: unreadable.offset,
            reason: "the index names an entry here that cannot be read")
    }

    /// Checks a found frame against its checksum, so that damage is an error and never a wrong value.
    @inline(__always)
    func verify(_ entry: FoundEntry) throws(StorageError) {
        let seed = Frame.seed(segmentSeed: entry.pin.seed, offset: entry.location.offset)
        guard entry.frame.passesChecksum(seed: seed) else {
            throw .corrupted(
                path: log.path(of: entry.location.segment), offset: entry.location.offset,
                reason: "the entry fails its checksum")
        }
    }

    // MARK: Reading

    /// Calls `body` with the value in place, without any trace. The bytes are valid during the call only.
    @inline(__always)
    func withPeek<Result>(
        _ key: UnsafeRawBufferPointer, _ body: (FoundEntry) -> Result
    ) throws(StorageError) -> Result? {
        try ArchiveEngine.validate(key: key)
        guard let entry = try find(key, tag: UInt32(truncatingIfNeeded: hash(key))) else { return nil }
        defer { letGo(entry) }
        try verify(entry)
        return body(entry)
    }

    /// As ``withPeek(_:_:)``, and makes the entry the most recent and counts a hit or a miss (S2).
    @inline(__always)
    func withAccess<Result>(
        _ key: UnsafeRawBufferPointer, _ body: (FoundEntry) -> Result
    ) throws(StorageError) -> Result? {
        try ArchiveEngine.validate(key: key)
        guard let processSlot else { throw .readOnly(operation: "access (peek instead)") }
        let tag = UInt32(truncatingIfNeeded: hash(key))
        guard let entry = try find(key, tag: tag) else {
            processSlot.addMiss()
            return nil
        }
        defer { letGo(entry) }
        try verify(entry)
        processSlot.addHit()
        let touch = index.touch(entry.number, tag: tag, time: cp_coarse_time())
        if touch != .published { touchSlowly(touch, entry.number, tag: tag) }
        return body(entry)
    }

    @inline(never)
    private func touchSlowly(_ touch: IndexMemory.Touch, _ number: UInt32, tag: UInt32) {
        guard touch == .ringFull else {
            drainIfFree()
            return
        }
        // Everyone's pending touches fill the ring: apply them, waiting for the lock as a writer would, but
        // not for a holder that was stopped (F6).
        for _ in 0..<8 {
            if case .acquired = lock.acquire(nanoseconds: 20_000_000) {
                lock.release()
                drainIfFree()
            } else {
                break
            }
            if index.touch(number, tag: tag, time: cp_coarse_time()) != .ringFull { return }
        }
        index.add(.lostTouches)
    }
}
