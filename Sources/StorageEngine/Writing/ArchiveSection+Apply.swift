/// Changes that a put and a removal make to the index, for operations and for a replay of the log.
extension ArchiveSection {
    /// Makes the frame at `location` the entry of its key, now `number` or 0; returns its number. With `isTouchPending` the touch
    /// ring updates the order later. A frame with the entry's stamp is no access (``rewrite(_:encoding:key:ifSequence:)``).
    @discardableResult
    @inline(__always) func applyPut(
        _ content: FrameContent, tag: UInt32, number: UInt32, at location: Location,
        isTouchPending: Bool = false, overwrites: Bool = true
    ) -> UInt32 {
        let frameBytes = content.frameBytes
        var number = number
        if let slot = index.entry(number) {
            if slot.isMemoryOnly, content.residentBytes == 0 {
                // Removes the key's other memory-only entries first: after a crash, a replay finds the rest.
                removeMemoryOnly(of: content.key, tag: tag, sparing: number)
            }
            let change = content.value.count - Int(slot.valueBytes)
            index.adjust(.valueBytes, by: change)
            index.order.resize(number, by: change)
            let before = slot.location
            index.adjustLive(before, by: -Int(slot.frameBytes))
            slot.name(location)
            crashPoint(.entryNamed)
            let isUse = slot.recency != content.recency
            let hits = slot.hits
            fill(number, slot, content, frameBytes: frameBytes)
            if !isUse { slot.setHits(hits) }
            slot.setLocation(location)
            index.table.setCell(of: number, slot, location, replacing: before)
            index.residency.forget(number)
            if isTouchPending {
                index.touches.recordStored(number, tag: tag, stamp: content.recency, time: content.time)
            } else if isUse {
                index.order.access(number, slot, stamp: content.recency)
            }
        } else {
            if overwrites, index.tombstoneCount != 0 { markOverwritten(content.key, tag: tag) }
            index.beginStructureChange()
            // Space was reserved before the frame was written.
            number = index.numbers.allocate()
            crashPoint(.entryAllocated)
            if let slot = index.entry(number) {
                fill(number, slot, content, frameBytes: frameBytes)
                slot.setRecency(content.recency)
                slot.setTag(tag)
                slot.setLocation(location)
                index.residency.forget(number)
                index.table.insert(number, slot)
                index.order.add(number, slot)
                index.adjust(.valueBytes, by: content.value.count)
                index.adjust(.entryCount, by: 1)
            }
            index.endStructureChange()
        }
        index.adjustLive(location, by: frameBytes)
        return number
    }

    @inline(__always)
    func fill(_ number: UInt32, _ slot: ChangingSlot, _ content: FrameContent, frameBytes: Int) {
        if content.deadline != Deadline.never { index.deadlines.expect(content.deadline, of: number) }
        slot.setValueBytes(UInt32(content.value.count))
        slot.setFrameBytes(UInt32(frameBytes))
        slot.setAccessed(content.time)
        slot.setDeadline(content.deadline)
        slot.setOwner(content.ownerTag)
        slot.setHits(0)
        if content.residentBytes != 0 { slot.setMemoryOnly(bytes: content.residentBytes) }
    }

    @inline(__always) func remove(_ number: UInt32) {
        guard let slot = index.entry(number), index.marks.isLive(number, slot) else { return }
        engine.countHandled(entries: 1)
        if !slot.isPlausible { index.declareDamaged() }
        index.beginStructureChange()
        index.table.remove(number, slot)
        index.order.remove(number, slot)
        index.residency.forget(number)
        crashPoint(.entryUnlinked)
        index.adjust(.valueBytes, by: -Int(slot.valueBytes))
        index.adjust(.entryCount, by: -1)
        index.adjustLive(slot.location, by: -Int(slot.frameBytes))
        index.numbers.free(number, slot)
        index.endStructureChange()
    }

    /// Removes all memory-only entries of `key` except `sparing`. Needs no frame, because no replay restores them.
    func removeMemoryOnly(of key: UnsafeRawBufferPointer, tag: UInt32, sparing: UInt32) {
        for number in engine.memoryOnlyNumbers(of: key, tag: tag) where number != sparing { remove(number) }
    }

    func evictWithoutFrame(_ number: UInt32, _ cause: EventCause, key: UnsafeRawBufferPointer = .empty) {
        guard let slot = index.entry(number) else { return }
        let (tag, bytes, location) = (slot.tag, Int(slot.valueBytes), slot.location)
        remove(number)
        engine.publish(.eviction, cause, tag: tag, bytes: bytes, at: location, key: key)
        if cause == .noSpace { index.addLocked(.evictions) }
    }

    func clearEntries() {
        index.beginStructureChange()
        engine.countHandled(entries: Int(index.usedEntries))
        for number in 0..<index.usedEntries {
            index.entry(number + 1)?.clear()
            index.residency.forget(number + 1)
            index.marks.set(number + 1, .none)
        }
        index.deadlines.clear()
        index.order.clear()
        crashPoint(.entriesCleared)
        index.table.clear()
        index.setEntryHighWater(0)
        index.clearLists()
        index.setTombstoneCount(0)
        index.setFirstMessage(.none)
        index.setBucketCount(IndexLayout.firstBuckets)
        index.setEntryCount(0)
        index.setValueBytes(0)
        index.setLiveFrameBytes(0)
        index.setTombstoneBytes(0)
        for slot in 0..<UInt32(SegmentLayout.slots) { index.setLiveFrames(ofSegment: slot, 0) }
        index.undo.clear()
        index.endStructureChange()
    }

    func reserveEntries(_ count: Int) throws(StorageError) {
        guard count > 0 else { return }
        try index.numbers.reserve()
        let needed = Int(index.entryHighWater) + count
        // Taking a free slot can't fail, because the free list is in the mapped file; but the list's length isn't stored.
        if needed > Int(index.entryCapacity),
            Int(index.usedEntries) - index.entryCount - Int(index.tombstoneCount) < count
        {
            try index.grow(toHold: needed)
        }
    }

    /// Like ``ArchiveEngine/find(_:tag:forChange:)`` for a caller that will change the entry. Under the lock, a bucket cell and a
    /// slot that name different frames are damage, and the slot must not be written.
    @inline(__always)
    func findToChange(_ key: UnsafeRawBufferPointer, tag: UInt32) throws(StorageError) -> FoundEntry? {
        guard let entry = try engine.find(key, tag: tag, forChange: true) else { return nil }
        if entry.slot.location == entry.location, entry.slot.tag == tag {
            // An unfinished undo restored the entry: clear its mark before the change.
            if entry.standing != nil, entry.slot.isTombstoned {
                index.marks.unmarkIfRestored(entry.number, index.changing(entry.slot))
            }
            return entry
        }
        engine.unpin(entry)
        throw index.contradiction(at: 0, "a bucket cell names another entry")
    }
}
