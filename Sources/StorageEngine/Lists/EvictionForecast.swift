/// The queue of an entry under S3-FIFO, and the accesses that keep it.
package struct QueueState: Sendable, Hashable {
    /// Whether the entry is in the small queue, and not in the main queue.
    package var isSmall: Bool
    /// Accesses since it entered the queue, 0 to 3.
    package var frequency: Int
}

/// The order in which listed entries would be evicted under S3-FIFO without further accesses: the queues of ``EntryQueues``, simulated
/// on a copy. Takes no lock; entries that others move during the call may be misplaced. Costs O(entries) time, and some 40 bytes of
/// memory for each entry.
struct EvictionForecast: ArchiveOperation {
    let engine: ArchiveEngine

    private struct Item {
        /// Position in the list.
        var place: Int
        var bytes: Int
        var frequency: UInt8
    }

    /// The entries of `references`, the next evicted first. Memory-only entries, which the limit never evicts, are last.
    func sorted(_ references: [EntryReference]) -> [EntryReference] {
        var places = [UInt32](repeating: 0, count: Int(index.usedEntries) + 1)
        var order: [Int] = []
        order.reserveCapacity(references.count)
        for (place, reference) in references.enumerated()
        where reference.tier != .memory && Int(reference.number) < places.count {
            places[Int(reference.number)] = UInt32(place + 1)
        }
        let pending = index.touches.pending()
        func takeItem(_ number: UInt32) -> Item? {
            guard Int(number) < places.count, places[Int(number)] != 0 else { return nil }
            let place = Int(places[Int(number)]) - 1
            places[Int(number)] = 0
            return Item(
                place: place, bytes: Int(references[place].valueBytes),
                frequency: UInt8(state(of: number, references[place].tag, pending).frequency))
        }
        /// Oldest first. Links that others change may lead anywhere, but each entry is taken once.
        func items(_ queue: IndexLayout.Queue) -> [Item] {
            var items: [Item] = []
            var number = index.oldest(in: queue)
            var steps = index.usedEntries
            while steps > 0, let slot = index.entry(number) {
                if let item = takeItem(number) { items.append(item) }
                number = slot.newer
                steps -= 1
            }
            return items
        }
        var (small, main) = (items(.small), items(.main))
        // Entries that the walks missed are among the newest.
        for reference in references {
            if let item = takeItem(reference.number) {
                if index.queuePlace(of: reference.number).isSmall {
                    small.append(item)
                } else {
                    main.append(item)
                }
            }
        }
        evict(&small, &main) { order.append($0) }
        guard order.count < references.count else { return order.map { references[$0] } }
        let evicted = Set(order)
        return (order + references.indices.filter { !evicted.contains($0) }).map { references[$0] }
    }

    private func evict(_ small: inout [Item], _ main: inout [Item], _ pass: (Int) -> Void) {
        let least = Int(clamping: (index.diskLimit ?? .max) / 10)
        var (nextSmall, nextMain) = (0, 0)
        var bytes = small.reduce(0) { $0 + $1.bytes }
        func fromSmall() -> Bool {
            while nextSmall < small.count {
                var item = small[nextSmall]
                nextSmall += 1
                bytes -= item.bytes
                guard item.frequency > 1 else {
                    pass(item.place)
                    return true
                }
                item.frequency = 0
                main.append(item)
            }
            return false
        }
        func fromMain() -> Bool {
            while nextMain < main.count {
                var item = main[nextMain]
                nextMain += 1
                guard item.frequency > 0 else {
                    pass(item.place)
                    return true
                }
                item.frequency -= 1
                main.append(item)
            }
            return false
        }
        while bytes > 0 && bytes >= least ? fromSmall() || fromMain() : fromMain() || fromSmall() {}
    }

    /// The state with pending accesses.
    func state(of number: UInt32, _ tag: UInt32, _ pending: PendingTouches) -> QueueState {
        let place = index.queuePlace(of: number)
        let more = pending[number]?.count { $0.tag == tag } ?? 0
        return QueueState(
            isSmall: place.isSmall,
            frequency: min(Int(place.frequency) + more, Int(QueuePlace.highestFrequency)))
    }
}

extension Archive {
    /// The queue of the entry of `key`; `nil` if absent, or without S3-FIFO. Records no access.
    package func queueState(of key: String) throws(StorageError) -> QueueState? {
        let engine = try engine()
        guard engine.index.evictionPolicy == .s3fifo else { return nil }
        let pending = engine.index.touches.pending()
        var state: QueueState?
        try withHashed(key) { (key) throws(StorageError) in
            try engine.withSlotContent(of: key.bytes, tag: key.tag) { entry, content in
                state = EvictionForecast(engine: engine).state(of: entry.number, content.tag, pending)
            }
        }
        return state
    }
}

extension EntryList {
    /// The queue of the entry at `index` at the moment; `nil` if it was removed, or without S3-FIFO.
    package func queueState(at index: Int) throws(StorageError) -> QueueState? {
        guard engine.index.evictionPolicy == .s3fifo, let content = try slotContent(at: index) else {
            return nil
        }
        return EvictionForecast(engine: engine).state(
            of: content.number, content.tag, engine.index.touches.pending())
    }
}
