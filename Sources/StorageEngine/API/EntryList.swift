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
    /// The stamp, and the tier above it.
    private let use: UInt64
    public let accessed: Timestamp
    /// Microseconds since 1970; 0: never. (An optional would make a list of a million entries a third larger.)
    private let expiry: Int64
    let location: Location
    public let valueBytes: UInt32
    public let hits: UInt32
    let number: UInt32
    let tag: UInt32

    /// Stamps stay below that (``Touch/largestStamp``).
    private static let tierShift: UInt64 = 62

    /// The stamp of its last use.
    public var recency: UInt64 { use & (1 << EntryReference.tierShift - 1) }
    public var tier: Tier {
        switch use >> EntryReference.tierShift {
        case 0: .disk
        case 1: .memory
        default: .both
        }
    }
    /// When it expires; `nil`: never.
    public var expires: Timestamp? { expiry == 0 ? nil : Timestamp(microseconds: expiry) }

    init(_ line: EntryLine, tier: Tier, expiry: Int64, use: LastUse) {
        let above: UInt64 = tier == .disk ? 0 : tier == .memory ? 1 : 2
        self.use = min(use.recency, Touch.largestStamp - 1) | above << EntryReference.tierShift
        accessed = Timestamp(microseconds: use.accessed)
        hits = use.hits
        self.expiry = expiry
        location = line.location
        valueBytes = line.bytes
        number = line.number
        tag = line.tag
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
    /// The latest changes before the entries were looked at, and after that.
    private let sequences: ClosedRange<UInt64>

    init(engine: ArchiveEngine, order: RecencyOrder) throws(StorageError) {
        self.engine = engine
        self.order = order
        renumberings = engine.index.renumberings
        let before = engine.index.sequence
        var references = try engine.liveReferences()
        switch order {
        case .mostRecentFirst: references.sort { $0.recency > $1.recency }
        case .leastRecentFirst: references.sort { $0.recency < $1.recency }
        }
        totalValueBytes = references.reduce(0) { $0 + UInt64($1.valueBytes) }
        self.references = references
        sequences = before...Swift.max(before, engine.index.sequence)
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { references.count }
    public subscript(index: Int) -> EntryReference { references[index] }

    /// Place in recency order of the entry at `index`; 1 is the most recent.
    public func rank(at index: Int) -> Int {
        order == .mostRecentFirst ? index + 1 : references.count - index
    }

    /// The key of the entry at `index`; `nil` when it was removed or stored anew since, and its bytes have been reclaimed.
    /// - Throws: when that can't be told now, for want of descriptors or addresses.
    public func key(at index: Int) throws(StorageError) -> String? {
        if let key = try engine.withFrameIfPresent(at: references[index].location, keyText) { return key }
        return try withMovedFrame(line(at: index)) { _, frame in keyText(frame) }
    }

    /// As ``key(at:)``, also where the entry was stored anew.
    package func presentKey(at index: Int) throws(StorageError) -> String? {
        if let key = try engine.withFrameIfPresent(at: references[index].location, keyText) { return key }
        return try withMovedFrame(presentLine(at: index)) { _, frame in keyText(frame) }
    }

    private func keyText(_ frame: Frame) -> String { String(decoding: frame.key, as: UTF8.self) }

    /// All that is known of the entry at `index`; `nil` when it was removed or stored anew since.
    /// - Throws: when that can't be told now, for want of descriptors or addresses.
    public func metadata(at index: Int) throws(StorageError) -> EntryMetadata? {
        let reference = references[index]
        return try withMovedFrame(line(at: index)) { line, frame in
            EntryMetadata(
                key: keyText(frame),
                valueBytes: line.isMemoryOnly ? Int(reference.valueBytes) : Int(frame.valueBytes),
                encoding: frame.encoding, created: Timestamp(microseconds: frame.created),
                accessed: reference.accessed, expires: line.expires, hits: reference.hits,
                owner: engine.ownerName(in: frame), rank: rank(at: index), recency: reference.recency,
                sequence: frame.sequence, tier: reference.tier)
        }
    }

    /// As ``metadata(at:)``; of an entry that was stored anew what it is now, without a rank.
    package func presentMetadata(at index: Int) throws(StorageError) -> EntryMetadata? {
        if let metadata = try metadata(at: index) { return metadata }
        guard let key = try presentKey(at: index) else { return nil }
        return try engine.metadata(of: key)
    }

    /// Whether the entry at `index` is still the archive's entry of its key, as far as that can be told just now.
    public func isCurrent(at index: Int) -> Bool { ((try? line(at: index)) ?? nil) != nil }

    // MARK: Where an entry is by now

    /// The line of the entry at `index` while it is the archive's, wherever its bytes were moved since.
    func line(at index: Int) throws(StorageError) -> EntryLine? {
        let reference = references[index]
        return try firstLine(of: reference) { (line) throws(StorageError) in
            if line.location == reference.location { return true }
            guard let sequence = try withMovedFrame(line, { _, frame in frame.sequence }) else {
                return false
            }
            return try isListed(sequence, reference)
        }
    }

    /// Whether an entry that is elsewhere by now is of the version that was listed: what was moved keeps its sequence, and
    /// what was stored anew since has a higher one than any that was listed.
    private func isListed(_ sequence: UInt64, _ reference: EntryReference) throws(StorageError) -> Bool {
        guard sequence > sequences.lowerBound else { return true }
        guard sequence <= sequences.upperBound else { return false }
        // Stored while the others were looked at, before this one or after it: its former bytes tell, as long as they are there.
        return try engine.withFrameIfPresent(at: reference.location) { $0.sequence == sequence } ?? true
    }

    /// The same of an entry that was stored anew, where no other can be meant.
    private func presentLine(at index: Int) throws(StorageError) -> EntryLine? {
        if let line = try line(at: index) { return line }
        let reference = references[index]
        return try firstLine(of: reference) { line in
            line.number == reference.number
                || engine.index.table.liveEntries(ofTag: reference.tag) == [line.number]
        }
    }

    private func firstLine(
        of reference: EntryReference, where isMeant: (EntryLine) throws(StorageError) -> Bool
    ) throws(StorageError) -> EntryLine? {
        func line(_ number: UInt32) throws(StorageError) -> EntryLine? {
            guard let line = try engine.line(number, ofTag: reference.tag), try isMeant(line) else {
                return nil
            }
            return line
        }
        if let line = try line(reference.number) { return line }
        // It may have got another number since.
        guard engine.index.renumberings != renumberings else { return nil }
        for number in engine.index.table.liveEntries(ofTag: reference.tag) where number != reference.number {
            if let line = try line(number) { return line }
        }
        return nil
    }

    /// Calls `body` with the frame of a line, which may be moved once more meanwhile; `nil` when the entry goes, or its bytes
    /// are damaged: then they stay where they are.
    private func withMovedFrame<Result>(
        _ known: EntryLine?, _ body: (EntryLine, Frame) -> Result
    ) throws(StorageError) -> Result? {
        guard var line = known else { return nil }
        for _ in 0..<ArchiveEngine.batchPatience {
            if let result = try engine.withFrameIfPresent(at: line.location, { body(line, $0) }) {
                return result
            }
            guard let next = try engine.line(line.number, ofTag: line.tag), next.location != line.location
            else { return nil }
            line = next
        }
        throw .busy(
            archive: engine.name, process: 0, reason: "it changes faster than it can be read; try again")
    }

    /// Calls `body` with the value of the entry at `index` as it was when the list was made, without any
    /// trace; `nil` when it was removed or stored anew since, and its bytes have been reclaimed, and for one that only a
    /// process' memory holds.
    /// - Throws: `corrupted` when the bytes fail their checksum.
    public func withValue<Result>(
        at index: Int, _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(StorageError) -> Result? {
        try withFrame(at: index) { body($0.value) }
    }

    /// Key, value and how that is encoded, all of one version: the one that was there when the list was made, or, where that
    /// is gone, the one that is there now; `nil` when the entry was removed, and for one that only a process' memory holds.
    package func presentContent(
        at index: Int
    ) throws(StorageError) -> (key: String, encoding: ValueEncoding, value: [UInt8])? {
        try withFrame(at: index, orStoredAnew: true) { frame in
            (keyText(frame), frame.encoding, Array(frame.value))
        }
    }

    private func withFrame<Result>(
        at index: Int, orStoredAnew: Bool = false, _ body: (Frame) -> Result
    ) throws(StorageError) -> Result? {
        let reference = references[index]
        guard reference.tier != .memory else { return nil }
        if let result = try engine.withSoundFrame(at: reference.location, body) { return result }
        var before = reference.location
        for _ in 0..<ArchiveEngine.batchPatience {
            guard let line = orStoredAnew ? try presentLine(at: index) : try line(at: index),
                !line.isMemoryOnly, line.location != before
            else { return nil }
            if let result = try engine.withSoundFrame(at: line.location, body) { return result }
            before = line.location
        }
        throw .busy(
            archive: engine.name, process: 0, reason: "it changes faster than it can be read; try again")
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

    /// The line of an entry that look-ups find, if it is of that tag.
    fileprivate func line(_ number: UInt32, ofTag tag: UInt32) throws(StorageError) -> EntryLine? {
        guard let slot = index.entry(number), slot.tag == tag,
            let line = try line(number, slot, settled: .none), line.tag == tag
        else { return nil }
        return line
    }

    /// As ``withFrameIfPresent(at:_:)``, and the bytes are right.
    fileprivate func withSoundFrame<Result>(
        at location: Location, _ body: (Frame) -> Result
    ) throws(StorageError) -> Result? {
        guard let pin = try log.pinIfPresent(location.segment) else { return nil }
        defer { log.unpin(pin) }
        guard let frame = try log.frameIfPresent(pin, at: location.offset) else { return nil }
        guard frame.passesChecksum(seed: Frame.seed(segmentSeed: pin.seed, offset: location.offset)) else {
            throw .corrupted(
                path: log.path(of: location.segment), offset: location.offset,
                reason: "the entry fails its checksum")
        }
        return body(frame)
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

    /// ``Archive/metadata(_:)``
    func metadata(of key: String) throws(StorageError) -> EntryMetadata? {
        let pending = index.touches.pending()
        var metadata: EntryMetadata?
        try withBytes(of: key) { (key) throws(StorageError) in
            try ArchiveEngine.validate(key: key)
            let tag = UInt32(truncatingIfNeeded: hash(key))
            try withPresentLine(of: key, tag: tag, uses: pending) { metadata = self.metadata(of: $0, $1) }
        }
        return metadata
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
