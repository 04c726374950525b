import CPlatform

/// The content of an entry's slot in the index, all from one version of the entry.
struct SlotContent {
    let number: UInt32
    let slot: SlotView
    /// The frame of that version: the slot's frame or, while a batch changes the entry, its previous frame.
    fileprivate(set) var location: Location
    let tag: UInt32
    /// Expiry time on the boot clock; `Deadline.never` if the entry has none.
    fileprivate(set) var deadline: Int64
    /// Size in bytes of the value or, for a memory-only entry, of the object in memory.
    fileprivate(set) var bytes: UInt32
    fileprivate(set) var isMemoryOnly: Bool
    /// Low bits of the hash of the owner's name; 0 for no owner.
    fileprivate(set) var owner: UInt32
    fileprivate(set) var use: LastUse?

    var expires: Timestamp? { Deadline.date(atBoot: deadline) }

    @inline(__always) fileprivate init(_ number: UInt32, _ slot: SlotView, _ location: Location) {
        self.number = number
        self.slot = slot
        self.location = location
        tag = slot.tag
        deadline = slot.deadline
        bytes = slot.shownBytes
        isMemoryOnly = slot.isMemoryOnly
        owner = slot.owner
    }
}

extension ArchiveEngine {
    /// The slot content of an entry that look-ups can find; `nil` if absent. Frames before `settled` belong to no unpublished
    /// batch: pass the log tail, read before the first of several entries. With `pending`, includes the last access.
    @inline(__always) func slotContent(
        _ number: UInt32, _ slot: SlotView, settled: Location, uses pending: PendingTouches? = nil
    ) throws(StorageError) -> SlotContent? {
        try slot.read { (named, isFilled) throws(StorageError) -> SlotContent? in
            guard !index.marks.isHidden(number, slot), !isDropped(named) else { return nil }
            var content = SlotContent(number, slot, named)
            if let pending { content.use = index.touches.lastUse(of: number, slot, pending) }
            // A batch is declared open before any slot names one of its frames.
            if isFilled, named < settled || index.batchOpen == .none { return content }
            return try finish(content, isFilled: isFilled, uses: pending)
        }
    }

    /// Completes the content of a slot that a batch or a put may be changing: the frame has it before the slot is filled.
    @inline(never) private func finish(
        _ known: SlotContent, isFilled: Bool, uses pending: PendingTouches?
    ) throws(StorageError) -> SlotContent? {
        var content = known
        // Read before the frame: until the batch is published, the slot's content belongs to the previous frame.
        cp_load_fence()
        guard let (pin, frame) = try log.pinnedFrame(at: content.location) else {
            return isFilled ? content : nil
        }
        defer { log.unpin(pin) }
        if frame.isInBatch {
            guard let standing = resolve(frame, at: content.location) else { return nil }
            if standing != content.location {
                content.location = standing
                return content
            }
        }
        guard !isFilled else { return content }
        let options = frame.options
        content.deadline = options.deadline
        content.isMemoryOnly = frame.kind == .resident
        content.bytes =
            content.isMemoryOnly
            ? UInt32(min(options.residentBytes, UInt64(Frame.maximumValueBytes))) : UInt32(frame.valueBytes)
        content.owner = ownerTag(options.owner)
        content.use = pending.map { index.touches.lastUse(of: content.number, frame, tag: content.tag, $0) }
        return content
    }

    /// Calls `body` with the entry of `key` and its slot content, both of one version. Includes expired and memory-only entries.
    func withSlotContent(
        of key: UnsafeRawBufferPointer, tag: UInt32, uses pending: PendingTouches? = nil,
        _ body: (FoundEntry, SlotContent) -> Void
    ) throws(StorageError) {
        for _ in 0..<ArchiveEngine.mostRetries {
            guard let entry = try find(key, tag: tag) else { return }
            unpin(entry)
            // The entry may have been stored again or removed since.
            guard let content = try slotContent(entry.number, entry.slot, settled: index.head, uses: pending),
                let present = try self.entry(with: content)
            else { continue }
            defer { unpin(present) }
            guard present.frame.key.elementsEqual(key) else { continue }
            try verify(present)
            return body(present, content)
        }
        throw changesTooFast
    }

    /// The frame of this version, with its segment pinned; `nil` if the frame has been reclaimed since.
    func entry(with content: SlotContent) throws(StorageError) -> FoundEntry? {
        guard let (pin, frame) = try log.pinnedFrame(at: content.location) else { return nil }
        return FoundEntry(
            number: content.number, slot: content.slot, location: content.location, frame: frame, pin: pin,
            standing: standing(
                of: content.number, until: content.deadline, isMemoryOnly: content.isMemoryOnly))
    }

    /// Like `withSlotContent`, for an entry that isn't expired. Among memory-only entries, prefers this process's own.
    func withPresentContent(
        of key: UnsafeRawBufferPointer, tag: UInt32, uses pending: PendingTouches? = nil,
        _ body: (FoundEntry, SlotContent) -> Void
    ) throws(StorageError) {
        var isElsewhere = false
        try withSlotContent(of: key, tag: tag, uses: pending) { entry, content in
            switch entry.standing {
            case nil, .valid: body(entry, content)
            default: isElsewhere = content.isMemoryOnly
            }
        }
        if isElsewhere { try withMemoryOnly(key, tag: tag, uses: pending, body) }
    }

