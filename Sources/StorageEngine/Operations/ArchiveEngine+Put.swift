import CPlatform

/// What to store under a key.
struct PutRequest {
    var value: UnsafeRawBufferPointer
    var encoding: ValueEncoding
    /// An update: an entry that exists keeps its creation time.
    var keepsCreation = false
    var traits = EntryTraits()
}

extension ArchiveEngine {
    /// Stores `value` as the entry of `key` and makes it the most recent, evicting the least recent until
    /// the limit is kept (S1, S3, S5). The frame carries its evictions, so both happen or neither.
    /// The key was validated, and `tag` is of its hash.
    @inline(__always)
    func put(
        _ request: PutRequest, key: UnsafeRawBufferPointer, tag: UInt32
    ) throws(StorageError) -> HeldEntry {
        guard kind != .log else { throw .wrongKind(archive: name, kind: kind, operation: "put") }
        let value = request.value
        guard value.count <= Frame.maximumValueBytes else {
            throw reject(key, tag: tag, bytes: value.count, limit: UInt64(Frame.maximumValueBytes))
        }
        try acquire()
        defer { release() }
        let limit = diskLimit
        if let limit, value.count > limit {
            throw reject(key, tag: tag, bytes: value.count, limit: limit)
        }
        let recency = index.nextStamp()
        if let limit, valueBytes + UInt64(value.count) > limit { prefetchVictim() }
        index.prefetchEvents(2)
        let now = Clock.wall()
        var content = FrameContent(
            kind: .put, encoding: request.encoding, sequence: 0, recency: recency, time: now, created: now,
            key: key, value: value, extensionBytes: UnsafeRawBufferPointer(start: nil, count: 0))
        if !request.traits.isPlain { content.take(request.traits, ownerTag: ownerTag(request.traits.owner)) }
        var replaced: EntrySlot?
        var replacedNumber: UInt32 = 0
        if let existing = try findToChange(key, tag: tag) {
            replaced = existing.slot
            replacedNumber = existing.number
            if request.keepsCreation, !isExpired(existing) { content.created = existing.frame.created }
            letGo(existing)
            // Of a key that only memories hold, each process has an entry of its own (S11).
            if existing.slot.isMemoryOnly, request.traits.residentBytes != 0 {
                replacedNumber = ownMemoryOnlyNumber(of: key, tag: tag) ?? 0
                replaced = index.entry(replacedNumber)
                if replaced == nil { try index.reserveEntry() }
            }
        } else {
            try index.reserveEntry()
        }
        let replacedBytes = replaced.map { Int($0.valueBytes) } ?? 0
        let bytes = Int(valueBytes) - replacedBytes + value.count
        // Where nothing has to go and nothing comes, the order can wait.
        let isTouchPending =
            replaced != nil && bytes <= limit ?? .max && request.traits.isPlain && index.mayWait(recency)
        if !isTouchPending {
            if let replaced { index.prefetchNeighbours(of: replaced) }
            index.finish(recency)
        }
        let location: Location
        let number: UInt32
        let event: UInt64
        if bytes > limit ?? .max {
            let excess = bytes - Int(clamping: limit ?? .max)
            (location, number, event) = try putExtended(
                &content, request.traits, tag, replaced: replacedNumber, excess: excess)
        } else if request.traits.isPlain {
            content.sequence = nextSequence()
            location = try append(content)
            event = index.claimEvents(1)
            crashPoint(.putFrameWritten)
            number = applyPut(
                content, tag: tag, number: replacedNumber, at: location, isTouchPending: isTouchPending)
            crashPoint(.putIndexChanged)
            commit(location, bytes: content.frameBytes)
            crashPoint(.putCommitted)
        } else {
            (location, number, event) = try putExtended(
                &content, request.traits, tag, replaced: replacedNumber, excess: 0)
        }
        index.addLocked(.records)
        index.publishEvent(
            event, request.keepsCreation ? .update : .record, .request, tag: tag, bytes: value.count,
            location: location, pid: pid, time: now, key: key)
        reclaim(forAppended: content.frameBytes)
        return HeldEntry(
            number: number, tag: tag, location: location, sequence: content.sequence,
            memoryInterval: request.traits.memoryInterval)
    }

