import CPlatform

extension ArchiveEngine {
    /// Stores `value` as the entry of `key` and makes it the most recent, evicting the least recent until
    /// the limit is kept (S1, S3, S5). The frame carries its evictions, so both happen or neither.
    @inline(__always)
    func put(
        _ value: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, encoding: ValueEncoding,
        keepsCreation: Bool
    ) throws(StorageError) {
        try ArchiveEngine.validate(key: key)
        guard value.count <= Frame.maximumValueBytes else {
            index.add(.rejections)
            throw .valueTooLarge(bytes: value.count, limit: UInt64(Frame.maximumValueBytes), archive: name)
        }
        let tag = UInt32(truncatingIfNeeded: hash(key))
        try acquire()
        defer { release() }
        let limit = diskLimit
        if let limit, value.count > limit {
            index.add(.rejections)
            throw .valueTooLarge(bytes: value.count, limit: limit, archive: name)
        }
        let recency = index.takeStampAndDrain()
        if let limit, valueBytes + UInt64(value.count) > limit { prefetchVictim() }
        let now = cp_coarse_time()
        var content = FrameContent(
            kind: .put, encoding: encoding, sequence: 0, recency: recency, time: now, created: now, key: key,
            value: value, extensionBytes: UnsafeRawBufferPointer(start: nil, count: 0))
        var replaced: EntrySlot?
        var replacedNumber: UInt32 = 0
        if let existing = try find(key, tag: tag, forChange: true) {
            replaced = existing.slot
            index.prefetchNeighbours(of: existing.slot)
            replacedNumber = existing.number
            if keepsCreation { content.created = existing.frame.created }
            letGo(existing)
        } else {
            try index.reserveEntry()
        }
        let replacedBytes = replaced.map { Int($0.valueBytes) } ?? 0
        if let limit, Int(valueBytes) - replacedBytes + value.count > limit {
            try putEvicting(
                content, tag: tag, replaced: replacedNumber,
                excess: Int(valueBytes) - replacedBytes + value.count - Int(limit))
        } else {
            content.sequence = nextSequence()
            let location = try append(content)
            applyPut(content, tag: tag, number: replacedNumber, at: location)
            commit(location, bytes: content.frameBytes)
        }
        index.add(.records)
        reclaim(forAppended: content.frameBytes)
    }

    /// Lets the lines come that an eviction will change, while the key is being looked up.
    @inline(__always)
    private func prefetchVictim() {
        guard let victim = index.entry(index.leastRecent) else { return }
        if let bucket = index.bucket(of: victim.tag) { cp_prefetch(bucket.base) }
        if let next = index.entry(victim.newer) { cp_prefetch(next.base) }
    }

