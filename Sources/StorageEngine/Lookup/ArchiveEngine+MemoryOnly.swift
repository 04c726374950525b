/// Memory-only entries (S11). Each process may have one of a key; their tags are equal, and their holders' slots distinguish them
/// (``Residency``). Look-ups find no value in any of them, so only these operations search for all.
extension ArchiveEngine {
    /// Memory-only entries of `key`, without the lock. Unreadable ones count if the tag matches: at worst one object is dropped.
    func memoryOnlyNumbers(of key: UnsafeRawBufferPointer, tag: UInt32) -> [UInt32] {
        guard index.residency.isUsed else { return [] }
        return index.table.liveEntries(ofTag: tag).filter { number in
            guard let slot = index.entry(number), slot.isMemoryOnly else { return false }
            return withFrame(at: slot.location) { $0.key.elementsEqual(key) } ?? true
        }
    }

    func ownMemoryOnlyNumber(of key: UnsafeRawBufferPointer, tag: UInt32) -> UInt32? {
        guard let line = processSlot?.line else { return nil }
        return memoryOnlyNumbers(of: key, tag: tag).first { index.residency.isMarked($0, line: line) }
    }

    func sequence(of number: UInt32) throws(StorageError) -> UInt64? {
        guard let slot = index.entry(number) else { return nil }
        return try withFrameIfPresent(at: slot.location) { $0.sequence }
    }

    /// The entries that the operation `sequence` stored; all if it is `nil`.
    func entries(
        _ numbers: [UInt32], ofSequence sequence: UInt64?
    ) throws(StorageError) -> [UInt32] {
        guard let sequence else { return numbers }
        var found: [UInt32] = []
        for number in numbers where try self.sequence(of: number) == sequence { found.append(number) }
        return found
    }

    /// Whether a live process holds the entry and it isn't expired. True if its expiry time can't be read now.
    func isPresent(_ number: UInt32) -> Bool {
        guard isHeld(number), let slot = index.entry(number) else { return false }
        let deadline = slot.read { (named, isFilled) -> Int64? in
            guard !slot.isSetAside else { return nil }
            return isFilled ? slot.deadline : withFrame(at: named) { $0.traits.deadline } ?? Deadline.never
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

    /// The memory-only entry of `key` of this process or else of another, with its line.
    func withMemoryOnly(
        _ key: UnsafeRawBufferPointer, tag: UInt32, uses pending: PendingTouches?,
        _ body: (FoundEntry, EntryLine) -> Void
    ) throws(StorageError) {
        let numbers = memoryOnlyNumbers(of: key, tag: tag).filter(isPresent)
        let own = processSlot.flatMap { slot in
            numbers.first { index.residency.isMarked($0, line: slot.line) }
        }
        guard let number = own ?? numbers.first, let slot = index.entry(number),
            let line = try line(number, slot, settled: .none, uses: pending), let entry = try entry(on: line)
        else { return }
        defer { unpin(entry) }
        body(entry, line)
    }

    /// The version's present location; `nil` if the entry was removed.
    func followMemoryOnly(
        _ held: HeldEntry, key: UnsafeRawBufferPointer
    ) throws(StorageError) -> HeldEntry? {
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
