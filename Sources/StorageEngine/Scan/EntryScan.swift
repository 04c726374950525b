import CPlatform

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// One way through the entries of an archive. For one thread; other threads and processes go on meanwhile, for a scan
/// takes no lock (F6) and leaves no trace.
///
/// It begins with a snapshot: location, number and tag of each live entry, 16 bytes. Then each of them is looked at
/// again through its line in the index when its turn comes:
///
/// - One that is there all the time is visited once. Where reclaiming has moved it, its line says so (F7).
/// - One that was stored anew is visited once, as it is now, whole: its value, size and times are of one version, except
///   that an access between two questions shows.
/// - One that was deleted, evicted, set aside or has expired is skipped (S8, S9), and so is one whose line another entry
///   has taken, whose tag is another. What was added since the snapshot isn't visited.
///
/// Nothing is guarded here: what this object holds is its own, the index is read by atomic words (see ``EntrySlot``),
/// and the bytes of a segment while it is pinned.
package final class EntryScan {
    private let engine: ArchiveEngine
    // The engine's own, for each entry asks both several times.
    private let index: IndexView
    private let log: SegmentLog
    private let items: [ScanItem]
    package let order: ScanOrder
    /// The item that comes next. Private, as all that changes with each entry: what others could reach would be held
    /// against their accesses at run time, which takes as long as the look at the entry's line.
    private var next = 0
    private var now = Clock.boot()
    /// What turns a deadline into a moment of the wall clock.
    private let wallOffset = Clock.wallOffset()
    /// Lines of the process table whose processes live; asked for once.
    private lazy var living = engine.livingLines
    private lazy var pending = index.touches.pending()

    private let renumberings: UInt64
    /// Numbers of those that were found by another than they had.
    private var renumbered: Set<UInt32> = []
    /// What has an item of its own; only asked where entries were given other numbers.
    private lazy var own = Set(items.map { ScanEntry(number: $0.number, tag: $0.tag) })

    // The entry that is visited. `frame` is valid while `pin` is held.
    private var line: EntryLine?
    private var pin: SegmentLog.Pin?
    private var frame: Frame?

    /// `renumberings`: how often entries had been given other numbers before the items were looked up.
    private init(engine: ArchiveEngine, items: [ScanItem], order: ScanOrder, renumberings: UInt64) {
        self.engine = engine
        self.renumberings = renumberings
        index = engine.index
        log = engine.log
        self.items = items
        self.order = order
    }

    deinit { if let pin { log.unpin(pin) } }

    convenience init(engine: ArchiveEngine, order: ScanOrder) throws(StorageError) {
        try engine.index.catchUp()
        let renumberings = engine.index.renumberings
        self.init(
            engine: engine, items: try EntryScan.snapshot(of: engine, order), order: order,
            renumberings: renumberings)
    }

    /// The entries of these keys alone, the most recent first, each once.
    convenience init(engine: ArchiveEngine, keys: [String]) throws(StorageError) {
        var items: [ScanItem] = []
        var stamps: [UInt64] = []
        let renumberings = engine.index.renumberings
        let pending = engine.index.touches.pending()
        for key in keys {
            try withBytes(of: key) { (key) throws(StorageError) in
                // A key that can't be is that of no entry.
                guard key.count > 0, key.count <= Frame.maximumKeyBytes else { return }
                let tag = UInt32(truncatingIfNeeded: engine.hash(key))
                guard let entry = try engine.find(key, tag: tag) else { return }
                defer { engine.letGo(entry) }
                let item = ScanItem(location: entry.location, number: entry.number, tag: tag)
                guard !items.contains(where: { $0.number == item.number }) else { return }
                items.append(item)
                stamps.append(engine.index.touches.lastUse(of: entry.number, entry.slot, pending).recency)
            }
        }
        self.init(
            engine: engine, items: items.sorted(byDescending: stamps), order: .recency,
            renumberings: renumberings)
    }

    /// The live entries. What an undo brings back is there as a whole or not at all.
    private static func snapshot(
        of engine: ArchiveEngine, _ order: ScanOrder
    ) throws(StorageError) -> [ScanItem] {
        let index = engine.index
        for _ in 0..<patience {
            let returns = index.returns
            let items = try look(at: engine, order)
            if returns & 1 == 0, index.returns == returns { return items }
            sched_yield()
        }
        return try look(at: engine, order)
    }

    /// How often to look again at what is just being changed.
    private static let patience = 200

    private static func look(at engine: ArchiveEngine, _ order: ScanOrder) throws(StorageError) -> [ScanItem]
    {
        let index = engine.index
        let renumberings = index.renumberings
        let isChanging = index.structureVersion & 1 != 0
        if order == .location, !isChanging {
            // As entries mostly lie in the log.
            let items = try look(at: engine, order, ascending: true)
            if index.renumberings == renumberings { return items }
        }
        let items = try look(at: engine, order, ascending: false)
        guard isChanging || index.renumberings != renumberings else { return items }
        var seen: Set<Location> = []
        return items.filter { seen.insert($0.location).inserted }
    }

    private static func look(
        at engine: ArchiveEngine, _ order: ScanOrder, ascending: Bool
    ) throws(StorageError) -> [ScanItem] {
        // Two thousand cells, of use for the order alone.
        let pending = order == .recency ? engine.index.touches.pending() : nil
        var items: [ScanItem] = []
        var stamps: [UInt64] = []
        let count = min(engine.index.entryCount, Int(engine.index.usedEntries))
        items.reserveCapacity(count)
        if order == .recency { stamps.reserveCapacity(count) }
        try engine.forEachLine(uses: pending, ascending: ascending) { line in
            items.append(ScanItem(location: line.location, number: line.number, tag: line.tag))
            if let use = line.use { stamps.append(use.recency) }
        }
        switch order {
        case .location: return items.groupedBySegment()
        case .recency: return items.sorted(byDescending: stamps)
        }
    }

    // MARK: Going on

    /// Entries that have been visited or skipped.
    package var visited: Int { next }

    /// Entries of the snapshot.
    package var count: Int { items.count }
    /// Goes on to the next entry that is there; false at the end. Reads its line in the index only.
    /// - Throws: where the line is just being changed, and the bytes that it names can't be reached now.
    package func advance() throws(StorageError) -> Bool {
        frame = nil
        while next < items.count {
            let item = items[next]
            next += 1
            if next & 255 == 0 { now = Clock.boot() }
            prefetch(next + 5)
            guard let line = try present(item) else { continue }
            self.line = line
            return true
        }
        line = nil
        return false
    }

    /// The entry's line in the index as it is now; nil when there is none any more, or the entry has expired.
    @inline(__always)
    private func present(_ item: ScanItem) throws(StorageError) -> EntryLine? {
        var found = try line(item.number, ofTag: item.tag)
        if found == nil { found = try renumberedLine(of: item) }
        guard let line = found else { return nil }
        if line.deadline != Deadline.never, now >= line.deadline { return nil }
        if line.isMemoryOnly, index.residency[line.number] & living == 0 { return nil }
        return line
    }

    /// What a batch is changing is told apart where the frame is read.
    @inline(__always)
    private func line(_ number: UInt32, ofTag tag: UInt32) throws(StorageError) -> EntryLine? {
        guard let slot = index.entry(number), slot.tag == tag,
            let line = try engine.line(number, slot, settled: .last), line.tag == tag
        else { return nil }
        return line
    }

    /// The line that the entry has moved to when the index was made smaller. Asked for those that have gone as well, of
    /// which one that was stored again may have an item of its own.
    @inline(never)
    private func renumberedLine(of item: ScanItem) throws(StorageError) -> EntryLine? {
        guard index.renumberings != renumberings else { return nil }
        for number in index.table.liveEntries(ofTag: item.tag) {
            guard let line = try line(number, ofTag: item.tag),
                !own.contains(ScanEntry(number: number, tag: item.tag)), renumbered.insert(number).inserted
            else { continue }
            return line
        }
        return nil
    }

    /// What comes soon is not beside what is looked at, in either order.
    @inline(__always)
    private func prefetch(_ ahead: Int) {
        guard ahead < items.count else { return }
        let item = items[ahead]
        if let slot = index.entry(item.number) { slot.prefetch() }
        log.prefetch(item.location)
    }

    // MARK: The entry that is visited, from its line in the index

    /// Bytes of the value.
    package var valueBytes: Int { Int(line?.bytes ?? 0) }
    /// The stamp of its last use; of two entries the more recent has the greater one.
    package var recency: UInt64 { use?.recency ?? 0 }
    package var isInMemoryOnly: Bool { line?.isMemoryOnly ?? false }

    private var use: LastUse? { line.map { index.touches.lastUse(of: $0.number, $0.slot, pending) } }
    package var accessed: Timestamp { Timestamp(microseconds: use?.accessed ?? 0) }
    package var hits: UInt32 { use?.hits ?? 0 }

    package var expires: Timestamp? {
        guard let deadline = line?.deadline, deadline != Deadline.never else { return nil }
        return Timestamp(microseconds: deadline.addingSaturating(wallOffset))
    }

    package var tier: Tier {
        if isInMemoryOnly { return .memory }
        guard index.residency.isUsed, let line else { return .disk }
        return index.residency[line.number] & living != 0 ? .both : .disk
    }

    /// Place of the entry in the order of the scan, from 1 on.
    package var place: Int { next }

    // MARK: The entry that is visited, from its frame

    package enum Reading: Sendable, Hashable {
        /// Key, value and what else the frame says can be asked for.
        case present
        /// It has been removed since ``EntryScan/advance()``.
        case gone
        /// Its bytes can't be read, or fail their checksum.
        case damaged
    }

    /// Reads the entry's frame and holds it against its checksum, unless that was done before. Where the frame was moved
    /// or replaced meanwhile it reads the one that is there now.
    /// - Throws: when the bytes can't be reached now, for want of descriptors or memory.
    @inline(__always)
    package func read() throws(StorageError) -> Reading {
        if frame != nil { return .present }
        guard var known = line else { return .gone }
        // Each time round the entry was moved or replaced since the last look; that can't go on for ever.
        for _ in 0..<EntryScan.patience {
            var place = known.location
            var found = validFrame(at: place)
            if let frame = found, frame.isInBatch {
                // What is not published yet is not there yet.
                guard let standing = engine.resolve(frame, at: place) else { return .gone }
                if standing != place {
                    place = standing
                    found = validFrame(at: place)
                }
            }
            if let found {
                frame = found
                return .present
            }
            // Published meanwhile, and what it replaced is gone.
            if place != known.location, try engine.resolve(known.location) != place { continue }
            guard let present = try present(items[next - 1]) else { return .gone }
            if present.location == known.location {
                if let pin {
                    // Unless it can't be told just now whether there is a frame.
                    _ = try log.frameIfPresent(pin, at: place.offset)
                    return .damaged
                }
                guard let pin = try log.pinIfPresent(place.segment) else {
                    if engine.isGivenUp(place) { return .gone }
                    try engine.throwIfRemoved()
                    return .damaged
                }
                self.pin = pin
            }
            known = present
            line = present
        }
        return .damaged
    }

    /// The same, with what is asked of nearly every entry; the value is nil unless it is present and on disk.
    package func readValue() throws(StorageError) -> (
        reading: Reading, value: UnsafeRawBufferPointer?, encoding: ValueEncoding
    ) {
        let reading = try read()
        guard reading == .present, let frame else { return (reading, nil, .unknown) }
        return (reading, isInMemoryOnly ? nil : frame.value, frame.encoding)
    }

    /// What stands before the value in the entry's frame. Valid until the next question to the scan.
    package struct Head {
        package var key: UnsafeRawBufferPointer
        package var owner: UnsafeRawBufferPointer
    }

    /// Key and owner without the value, which isn't read: they are held against the hashes in the entry's line instead
    /// of against the checksum. Where they aren't what they should be, as ``read()``; nil unless `present`.
    package func readHead() throws(StorageError) -> (reading: Reading, head: Head?) {
        guard let line else { return (.gone, nil) }
        if frame == nil {
            pinSegment(of: line.location)
            if let pin, let frame = log.frame(pin, at: line.location.offset), !frame.isInBatch,
                UInt32(truncatingIfNeeded: engine.hash(frame.key)) == items[next - 1].tag
            {
                let owner = frame.owner
                if engine.ownerTag(owner) == line.owner {
                    return (.present, Head(key: frame.key, owner: owner))
                }
            }
        }
        let reading = try read()
        guard reading == .present, let frame else { return (reading, nil) }
        return (.present, Head(key: frame.key, owner: frame.owner))
    }

    /// What the index keeps of the owner's name; 0: it has none.
    package var ownerTag: UInt32 { line?.owner ?? 0 }

    @inline(__always)
    private func pinSegment(of location: Location) {
        guard pin?.segment != location.segment else { return }
        if let pin { log.unpin(pin) }
        pin = log.pin(location.segment)
    }

    @inline(__always)
    private func validFrame(at location: Location) -> Frame? {
        pinSegment(of: location)
        guard let pin, let frame = log.frame(pin, at: location.offset),
            frame.passesChecksum(seed: Frame.seed(segmentSeed: pin.seed, offset: location.offset))
        else { return nil }
        return frame
    }

    // The bytes are valid until the next `advance()`; all are empty unless `read()` said `present`.

    package var keyBytes: UnsafeRawBufferPointer {
        frame?.key ?? UnsafeRawBufferPointer(start: nil, count: 0)
    }
    package var valueBuffer: UnsafeRawBufferPointer {
        frame?.value ?? UnsafeRawBufferPointer(start: nil, count: 0)
    }
    package var encoding: ValueEncoding { frame?.encoding ?? .unknown }
    package var created: Timestamp { Timestamp(microseconds: frame?.created ?? 0) }
    package var owner: String? { frame.flatMap { engine.ownerName(in: $0) } }
    /// Number of the operation that stored this value.
    package var sequence: UInt64 { frame?.sequence ?? 0 }
}

extension Archive {
    /// A way through all entries. Costs some ten nanoseconds an entry before the first is visited.
    package func scan(_ order: ScanOrder) throws(StorageError) -> EntryScan {
        try EntryScan(engine: try engine(), order: order)
    }

    /// A way through the entries of these keys, found by look-up.
    package func scan(keys: [String]) throws(StorageError) -> EntryScan {
        try EntryScan(engine: try engine(), keys: keys)
    }
}