    @inline(never)
    private func putEvicting(
        _ content: FrameContent, tag: UInt32, replaced: UInt32, excess: Int
    ) throws(StorageError) {
        var content = content
        let victims = try victims(toFree: excess, sparing: replaced)
        var extensionBytes: [UInt8] = []
        FrameExtension.writeEvictions(victims.map(\.location), into: &extensionBytes)
        let result: Result<Void, StorageError> = extensionBytes.withUnsafeBytes { bytes in
            do throws(StorageError) {
                content.extensionBytes = bytes
                content.sequence = nextSequence()
                let location = try append(content)
                for victim in victims { remove(victim.number) }
                applyPut(content, tag: tag, number: replaced, at: location)
                commit(location, bytes: content.frameBytes)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
        index.add(.evictions, UInt64(victims.count))
    }

    struct Victim {
        var number: UInt32
        var location: Location
    }

    /// The least recent entries whose values make up at least `bytes`. More than one frame can name are
    /// evicted at once, in frames of their own, and the rest is returned.
    private func victims(toFree bytes: Int, sparing: UInt32) throws(StorageError) -> [Victim] {
        var victims: [Victim] = []
        var freed = 0
        var number = index.leastRecent
        while freed < bytes, let slot = index.entry(number) {
            let next = slot.newer
            if number != sparing {
                victims.append(Victim(number: number, location: slot.location))
                freed += Int(slot.valueBytes)
                if victims.count == FrameExtension.maximumEvictions {
                    try evict(victims)
                    victims.removeAll(keepingCapacity: true)
                }
            }
            number = next
        }
        return victims
    }

    /// Evicts the least recent entries until the values fit into `limit`. Needs the lock.
    func evict(downTo limit: UInt64) throws(StorageError) {
        guard valueBytes > limit else { return }
        let rest = try victims(toFree: Int(valueBytes - limit), sparing: 0)
        if !rest.isEmpty { try evict(rest) }
    }

    private func evict(_ victims: [Victim]) throws(StorageError) {
        var extensionBytes: [UInt8] = []
        FrameExtension.writeEvictions(victims.map(\.location), into: &extensionBytes)
        try appendBare(
            .evict, key: UnsafeRawBufferPointer(start: nil, count: 0), extensionBytes: extensionBytes
        ) {
            for victim in victims { remove(victim.number) }
        }
        index.add(.evictions, UInt64(victims.count))
    }

    /// Appends a frame without a value, applies what it says and commits it.
    func appendBare(
        _ kind: FrameKind, key: UnsafeRawBufferPointer, extensionBytes: [UInt8] = [],
        inNewSegment: Bool = false,
        apply: () -> Void
    ) throws(StorageError) {
        let now = cp_coarse_time()
        let recency = index.stampsDrained
        let result: Result<Void, StorageError> = extensionBytes.withUnsafeBytes { bytes in
            do throws(StorageError) {
                let content = FrameContent(
                    kind: kind, sequence: nextSequence(), recency: recency, time: now, created: now, key: key,
                    value: UnsafeRawBufferPointer(start: nil, count: 0), extensionBytes: bytes)
                let location = try append(content, inNewSegment: inNewSegment)
                apply()
                commit(location, bytes: content.frameBytes)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    // MARK: Applying to the index. Both need the lock; both are also what a replay of the log does.

    /// Makes the frame at `location` the entry of its key; `number` is its present entry, or 0.
    @inline(__always)
    func applyPut(_ content: FrameContent, tag: UInt32, number: UInt32, at location: Location) {
        let frameBytes = content.frameBytes
        if let slot = index.entry(number) {
            adjust(IndexLayout.valueBytesOffset, by: content.value.count - Int(slot.valueBytes))
            adjustLive(slot.location, by: -Int(slot.frameBytes))
            index.unlinkFromRecency(number, slot)
            fill(slot, content, frameBytes: frameBytes)
            index.setLocation(number, slot, location)
            index.linkAsMostRecent(number, slot)
        } else {
            index.beginStructureChange()
            // Room was reserved before the frame was written.
            let fresh = index.allocateEntry()
            if let slot = index.entry(fresh) {
                fill(slot, content, frameBytes: frameBytes)
                slot.tag = tag
                slot.location = location
                index.insertIntoBucket(fresh, slot)
                index.linkAsMostRecent(fresh, slot)
                adjust(IndexLayout.valueBytesOffset, by: content.value.count)
                adjust(IndexLayout.entryCountOffset, by: 1)
            }
            index.endStructureChange()
        }
        adjustLive(location, by: frameBytes)
    }

    @inline(__always)
    private func fill(_ slot: EntrySlot, _ content: FrameContent, frameBytes: Int) {
        slot.recency = content.recency
        slot.valueBytes = UInt32(content.value.count)
        slot.frameBytes = UInt32(frameBytes)
        slot.accessed = content.time
        slot.deadline = 0
        slot.hits = 0
    }

    /// Takes an entry out of the index.
    @inline(__always)
    func remove(_ number: UInt32) {
        guard let slot = index.entry(number), slot.location != .none else { return }
        index.beginStructureChange()
        index.removeFromBucket(number, slot)
        index.unlinkFromRecency(number, slot)
        adjust(IndexLayout.valueBytesOffset, by: -Int(slot.valueBytes))
        adjust(IndexLayout.entryCountOffset, by: -1)
        adjustLive(slot.location, by: -Int(slot.frameBytes))
        index.freeEntry(number, slot)
        index.endStructureChange()
    }
}
