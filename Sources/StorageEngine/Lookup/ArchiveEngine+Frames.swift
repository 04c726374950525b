extension ArchiveEngine {
    func withSoundFrame<Result>(
        at location: Location, _ body: (Frame) -> Result
    ) throws(StorageError) -> Result? {
        try withFrame(at: location, body) { frame, isSound in isSound() ? .meant : .damaged }
    }

    /// The frame of an entry with this tag. A key with another hash is damaged, which throws, or another entry's (`nil`).
    func withFrame<Result>(
        at location: Location, tag: UInt32, _ body: (Frame) -> Result
    ) throws(StorageError) -> Result? {
        try withFrame(at: location, body) { frame, isSound in
            if UInt32(truncatingIfNeeded: hash(frame.key)) == tag { return .meant }
            return isSound() ? .other : .damaged
        }
    }

    /// The frame of a line's entry; verifies owner and size, and with `wholly` the whole frame if it is at most a page.
    func withFrame<Result>(
        of line: EntryLine, wholly: Bool = false, _ body: (Frame) -> Result
    ) throws(StorageError) -> Result? {
        try withFrame(at: line.location, body) { frame, isSound in
            let hasKey = UInt32(truncatingIfNeeded: hash(frame.key)) == line.tag
            let isAsListed =
                hasKey && ownerTag(frame.owner) == line.owner
                && (line.isMemoryOnly || frame.valueBytes == Int(line.bytes))
            if isAsListed, !wholly || frame.bytes > 4096 { return .meant }
            return !isSound() ? .damaged : hasKey ? .meant : .other
        }
    }

    private enum Judgement { case meant, other, damaged }

    private func withFrame<Result>(
        at location: Location, _ body: (Frame) -> Result, judge: (Frame, _ isSound: () -> Bool) -> Judgement
    ) throws(StorageError) -> Result? {
        guard let pin = try log.pinIfPresent(location.segment) else { return nil }
        defer { log.unpin(pin) }
        guard let frame = try log.frameIfPresent(pin, at: location.offset) else { return nil }
        let seed = Frame.seed(segmentSeed: pin.seed, offset: location.offset)
        switch judge(frame, { frame.passesChecksum(seed: seed) }) {
        case .meant: return body(frame)
        case .other: return nil
        case .damaged: throw log.damagedEntry(at: location)
        }
    }

    /// `nil` only if the log has no such frame.
    func withFrameIfPresent<Result>(at location: Location, _ body: (Frame) -> Result) throws(StorageError)
        -> Result?
    {
        guard let pin = try log.pinIfPresent(location.segment) else { return nil }
        defer { log.unpin(pin) }
        return try log.frameIfPresent(pin, at: location.offset).map(body)
    }

    /// Like ``withFrameIfPresent(at:_:)``, but `nil` also if the frame can't be read now.
    func withFrame<Result>(at location: Location, _ body: (Frame) -> Result) -> Result? {
        guard let pin = log.pin(location.segment) else { return nil }
        defer { log.unpin(pin) }
        return log.frame(pin, at: location.offset).map(body)
    }

    /// The index's hash of an owner's name; 0 for no owner.
    func ownerTag(_ owner: UnsafeRawBufferPointer) -> UInt32 {
        owner.isEmpty ? 0 : max(1, UInt32(truncatingIfNeeded: hash(owner)))
    }

    func content(of frame: Frame) -> FrameContent {
        var content = FrameContent(
            kind: .put, encoding: frame.encoding, sequence: frame.sequence, recency: frame.recency,
            time: frame.time, created: frame.created, key: frame.key, value: frame.value,
            extensionBytes: frame.extension)
        guard frame.extensionBytes > 0 else { return content }
        let traits = frame.traits
        content.take(traits, ownerTag: ownerTag(traits.owner))
        return content
    }
}
