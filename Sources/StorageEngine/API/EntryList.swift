import CPlatform

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Which end of the recency order comes first.
public enum RecencyOrder: Sendable, Hashable {
    case mostRecentFirst
    case leastRecentFirst
}

/// One entry of a list: what can be known without reading its key.
public struct EntryReference: Sendable, Hashable {
    /// The stamp of its last use.
    public let recency: UInt64
    public let accessed: Timestamp
    /// Microseconds since 1970; 0: never. (An optional would make a list of a million entries a third larger.)
    private let expiry: Int64
    let location: Location
    public let valueBytes: UInt32
    public let hits: UInt32
    let number: UInt32
    public let tier: Tier

    /// When it expires; `nil`: never.
    public var expires: Timestamp? { expiry == 0 ? nil : Timestamp(microseconds: expiry) }

    init(_ line: EntryLine, tier: Tier, expiry: Int64, use: LastUse) {
        recency = use.recency
        accessed = Timestamp(microseconds: use.accessed)
        hits = use.hits
        self.expiry = expiry
        location = line.location
        valueBytes = line.bytes
        number = line.number
        self.tier = tier
    }
}

/// The entries of an archive as they were at one moment, in recency order; a value that is safe to share.
///
/// It holds 48 bytes an entry, no key and no value. Keys and values are read from the archive when asked
/// for, and are those of that moment, or `nil` when the entry was removed or stored anew since.
public struct EntryList: Sendable, RandomAccessCollection {
    let engine: ArchiveEngine
    private let references: [EntryReference]
    public let order: RecencyOrder
    /// Sum of the sizes of all values in bytes.
    public let totalValueBytes: UInt64
    /// How often entries had got other numbers.
    private let renumberings: UInt64

