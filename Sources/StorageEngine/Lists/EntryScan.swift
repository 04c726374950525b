/// One walk over the entries of an archive. Takes no lock and records no access (F6). For one thread; threads that share the work
/// have a ``duplicate()`` each, for other items of the snapshot. Only shared state is guarded (``ScanRenumberings``).
///
/// The walk begins with a snapshot of each live entry's location, number and tag, 16 bytes, and reads each through its slot:
///
/// - An entry that isn't changed is visited once. If reclaiming has moved it, its slot names the new location (F7).
/// - An entry that was stored again is visited once, in its present version. Its value, size and times belong
/// together, except that an access between two reads shows.
/// - An entry that was deleted, evicted, tombstoned or has expired is skipped (S8, S9), and so is one whose slot was
/// reused, which its tag shows. Entries added since the snapshot are not visited.
package final class EntryScan {
    private let engine: ArchiveEngine
    // Copies of the engine's fields, because both are read several times for each entry.
    private let index: IndexView
    private let log: SegmentLog
    private let items: [ScanItem]
    package let order: ScanOrder
    /// The next item. All state that changes with each entry is private, because run-time exclusivity checks would cost as much.
    private var next = 0
    /// The end of the walk: behind the last item, unless set.
    private var end: Int
    private var now = Clock.boot()
    /// Converts an expiry time to the wall clock by addition.
    private let wallOffset = Clock.wallOffset()
    private lazy var living = engine.livingLines
    private lazy var pending = index.touches.pending()

    private let renumbered: ScanRenumberings

    // The visited entry. `frame` is valid while `pin` is held.
    private var content: SlotContent?
    private var pin: SegmentLog.Pin?
    private var frame: Frame?

    private init(engine: ArchiveEngine, items: [ScanItem], order: ScanOrder, renumbered: ScanRenumberings) {
        self.engine = engine
        self.renumbered = renumbered
        index = engine.index
        log = engine.log
        self.items = items
        self.order = order
        end = items.count
    }

    deinit { if let pin { log.unpin(pin) } }

    convenience init(engine: ArchiveEngine, order: ScanOrder) throws(StorageError) {
        try engine.index.catchUp()
        let renumberings = engine.index.renumberings
        // Includes all or none of the entries that an undo restores during the walk.
        let items = try engine.undisturbed { () throws(StorageError) in
            try EntryScan.collect(at: engine, order)
        }
        self.init(
            engine: engine, items: items, order: order,
            renumbered: ScanRenumberings(before: renumberings, items: items))
    }

    /// The entries of these keys only, most recent first, each once.
    convenience init(engine: ArchiveEngine, keys: [String]) throws(StorageError) {
        var items: [ScanItem] = []
        var stamps: [UInt64] = []
        let renumberings = engine.index.renumberings
        let pending = engine.index.touches.pending()
        for key in keys {
            try withBytes(of: key) { (key) throws(StorageError) in
                guard key.count > 0, key.count <= Frame.maximumKeyBytes else { return }
                let tag = engine.hash.tag(key)
                guard let entry = try engine.find(key, tag: tag) else { return }
                defer { engine.unpin(entry) }
                let item = ScanItem(location: entry.location, number: entry.number, tag: tag)
                guard !items.contains(where: { $0.number == item.number }) else { return }
                items.append(item)
                stamps.append(engine.index.touches.lastUse(of: entry.number, entry.slot, pending).recency)
            }
        }
        items = items.sorted(byDescending: stamps)
        self.init(
            engine: engine, items: items, order: .recency,
            renumbered: ScanRenumberings(before: renumberings, items: items))
    }

    /// Number of attempts to read an entry that was moved during the read.
    private static let mostAttempts = 200

    private static func collect(at engine: ArchiveEngine, _ order: ScanOrder) throws(StorageError)
        -> [ScanItem]
    {
        let index = engine.index
        let renumberings = index.renumberings
        let isChanging = index.structureVersion & 1 != 0
        if order == .location, !isChanging {
            let items = try collect(at: engine, order, ascending: true)
            if index.renumberings == renumberings { return items }
        }
        let items = try collect(at: engine, order, ascending: false)
        guard isChanging || index.renumberings != renumberings else { return items }
        var seen: Set<Location> = []
        return items.filter { seen.insert($0.location).inserted }
    }

    private static func collect(
        at engine: ArchiveEngine, _ order: ScanOrder, ascending: Bool
    ) throws(StorageError) -> [ScanItem] {
        // Reads two thousand cells, which only this order needs.
        let pending = order == .recency ? engine.index.touches.pending() : nil
        var items: [ScanItem] = []
        var stamps: [UInt64] = []
        let count = min(engine.index.entryCount, Int(engine.index.usedEntries))
        // Memory for the items with their stamps, and for sorting them.
        try AddressPressure.requireFree(for: count, bytesEach: 64, in: engine.folder.path)
        items.reserveCapacity(count)
        if order == .recency { stamps.reserveCapacity(count) }
        try engine.forEachEntry(uses: pending, ascending: ascending) { content in
            items.append(ScanItem(location: content.location, number: content.number, tag: content.tag))
            if let use = content.use { stamps.append(use.recency) }
        }
        switch order {
        case .location: return items.groupedBySegment()
        case .recency: return items.sorted(byDescending: stamps)
        }
    }

    /// Another walk over the same snapshot, for another thread. Items that both visit count twice.
    package func duplicate() -> EntryScan {
        EntryScan(engine: engine, items: items, order: order, renumbered: renumbered)
    }

    /// Continues with these items of the snapshot, and ends after them. The range is clamped.
    package func move(to range: Range<Int>) {
        let range = range.clamped(to: 0..<items.count)
        (next, end, content, frame) = (range.lowerBound, range.upperBound, nil, nil)
    }

    package var visited: Int { next }

    package var count: Int { items.count }
    /// Advances to the next existing entry; `false` at the end. Throws if a changing slot names bytes that can't be mapped now.
    package func advance() throws(StorageError) -> Bool {
        frame = nil
        while next < end {
            let item = items[next]
            next += 1
            if next & 255 == 0 { now = Clock.boot() }
            prefetch(next + 5)
            guard let content = try present(item) else { continue }
            self.content = content
            return true
        }
        content = nil
        return false
    }

    @inline(__always) private func present(_ item: ScanItem) throws(StorageError) -> SlotContent? {
        var found = try slotContent(item.number, ofTag: item.tag)
        if found == nil { found = try renumberedContent(of: item) }
        guard let content = found else { return nil }
        if content.deadline != Deadline.never, now >= content.deadline { return nil }
        if content.isMemoryOnly, index.residency[content.number] & living == 0 { return nil }
        return content
    }

    /// The item's slot content. Frames of a batch are resolved when the frame is read.
    @inline(__always)
    private func slotContent(_ number: UInt32, ofTag tag: UInt32) throws(StorageError) -> SlotContent? {
        guard let slot = index.entry(number), slot.tag == tag,
            let content = try engine.slotContent(number, slot, settled: .last), content.tag == tag
        else { return nil }
        return content
    }

    /// The slot to which the entry moved when the index was shrunk, unless the entry was removed or has a separate item.
    @inline(never) private func renumberedContent(of item: ScanItem) throws(StorageError) -> SlotContent? {
        guard index.renumberings != renumbered.before else { return nil }
        for number in index.table.entries(ofTag: item.tag) {
            guard let content = try slotContent(number, ofTag: item.tag),
                renumbered.claim(ScanEntry(number: number, tag: item.tag))
            else { continue }
            return content
        }
        return nil
    }

    /// Upcoming items are not adjacent in memory, in either order.
    @inline(__always) private func prefetch(_ ahead: Int) {
        guard ahead < items.count else { return }
        let item = items[ahead]
        if let slot = index.entry(item.number) { slot.prefetch() }
        log.prefetch(item.location)
    }

    // MARK: The visited entry, from its slot

    package var valueBytes: Int { Int(content?.bytes ?? 0) }
    /// The stamp of the last access; a more recent entry has a greater one.
    package var recency: UInt64 { use?.recency ?? 0 }
    package var isInMemoryOnly: Bool { content?.isMemoryOnly ?? false }

    private var use: LastUse? { content.map { index.touches.lastUse(of: $0.number, $0.slot, pending) } }
    package var accessed: Timestamp { Timestamp(microseconds: use?.accessed ?? 0) }
    package var hits: UInt32 { use?.hits ?? 0 }

    package var expires: Timestamp? {
        guard let deadline = content?.deadline, deadline != Deadline.never else { return nil }
        return Timestamp(microseconds: deadline.addingSaturating(wallOffset))
    }

    package var tier: Tier {
        if isInMemoryOnly { return .memory }
        guard index.residency.isUsed, let content else { return .disk }
        return index.residency[content.number] & living != 0 ? .both : .disk
    }

    package var place: Int { next }

    // MARK: The visited entry, from its frame

    package enum Reading: Sendable, Hashable {
        /// Key, value and the other content of the frame are available.
        case present
        case removed
        /// The frame can't be read, or fails its checksum.
        case damaged
    }

    /// Reads the entry's frame, or the present one if it was replaced, and verifies its checksum once. Throws if the frame can't
    /// be read now, for lack of descriptors or memory.
    @inline(__always) package func read() throws(StorageError) -> Reading {
        if frame != nil { return .present }
        guard var known = content else { return .removed }
        // Each repetition means that the entry was moved or replaced since the last one, which doesn't continue indefinitely.
        for _ in 0..<EntryScan.mostAttempts {
            var place = known.location
            var found = validFrame(at: place)
            if let frame = found, frame.isInBatch {
                // An unpublished frame doesn't count yet.
                guard let standing = engine.resolve(frame, at: place) else { return .removed }
                if standing != place {
                    place = standing
                    found = validFrame(at: place)
                }
            }
            if let found {
                frame = found
                return .present
            }
            // The frame was published since, and its predecessor is overwritten.
            if place != known.location, try engine.resolve(known.location) != place { continue }
            // Uses the present slot number: after a renumbering it differs from the item's.
            let item = ScanItem(location: known.location, number: known.number, tag: items[next - 1].tag)
            guard let present = try present(item) else { return .removed }
            if present.location == known.location {
                if let pin {
                    // Throws if it is unknown now whether the frame exists.
                    _ = try log.frameIfPresent(pin, at: place.offset)
                    return .damaged
                }
                guard let pin = try log.pinIfPresent(place.segment) else {
                    if engine.isDropped(place) { return .removed }
                    try engine.throwIfRemoved()
                    return .damaged
                }
                self.pin = pin
            }
            known = present
            content = present
        }
        return .damaged
    }

    /// Like ``read()``, with fields for nearly every query. The value is `nil` unless it is present and on disk.
    package func readValue() throws(StorageError) -> (
        reading: Reading, value: UnsafeRawBufferPointer?, encoding: ValueEncoding
    ) {
        let reading = try read()
        guard reading == .present, let frame else { return (reading, nil, .unknown) }
        return (reading, isInMemoryOnly ? nil : frame.value, frame.encoding)
    }

    /// The part of the entry's frame before the value. Valid until the next call on the scan.
    package struct Head {
        package var key: UnsafeRawBufferPointer
        package var owner: UnsafeRawBufferPointer
    }

    /// Key and owner, verified by the slot's hashes instead of the value's checksum, unless they differ. `nil` unless `present`.
    package func readHead() throws(StorageError) -> (reading: Reading, head: Head?) {
        guard let content else { return (.removed, nil) }
        if frame == nil {
            pinSegment(of: content.location)
            if let pin, let frame = log.frame(pin, at: content.location.offset), !frame.isInBatch,
                engine.hash.tag(frame.key) == items[next - 1].tag
            {
                let owner = frame.owner
                if engine.ownerTag(owner) == content.owner {
                    return (.present, Head(key: frame.key, owner: owner))
                }
            }
        }
        let reading = try read()
        guard reading == .present, let frame else { return (reading, nil) }
        return (.present, Head(key: frame.key, owner: frame.owner))
    }

    package var ownerTag: UInt32 { content?.owner ?? 0 }

    @inline(__always) private func pinSegment(of location: Location) {
        guard pin?.segment != location.segment else { return }
        if let pin { log.unpin(pin) }
        pin = log.pin(location.segment)
    }

    @inline(__always) private func validFrame(at location: Location) -> Frame? {
        pinSegment(of: location)
        guard let pin, let frame = log.frame(pin, at: location.offset),
            frame.passesChecksum(seed: Frame.seed(segmentSeed: pin.seed, offset: location.offset))
        else { return nil }
        return frame
    }

    // The bytes are valid until the next `advance()`; all are empty unless `read()` returned `present`.

    package var keyBytes: UnsafeRawBufferPointer { frame?.key ?? .empty }
    package var valueBuffer: UnsafeRawBufferPointer { frame?.value ?? .empty }
    package var encoding: ValueEncoding { frame?.encoding ?? .unknown }
    package var created: Timestamp { Timestamp(microseconds: frame?.created ?? 0) }
    package var owner: String? { frame?.ownerName }
    package var sequence: UInt64 { frame?.sequence ?? 0 }
}
