/// The queues of S3-FIFO, which ``EntryOrder`` uses instead of one list under that policy. A view of the mapped index, through a write
/// lock guard. OnDiskFormat, "Queues".
///
/// Invariants: each entry is in the queue that its byte names; tombstoned and memory-only entries are in the main queue; the sum in
/// the header is that of the values in the small queue; the byte of a free number is 0, and under LRU every byte is.
struct EntryQueues {
    private let index: ChangingIndex
    private let lists: EntryOrder

    @inline(__always) init(_ index: ChangingIndex, _ lists: EntryOrder) {
        self.index = index
        self.lists = lists
    }

    private subscript(number: UInt32) -> QueuePlace {
        get { index.queuePlace(of: number) }
        nonmutating set { index.setQueuePlace(of: number, newValue) }
    }

    func adjustSmall(by amount: Int) { index.setSmallBytes(max(0, index.smallBytes + amount)) }

    func resize(_ number: UInt32, by amount: Int) { if self[number].isSmall { adjustSmall(by: amount) } }

    /// Adds a new entry: to the small queue, unless it was evicted from there recently.
    func add(_ number: UInt32, _ slot: ChangingSlot) {
        link(number, slot, isSmall: !slot.isMemoryOnly && !index.ghosts.remove(slot.tag))
    }

    /// Adds an entry to the queue that its byte names, during recovery.
    func restore(_ number: UInt32, _ slot: ChangingSlot) {
        let place = self[number]
        link(number, slot, isSmall: place.isSmall && !slot.isTombstoned && !slot.isMemoryOnly)
        self[number].frequency = place.frequency
    }

    private func link(_ number: UInt32, _ slot: ChangingSlot, isSmall: Bool) {
        self[number] = QueuePlace(frequency: 0, isSmall: isSmall)
        lists.link(number, slot, in: isSmall ? .small : .main)
        if isSmall { adjustSmall(by: Int(slot.valueBytes)) }
    }

    func remove(_ number: UInt32, _ slot: ChangingSlot) {
        let place = self[number]
        lists.unlink(number, slot, from: place.isSmall ? .small : .main)
        if place.isSmall { adjustSmall(by: -Int(slot.valueBytes)) }
        self[number] = .none
    }

    /// Counts an access, up to three.
    @inline(__always) func access(_ number: UInt32, _ slot: ChangingSlot) {
        let place = self[number]
        if place.frequency < QueuePlace.highestFrequency { self[number].frequency = place.frequency + 1 }
        if slot.isMemoryOnly { keepInMain(number, slot) }
    }

    /// Moves an entry to the main queue that no longer counts against the limit.
    func keepInMain(_ number: UInt32, _ slot: ChangingSlot) {
        let place = self[number]
        guard place.isSmall else { return }
        remove(number, slot)
        link(number, slot, isSmall: false)
        self[number].frequency = place.frequency
    }

    func renumber(from old: UInt32, to new: UInt32, _ slot: ChangingSlot) {
        lists.renumber(from: old, to: new, slot, in: self[old].isSmall ? .small : .main)
        self[new] = self[old]
        self[old] = .none
    }

    func prefetchVictim() {
        if let slot = index.entry(index.oldest(in: .small)) { index.table.prefetch(slot.tag) }
        if let slot = index.entry(index.oldest(in: .main)) { index.table.prefetch(slot.tag) }
    }

    /// Begins with an index whose entries are all in the main queue.
    func begin() {
        index.clearSmallQueue()
        index.ghosts.clear()
    }

    /// Clears every byte, the small queue and the fingerprints.
    func clear() {
        index.clearQueuePlaces()
        begin()
    }
}

/// The selection of victims.
extension EntryQueues {
    /// Like ``EntryOrder/victims(toFree:most:sparing:)``. Moves entries between the queues on the way, which is valid even if the
    /// eviction fails. The victims stay in their queues until the caller removes them.
    @inline(never) func victims(
        toFree bytes: Int, most: Int, sparing isSpared: (UInt32) -> Bool
    ) -> Victims {
        var selection = Selection(
            small: index.oldest(in: .small), main: lists.leastRecent, smallBytes: index.smallBytes,
            steps: 8 * Int(index.usedEntries) + 8)
        let least = Int(clamping: (index.diskLimit ?? .max) / 10)
        var victims = Victims()
        while victims.bytes < bytes, victims.count < most {
            let isSmallFull = selection.smallBytes > 0 && selection.smallBytes >= least
            let found =
                isSmallFull
                ? nextInSmall(&selection, isSpared) ?? nextInMain(&selection, isSpared)
                : nextInMain(&selection, isSpared) ?? nextInSmall(&selection, isSpared)
            guard let found else { break }
            victims.append(found.number, bytes: found.bytes)
        }
        return victims
    }

    private struct Selection {
        /// The next candidates; 0: none.
        var small: UInt32
        var main: UInt32
        /// Bytes in the small queue without the victims.
        var smallBytes: Int
        /// Bounds the walk, because links may be damaged.
        var steps: Int
    }

    /// The oldest entry with fewer than two accesses. Moves older ones to the main queue.
    private func nextInSmall(
        _ selection: inout Selection, _ isSpared: (UInt32) -> Bool
    ) -> (number: UInt32, bytes: Int)? {
        while selection.steps > 0, let slot = index.entry(selection.small) {
            let number = selection.small
            selection.small = slot.newer
            selection.steps -= 1
            guard !isSpared(number) else { continue }
            let bytes = Int(slot.valueBytes)
            selection.smallBytes -= bytes
            guard self[number].frequency > 1 || slot.isMemoryOnly else {
                index.ghosts.add(slot.tag, bytes: bytes)
                return (number, bytes)
            }
            keepInMain(number, slot)
            self[number].frequency = 0
            if selection.main == 0 { selection.main = number }
        }
        return nil
    }

    /// The oldest entry without accesses. Takes one access from older ones, and moves them to the queue's front.
    private func nextInMain(
        _ selection: inout Selection, _ isSpared: (UInt32) -> Bool
    ) -> (number: UInt32, bytes: Int)? {
        while selection.steps > 0, let slot = index.entry(selection.main) {
            let number = selection.main
            let newer = slot.newer
            selection.steps -= 1
            selection.main = newer
            guard !isSpared(number), !slot.isMemoryOnly,
                !slot.isTombstoned || index.marks.unmarkIfRestored(number, slot)
            else { continue }
            let frequency = self[number].frequency
            guard frequency > 0 else { return (number, Int(slot.valueBytes)) }
            self[number].frequency = frequency - 1
            lists.unlink(number, slot, from: .main)
            lists.link(number, slot, in: .main)
            if newer == 0 { selection.main = number }
        }
        return nil
    }
}
