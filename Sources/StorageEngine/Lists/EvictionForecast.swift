/// The order in which S3-FIFO evicts the entries of a list.
package struct EvictionOrder: Sendable {
    /// Positions in the list, the next evicted first. Memory-only entries, which the limit never evicts, are last.
    package let indices: [Int32]
    private let states: [QueueState]

    package init(_ indices: [Int32], _ states: [QueueState]) {
        (self.indices, self.states) = (indices, states)
    }

    /// The queue of the entry at this position of the list.
    package subscript(index: Int) -> QueueState { states[index] }
}

/// The order in which listed entries would be evicted under S3-FIFO if only new keys were stored, each once: the queues of
/// ``EntryQueues``, simulated on a copy. Takes no lock; entries that others move during the call may be misplaced. Costs O(entries)
/// time, and some 40 bytes of memory for each entry.
struct EvictionForecast: ArchiveOperation {
    let engine: ArchiveEngine

    private struct Item {
        /// Position in the list.
        var place: Int
        var bytes: Int
        var frequency: UInt8
    }

    func order(of references: [EntryReference]) -> EvictionOrder {
        let pending = index.touches.pending()
        let states = references.map { pending.queueState(of: $0.number, $0.tag, index) }
        var places = [UInt32](repeating: 0, count: Int(index.usedEntries) + 1)
        for (place, reference) in references.enumerated()
        where reference.tier != .memory && Int(reference.number) < places.count {
            places[Int(reference.number)] = UInt32(place + 1)
        }
        func takeItem(_ number: UInt32) -> Item? {
            guard Int(number) < places.count, places[Int(number)] != 0 else { return nil }
            let place = Int(places[Int(number)]) - 1
            places[Int(number)] = 0
            return Item(
                place: place, bytes: Int(references[place].valueBytes), frequency: states[place].frequency)
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
                if states[item.place].isSmall { small.append(item) } else { main.append(item) }
            }
        }
        var order: [Int32] = []
        order.reserveCapacity(references.count)
        evict(&small, &main) { order.append(Int32($0)) }
        if order.count < references.count {
            let evicted = Set(order)
            order += references.indices.lazy.map { Int32($0) }.filter { !evicted.contains($0) }
        }
        return EvictionOrder(order, states)
    }

    /// New entries fill the free space, and replace each evicted one. They enter the small queue, and would leave it before the main
    /// queue's entries are evicted; these are passed at the end.
    private func evict(_ small: inout [Item], _ main: inout [Item], _ pass: (Int) -> Void) {
        let limit = Int(clamping: index.diskLimit ?? .max)
        var (nextSmall, nextMain) = (0, 0)
        /// Bytes in the small queue, with new entries.
        var bytes = max(0, limit - main.reduce(0) { $0 + $1.bytes })
        func fromSmall() -> Bool {
            while nextSmall < small.count {
                var item = small[nextSmall]
                nextSmall += 1
                guard item.frequency > 1 else {
                    pass(item.place)
                    return true
                }
                bytes -= item.bytes
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
                    bytes += item.bytes
                    return true
                }
                item.frequency -= 1
                main.append(item)
            }
            return false
        }
        while bytes > 0 && bytes >= limit / 10 ? fromSmall() || fromMain() : fromMain() || fromSmall() {}
    }
}

extension EntryList {
    /// The order of eviction at the moment; `nil` under LRU.
    package func evictionOrder() -> EvictionOrder? {
        engine.index.evictionPolicy == .s3fifo ? EvictionForecast(engine: engine).order(of: references) : nil
    }
}
