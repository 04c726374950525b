import CPlatform

/// Reading an entry's value, with a trace (an access) or without (a look).
extension ArchiveEngine {
    /// Calls `body` with the entry if there is one that has not expired, without any trace. Its bytes are valid
    /// during the call only. An entry that only a process' memory holds has no value to show.
    @inline(__always)
    func withPeek(
        _ key: UnsafeRawBufferPointer, _ body: (FoundEntry) -> Void
    ) throws(StorageError) {
        try ArchiveEngine.validate(key: key)
        try withPeek(key, tag: UInt32(truncatingIfNeeded: hash(key)), body)
    }

    /// The same for a key that was validated and hashed.
    @inline(__always)
    func withPeek(
        _ key: UnsafeRawBufferPointer, tag: UInt32, _ body: (FoundEntry) -> Void
    ) throws(StorageError) {
        guard let entry = try find(key, tag: tag) else { return }
        defer { letGo(entry) }
        try verify(entry)
        switch entry.standing {
        case nil, .valid: body(entry)
        default: return
        }
    }

    /// As ``withPeek(_:_:)``, and makes the entry the most recent and counts a hit or a miss (S2).
    @inline(__always)
    func withAccess(_ key: UnsafeRawBufferPointer, _ body: (FoundEntry) -> Void) throws(StorageError) {
        try ArchiveEngine.validate(key: key)
        try withAccess(key, tag: UInt32(truncatingIfNeeded: hash(key)), body)
    }

    /// The same for a key that was validated and hashed.
    @inline(__always)
    func withAccess(
        _ key: UnsafeRawBufferPointer, tag: UInt32, _ body: (FoundEntry) -> Void
    ) throws(StorageError) {
        guard let processSlot else { throw .readOnly(operation: "access (peek instead)") }
        guard let entry = try find(key, tag: tag) else {
            processSlot.addMiss()
            return
        }
        defer { letGo(entry) }
        try verify(entry)
        if let standing = entry.standing, standing != .valid {
            processSlot.addMiss()
            if standing == .expired { removeIfExpired(entry, tag: tag) }
            return
        }
        noteUse(entry.number, tag: tag, processSlot)
        body(entry)
    }

    /// As an access that leaves the value alone, and so doesn't verify it: whether there is an entry, be it in a memory only,
    /// which becomes the most recent.
    func touch(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        try ArchiveEngine.validate(key: key)
        guard let processSlot else { throw .readOnly(operation: "touch") }
        let tag = UInt32(truncatingIfNeeded: hash(key))
        guard let entry = try find(key, tag: tag) else {
            processSlot.addMiss()
            return false
        }
        defer { letGo(entry) }
        guard !isExpired(entry) else {
            processSlot.addMiss()
            removeIfExpired(entry, tag: tag)
            return false
        }
        noteUse(entry.number, tag: tag, processSlot)
        return true
    }

    /// A hit of this process, by which the entry becomes the most recent.
    @inline(__always)
    func noteUse(_ number: UInt32, tag: UInt32, _ processSlot: ProcessSlot) {
        processSlot.addHit()
        let touch = index.touches.note(number, tag: tag, time: Clock.wall())
        if touch != .published { touchSlowly(touch, number, tag: tag) }
    }

    @inline(never)
    private func touchSlowly(_ touch: Touch, _ number: UInt32, tag: UInt32) {
        guard touch == .ringFull else {
            drainIfFree()
            return
        }
        // Everyone's pending touches fill the ring: apply them, waiting for the lock as a writer would, but
        // not for a holder that was stopped (F6), and for one that was stopped already only once.
        for _ in 0..<8 {
            let drained = index.touches.drained
            let isStuck = stuckAt.load(ordering: .relaxed) == drained
            if isStuck || !waitForLock(nanoseconds: 20_000_000) {
                stuckAt.store(drained, ordering: .relaxed)
            }
            drainIfFree()
            if index.touches.note(number, tag: tag, time: Clock.wall()) != .ringFull { return }
            if stuckAt.load(ordering: .relaxed) == index.touches.drained { break }
        }
        index.add(.lostTouches)
    }

    /// Applies pending touches if nobody holds the lock now.
    @inline(never)
    private func drainIfFree() {
        guard let section = tryAcquire() else { return }
        section.index.touches.drainAll()
    }
}
