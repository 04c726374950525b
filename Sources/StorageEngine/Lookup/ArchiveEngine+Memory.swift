/// The version of an entry that a process holds as an object; one word of the index shows whether it is current (S9).
package struct HeldEntry: Sendable, Hashable {
    let number: UInt32
    let tag: UInt32
    let location: Location
    /// Sequence of the operation that stored it. Copies of the frame keep it.
    package let sequence: UInt64
    /// Longest time in microseconds that the object may stay in memory after each read from disk (S8); 0: no limit.
    package let memoryInterval: Int64
}

extension ArchiveEngine {
    func held(_ entry: FoundEntry, tag: UInt32) -> HeldEntry {
        HeldEntry(
            number: entry.number, tag: tag, location: entry.location, sequence: entry.frame.sequence,
            memoryInterval: entry.frame.memoryInterval)
    }

    /// Whether an object is still the archive's version. Reads one cache line of the index, without a lock.
    @inline(__always)
    func isCurrent(_ held: HeldEntry) -> Bool {
        guard let slot = index.entry(held.number) else { return false }
        let deadline = slot.deadline
        // Reads the location last: the slot may have been reused for another entry in between.
        guard slot.isLive, slot.tells(of: held.location) || mayBeUnpublished(slot, insteadOf: held.location)
        else { return false }
        return deadline == Deadline.never || Clock.boot() < deadline
    }

    /// If this can't be determined now, the caller gets the error when it looks the object up.
    @inline(never)
    private func mayBeUnpublished(_ slot: SlotView, insteadOf location: Location) -> Bool {
        (try? isUnpublished(slot, insteadOf: location)) ?? false
    }

    /// The version's present location if its frame was only moved; `nil` if the entry was removed or replaced.
    @inline(never)
    func follow(_ held: HeldEntry, key: UnsafeRawBufferPointer) throws(StorageError) -> HeldEntry? {
        guard let entry = try find(key, tag: held.tag) else { return nil }
        defer { unpin(entry) }
        if entry.slot.isMemoryOnly { return try followMemoryOnly(held, key: key) }
        try verify(entry)
        guard entry.frame.sequence == held.sequence, !isExpired(entry) else { return nil }
        return self.held(entry, tag: held.tag)
    }

    /// Publishes whether this process has the object in memory. Only memory-only entries depend on it.
    func setHeld(_ held: HeldEntry, _ isHeld: Bool) {
        guard let line = processSlot?.line else { return }
        if isHeld {
            index.residency.mark(held.number, line: line)
            // If the entry was removed, the mark would apply to another entry in its slot.
            if !isCurrent(held) { index.residency.unmark(held.number, line: line) }
        } else {
            index.residency.unmark(held.number, line: line)
        }
    }

    func setMemoryUse(bytes: UInt64) { processSlot?.memoryBytes = bytes }

    func isHeld(_ number: UInt32) -> Bool {
        let marks = index.residency[number]
        guard marks != 0 else { return false }
        if let line = processSlot?.line, marks & 1 << UInt64(line) != 0 { return true }
        return marks & livingLines != 0
    }

    /// Number of memory-only entries of ended processes; the next writer to open removes them. May visit all slots.
    func countOrphans() -> Int {
        guard index.residency.isUsed,
            index.processes.attached.contains(where: { !liveness.isAlive($0) })
        else { return 0 }
        let living = livingLines
        return (0..<index.usedEntries).count { place in
            guard let slot = index.entry(place + 1), slot.isLive, slot.isMemoryOnly else { return false }
            return index.residency[place + 1] & living == 0
        }
    }
}
