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
                excess: Int(valueBytes) - replacedBytes + value.count - Int(clamping: limit))
        } else {
            content.sequence = nextSequence()
            let location = try append(content)
            crashPoint(.putFrameWritten)
            applyPut(content, tag: tag, number: replacedNumber, at: location)
            crashPoint(.putIndexChanged)
            commit(location, bytes: content.frameBytes)
            crashPoint(.putCommitted)
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
        let count = try evictAllButLast(toFree: excess, sparing: replaced)
        var content = content
        try withEvictions(count, sparing: replaced) { (bytes) throws(StorageError) in
            content.extensionBytes = bytes
            content.sequence = nextSequence()
            let location = try append(content)
            removeLeastRecent(count, sparing: replaced)
            applyPut(content, tag: tag, number: replaced, at: location)
            commit(location, bytes: content.frameBytes)
        }
    }

    /// Evicts the least recent entries until the values fit into `limit`. Needs the lock.
    func evict(downTo limit: UInt64) throws(StorageError) {
        guard valueBytes > limit else { return }
        let count = try evictAllButLast(toFree: Int(valueBytes - limit), sparing: 0)
        try evict(count, sparing: 0)
    }

    /// How many of the least recent entries make up at least `bytes`, as far as one frame can name them; what
    /// is more is evicted here, in frames of its own.
    private func evictAllButLast(toFree bytes: Int, sparing: UInt32) throws(StorageError) -> Int {
        var count = 0
        var freed = 0
        var number = index.leastRecent
        var steps = 0
        while freed < bytes, let slot = index.entry(number), steps <= entryCount {
            steps += 1
            let isSpared = number == sparing
            number = slot.newer
            if isSpared { continue }
            count += 1
            freed += Int(slot.valueBytes)
            if count == FrameExtension.maximumEvictions {
                try evict(count, sparing: sparing)
                count = 0
                number = index.leastRecent
                steps = 0
            }
        }
        if freed < bytes { index.declareDamaged() }
        return count
    }

    private func evict(_ count: Int, sparing: UInt32) throws(StorageError) {
        guard count > 0 else { return }
        try withEvictions(count, sparing: sparing) { (bytes) throws(StorageError) in
            try appendBare(.evict, key: UnsafeRawBufferPointer(start: nil, count: 0), extensionBytes: bytes) {
                removeLeastRecent(count, sparing: sparing)
            }
        }
    }

    /// Calls `body` with the extension that names the `count` least recent entries.
    @inline(__always)
    private func withEvictions(
        _ count: Int, sparing: UInt32, _ body: (UnsafeRawBufferPointer) throws(StorageError) -> Void
    ) throws(StorageError) {
        let bytes = FrameExtension.evictionBytes(count)
        let result = withUnsafeTemporaryAllocation(byteCount: bytes, alignment: 8) { buffer in
            FrameExtension.writeEvictionHeader(count, into: buffer)
            var written = 0
            var number = index.leastRecent
            while written < count, let slot = index.entry(number), slot.newer != number {
                if number != sparing {
                    FrameExtension.writeEviction(slot.location, at: written, into: buffer)
                    written += 1
                }
                number = slot.newer
            }
            return Result { () throws(StorageError) in try body(UnsafeRawBufferPointer(buffer)) }
        }
        try result.get()
    }

    private func removeLeastRecent(_ count: Int, sparing: UInt32) {
        for _ in 0..<count {
            var number = index.leastRecent
            if number == sparing { number = index.entry(number)?.newer ?? 0 }
            remove(number)
            crashPoint(.evictionRemoved)
        }
        index.add(.evictions, UInt64(count))
    }

    /// Appends a frame without a value, applies what it says and commits it.
    func appendBare(
        _ kind: FrameKind, key: UnsafeRawBufferPointer,
        extensionBytes: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
        inNewSegment: Bool = false, apply: () -> Void
    ) throws(StorageError) {
        let now = cp_coarse_time()
        let content = FrameContent(
            kind: kind, sequence: nextSequence(), recency: index.stampsDrained, time: now, created: now,
            key: key,
            value: UnsafeRawBufferPointer(start: nil, count: 0), extensionBytes: extensionBytes)
        let location = try append(content, inNewSegment: inNewSegment)
        crashPoint(.bareFrameWritten)
        apply()
        crashPoint(.bareApplied)
        commit(location, bytes: content.frameBytes)
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
            crashPoint(.recencyUnlinked)
            fill(slot, content, frameBytes: frameBytes)
            index.setLocation(number, slot, location)
            index.linkAsMostRecent(number, slot)
        } else {
            index.beginStructureChange()
            // Room was reserved before the frame was written.
            let fresh = index.allocateEntry()
            crashPoint(.entryAllocated)
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
        crashPoint(.entryUnlinked)
        adjust(IndexLayout.valueBytesOffset, by: -Int(slot.valueBytes))
        adjust(IndexLayout.entryCountOffset, by: -1)
        adjustLive(slot.location, by: -Int(slot.frameBytes))
        index.freeEntry(number, slot)
        index.endStructureChange()
    }
}
