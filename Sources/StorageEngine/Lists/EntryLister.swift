/// Lists the entries of an archive without its lock.
struct EntryLister {
    let engine: ArchiveEngine

    /// Every live entry with its last access, including pending touches. Takes no lock. Excludes expired entries.
    func liveReferences() throws(StorageError) -> [EntryReference] { try liveReferences(allOf: nil) ?? [] }

    /// Every entry of a part, including expired ones; `nil` if there are more than `most`.
    func liveReferences(allOf part: TagRange?, most: Int = .max) throws(StorageError) -> [EntryReference]? {
        try engine.index.catchUp()
        return try engine.undisturbed { () throws(StorageError) in try references(allOf: part, most: most) }
    }

    /// Bytes of memory that a check needs for each entry of a part.
    static let checkedBytes = 192

    /// About `most` of the most recent entries, unordered, found by the links of the order, so other entries cost nothing. An
    /// entry accessed during the walk may be missing; the caller soon replaces the list. Under S3-FIFO, whose links have another
    /// order, all entries.
    func recentReferences(_ most: Int) throws(StorageError) -> [EntryReference] {
        guard engine.index.evictionPolicy == .lru else { return try liveReferences() }
        try engine.index.catchUp()
        let moment = ListMoment(engine)
        let settled = engine.index.head
        var references: [EntryReference] = []
        var (seen, places) = (Set<UInt32>(), Set<Location>())
        func take(_ number: UInt32, _ slot: SlotView) throws(StorageError) {
            guard seen.insert(number).inserted,
                let content = try engine.slotContent(number, slot, settled: settled, uses: moment.pending),
                places.insert(content.location).inserted,
                let reference = moment.reference(content)
            else { return }
            references.append(reference)
        }
        // The order doesn't include these touches yet.
        for number in moment.pending.numbers {
            if let slot = engine.index.entry(number) { try take(number, slot) }
        }
        var number = engine.index.newest(in: .main)
        // The order also contains tombstoned entries, and concurrent changes may make this walk circular.
        var steps = 20 * most
        while references.count < most + moment.pending.numbers.count, steps > 0,
            let slot = engine.index.entry(number)
        {
            try take(number, slot)
            number = slot.older
            steps -= 1
        }
        return references
    }

    private func references(allOf part: TagRange?, most: Int) throws(StorageError) -> [EntryReference]? {
        let all = part != nil
        let renumberings = engine.index.renumberings
        let isChanging = engine.index.structureVersion & 1 != 0
        let moment = ListMoment(engine)
        var references: [EntryReference] = []
        let present = min(engine.index.entryCount, Int(engine.index.usedEntries))
        let count = min(present, most)
        // The resulting list needs the same again, and a check some words more.
        let bytes = part == nil ? 96 : EntryLister.checkedBytes
        try AddressPressure.requireFree(for: count, of: present, bytesEach: bytes, in: engine.folder.path)
        references.reserveCapacity(count)
        func take(_ content: SlotContent) {
            if let part, !part.contains(content.tag) || references.count > most { return }
            if let reference = moment.reference(content, evenAbsent: all) { references.append(reference) }
        }
        try engine.forEachEntry(uses: moment.pending) { take($0) }
        guard references.count <= most else { return nil }
        // An entry may have been deleted after its slot was read, stored again, and found in another slot. Or it was renumbered
        // into a chunk read later, and was found twice or missed.
        var kept = 0
        var lost: Set<UInt32> = []
        for place in references.indices {
            let reference = references[place]
            guard let slot = engine.index.entry(reference.number), slot.tag == reference.tag,
                slot.location != .none
            else {
                lost.insert(reference.tag)
                continue
            }
            references[kept] = reference
            kept += 1
        }
        references.removeLast(references.count - kept)
        guard isChanging || engine.index.renumberings != renumberings else { return references }
        // During a renumbering, whose process may have been stopped, an entry is in two slots.
        var places: Set<Location> = []
        references.removeAll { !places.insert($0.location).inserted }
        // A renumbering may also have moved an entry to a slot that the walk had passed.
        var numbers = Set(references.map(\.number))
        for tag in lost {
            for number in engine.index.table.entries(ofTag: tag) where numbers.insert(number).inserted {
                guard let slot = engine.index.entry(number),
                    let content = try engine.slotContent(number, slot, settled: .none, uses: moment.pending),
                    places.insert(content.location).inserted
                else { continue }
                take(content)
            }
        }
        return references
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

    /// The listed entry; `nil` if it has expired or only an ended process's memory held it, unless `evenAbsent`.
    @inline(__always) func reference(_ content: SlotContent, evenAbsent: Bool = false) -> EntryReference? {
        if content.deadline != Deadline.never, now >= content.deadline, !evenAbsent { return nil }
        let isHeld = living != 0 && index.residency[content.number] & living != 0
        guard !content.isMemoryOnly || isHeld || evenAbsent, let use = content.use else { return nil }
        return EntryReference(
            content, tier: content.isMemoryOnly ? .memory : isHeld ? .both : .disk,
            expiry: content.deadline == Deadline.never ? 0 : content.deadline.addingSaturating(wallOffset),
            use: use
        )
    }
}