    /// As ``put(_:key:tag:)``, and gives up what can be given up on a full disk.
    @inline(__always)
    func putMakingRoom(
        _ request: PutRequest, key: UnsafeRawBufferPointer, tag: UInt32
    ) throws(StorageError) -> HeldEntry {
        do throws(StorageError) {
            return try put(request, key: key, tag: tag)
        } catch {
            guard case .noSpace = error, try makeRoom() else { throw error }
            return try put(request, key: key, tag: tag)
        }
    }

    /// Counts a refusal and says why (S4).
    @inline(never)
    private func reject(_ key: UnsafeRawBufferPointer, tag: UInt32, bytes: Int, limit: UInt64) -> StorageError
    {
        noteRejection(key, tag: tag, bytes: bytes, .tooLarge)
        return .valueTooLarge(bytes: bytes, limit: limit, archive: name)
    }

    func noteRejection(_ key: UnsafeRawBufferPointer, tag: UInt32, bytes: Int, _ cause: EventCause) {
        index.add(.rejections)
        noteEvent(.rejection, cause, key, tag: tag, bytes: bytes)
    }

    /// An event that is about no frame.
    func noteEvent(
        _ kind: EventKind, _ cause: EventCause, _ key: UnsafeRawBufferPointer, tag: UInt32, bytes: Int
    ) {
        index.note(
            kind, cause, tag: tag, bytes: bytes, location: .none, pid: pid, time: Clock.wall(), key: key)
    }

    /// What the index keeps of an owner's name; 0 for none.
    func ownerTag(_ owner: UnsafeRawBufferPointer) -> UInt32 {
        owner.isEmpty ? 0 : max(1, UInt32(truncatingIfNeeded: hash(owner)))
    }

    /// Lets the lines come that an eviction will change, while the key is being looked up.
    @inline(__always)
    private func prefetchVictim() {
        guard let victim = index.entry(index.leastRecent) else { return }
        if let bucket = index.bucket(of: victim.tag) { cp_prefetch(bucket.base) }
        if let next = index.entry(victim.newer) { cp_prefetch(next.base) }
    }

    /// Stores a frame that has an extension: traits, or evictions that free `excess` bytes.
    @inline(never)
    private func putExtended(
        _ content: inout FrameContent, _ traits: EntryTraits, _ tag: UInt32, replaced: UInt32, excess: Int
    ) throws(StorageError) -> (Location, UInt32, event: UInt64) {
        let count = excess > 0 ? try evictAllButLast(toFree: excess, sparing: replaced) : 0
        var location = Location.none
        var number: UInt32 = 0
        var events: UInt64 = 0
        let size = traits.bytes + FrameExtension.evictionBytes(count)
        try withExtension(bytes: size) { (writer) throws(StorageError) in
            traits.write(to: &writer)
            nameLeastRecent(count, sparing: replaced, in: &writer)
            content.extensionBytes = writer.written
            content.sequence = nextSequence()
            location = try append(content)
            events = index.claimEvents(count + 1)
            removeLeastRecent(count, sparing: replaced, time: content.time, events: events)
            number = applyPut(content, tag: tag, number: replaced, at: location)
            // Before it is the archive's: nobody may find an entry that no process seems to hold.
            if traits.residentBytes != 0, let processSlot {
                index.residency.mark(number, line: processSlot.line)
            }
            commit(location, bytes: content.frameBytes)
        }
        if count > 1 { compactIfSparse() }
        return (location, number, events &+ UInt64(count))
    }

    // MARK: Evicting

    /// Evicts the least recent entries until the values fit into `limit`; returns how many. Needs the lock.
    @discardableResult
    func evict(downTo limit: UInt64) throws(StorageError) -> Int {
        guard valueBytes > limit else { return 0 }
        let before = entryCount
        let count = try evictAllButLast(toFree: Int(valueBytes - limit), sparing: 0)
        try evict(count, sparing: 0)
        return before - entryCount
    }

