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
    @inline(__always) func isCurrent(_ held: HeldEntry) -> Bool {
        guard let slot = index.entry(held.number) else { return false }
        let deadline = slot.deadline
        // Reads the location last: the slot may have been reused for another entry in between.
        guard slot.isLive, slot.points(to: held.location) || mayBeUnpublished(slot, insteadOf: held.location)
        else { return false }
        return deadline == Deadline.never || Clock.boot() < deadline
    }

    /// `true` if this is unknown now: then the look-up of the object throws the error.
    @inline(never) private func mayBeUnpublished(_ slot: SlotView, insteadOf location: Location) -> Bool {
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

    func setMemoryUse(bytes: UInt64) { processSlot?.setMemoryBytes(bytes) }

    func isHeld(_ number: UInt32) -> Bool {
        let marks = index.residency[number]
        return marks != 0 && (isHeldHere(number) || marks & livingLines != 0)
    }

    func isHeldHere(_ number: UInt32) -> Bool {
        processSlot.map { index.residency.isMarked(number, line: $0.line) } ?? false
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

/// Memory-only entries (S11). Each process may have one for the same key. These entries have equal tags, and differ in the
/// process that holds them (``Residency``). They have no value to look up, so only the operations below search for them.
extension ArchiveEngine {
    /// Memory-only entries of `key`, without the lock. Includes unreadable ones with this tag: at worst, one object is dropped.
    func memoryOnlyNumbers(of key: UnsafeRawBufferPointer, tag: UInt32) -> [UInt32] {
        guard index.residency.isUsed else { return [] }
        return index.table.entries(ofTag: tag).filter { number in
            guard let slot = index.entry(number), slot.isMemoryOnly else { return false }
            return withFrame(at: slot.location) { $0.key.elementsEqual(key) } ?? true
        }
    }

    func ownMemoryOnlyNumber(of key: UnsafeRawBufferPointer, tag: UInt32) -> UInt32? {
        memoryOnlyNumbers(of: key, tag: tag).first(where: isHeldHere)
    }

    func sequence(of number: UInt32) throws(StorageError) -> UInt64? {
        guard let slot = index.entry(number) else { return nil }
        return try withFrameIfPresent(at: slot.location) { $0.sequence }
    }

    /// The entries that the operation `sequence` stored; all if it is `nil`.
    func entries(_ numbers: [UInt32], ofSequence sequence: UInt64?) throws(StorageError) -> [UInt32] {
        guard let sequence else { return numbers }
        var found: [UInt32] = []
        for number in numbers where try self.sequence(of: number) == sequence { found.append(number) }
        return found
    }

    /// Whether a live process holds the entry and it isn't expired. True if its expiry time can't be read now.
    func isPresent(_ number: UInt32) -> Bool {
        guard isHeld(number), let slot = index.entry(number) else { return false }
        let deadline = slot.read { (named, isFilled) -> Int64? in
            guard !slot.isTombstoned else { return nil }
            return isFilled ? slot.deadline : withFrame(at: named) { $0.options.deadline } ?? Deadline.never
        }
        guard let deadline else { return false }
        return deadline == Deadline.never || Clock.boot() < deadline
    }

    func holders(of number: UInt32) -> [Int32] {
        let lines = index.residency[number]
        guard lines != 0 else { return [] }
        let liveness = liveness
        return index.processes.attached.filter { lines & 1 << UInt64($0.line) != 0 && liveness.isAlive($0) }
            .map(\.identity.pid)
    }

    /// The memory-only entry of `key` of this process or else of another, with its slot content.
    func withMemoryOnly(
        _ key: UnsafeRawBufferPointer, tag: UInt32, uses pending: PendingTouches?,
        _ body: (FoundEntry, SlotContent) -> Void
    ) throws(StorageError) {
        let numbers = memoryOnlyNumbers(of: key, tag: tag).filter(isPresent)
        guard let number = numbers.first(where: isHeldHere) ?? numbers.first, let slot = index.entry(number),
            let content = try slotContent(number, slot, settled: .none, uses: pending),
            let entry = try entry(with: content)
        else { return }
        defer { unpin(entry) }
        body(entry, content)
    }

    /// The version's present location; `nil` if the entry was removed.
    func followMemoryOnly(_ held: HeldEntry, key: UnsafeRawBufferPointer) throws(StorageError) -> HeldEntry? {
        for number in memoryOnlyNumbers(of: key, tag: held.tag) where isPresent(number) {
            guard let location = index.entry(number)?.location else { continue }
            let found = try withFrameIfPresent(at: location) { frame -> HeldEntry? in
                guard frame.sequence == held.sequence, frame.key.elementsEqual(key) else { return nil }
                return HeldEntry(
                    number: number, tag: held.tag, location: location, sequence: held.sequence,
                    memoryInterval: frame.memoryInterval)
            }
            if let found = found ?? nil { return found }
        }
        return nil
    }
}
