/// Eviction: counts the victims, names them in a frame, and removes them. Requires drained touches. Order: ``EntryOrder``.
extension ArchiveSection {
    @discardableResult func evict(downTo limit: UInt64) throws(StorageError) -> Int {
        guard index.valueBytes > limit else { return 0 }
        let before = index.entryCount
        let count = try countVictims(toFree: Int(index.valueBytes - limit), sparing: 0)
        try evict(count, sparing: 0)
        return before - index.entryCount
    }

    /// The number of next victims that free at least `bytes`. If one frame can't name them all, evicts the first ones itself.
    func countVictims(toFree bytes: Int, sparing: UInt32) throws(StorageError) -> Int {
        var count = 0
        var freed = 0
        var victims = index.order.victims(sparing: sparing)
        while freed < bytes, let victim = index.order.next(&victims) {
            count += 1
            freed += Int(victim.slot.valueBytes)
            if count == FrameExtension.maximumEvictions {
                try evict(count, sparing: sparing)
                count = 0
                victims = index.order.victims(sparing: sparing)
            }
        }
        guard freed >= bytes else {
            // The totals or the list are damaged: no entry may be evicted because of them.
            throw miscounted()
        }
        return count
    }

    private func evict(_ count: Int, sparing: UInt32) throws(StorageError) {
        guard count > 0 else { return }
        try withExtension(bytes: FrameExtension.evictionBytes(count)) { (writer) throws(StorageError) in
            nameVictims(count, sparing: sparing, in: &writer)
            try appendBare(.evict, extensionBytes: writer.written) { _, time in
                removeVictims(count, sparing: sparing, time: time, events: index.events.claim(count))
            }
        }
    }

    @inline(__always) func nameVictims(_ count: Int, sparing: UInt32, in writer: inout ExtensionWriter) {
        guard let bytes = writer.part(.evictions, bytes: 8 * count) else { return }
        var victims = index.order.victims(sparing: sparing)
        var written = 0
        while written < count, let victim = index.order.next(&victims) {
            bytes.storeBytes(of: victim.slot.location.raw, toByteOffset: 8 * written, as: UInt64.self)
            written += 1
        }
    }

    /// Removes the next `count` victims from the index. `events` is the first of `count` claimed event numbers.
    @inline(__always) func removeVictims(_ count: Int, sparing: UInt32, time: Int64, events: UInt64) {
        var victims = index.order.victims(sparing: sparing)
        for place in 0..<count {
            guard let (number, slot) = index.order.next(&victims) else { break }
            let (tag, bytes, location) = (slot.tag, Int(slot.valueBytes), slot.location)
            remove(number)
            // Publishes after the removal: a follower that reads at once must not find the entry.
            index.events.publish(
                events &+ UInt64(place), .eviction, .limit, tag: tag, bytes: bytes, location: location,
                pid: engine.pid, time: time)
            crashPoint(.evictionRemoved)
        }
        index.addLocked(.evictions, UInt64(count))
    }
}
