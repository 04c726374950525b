struct PutRequest {
    var value: UnsafeRawBufferPointer
    var encoding: ValueEncoding
    var keepsCreation = false
    var options = FrameOptions()

    func frameBytes(of key: UnsafeRawBufferPointer) -> Int {
        Frame.bytes(key: key.count, extension: options.bytes, value: value.count)
    }
}

extension ArchiveEngine {
    @inline(__always) func putFreeingSpace(
        _ request: PutRequest, key: UnsafeRawBufferPointer, tag: UInt32
    ) throws(StorageError) -> HeldEntry {
        try FullDisk(self).retrying(bytes: request.frameBytes(of: key)) { () throws(StorageError) in
            try put(request, key: key, tag: tag)
        }
    }

    /// Stores `value` as the entry of `key`, the most recent, and evicts entries until the limit is kept (S1, S3, S5). The frame
    /// names the evicted entries, so both happen or neither. One frame can name 8,127; if more are needed, the first may be
    /// evicted although the put fails. The key must be validated; `tag` is from its hash.
    @inline(__always) func put(
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
    @inline(never) func reject(_ key: UnsafeRawBufferPointer, tag: UInt32, bytes: Int, limit: UInt64)
        -> StorageError
    {
        reportRejection(key, tag: tag, bytes: bytes, .tooLarge)
        return .valueTooLarge(bytes: bytes, limit: limit, archive: name)
    }

    func reportRejection(_ key: UnsafeRawBufferPointer, tag: UInt32, bytes: Int, _ cause: EventCause) {
        index.add(.rejections)
        publish(.rejection, cause, tag: tag, bytes: bytes, key: key)
    }
}

extension ArchiveSection {
    @inline(__always) func put(
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
            key: key, value: value)
        if !request.options.isPlain {
            content.take(request.options, ownerTag: engine.ownerTag(request.options.owner))
        }
        var replaced: ChangingSlot?
        var replacedNumber: UInt32 = 0
        if let existing = try findToChange(key, tag: tag) {
            replaced = index.changing(existing.slot)
            replacedNumber = existing.number
            if request.keepsCreation, !engine.isExpired(existing) { content.created = existing.frame.created }
            engine.unpin(existing)
            // Each process has a separate memory-only entry of a key (S11).
            if existing.slot.isMemoryOnly, request.options.residentBytes != 0 {
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
            replaced != nil && bytes <= limit ?? .max && request.options.isPlain
            && index.touches.canBeDelayed(recency)
        if !isTouchPending {
            if let replaced { index.order.prefetchNeighbors(of: replaced) }
            index.touches.finish(recency)
        }
        let location: Location
        let number: UInt32
        let event: UInt64
        if bytes > limit ?? .max {
            let excess = bytes - Int(clamping: limit ?? .max)
            (location, number, event) = try putExtended(
                &content, request.options, tag, replaced: replacedNumber, excess: excess)
        } else if request.options.isPlain {
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
                &content, request.options, tag, replaced: replacedNumber, excess: 0)
        }
        index.addLocked(.records)
        index.events.publish(
            event, request.keepsCreation ? .update : .record, .request, tag: tag, bytes: value.count,
            location: location, pid: engine.pid, time: now, key: key)
        trace(content, tag: tag, isNew: replaced == nil)
        reclaim(forAppended: content.frameBytes)
        return HeldEntry(
            number: number, tag: tag, location: location, sequence: content.sequence,
            memoryInterval: request.options.memoryInterval)
    }

    /// Records a put of a sampled key, and adapts the sampling after one of a new key.
    @inline(__always) func trace(_ content: FrameContent, tag: UInt32, isNew: Bool) {
        if UInt64(tag) < index.sampleThreshold { traceSampled(content, tag, isNew) }
    }

    @inline(never) private func traceSampled(_ content: FrameContent, _ tag: UInt32, _ isNew: Bool) {
        let isInMemory = content.residentBytes != 0
        engine.traceSampled(
            isInMemory ? .memoryPut : .put, tag: tag, owner: content.ownerTag,
            bytes: isInMemory ? Int(clamping: content.residentBytes) : content.value.count,
            deadline: content.deadline)
        if isNew { index.adaptSampling() }
    }