    init(engine: ArchiveEngine, order: RecencyOrder) throws(StorageError) {
        self.engine = engine
        self.order = order
        renumberings = engine.index.renumberings
        var references = try engine.liveReferences()
        switch order {
        case .mostRecentFirst: references.sort { $0.recency > $1.recency }
        case .leastRecentFirst: references.sort { $0.recency < $1.recency }
        }
        totalValueBytes = references.reduce(0) { $0 + UInt64($1.valueBytes) }
        self.references = references
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { references.count }
    public subscript(index: Int) -> EntryReference { references[index] }

    /// Place in recency order of the entry at `index`; 1 is the most recent.
    public func rank(at index: Int) -> Int {
        order == .mostRecentFirst ? index + 1 : references.count - index
    }

    /// The key of the entry at `index`; `nil` when its bytes have been reclaimed since.
    /// - Throws: when that can't be told now, for want of descriptors or addresses.
    public func key(at index: Int) throws(StorageError) -> String? {
        try engine.withFrameIfPresent(at: references[index].location) {
            String(decoding: $0.key, as: UTF8.self)
        }
    }

    /// As ``key(at:)``, and finds the entry also where its bytes were only moved since.
    package func presentKey(at index: Int) throws(StorageError) -> String? {
        if let key = try key(at: index) { return key }
        guard let slot = engine.index.entry(references[index].number),
            engine.index.marks.isVisible(references[index].number, slot),
            slot.recency >= references[index].recency
        else { return nil }
        return try engine.withFrameIfPresent(at: slot.location) { String(decoding: $0.key, as: UTF8.self) }
    }

    /// All that is known of the entry at `index`; `nil` when it was removed or stored anew since.
    /// - Throws: when that can't be told now, for want of descriptors or addresses.
    public func metadata(at index: Int) throws(StorageError) -> EntryMetadata? {
        let reference = references[index]
        guard let line = try line(at: index) else { return nil }
        return try engine.withFrameIfPresent(at: reference.location) { frame in
            EntryMetadata(
                key: String(decoding: frame.key, as: UTF8.self), valueBytes: Int(reference.valueBytes),
                encoding: frame.encoding, created: Timestamp(microseconds: frame.created),
                accessed: reference.accessed, expires: line.expires, hits: reference.hits,
                owner: engine.ownerName(in: frame), rank: rank(at: index), recency: reference.recency,
                sequence: frame.sequence, tier: reference.tier)
        }
    }

    /// Whether the entry at `index` is still the archive's entry of its key, as far as that can be told just now.
    public func isCurrent(at index: Int) -> Bool { ((try? line(at: index)) ?? nil) != nil }

    /// The line of the entry at `index` while it is the archive's.
    func line(at index: Int) throws(StorageError) -> EntryLine? {
        let reference = references[index]
        func line(_ number: UInt32) throws(StorageError) -> EntryLine? {
            guard let slot = engine.index.entry(number),
                let line = try engine.line(number, slot, settled: .none), line.location == reference.location
            else { return nil }
            return line
        }
        if let line = try line(reference.number) { return line }
        // It may have got another number since.
        guard engine.index.renumberings != renumberings,
            let tag = try engine.withFrameIfPresent(
                at: reference.location, { UInt32(truncatingIfNeeded: engine.hash($0.key)) })
        else { return nil }
        for number in engine.index.table.liveEntries(ofTag: tag) {
            if let line = try line(number) { return line }
        }
        return nil
    }

    /// Calls `body` with the value of the entry at `index` as it was when the list was made, without any
    /// trace; `nil` when its bytes have been reclaimed since, and for one that only a process' memory holds.
    /// - Throws: `corrupted` when the bytes fail their checksum.
    public func withValue<Result>(
        at index: Int, _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(StorageError) -> Result? {
        try withFrame(at: index) { body($0.value) }
    }

    /// Key, value and how that is encoded, all of the version that was there when the list was made; `nil` as for
    /// ``withValue(at:_:)``.
    package func content(
        at index: Int
    ) throws(StorageError) -> (key: String, encoding: ValueEncoding, value: [UInt8])? {
        try withFrame(at: index) { frame in
            (String(decoding: frame.key, as: UTF8.self), frame.encoding, Array(frame.value))
        }
    }

    private func withFrame<Result>(at index: Int, _ body: (Frame) -> Result) throws(StorageError) -> Result? {
        let location = references[index].location
        guard references[index].tier != .memory,
            let pin = try engine.log.pinIfPresent(location.segment)
        else { return nil }
        defer { engine.log.unpin(pin) }
        guard let frame = try engine.log.frameIfPresent(pin, at: location.offset) else { return nil }
        guard frame.passesChecksum(seed: Frame.seed(segmentSeed: pin.seed, offset: location.offset)) else {
            throw .corrupted(
                path: engine.log.path(of: location.segment), offset: location.offset,
                reason: "the entry fails its checksum")
        }
        return body(frame)
    }
}

extension ArchiveEngine {
    /// Every live entry with its last use, those included that wait to be applied. Needs no lock. Expired entries
    /// that nobody has removed yet are left out, unless all are asked for.
    func liveReferences(all: Bool = false) throws(StorageError) -> [EntryReference] {
        try index.catchUp()
        // What an undo brings back while the index is gone through is there as a whole or not at all. That this meets one
        // after the other would take more of them than people can do.
        for _ in 0..<200 {
            let returns = index.returns
            let references = try references(all: all)
            if returns & 1 == 0, index.returns == returns { return references }
            sched_yield()
        }
        return try references(all: all)
    }

    private func references(all: Bool) throws(StorageError) -> [EntryReference] {
        let renumberings = index.renumberings
        let isChanging = index.structureVersion & 1 != 0
        let pending = index.touches.pending()
        let now = Clock.boot()
        let offset = Clock.wallOffset()
        let living = !index.residency.isUsed ? 0 : livingLines
        var references: [EntryReference] = []
        references.reserveCapacity(min(index.entryCount, Int(index.usedEntries)))
        var tags: [UInt32] = []
        tags.reserveCapacity(references.capacity)
        func take(_ line: EntryLine) {
            if line.deadline != Deadline.never, now >= line.deadline, !all { return }
            let isHeld = living != 0 && index.residency[line.number] & living != 0
            guard !line.isMemoryOnly || isHeld || all, let use = line.use else { return }
            references.append(
                EntryReference(
                    line, tier: line.isMemoryOnly ? .memory : isHeld ? .both : .disk,
                    expiry: line.deadline == Deadline.never ? 0 : line.deadline.addingSaturating(offset),
                    use: use))
            tags.append(line.tag)
        }
        try forEachLine(uses: pending) { take($0) }
        // What was deleted since its line was looked at may have been stored again, and been found on another.
        var kept = 0
        var lost: Set<UInt32> = []
        for (place, tag) in tags.enumerated() {
            guard let slot = index.entry(references[place].number), slot.tag == tag, slot.location != .none
            else {
                lost.insert(tag)
                continue
            }
            references[kept] = references[place]
            kept += 1
        }
        references.removeLast(references.count - kept)
        // Or it has got another number, in a chunk that was still to come and where it was met once more, or not.
        guard isChanging || index.renumberings != renumberings, !lost.isEmpty else { return references }
        var numbers = Set(references.map(\.number))
        for tag in lost {
            for number in index.table.liveEntries(ofTag: tag) where numbers.insert(number).inserted {
                guard let slot = index.entry(number),
                    let line = try line(number, slot, settled: .none, uses: pending)
                else { continue }
                take(line)
            }
        }
        return references
    }

    /// `nil` only when no such frame is part of the log.
    func withFrameIfPresent<Result>(at location: Location, _ body: (Frame) -> Result) throws(StorageError)
        -> Result?
    {
        guard let pin = try log.pinIfPresent(location.segment) else { return nil }
        defer { log.unpin(pin) }
        return try log.frameIfPresent(pin, at: location.offset).map(body)
    }

    /// `nil` also when that can't be read now.
    func withFrame<Result>(at location: Location, _ body: (Frame) -> Result) -> Result? {
        guard let pin = log.pin(location.segment) else { return nil }
        defer { log.unpin(pin) }
        return log.frame(pin, at: location.offset).map(body)
    }

    func ownerName(in frame: Frame) -> String? {
        let owner = frame.owner
        return owner.isEmpty ? nil : String(decoding: owner, as: UTF8.self)
    }

    func metadata(of entry: FoundEntry, _ line: EntryLine) -> EntryMetadata {
        EntryMetadata(
            key: String(decoding: entry.frame.key, as: UTF8.self), valueBytes: Int(line.bytes),
            encoding: entry.frame.encoding, created: Timestamp(microseconds: entry.frame.created),
            accessed: Timestamp(microseconds: line.use?.accessed ?? 0), expires: line.expires,
            hits: line.use?.hits ?? 0, owner: ownerName(in: entry.frame), rank: nil,
            recency: line.use?.recency ?? 0, sequence: entry.frame.sequence,
            tier: line.isMemoryOnly ? .memory : isHeld(entry.number) ? .both : .disk)
    }

    func status(configuration: ArchiveConfiguration) throws(StorageError) -> ArchiveStatus {
        let slots = index.processes.attached
        let living = slots.filter(liveness.isAlive)
        // Nobody finds what has expired, so nobody counts it, removed or not.
        let (entries, bytes) = visibleTotals()
        return ArchiveStatus(
            name: name, configuration: configuration, entries: entries - min(entries, countOrphans()),
            diskBytes: bytes,
            memoryBytes: living.reduce(0) { $0 &+ $1.memoryBytes }, footprint: try footprint(),
            undoBytes: UInt64(index.setAsideBytes)
                + ArchiveEngine.setAsideLineBytes * UInt64(index.setAsideCount),
            undoBudget: undoBudget, damagedPlaces: damagedPlaces,
            hits: slots.reduce(index.count(.hits)) { $0 &+ $1.hits },
            misses: slots.reduce(index.count(.misses)) { $0 &+ $1.misses },
            records: index.count(.records), deletes: index.count(.deletes),
            evictions: index.count(.evictions),
            expirations: index.count(.expirations), rejections: index.count(.rejections),
            latestEncoding: latestEncoding,
            attachedProcesses: living.count)
    }

    /// ``ArchiveStatus/damagedPlaces``
    var damagedPlaces: Int { index.damagedPlaces + (index.loss == nil ? 0 : 1) }

    /// Entries and bytes of their values, without what has expired and waits to be removed.
    func visibleTotals() -> (entries: Int, bytes: UInt64) {
        for _ in 0..<100 {
            let returns = index.returns
            let overdue = index.deadlines.overdue(at: Clock.boot())
            let (entries, bytes) = (index.entryCount, index.valueBytes)
            if returns & 1 == 0, index.returns == returns {
                return (entries - min(entries, overdue.entries), bytes - min(bytes, overdue.bytes))
            }
            sched_yield()
        }
        return (index.entryCount, index.valueBytes)
    }

    /// How the most recent value is encoded; looks past some that are set aside.
    private var latestEncoding: ValueEncoding? {
        var number = index.recencyFirst
        for _ in 0..<64 {
            guard let slot = index.entry(number) else { return nil }
            // A guess for people at what the archive holds; nothing goes by it.
            if index.marks.isVisible(number, slot) { return withFrame(at: slot.location) { $0.encoding } }
            number = slot.older
        }
        return nil
    }

    /// Bytes that the archive's files really take.
    func footprint() throws(StorageError) -> UInt64 {
        var total: UInt64 = 0
        for name in try folder.names() where !name.hasSuffix(DamagedFile.suffix) {
            // A segment may be reclaimed between the listing and the look at it.
            if let status = try folder.status(ofEntry: name), status.isRegular {
                total += UInt64(status.allocatedBytes)
            }
        }
        return total
    }

    /// Those on the lines that are wanted.
    func processes(where isWanted: (ProcessSlot) -> Bool = { _ in true }) -> [AttachedProcess] {
        let liveness = liveness
        return index.processes.attached.filter(isWanted).map { slot in
            AttachedProcess(
                pid: slot.identity.pid, name: slot.name, attached: Timestamp(microseconds: slot.attached),
                isAlive: liveness.isAlive(slot), hits: slot.hits, misses: slot.misses,
                memoryBytes: slot.memoryBytes, memoryLimit: slot.memoryLimit)
        }
    }
}
