import CPlatform

/// What an entry's line in the index says, all of one version of the entry.
struct EntryLine {
    let number: UInt32
    let slot: SlotView
    /// The frame of that version: the one that the line names, or, while a batch changes it, the one before.
    fileprivate(set) var location: Location
    let tag: UInt32
    /// On the boot clock; `Deadline.never`: none.
    fileprivate(set) var deadline: Int64
    /// The size of the value, or of what a process holds.
    fileprivate(set) var bytes: UInt32
    fileprivate(set) var isMemoryOnly: Bool
    /// Low bits of the hash of the owner's name; 0: none.
    fileprivate(set) var owner: UInt32
    /// `nil`: it wasn't asked for.
    fileprivate(set) var use: LastUse?

    var expires: Timestamp? {
        deadline == Deadline.never ? nil : Timestamp(microseconds: Clock.wall(atBoot: deadline))
    }

    @inline(__always)
    fileprivate init(_ number: UInt32, _ slot: SlotView, _ location: Location) {
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

/// Lines as those read them who have no lock.
extension ArchiveEngine {
    /// The line of an entry that look-ups find; `nil` where there is none. `settled`: below it no frame is a batch's that
    /// is not published; the log's end does, noted before the first of several lines. With `pending`, its last use too.
    @inline(__always)
    func line(
        _ number: UInt32, _ slot: SlotView, settled: Location, uses pending: PendingTouches? = nil
    ) throws(StorageError) -> EntryLine? {
        try slot.read { (named, isFilled) throws(StorageError) -> EntryLine? in
            guard !index.marks.isHidden(number, slot), !isGivenUp(named) else { return nil }
            var line = EntryLine(number, slot, named)
            if let pending { line.use = index.touches.lastUse(of: number, slot, pending) }
            // Who names the frames of a batch says before that it is open.
            if isFilled, named < settled || index.batchOpen == .none { return line }
            return try finish(line, isFilled: isFilled, uses: pending)
        }
    }

    /// A line that a batch or a put may be changing: what it stands for now, which its frame says until it is filled.
    @inline(never)
    private func finish(
        _ known: EntryLine, isFilled: Bool, uses pending: PendingTouches?
    ) throws(StorageError) -> EntryLine? {
        var line = known
        // Before the frame is asked: until the batch is published the line is still that of the frame before.
        cp_load_fence()
        guard let pin = try log.pinIfPresent(line.location.segment) else { return isFilled ? line : nil }
        defer { log.unpin(pin) }
        guard let frame = try log.frameIfPresent(pin, at: line.location.offset) else {
            return isFilled ? line : nil
        }
        if frame.isInBatch {
            guard let standing = resolve(frame, at: line.location) else { return nil }
            if standing != line.location {
                line.location = standing
                return line
            }
        }
        guard !isFilled else { return line }
        let traits = frame.traits
        line.deadline = traits.deadline
        line.isMemoryOnly = frame.kind == .resident
        line.bytes =
            line.isMemoryOnly
            ? UInt32(min(traits.residentBytes, UInt64(Frame.maximumValueBytes))) : UInt32(frame.valueBytes)
        line.owner = ownerTag(traits.owner)
        line.use = pending.map { index.touches.lastUse(of: line.number, frame, tag: line.tag, $0) }
        return line
    }

    /// Calls `body` with the entry of `key` and its line, both of one version, whatever others do meanwhile. Expired entries
    /// are among them, and such as only a memory holds.
    func withLine(
        of key: UnsafeRawBufferPointer, tag: UInt32, uses pending: PendingTouches? = nil,
        _ body: (FoundEntry, EntryLine) -> Void
    ) throws(StorageError) {
        for _ in 0..<ArchiveEngine.batchPatience {
            guard let entry = try find(key, tag: tag) else { return }
            letGo(entry)
            // It may have been stored anew since, or be gone.
            guard let line = try line(entry.number, entry.slot, settled: index.head, uses: pending),
                let present = try self.entry(on: line)
            else { continue }
            defer { letGo(present) }
            guard present.frame.key.elementsEqual(key) else { continue }
            try verify(present)
            return body(present, line)
        }
        throw changesTooFast
    }

    /// The frame of a line, pinned; `nil` where it has been reclaimed since.
    func entry(on line: EntryLine) throws(StorageError) -> FoundEntry? {
        guard let (pin, frame) = try log.pinnedFrame(at: line.location) else { return nil }
        return FoundEntry(
            number: line.number, slot: line.slot, location: line.location, frame: frame, pin: pin,
            standing: standing(of: line.number, until: line.deadline, isMemoryOnly: line.isMemoryOnly))
    }

    /// The same for an entry that has not expired; of those that only memories hold this process' own, or any.
    func withPresentLine(
        of key: UnsafeRawBufferPointer, tag: UInt32, uses pending: PendingTouches? = nil,
        _ body: (FoundEntry, EntryLine) -> Void
    ) throws(StorageError) {
        var isElsewhere = false
        try withLine(of: key, tag: tag, uses: pending) { entry, line in
            switch entry.standing {
            case nil, .valid: body(entry, line)
            default: isElsewhere = line.isMemoryOnly
            }
        }
        if isElsewhere { try withMemoryOnly(key, tag: tag, uses: pending, body) }
    }

    /// Calls `body` with the line of each entry that look-ups find; from the last chunk of the index to the first, in each
    /// from the first to the last. An entry that gets another number meanwhile gets one in a chunk that is yet to come, so
    /// none is missed; it may be met twice (``ArchiveSection/vacateLastChunk()``). `ascending`: the chunks the other way
    /// round, for whoever makes sure that no entry got another number.
    @inline(__always)
    func forEachLine(
        uses pending: PendingTouches? = nil, ascending: Bool = false,
        _ body: (EntryLine) throws(StorageError) -> Void
    ) throws(StorageError) {
        let settled = index.head
        let used = index.usedEntries
        let size = UInt32(IndexLayout.chunkEntries)
        let chunks = (used + size - 1) / size
        for place in 0..<chunks {
            let first = (ascending ? place : chunks - 1 - place) * size
            for number in first..<min(used, first + size) {
                guard let slot = index.entry(number + 1) else { break }
                if let line = try line(number + 1, slot, settled: settled, uses: pending) { try body(line) }
            }
        }
    }
}