    @inline(never) func putExtended(
        _ content: inout FrameContent, _ options: FrameOptions, _ tag: UInt32, replaced: UInt32, excess: Int
    ) throws(StorageError) -> (Location, UInt32, event: UInt64) {
        let entries = index.entryCount
        let victims = excess > 0 ? try chooseVictims(toFree: excess, sparing: replaced) : Victims()
        let count = victims.count
        var location = Location.none
        var number: UInt32 = 0
        var events: UInt64 = 0
        let size = options.bytes + FrameExtension.evictionBytes(count)
        try withExtension(bytes: size) { (writer) throws(StorageError) in
            options.write(to: &writer)
            name(victims, in: &writer)
            content.extensionBytes = writer.written
            content.sequence = nextSequence()
            location = try append(content)
            events = index.events.claim(count + 1)
            crashPoint(.putFrameWritten)
            remove(victims, time: content.time, events: events)
            number = applyPut(content, tag: tag, number: replaced, at: location)
            // Marked before the commit: no process may find the entry without a holder.
            if options.residentBytes != 0, let processSlot = engine.processSlot {
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

extension ArchiveEngine {
    /// Like ``putFreeingSpace(_:key:tag:)``, but only if operation `sequence` stored the present entry or, with `nil`, if the key
    /// is absent. Returns `nil` if nothing was stored. With `keepsOptions` it keeps expiry time, memory interval and owner. With
    /// `seesMemory` an entry in only this process's memory counts as present.
    func put(
        _ request: PutRequest, key: UnsafeRawBufferPointer, ifSequence sequence: UInt64?, keepsOptions: Bool,
        seesMemory: Bool
    ) throws(StorageError) -> HeldEntry? {
        let tag = try validTag(of: key)
        try admit(request, key: key, tag: tag)
        return try FullDisk(self).retrying(bytes: request.frameBytes(of: key)) { () throws(StorageError) in
            var request = request
            let section = try acquire()
            let present = try section.findToChange(key, tag: tag)
            defer { if let present { unpin(present) } }
            let found = try present.map { (present) throws(StorageError) in
                let isPassedOver = present.slot.isMemoryOnly && !seesMemory
                return isPassedOver ? nil : try presentSequence(of: present, key, tag: tag)
            }
            guard sequence == found ?? nil else { return nil }
            if keepsOptions, let present, sequence != nil {
                request.options = present.frame.options
                request.options.deadline = present.slot.deadline
            }
            return try section.put(request, key: key, tag: tag)
        }
    }

    /// Sequence of the operation that stored the entry this process finds. `nil` if it is expired or in another process's memory.
    func presentSequence(
        of entry: FoundEntry, _ key: UnsafeRawBufferPointer, tag: UInt32
    ) throws(StorageError) -> UInt64? {
        guard entry.slot.isMemoryOnly else {
            return (entry.standing ?? .valid) == .valid ? entry.frame.sequence : nil
        }
        guard let own = ownMemoryOnlyNumber(of: key, tag: tag), isPresent(own) else { return nil }
        return try sequence(of: own)
    }

    /// Replaces a value that `sequence` stored; keeps options, stamp and time of the last access. Drops nothing on a full disk.
    func rewrite(
        _ value: UnsafeRawBufferPointer, encoding: ValueEncoding, key: UnsafeRawBufferPointer,
        ifSequence sequence: UInt64
    ) throws(StorageError) -> Bool {
        let tag = try validTag(of: key)
        try admit(PutRequest(value: value, encoding: encoding), key: key, tag: tag)
        let section = try acquireDrained()
        guard let present = try section.findToChange(key, tag: tag) else { return false }
        defer { unpin(present) }
        guard !present.slot.isMemoryOnly, try presentSequence(of: present, key, tag: tag) == sequence
        else { return false }
        let slot = section.index.changing(present.slot)
        let limit = diskLimit ?? .max
        guard value.count <= limit else {
            throw reject(key, tag: tag, bytes: value.count, limit: limit)
        }
        var content = FrameContent(
            kind: .put, encoding: encoding, sequence: 0, recency: slot.recency, time: slot.accessed,
            created: present.frame.created, key: key, value: value)
        var options = present.frame.options
        options.deadline = slot.deadline
        if !options.isPlain { content.take(options, ownerTag: ownerTag(options.owner)) }
        let bytes = Int(index.valueBytes) - Int(slot.valueBytes) + value.count
        let (location, _, event) = try section.putExtended(
            &content, options, tag, replaced: present.number, excess: max(0, bytes - Int(clamping: limit)))
        section.index.addLocked(.records)
        index.events.publish(
            event, .update, .request, tag: tag, bytes: value.count, location: location, pid: pid,
            time: Clock.wall(), key: key)
        section.trace(content, tag: tag, isNew: false)
        section.reclaim(forAppended: content.frameBytes)
        return true
    }
}