    /// Calls `body` with each visible entry, chunks from last to first. A renumbering (``ArchiveSection/vacateLastChunk()``)
    /// moves entries to chunks visited later, so it may repeat an entry but hides none. With `ascending`, callers check for one.
    @inline(__always) func forEachEntry(
        uses pending: PendingTouches? = nil, ascending: Bool = false,
        _ body: (SlotContent) throws(StorageError) -> Void
    ) throws(StorageError) {
        let settled = index.head
        let used = index.usedEntries
        let size = UInt32(IndexLayout.chunkEntries)
        let chunks = (used + size - 1) / size
        for place in 0..<chunks {
            let first = (ascending ? place : chunks - 1 - place) * size
            for number in first..<min(used, first + size) {
                guard let slot = index.entry(number + 1) else { break }
                if let content = try slotContent(number + 1, slot, settled: settled, uses: pending) {
                    try body(content)
                }
            }
        }
    }

    /// The result of a walk during which no undo restored entries; repeats it otherwise. Doesn't wait for a stopped undo.
    func undisturbed<Result, Failure: Error>(_ walk: () throws(Failure) -> Result) throws(Failure) -> Result {
        // More undos in a row than a user can start.
        for _ in 0..<200 {
            let isStopped = isRestoreStopped
            let returns = index.returns
            let result = try walk()
            if index.returns == returns, isStopped || returns & 1 == 0 { return result }
        }
        return try walk()
    }

    /// Whether an undo is in progress whose process was stopped; waits for a running one.
    var isRestoreStopped: Bool {
        let returns = index.returns
        guard returns & 1 != 0 else { return false }
        let wait = WriterWait(index)
        while index.returns == returns { guard wait.shouldContinue() else { return true } }
        return false
    }

    func slotContent(
        _ number: UInt32, ofTag tag: UInt32, uses pending: PendingTouches? = nil
    ) throws(StorageError) -> SlotContent? {
        guard let slot = index.entry(number), slot.tag == tag,
            let content = try slotContent(number, slot, settled: .none, uses: pending), content.tag == tag
        else { return nil }
        return content
    }
}

extension ArchiveEngine {
    func withSoundFrame<Result>(
        at location: Location, _ body: (Frame) -> Result
    ) throws(StorageError) -> Result? {
        try withFrame(at: location, body) { frame, isSound in isSound() ? .meant : .damaged }
    }

    /// The frame of an entry with this tag. If the key has another hash, it throws for a damaged frame, and returns `nil` for
    /// another entry's.
    func withFrame<Result>(
        at location: Location, tag: UInt32, _ body: (Frame) -> Result
    ) throws(StorageError) -> Result? {
        try withFrame(at: location, body) { frame, isSound in
            if hash.tag(frame.key) == tag { return .meant }
            return isSound() ? .other : .damaged
        }
    }

    /// The frame of the entry; verifies owner and size, and with `wholly` the whole frame if it is at most a page.
    func withFrame<Result>(
        of content: SlotContent, wholly: Bool = false, _ body: (Frame) -> Result
    ) throws(StorageError) -> Result? {
        try withFrame(at: content.location, body) { frame, isSound in
            let hasKey = hash.tag(frame.key) == content.tag
            let isAsListed =
                hasKey && ownerTag(frame.owner) == content.owner
                && (content.isMemoryOnly || frame.valueBytes == Int(content.bytes))
            if isAsListed, !wholly || frame.bytes > 4096 { return .meant }
            return !isSound() ? .damaged : hasKey ? .meant : .other
        }
    }

    private enum FrameMatch { case meant, other, damaged }

    private func withFrame<Result>(
        at location: Location, _ body: (Frame) -> Result, match: (Frame, _ isSound: () -> Bool) -> FrameMatch
    ) throws(StorageError) -> Result? {
        guard let (pin, frame) = try log.pinnedFrame(at: location) else { return nil }
        defer { log.unpin(pin) }
        let seed = Frame.seed(segmentSeed: pin.seed, offset: location.offset)
        switch match(frame, { frame.passesChecksum(seed: seed) }) {
        case .meant: return body(frame)
        case .other: return nil
        case .damaged: throw log.damagedEntry(at: location)
        }
    }

    /// Calls `body` with the frame at a location; `nil` only if the log has no such frame.
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
        owner.isEmpty ? 0 : max(1, hash.tag(owner))
    }

    func content(of frame: Frame) -> FrameContent {
        var content = FrameContent(
            kind: .put, encoding: frame.encoding, sequence: frame.sequence, recency: frame.recency,
            time: frame.time, created: frame.created, key: frame.key, value: frame.value,
            extensionBytes: frame.extension)
        guard frame.extensionBytes > 0 else { return content }
        let options = frame.options
        content.take(options, ownerTag: ownerTag(options.owner))
        return content
    }
}
