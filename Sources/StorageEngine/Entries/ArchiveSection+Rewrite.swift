extension ArchiveEngine {
    /// Replaces a value that `sequence` stored; keeps options, stamp and time of the last access. Drops nothing on a full disk.
    func rewrite(
        _ value: UnsafeRawBufferPointer, encoding: ValueEncoding, key: UnsafeRawBufferPointer,
        ifSequence sequence: UInt64
    ) throws(StorageError) -> Bool {
        try ArchiveEngine.validate(key: key)
        let tag = UInt32(truncatingIfNeeded: hash(key))
        let request = PutRequest(value: value, encoding: encoding)
        try admit(request, key: key, tag: tag)
        return try acquire().rewrite(request, key: key, tag: tag, ifSequence: sequence)
    }
}

extension ArchiveSection {
    fileprivate func rewrite(
        _ request: PutRequest, key: UnsafeRawBufferPointer, tag: UInt32, ifSequence sequence: UInt64
    ) throws(StorageError) -> Bool {
        drainTouches()
        guard let present = try findToChange(key, tag: tag) else { return false }
        defer { engine.unpin(present) }
        guard !present.slot.isMemoryOnly, try engine.presentSequence(of: present, key, tag: tag) == sequence
        else { return false }
        let slot = index.changing(present.slot)
        let limit = engine.diskLimit ?? .max
        guard request.value.count <= limit else {
            throw engine.reject(key, tag: tag, bytes: request.value.count, limit: limit)
        }
        var content = FrameContent(
            kind: .put, encoding: request.encoding, sequence: 0, recency: slot.recency, time: slot.accessed,
            created: present.frame.created, key: key, value: request.value,
            extensionBytes: UnsafeRawBufferPointer(start: nil, count: 0))
        var traits = present.frame.traits
        traits.deadline = slot.deadline
        if !traits.isPlain { content.take(traits, ownerTag: engine.ownerTag(traits.owner)) }
        let bytes = Int(index.valueBytes) - Int(slot.valueBytes) + request.value.count
        let (location, _, event) = try putExtended(
            &content, traits, tag, replaced: present.number, excess: max(0, bytes - Int(clamping: limit)))
        index.addLocked(.records)
        index.publishEvent(
            event, .update, .request, tag: tag, bytes: request.value.count, location: location,
            pid: engine.pid, time: Clock.wall(), key: key)
        reclaim(forAppended: content.frameBytes)
        return true
    }
}
