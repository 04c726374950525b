import CPlatform

struct PutRequest {
    var value: UnsafeRawBufferPointer
    var encoding: ValueEncoding
    var keepsCreation = false
    var traits = EntryTraits()
}

extension ArchiveEngine {
    @inline(__always)
    func putMakingRoom(
        _ request: PutRequest, key: UnsafeRawBufferPointer, tag: UInt32
    ) throws(StorageError) -> HeldEntry {
        do throws(StorageError) {
            return try put(request, key: key, tag: tag)
        } catch {
            guard case .noSpace = error else { throw error }
            let bytes = Frame.bytes(
                key: key.count, extension: request.traits.bytes, value: request.value.count)
            return try makingRoom(for: bytes, refusal: error) { () throws(StorageError) in
                try put(request, key: key, tag: tag)
            }
        }
    }

    /// Stores `value` as the entry of `key`, the most recent, and evicts entries until the limit is kept (S1, S3, S5). The frame
    /// names the evicted entries, so both happen or neither. One frame can name 8,127; if more are needed, the first may be
    /// evicted although the put fails. The key must be validated; `tag` is from its hash.
    @inline(__always)
    func put(
        _ request: PutRequest, key: UnsafeRawBufferPointer, tag: UInt32
    ) throws(StorageError) -> HeldEntry {
        try admit(request, key: key, tag: tag)
        prefetch(tag)
        let section = try acquire()
        return try section.put(request, key: key, tag: tag)
    }

    @inline(__always)
    func admit(_ request: PutRequest, key: UnsafeRawBufferPointer, tag: UInt32) throws(StorageError) {
        try requireEntries(to: "put")
        let bytes = request.value.count
        guard bytes <= Frame.maximumValueBytes else {
            throw reject(key, tag: tag, bytes: bytes, limit: UInt64(Frame.maximumValueBytes))
        }
    }

    /// Counts and publishes a rejection, and returns its error (S4).
    @inline(never)
    func reject(_ key: UnsafeRawBufferPointer, tag: UInt32, bytes: Int, limit: UInt64)
        -> StorageError
    {
        reportRejection(key, tag: tag, bytes: bytes, .tooLarge)
        return .valueTooLarge(bytes: bytes, limit: limit, archive: name)
    }

    func reportRejection(_ key: UnsafeRawBufferPointer, tag: UInt32, bytes: Int, _ cause: EventCause) {
        index.add(.rejections)
        publishEvent(.rejection, cause, key, tag: tag, bytes: bytes)
    }

    func publishEvent(
        _ kind: EventKind, _ cause: EventCause, _ key: UnsafeRawBufferPointer, tag: UInt32, bytes: Int
    ) {
        index.publish(
            kind, cause, tag: tag, bytes: bytes, location: .none, pid: pid, time: Clock.wall(), key: key)
    }
}

extension ArchiveSection {
    @inline(__always)
    func put(
        _ request: PutRequest, key: UnsafeRawBufferPointer, tag: UInt32
    ) throws(StorageError) -> HeldEntry {
        let value = request.value
        let limit = engine.diskLimit
        if let limit, value.count > limit {
            throw engine.reject(key, tag: tag, bytes: value.count, limit: limit)
        }
        let recency = index.touches.nextStamp()
        if let limit, index.valueBytes + UInt64(value.count) > limit { index.order.prefetchVictim() }
        index.events.prefetch(2)
        let now = Clock.wall()
        var content = FrameContent(
            kind: .put, encoding: request.encoding, sequence: 0, recency: recency, time: now, created: now,
            key: key, value: value, extensionBytes: UnsafeRawBufferPointer(start: nil, count: 0))
        if !request.traits.isPlain {
            content.take(request.traits, ownerTag: engine.ownerTag(request.traits.owner))
        }
        var replaced: ChangingSlot?
        var replacedNumber: UInt32 = 0
        if let existing = try findToChange(key, tag: tag) {
            replaced = index.changing(existing.slot)
            replacedNumber = existing.number
            if request.keepsCreation, !engine.isExpired(existing) { content.created = existing.frame.created }
            engine.unpin(existing)
            // Each process has a separate memory-only entry of a key (S11).
            if existing.slot.isMemoryOnly, request.traits.residentBytes != 0 {
                replacedNumber = engine.ownMemoryOnlyNumber(of: key, tag: tag) ?? 0
                replaced = index.entry(replacedNumber)
                if replaced == nil { try index.numbers.reserve() }
            }
        } else {
            try index.numbers.reserve()
        }
        let replacedBytes = replaced.map { Int($0.valueBytes) } ?? 0
        let bytes = Int(index.valueBytes) - replacedBytes + value.count
        // If the put evicts nothing and its key has an entry, the order of recency can be updated later.
        let isTouchPending =
            replaced != nil && bytes <= limit ?? .max && request.traits.isPlain
            && index.touches.mayWait(recency)
        if !isTouchPending {
            if let replaced { index.order.prefetchNeighbours(of: replaced) }
            index.touches.finish(recency)
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
            event = index.events.claim(1)
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
            location: location, pid: engine.pid, time: now, key: key)
        reclaim(forAppended: content.frameBytes)
        return HeldEntry(
            number: number, tag: tag, location: location, sequence: content.sequence,
            memoryInterval: request.traits.memoryInterval)
    }

    @inline(never)
    func putExtended(
        _ content: inout FrameContent, _ traits: EntryTraits, _ tag: UInt32, replaced: UInt32, excess: Int
    ) throws(StorageError) -> (Location, UInt32, event: UInt64) {
        let entries = index.entryCount
        let count = excess > 0 ? try countVictims(toFree: excess, sparing: replaced) : 0
        var location = Location.none
        var number: UInt32 = 0
        var events: UInt64 = 0
        let size = traits.bytes + FrameExtension.evictionBytes(count)
        try withExtension(bytes: size) { (writer) throws(StorageError) in
            traits.write(to: &writer)
            nameVictims(count, sparing: replaced, in: &writer)
            content.extensionBytes = writer.written
            content.sequence = nextSequence()
            location = try append(content)
            events = index.events.claim(count + 1)
            crashPoint(.putFrameWritten)
            removeVictims(count, sparing: replaced, time: content.time, events: events)
            number = applyPut(content, tag: tag, number: replaced, at: location)
            // Marked before the commit: no process may find the entry without a holder.
            if traits.residentBytes != 0, let processSlot = engine.processSlot {
                index.residency.mark(number, line: processSlot.line)
            }
            crashPoint(.putIndexChanged)
            commit(location, bytes: content.frameBytes)
            crashPoint(.putCommitted)
        }
        if count > 1 { compactIfSparse(removed: max(count, entries - index.entryCount)) }
        return (location, number, events &+ UInt64(count))
    }
}
