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
    let references: [EntryReference]
    public let order: RecencyOrder
    /// Sum of the sizes of all values in bytes.
    public let totalValueBytes: UInt64
    /// How often entries had got other numbers.
    let renumberings: UInt64
    let twins = ListedTwins()
    /// All changes up to the first were done before the entries were looked at; none behind the last had begun after that.
    private let sequences: ClosedRange<UInt64>

    init(engine: ArchiveEngine, order: RecencyOrder) throws(StorageError) {
        self.engine = engine
        self.order = order
        renumberings = engine.index.renumberings
        let before = engine.index.settledSequence
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
    /// - Throws: `corrupted` when its bytes are damaged; when that can't be told now, for want of descriptors or addresses.
    public func key(at index: Int) throws(StorageError) -> String? { try key(at: index, line) }

    /// As ``key(at:)``, also where the entry was stored anew.
    package func presentKey(at index: Int) throws(StorageError) -> String? { try key(at: index, presentLine) }

    private func key(
        at index: Int, _ line: (Int) throws(StorageError) -> EntryLine?
    ) throws(StorageError) -> String? {
        let reference = references[index]
        if let key = try engine.withFrame(at: reference.location, tag: reference.tag, keyText) { return key }
        return try following({ () throws(StorageError) in try line(index) }) { (line) throws(StorageError) in
            try engine.withFrame(at: line.location, tag: line.tag, keyText)
        }
    }

    private func keyText(_ frame: Frame) -> String { String(decoding: frame.key, as: UTF8.self) }

    /// All that is known of the entry at `index`; `nil` when it was removed or stored anew since. Its value isn't read, so only
    /// key and owner are known to be right, by their hashes.
    /// - Throws: `corrupted` when the bytes of key or owner are damaged; when that can't be told now, for want of descriptors or
    ///   addresses.
    public func metadata(at index: Int) throws(StorageError) -> EntryMetadata? {
        try metadata(at: index, wholly: false)
    }

    private func metadata(at index: Int, wholly: Bool) throws(StorageError) -> EntryMetadata? {
        let reference = references[index]
        return try following({ () throws(StorageError) in try line(at: index) }) {
            (line) throws(StorageError) in
            try engine.withFrame(of: line, wholly: wholly) {
                frame in
                EntryMetadata(
                    key: keyText(frame),
                    valueBytes: line.isMemoryOnly ? Int(reference.valueBytes) : Int(frame.valueBytes),
                    encoding: frame.encoding, created: Timestamp(microseconds: frame.created),
                    accessed: reference.accessed, expires: line.expires, hits: reference.hits,
                    owner: engine.ownerName(in: frame), rank: rank(at: index), recency: reference.recency,
                    sequence: frame.sequence, tier: reference.tier)
            }
        }
    }

    /// As ``metadata(at:)``; of an entry that was stored anew what it is now, without a rank.
    package func presentMetadata(at index: Int) throws(StorageError) -> EntryMetadata? {
        try presentMetadata(at: index, wholly: false)
    }

    private func presentMetadata(at index: Int, wholly: Bool) throws(StorageError) -> EntryMetadata? {
        if let metadata = try metadata(at: index, wholly: wholly) { return metadata }
        guard let key = try presentKey(at: index) else { return nil }
        return try engine.metadata(of: key)
    }

    /// As ``presentKey(at:)``; `nil` also where its bytes are damaged (``isDamaged(at:)``).
    package func soundKey(at index: Int) throws(StorageError) -> String? {
        do throws(StorageError) {
            return try presentKey(at: index)
        } catch {
            guard case .corrupted = error else { throw error }
            return nil
        }
    }

    /// As ``presentMetadata(at:)``; `nil` also where anything of an entry of at most 4,096 bytes is damaged, or what names a
    /// larger one.
    package func soundMetadata(at index: Int) throws(StorageError) -> EntryMetadata? {
        do throws(StorageError) {
            return try presentMetadata(at: index, wholly: true)
        } catch {
            guard case .corrupted = error else { throw error }
            return nil
        }
    }

    /// Whether the entry at `index`, of which nothing was found, is lost to damage: the archive still has it, and its bytes aren't
    /// there or aren't right. Otherwise it was removed, replaced or moved since the list was made.
    package func isDamaged(at index: Int) throws(StorageError) -> Bool {
        guard isCurrent(at: index) else { return false }
        return try soundMetadata(at: index) == nil
    }

    /// Whether the entry at `index` is still the archive's entry of its key, as far as that can be told just now.
    public func isCurrent(at index: Int) -> Bool { ((try? line(at: index)) ?? nil) != nil }

    // MARK: Where an entry is by now

    /// The line of the entry at `index` while it is the archive's, wherever its bytes were moved since.
    func line(at index: Int) throws(StorageError) -> EntryLine? {
        let reference = references[index]
        return try firstLine(of: reference) { (line) throws(StorageError) in
            if line.location == reference.location { return true }
            let sequence = try following({ () throws(StorageError) in
                try engine.line(line.number, ofTag: line.tag)
            }) { (line) throws(StorageError) in
                try engine.withFrameIfPresent(at: line.location) { $0.sequence }
            }
            guard let sequence, try isListed(sequence, reference) else { return false }
            return try isOf(reference, line)
        }
    }

    /// Whether an entry that is elsewhere by now is of the version that was listed: what was moved keeps its sequence, and
    /// what was stored anew since has a higher one than any that was listed.
    private func isListed(_ sequence: UInt64, _ reference: EntryReference) throws(StorageError) -> Bool {
        guard sequence > sequences.lowerBound else { return true }
        guard sequence <= sequences.upperBound else { return false }
        // Stored while the others were looked at, before this one or after it: its former bytes tell. Where they are gone it
        // counts as stored anew.
        return try engine.withFrameIfPresent(at: reference.location) { $0.sequence == sequence } ?? false
    }

    /// The same of an entry that was stored anew, where no other can be meant.
    private func presentLine(at index: Int) throws(StorageError) -> EntryLine? {
        if let line = try line(at: index) { return line }
        let reference = references[index]
        return try firstLine(of: reference) { line in
            line.number == reference.number && engine.index.renumberings == renumberings
                || engine.index.table.liveEntries(ofTag: reference.tag) == [line.number]
                    && twins.of(reference.tag, in: references).isEmpty
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

    /// What `body` finds at an entry's line, which may be elsewhere by the time that it looks: then that asks again. `nil` when
    /// the entry goes, or there is nothing to find where it stays.
    private func following<Result>(
        _ line: () throws(StorageError) -> EntryLine?, _ body: (EntryLine) throws(StorageError) -> Result?
    ) throws(StorageError) -> Result? {
        var before: Location?
        for _ in 0..<ArchiveEngine.batchPatience {
            guard let line = try line(), line.location != before else { return nil }
            if let result = try body(line) { return result }
            before = line.location
        }
        throw engine.changesTooFast
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
        return try following({ () throws(StorageError) in
            orStoredAnew ? try presentLine(at: index) : try line(at: index)
        }) { (line) throws(StorageError) in
            line.isMemoryOnly ? nil : try engine.withSoundFrame(at: line.location, body)
        }
    }
}