    /// The next entry to evict, from `number` on. What only a process' memory holds takes no room on disk.
    @inline(__always)
    private func victim(from number: UInt32, sparing: UInt32) -> UInt32 {
        guard let slot = index.entry(number), number == sparing || slot.isMemoryOnly else { return number }
        var number = slot.newer
        var steps = 0
        while let slot = index.entry(number), number == sparing || slot.isMemoryOnly, steps <= entryCount {
            number = slot.newer
            steps += 1
        }
        return number
    }

    /// How many of the least recent entries make up at least `bytes`, as far as one frame can name them; what
    /// is more is evicted here, in frames of its own.
    private func evictAllButLast(toFree bytes: Int, sparing: UInt32) throws(StorageError) -> Int {
        var count = 0
        var freed = 0
        var number = index.leastRecent
        var steps = 0
        while freed < bytes, let slot = index.entry(victim(from: number, sparing: sparing)),
            steps <= entryCount
        {
            steps += 1
            number = slot.newer
            count += 1
            freed += Int(slot.valueBytes)
            if count == FrameExtension.maximumEvictions {
                try evict(count, sparing: sparing)
                count = 0
                number = index.leastRecent
                steps = 0
            }
        }
        guard freed >= bytes else {
            // The totals or the list are not what they were: nothing may be evicted for them.
            index.declareDamaged()
            throw .corrupted(
                path: folder.path + "/" + ArchiveOpening.indexName, offset: IndexLayout.valueBytesOffset,
                reason: "it counts more than it lists; it is built anew when all have closed the archive")
        }
        return count
    }

    private func evict(_ count: Int, sparing: UInt32) throws(StorageError) {
        guard count > 0 else { return }
        try withExtension(bytes: FrameExtension.evictionBytes(count)) { (writer) throws(StorageError) in
            nameLeastRecent(count, sparing: sparing, in: &writer)
            try appendBare(.evict, extensionBytes: writer.written) { _, time in
                removeLeastRecent(
                    count, sparing: sparing, time: time, events: index.claimEvents(count))
            }
        }
    }

    /// Calls `body` with room for an extension of `bytes`.
    @inline(__always)
    func withExtension(
        bytes: Int, _ body: (inout ExtensionWriter) throws(StorageError) -> Void
    ) throws(StorageError) {
        let result = withUnsafeTemporaryAllocation(byteCount: bytes, alignment: 8) { buffer in
            var writer = ExtensionWriter(buffer)
            return Result { () throws(StorageError) in try body(&writer) }
        }
        try result.get()
    }

    /// Names the locations of the `count` least recent entries.
    private func nameLeastRecent(_ count: Int, sparing: UInt32, in writer: inout ExtensionWriter) {
        guard let bytes = writer.part(.evictions, bytes: 8 * count) else { return }
        var number = index.leastRecent
        var written = 0
        while written < count, let slot = index.entry(victim(from: number, sparing: sparing)) {
            bytes.storeBytes(of: slot.location.raw, toByteOffset: 8 * written, as: UInt64.self)
            written += 1
            number = slot.newer
        }
    }

    /// Takes the `count` least recent entries out of the index; `events` is the first of as many claimed numbers.
    private func removeLeastRecent(_ count: Int, sparing: UInt32, time: Int64, events: UInt64) {
        for place in 0..<count {
            let number = victim(from: index.leastRecent, sparing: sparing)
            guard let slot = index.entry(number) else { break }
            index.publishEvent(
                events &+ UInt64(place), .eviction, .limit, tag: slot.tag, bytes: Int(slot.valueBytes),
                location: slot.location,
                pid: pid, time: time)
            remove(number)
            crashPoint(.evictionRemoved)
        }
        index.addLocked(.evictions, UInt64(count))
    }

