extension ArchiveEngine {
    /// Every live entry with its last access, including pending touches. Takes no lock. Excludes expired entries.
    func liveReferences() throws(StorageError) -> [EntryReference] { try liveReferences(allOf: nil) ?? [] }

    /// Every entry of a part, including expired ones; `nil` if there are more than `most`.
    func liveReferences(
        allOf part: LogAccount.Part?, most: Int = .max
    ) throws(StorageError) -> [EntryReference]? {
        try index.catchUp()
        return try undisturbed { () throws(StorageError) in try references(allOf: part, most: most) }
    }

    /// Bytes of memory that a check needs for each entry of a part.
    static let checkedBytes = 192

    /// About `most` of the most recent entries, unordered, found by the links of the order, so other entries cost nothing. An
    /// entry accessed during the walk may be missing; the caller soon replaces the list.
    func recentReferences(_ most: Int) throws(StorageError) -> [EntryReference] {
        try index.catchUp()
        let moment = ListMoment(self)
        let settled = index.head
        var references: [EntryReference] = []
        var (seen, places) = (Set<UInt32>(), Set<Location>())
        func take(_ number: UInt32, _ slot: SlotView) throws(StorageError) {
            guard seen.insert(number).inserted,
                let line = try line(number, slot, settled: settled, uses: moment.pending),
                places.insert(line.location).inserted,
                let reference = moment.reference(line)
            else { return }
            references.append(reference)
        }
        // The order doesn't include these touches yet.
        for number in moment.pending.numbers {
            if let slot = index.entry(number) { try take(number, slot) }
        }
        var number = index.recencyFirst
        // The order also contains tombstoned entries, and concurrent changes may make this walk circular.
        var steps = 20 * most
        while references.count < most + moment.pending.numbers.count, steps > 0,
            let slot = index.entry(number)
        {
            try take(number, slot)
            number = slot.older
            steps -= 1
        }
        return references
    }

    /// The result of a walk during which no undo restored entries. An undo takes instructions; a stopped one isn't waited for.
    func undisturbed<Result, Failure: Error>(_ walk: () throws(Failure) -> Result) throws(Failure) -> Result {
        // More undos in a row than a user can start.
        for _ in 0..<200 {
            let isStopped = isReturnStopped
            let returns = index.returns
            let result = try walk()
            if index.returns == returns, isStopped || returns & 1 == 0 { return result }
        }
        return try walk()
    }

    /// Whether an undo is in progress whose process was stopped; waits for a running one.
    var isReturnStopped: Bool {
        let returns = index.returns
        guard returns & 1 != 0 else { return false }
        let wait = WriterWait(index)
        while index.returns == returns { guard wait.goesOn() else { return true } }
        return false
    }

    private func references(
        allOf part: LogAccount.Part?, most: Int
    ) throws(StorageError) -> [EntryReference]? {
        let all = part != nil
        let renumberings = index.renumberings
        let isChanging = index.structureVersion & 1 != 0
        let moment = ListMoment(self)
        var references: [EntryReference] = []
        let present = min(index.entryCount, Int(index.usedEntries))
        let count = min(present, most)
        // The resulting list needs the same again, and a check some words more.
        let bytes = part == nil ? 96 : ArchiveEngine.checkedBytes
        try AddressPressure.requireRoom(for: count, of: present, bytesEach: bytes, in: folder.path)
        references.reserveCapacity(count)
        func take(_ line: EntryLine) {
            if let part, !part.contains(line.tag) || references.count > most { return }
            if let reference = moment.reference(line, evenAbsent: all) { references.append(reference) }
        }
        try forEachLine(uses: moment.pending) { take($0) }
        guard references.count <= most else { return nil }
        // An entry may have been deleted after its slot was read, stored again, and met in another slot; or it was renumbered
        // into a chunk read later, and was met twice or missed.
        var kept = 0
        var lost: Set<UInt32> = []
        for place in references.indices {
            let reference = references[place]
            guard let slot = index.entry(reference.number), slot.tag == reference.tag, slot.location != .none
            else {
                lost.insert(reference.tag)
                continue
            }
            references[kept] = reference
            kept += 1
        }
        references.removeLast(references.count - kept)
        guard isChanging || index.renumberings != renumberings else { return references }
        // During a renumbering, whose process may have been stopped, an entry is in two slots.
        var places: Set<Location> = []
        references.removeAll { !places.insert($0.location).inserted }
        // A renumbering may also have moved an entry to a slot that the walk had passed.
        var numbers = Set(references.map(\.number))
        for tag in lost {
            for number in index.table.liveEntries(ofTag: tag) where numbers.insert(number).inserted {
                guard let slot = index.entry(number),
                    let line = try line(number, slot, settled: .none, uses: moment.pending),
                    places.insert(line.location).inserted
                else { continue }
                take(line)
            }
        }
        return references
    }

    func line(
        _ number: UInt32, ofTag tag: UInt32, uses pending: PendingTouches? = nil
    ) throws(StorageError) -> EntryLine? {
        guard let slot = index.entry(number), slot.tag == tag,
            let line = try line(number, slot, settled: .none, uses: pending), line.tag == tag
        else { return nil }
        return line
    }

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
}

/// The moment at which a list is made, with the touches not yet applied to the slots.
private struct ListMoment {
    let pending: PendingTouches
    private let index: IndexView
    private let now: Int64
    private let wallOffset: Int64
    /// A bit for each slot of the process table whose process is alive; 0 if no process has ever held a value.
    private let living: UInt64

    init(_ engine: ArchiveEngine) {
        index = engine.index
        pending = index.touches.pending()
        now = Clock.boot()
        wallOffset = Clock.wallOffset()
        living = index.residency.isUsed ? engine.livingLines : 0
    }

    /// `nil` for an entry that has expired or that only an ended process's memory held, unless `evenAbsent`.
    @inline(__always)
    func reference(_ line: EntryLine, evenAbsent: Bool = false) -> EntryReference? {
        if line.deadline != Deadline.never, now >= line.deadline, !evenAbsent { return nil }
        let isHeld = living != 0 && index.residency[line.number] & living != 0
        guard !line.isMemoryOnly || isHeld || evenAbsent, let use = line.use else { return nil }
        return EntryReference(
            line, tier: line.isMemoryOnly ? .memory : isHeld ? .both : .disk,
            expiry: line.deadline == Deadline.never ? 0 : line.deadline.addingSaturating(wallOffset), use: use
        )
    }
}
