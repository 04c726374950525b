extension ArchiveEngine {
    /// Calls `body` with the present entry of `key`, without recording an access. Doesn't call it for a memory-only entry.
    @inline(__always) func withPeek(
        _ key: UnsafeRawBufferPointer, tag: UInt32, _ body: (FoundEntry) -> Void
    ) throws(StorageError) {
        guard let entry = try find(key, tag: tag) else { return }
        defer { unpin(entry) }
        try verify(entry)
        switch entry.standing {
        case nil, .valid: body(entry)
        default: return
        }
    }

    /// Like ``withPeek(_:tag:_:)``, but makes the entry the most recent and counts a hit or a miss (S2).
    @inline(__always) func withAccess(
        _ key: UnsafeRawBufferPointer, tag: UInt32, _ body: (FoundEntry) -> Void
    ) throws(StorageError) {
        guard let processSlot else { throw .readOnly(operation: "access (peek instead)") }
        guard let entry = try find(key, tag: tag) else {
            countMiss(tag: tag, processSlot)
            return
        }
        defer { unpin(entry) }
        try verify(entry)
        if let standing = entry.standing, standing != .valid {
            countMiss(tag: tag, processSlot)
            if standing == .expired { EntryRemover(self).removeIfExpired(entry, tag: tag) }
            return
        }
        countUse(entry.number, tag: tag, processSlot)
        body(entry)
    }

    /// Like an access, without reading the value. Returns whether the key has an entry, memory-only ones included.
    func touch(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        let tag = try validTag(of: key)
        guard let processSlot else { throw .readOnly(operation: "touch") }
        guard let entry = try find(key, tag: tag) else {
            countMiss(tag: tag, processSlot)
            return false
        }
        defer { unpin(entry) }
        guard !isExpired(entry) else {
            countMiss(tag: tag, processSlot)
            EntryRemover(self).removeIfExpired(entry, tag: tag)
            return false
        }
        countUse(entry.number, tag: tag, processSlot)
        return true
    }

    @inline(__always) func countMiss(tag: UInt32, _ processSlot: ProcessSlot) {
        processSlot.addMiss()
        trace(.miss, tag: tag)
    }

    @inline(__always) func countUse(
        _ number: UInt32, tag: UInt32, _ processSlot: ProcessSlot, as kind: SampledRequest.Kind = .hit
    ) {
        processSlot.addHit()
        trace(kind, tag: tag, entry: number)
        let touch = index.touches.record(number, tag: tag, time: Clock.wall())
        if touch != .published { touchSlowly(touch, number, tag: tag) }
    }

    @inline(never) private func touchSlowly(_ touch: Touch, _ number: UInt32, tag: UInt32) {
        guard touch == .ringFull else {
            drainIfFree()
            return
        }
        // The ring is full: apply its touches. Wait as a writer would, but only once for a lock holder known to be stopped (F6).
        for _ in 0..<8 {
            let drained = index.touches.drained
            let isStuck = stuckAt.load(ordering: .relaxed) == drained
            if isStuck {
                drainIfFree()
            } else if !drainTouches(within: 20_000_000) {
                stuckAt.store(drained, ordering: .relaxed)
            }
            if index.touches.record(number, tag: tag, time: Clock.wall()) != .ringFull { return }
            if stuckAt.load(ordering: .relaxed) == index.touches.drained { break }
        }
        index.add(.lostTouches)
    }

    @inline(never) private func drainIfFree() {
        guard let section = tryAcquire() else { return }
        section.index.touches.drainAll()
    }

    @inline(__always) func access(_ held: HeldEntry, as kind: SampledRequest.Kind) -> Bool {
        guard let processSlot, isCurrent(held) else { return false }
        countUse(held.number, tag: held.tag, processSlot, as: kind)
        return true
    }

    /// Prepares an entry that exists only in this process's memory (S11). It replaces the value on disk, not other processes'
    /// objects.
    func requestInMemoryOnly(bytes: UInt64, _ options: FrameOptions) throws(StorageError) -> PutRequest {
        guard processSlot != nil else { throw .readOnly(operation: "record") }
        var options = options
        options.residentBytes = max(1, bytes)
        return PutRequest(value: .empty, encoding: .unknown, options: options)
    }
}