    /// Appends a frame without a value, applies what it says and commits it. `apply` gets its place and time.
    func appendBare(
        _ kind: FrameKind, key: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
        extensionBytes: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
        inNewSegment: Bool = false, apply: (_ location: Location, _ time: Int64) -> Void
    ) throws(StorageError) {
        let now = Clock.wall()
        let content = FrameContent(
            kind: kind, sequence: nextSequence(), recency: index.stampsDrained, time: now, created: now,
            key: key,
            value: UnsafeRawBufferPointer(start: nil, count: 0), extensionBytes: extensionBytes)
        let location = try append(content, inNewSegment: inNewSegment)
        crashPoint(.bareFrameWritten)
        apply(location, now)
        crashPoint(.bareApplied)
        commit(location, bytes: content.frameBytes)
    }

    // MARK: Applying to the index. Both need the lock; both are also what a replay of the log does.

    /// Makes the frame at `location` the entry of its key; `number` is its present entry, or 0. Returns its number.
    /// With `isTouchPending` its place in the order is left to whoever applies the pending touches.
    @discardableResult
    @inline(__always)
    func applyPut(
        _ content: FrameContent, tag: UInt32, number: UInt32, at location: Location,
        isTouchPending: Bool = false
    ) -> UInt32 {
        let frameBytes = content.frameBytes
        var number = number
        if let slot = index.entry(number) {
            if slot.isMemoryOnly, content.residentBytes == 0 {
                // What is on disk supersedes what any process has of its own. Before the entry is changed: repeated
                // after a death amid it, this finds what is left to be done.
                removeMemoryOnly(of: content.key, tag: tag, sparing: number)
            }
            adjust(IndexLayout.valueBytesOffset, by: content.value.count - Int(slot.valueBytes))
            adjustLive(slot.location, by: -Int(slot.frameBytes))
            fill(slot, content, frameBytes: frameBytes)
            index.setLocation(number, slot, location)
            index.forgetResidency(number)
            if isTouchPending {
                index.noteStored(number, tag: tag, stamp: content.recency, time: content.time)
            } else {
                index.unlinkFromRecency(number, slot)
                crashPoint(.recencyUnlinked)
                slot.recency = content.recency
                index.linkAsMostRecent(number, slot)
            }
        } else {
            index.beginStructureChange()
            // Room was reserved before the frame was written.
            number = index.allocateEntry()
            crashPoint(.entryAllocated)
            if let slot = index.entry(number) {
                fill(slot, content, frameBytes: frameBytes)
                slot.recency = content.recency
                slot.tag = tag
                slot.location = location
                index.forgetResidency(number)
                index.insertIntoBucket(number, slot)
                index.linkAsMostRecent(number, slot)
                adjust(IndexLayout.valueBytesOffset, by: content.value.count)
                adjust(IndexLayout.entryCountOffset, by: 1)
            }
            index.endStructureChange()
        }
        adjustLive(location, by: frameBytes)
        return number
    }

    @inline(__always)
    func fill(_ slot: EntrySlot, _ content: FrameContent, frameBytes: Int) {
        slot.valueBytes = UInt32(content.value.count)
        slot.frameBytes = UInt32(frameBytes)
        slot.accessed = content.time
        slot.deadline = content.deadline
        slot.owner = content.ownerTag
        slot.hits = 0
        if content.deadline != Deadline.never { index.expect(content.deadline) }
        if content.residentBytes != 0 { slot.setMemoryOnly(bytes: content.residentBytes) }
    }

    /// Takes an entry out of the index.
    @inline(__always)
    func remove(_ number: UInt32) {
        guard let slot = index.entry(number), slot.isLive else { return }
        if !slot.isPlausible { index.declareDamaged() }
        index.beginStructureChange()
        index.removeFromBucket(number, slot)
        index.unlinkFromRecency(number, slot)
        index.forgetResidency(number)
        crashPoint(.entryUnlinked)
        adjust(IndexLayout.valueBytesOffset, by: -Int(slot.valueBytes))
        adjust(IndexLayout.entryCountOffset, by: -1)
        adjustLive(slot.location, by: -Int(slot.frameBytes))
        index.freeEntry(number, slot)
        index.endStructureChange()
    }
}
