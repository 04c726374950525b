/// Which version of an entry a process holds as an object: asked of the index, one word tells whether it is still
/// the archive's (S9). A location never comes back, so nothing has to be sent to anyone.
package struct HeldEntry: Sendable, Hashable {
    let number: UInt32
    let tag: UInt32
    let location: Location
    /// Of the operation that stored it: the same also after the frame was moved.
    package let sequence: UInt64
    /// How long the object may stay in memory, microseconds; 0: as long as there is room. Counts anew from each
    /// time that it is read from disk (S8).
    package let memoryInterval: Int64
}

package enum HeldState: Sendable, Hashable {
    case current
    /// Deleted, expired, or stored anew, by whichever process.
    case gone
}

/// What the memory tier of a process asks of the engine.
extension ArchiveEngine {
    func held(_ entry: FoundEntry, tag: UInt32) -> HeldEntry {
        HeldEntry(
            number: entry.number, tag: tag, location: entry.location, sequence: entry.frame.sequence,
            memoryInterval: entry.frame.memoryInterval)
    }

    /// Whether an object is still the archive's; costs one line of the index and takes no lock.
    @inline(__always)
    func state(of held: HeldEntry) -> HeldState {
        guard let slot = index.entry(held.number) else { return .gone }
        let deadline = slot.deadline
        // The location last: the line may have been given to another entry while it was read.
        guard slot.isLive, slot.tells(of: held.location) || mayBeUnpublished(slot, insteadOf: held.location)
        else { return .gone }
        return deadline != Deadline.never && Clock.boot() >= deadline ? .gone : .current
    }

    /// Where that can't be told now, whoever looks for where the object is by now gets the error.
    @inline(never)
    private func mayBeUnpublished(_ slot: SlotView, insteadOf location: Location) -> Bool {
        (try? isUnpublished(slot, insteadOf: location)) ?? false
    }

    /// Where the version that was held is now, if its frame was only moved meanwhile; `nil` if it is gone.
    @inline(never)
    func follow(_ held: HeldEntry, key: UnsafeRawBufferPointer) throws(StorageError) -> HeldEntry? {
        guard let entry = try find(key, tag: held.tag) else { return nil }
        defer { letGo(entry) }
        if entry.slot.isMemoryOnly { return try followMemoryOnly(held, key: key) }
        try verify(entry)
        guard entry.frame.sequence == held.sequence, !isExpired(entry) else { return nil }
        return self.held(entry, tag: held.tag)
    }

    /// As an access of the entry: a hit, and it becomes the most recent on disk too (S5).
    func access(_ held: HeldEntry) -> HeldState {
        guard let processSlot, state(of: held) == .current else { return .gone }
        noteUse(held.number, tag: held.tag, processSlot)
        return .current
    }

    /// This process has the object in memory now, or no longer. Shown to others; nothing depends on it but
    /// entries that are only in memory.
    func setHeld(_ held: HeldEntry, _ isHeld: Bool) {
        guard let line = processSlot?.line else { return }
        if isHeld {
            index.residency.mark(held.number, line: line)
            // If the entry went meanwhile, the mark is for another.
            if state(of: held) == .gone { index.residency.unmark(held.number, line: line) }
        } else {
            index.residency.unmark(held.number, line: line)
        }
    }

    func notePromotion(of held: HeldEntry, bytes: Int) {
        index.note(
            .promotion, .request, tag: held.tag, bytes: bytes, location: held.location, pid: pid,
            time: Clock.wall())
    }

    func setMemoryUse(bytes: UInt64) { processSlot?.memoryBytes = bytes }

    /// Records an entry that only this process' memory holds (S11): others see that it is there, and it goes
    /// when this process does. What others hold of the same key in their memories stays; what is on disk goes.
    func putInMemoryOnly(
        bytes: UInt64, key: UnsafeRawBufferPointer, tag: UInt32, traits: EntryTraits
    ) throws(StorageError) -> HeldEntry {
        let held = try put(requestInMemoryOnly(bytes: bytes, traits), key: key, tag: tag)
        crashPoint(.residentRecorded)
        return held
    }

    /// What is put for an entry that only this process' memory holds.
    func requestInMemoryOnly(bytes: UInt64, _ traits: EntryTraits) throws(StorageError) -> PutRequest {
        guard processSlot != nil else { throw .readOnly(operation: "record") }
        var traits = traits
        traits.residentBytes = max(1, bytes)
        return PutRequest(
            value: UnsafeRawBufferPointer(start: nil, count: 0), encoding: .unknown, traits: traits)
    }

    /// Whether a living process holds the entry in memory.
    func isHeld(_ number: UInt32) -> Bool {
        let marks = index.residency[number]
        guard marks != 0 else { return false }
        if let line = processSlot?.line, marks & 1 << UInt64(line) != 0 { return true }
        return marks & livingLines != 0
    }

    /// Entries that are counted although they are gone, because only processes that have ended held them. The next
    /// process that opens the archive for writing removes them. Costs a walk over the index where a process ended
    /// without closing it.
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
