/// Eviction: chooses the victims, names them in a frame, and removes them. Requires drained touches. Order: ``EntryOrder``.
extension ArchiveSection {
    @discardableResult func evict(downTo limit: UInt64) throws(StorageError) -> Int {
        guard index.valueBytes > limit else { return 0 }
        let before = index.entryCount
        try evict(chooseVictims(toFree: Int(index.valueBytes - limit), sparing: 0))
        return before - index.entryCount
    }

    /// The next victims that free at least `bytes`. If one frame can't name them all, evicts the first ones itself. `sparing` is the
    /// number of an entry that stays, or 0.
    func chooseVictims(toFree bytes: Int, sparing: UInt32) throws(StorageError) -> Victims {
        var left = bytes
        while left > 0 {
            let victims = index.order.victims(
                toFree: left, most: FrameExtension.maximumEvictions, sparing: { $0 == sparing })
            guard victims.count == FrameExtension.maximumEvictions else {
                // The totals or the list are damaged: no entry may be evicted because of them.
                guard victims.bytes >= left else { throw miscounted() }
                return victims
            }
            try evict(victims)
            left -= victims.bytes
        }
        return Victims()
    }

    func evict(_ victims: Victims) throws(StorageError) {
        guard victims.count > 0 else { return }
        try withExtension(bytes: FrameExtension.evictionBytes(victims.count)) {
            (writer) throws(StorageError) in
            name(victims, in: &writer)
            try appendBare(.evict, extensionBytes: writer.written) { _, time in
                remove(victims, time: time, events: index.events.claim(victims.count))
            }
        }
    }

    @inline(__always) func name(_ victims: Victims, in writer: inout ExtensionWriter) {
        guard let bytes = writer.part(.evictions, bytes: 8 * victims.count) else { return }
        var offset = 0
        for number in victims {
            let location = index.entry(number)?.location ?? .none
            bytes.storeBytes(of: location.raw, toByteOffset: offset, as: UInt64.self)
            offset += 8
        }
    }

    /// Removes the victims from the index. `events` is the first of as many claimed event numbers.
    @inline(__always) func remove(_ victims: Victims, time: Int64, events: UInt64) {
        var event = events
        for number in victims {
            guard let slot = index.entry(number) else { continue }
            let (tag, bytes, location) = (slot.tag, Int(slot.valueBytes), slot.location)
            remove(number)
            // Publishes after the removal: a follower that reads at once must not find the entry.
            index.events.publish(
                event, .eviction, .limit, tag: tag, bytes: bytes, location: location, pid: engine.pid,
                time: time)
            event &+= 1
            crashPoint(.evictionRemoved)
        }
        index.addLocked(.evictions, UInt64(victims.count))
    }
}
