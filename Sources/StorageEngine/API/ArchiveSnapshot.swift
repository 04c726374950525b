import Synchronization

/// A whole archive as it was at one moment: every key, value and deadline, whatever others do to it meanwhile (S15).
/// Nobody was held up for it. Safe from any thread; it never changes.
///
/// Entries are numbered in the order of their use, the most recent first; of a log archive the messages, the oldest
/// first. What had expired at the moment is not in it, nor what only the memory of a process held. When and how often
/// an entry was used is as it was found while the snapshot was taken, since uses take no lock.
///
/// It holds 40 bytes an entry, and 4 more once a key is looked up. The values are those in the archive's files, which
/// keep their room on disk until the last reference to the snapshot goes, also when the archive has removed them: at
/// most what the files took at the moment. A process that keeps one while the archive's log goes round 4,096 segments
/// can't write to the archive any more until it lets go.
public final class ArchiveSnapshot: Sendable {
    public let name: String
    public let kind: ArchiveKind
    /// When the moment was.
    public let time: Timestamp
    /// Of a log: a `corrupted` for each place where messages can't be read any more, which are not in it. That an entry of
    /// another archive is damaged is thrown when it is read.
    public let damagedPlaces: [StorageError]
    private let engine: ArchiveEngine
    private let items: [SnapshotItem]
    private let segments: PinnedSegments
    /// Microseconds by which the wall clock is ahead of the boot clock.
    private let wallOffset: Int64
    /// Numbers of the entries by the hashes of their keys; made when the first key is looked up.
    private let byTag = Guarded<[UInt32]?>(nil)

    init(_ engine: ArchiveEngine) throws(StorageError) {
        let result = try SnapshotBuilder(engine).take()
        self.engine = engine
        name = engine.name
        kind = engine.kind
        items = kind == .log ? result.items : result.items.sorted { $0.recency > $1.recency }
        damagedPlaces = result.damaged
        segments = result.segments
        time = Timestamp(microseconds: result.wall)
        wallOffset = Clock.wallOffset()
    }

    /// Number of entries, or of messages.
    public var count: Int { items.count }

    /// Sum of the sizes of all values, in bytes. Looks at every entry.
    public var valueBytes: UInt64 {
        items.reduce(0) { $0 + UInt64(segments.uncheckedFrame(at: $1.location)?.valueBytes ?? 0) }
    }

    /// Room on disk that the files take in which its values are, in bytes.
    public var pinnedBytes: Int { segments.bytes }

    /// Calls `body` with the value of entry `number`, from 0 on; the bytes are valid during the call.
    /// - Throws: `corrupted` when the bytes fail their checksum.
    public func withValue<Result>(
        at number: Int, _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(StorageError) -> Result { body(try frame(at: number).value) }

    public func value(at number: Int) throws(StorageError) -> [UInt8] { Array(try frame(at: number).value) }

    /// The value of `key`, or `nil`.
    public func value(_ key: String) throws(StorageError) -> [UInt8]? {
        guard let number = try self.number(of: key) else { return nil }
        return try value(at: number)
    }

    public func key(at number: Int) throws(StorageError) -> String {
        String(decoding: try frame(at: number).key, as: UTF8.self)
    }

    /// All that is known of entry `number`; its tier is the disk.
    public func metadata(at number: Int) throws(StorageError) -> EntryMetadata {
        let item = items[number]
        let frame = try frame(at: number)
        return EntryMetadata(
            key: String(decoding: frame.key, as: UTF8.self), valueBytes: frame.valueBytes,
            encoding: frame.encoding, created: Timestamp(microseconds: frame.created),
            accessed: Timestamp(microseconds: item.accessed),
            expires: item.deadline == Deadline.never
                ? nil : Timestamp(microseconds: item.deadline.addingSaturating(wallOffset)),
            hits: item.hits, owner: engine.ownerName(in: frame), rank: number + 1, recency: item.recency,
            sequence: frame.sequence, tier: .disk)
    }

    /// The number of the entry of `key`. The first call sorts the hashes of all keys.
    /// - Throws: `corrupted` when there is none, but one whose key may have been this one and is damaged.
    public func number(of key: String) throws(StorageError) -> Int? {
        try withBytes(of: key) { (key) throws(StorageError) in
            guard kind != .log else { return nil }
            let tag = UInt32(truncatingIfNeeded: engine.hash(key))
            let places = placesByTag()
            var low = 0
            var high = places.count
            while low < high {
                let middle = (low + high) / 2
                if items[Int(places[middle])].tag < tag { low = middle + 1 } else { high = middle }
            }
            var damaged: Location?
            while low < places.count, items[Int(places[low])].tag == tag {
                let number = Int(places[low])
                let frame = segments.uncheckedFrame(at: items[number].location)
                if frame?.key.elementsEqual(key) == true { return number }
                if !hasOwnKey(frame, number) { damaged = items[number].location }
                low += 1
            }
            if let damaged { throw engine.log.damagedEntry(at: damaged) }
            return nil
        }
    }

    private func placesByTag() -> [UInt32] {
        byTag.withLock { byTag in
            if let byTag { return byTag }
            let places = (0..<UInt32(items.count)).sorted { items[Int($0)].tag < items[Int($1)].tag }
            byTag = places
            return places
        }
    }

    /// The numbers of all entries in the order of their keys' bytes. Reads every key.
    public func numbersByKey() throws(StorageError) -> [Int] {
        var keys: [(key: UnsafeRawBufferPointer, number: Int)] = []
        keys.reserveCapacity(count)
        for number in 0..<count { keys.append((try frame(at: number).key, number)) }
        keys.sort { $0.key.lexicographicallyPrecedes($1.key) }
        return keys.map(\.number)
    }

    /// The numbers of the entries whose keys begin with `prefix`, byte by byte, the first created first; of two that were created
    /// in the same microsecond, the one with the lower key. Looks at the beginning of each entry and takes its key's hash; that
    /// its value is sound is found out when it is read. `unreadable`: how many have lost their keys to damage.
    package func numbersByCreation(ofPrefix prefix: String) -> (numbers: [Int], unreadable: Int) {
        let prefix = Array(prefix.utf8)
        var unreadable = 0
        var found: [(created: Int64, number: Int)] = []
        for number in items.indices {
            guard let frame = segments.uncheckedFrame(at: items[number].location), hasOwnKey(frame, number)
            else {
                unreadable += 1
                continue
            }
            if frame.key.starts(with: prefix) { found.append((frame.created, number)) }
        }
        func key(_ number: Int) -> UnsafeRawBufferPointer? {
            segments.uncheckedFrame(at: items[number].location)?.key
        }
        found.sort { left, right in
            guard left.created == right.created else { return left.created < right.created }
            guard let first = key(left.number), let second = key(right.number) else { return false }
            return first.lexicographicallyPrecedes(second)
        }
        return (found.map(\.number), unreadable)
    }

    /// Whether the frame of entry `number` has the key that it had: by its hash, whatever became of the value.
    private func hasOwnKey(_ frame: Frame?, _ number: Int) -> Bool {
        frame.map { UInt32(truncatingIfNeeded: engine.hash($0.key)) == items[number].tag } ?? false
    }

    /// The key of entry `number`, also where its value is damaged.
    package func intactKey(at number: Int) throws(StorageError) -> String {
        guard let frame = segments.uncheckedFrame(at: items[number].location), hasOwnKey(frame, number) else {
            throw engine.log.damagedEntry(at: items[number].location)
        }
        return String(decoding: frame.key, as: UTF8.self)
    }

    /// Key and content of entry `number`, read once.
    package func entry(at number: Int) throws(StorageError) -> (key: String, entry: CurrentEntry) {
        let frame = try frame(at: number)
        return (String(decoding: frame.key, as: UTF8.self), engine.currentEntry(frame))
    }

    func item(at number: Int) -> SnapshotItem { items[number] }

    func frame(at number: Int) throws(StorageError) -> Frame {
        let location = items[number].location
        guard let frame = segments.frame(at: location) else {
            throw engine.log.damagedEntry(at: location)
        }
        return frame
    }
}

extension Archive {
    /// The whole archive as it is at one moment, without stopping anyone and without any trace. Costs some tens of
    /// nanoseconds an entry, and reads what was written meanwhile.
    /// - Throws: `busy` when others remove so much meanwhile, again and again, that no moment can be caught.
    public func snapshot() throws(StorageError) -> ArchiveSnapshot { try ArchiveSnapshot(try engine()) }
}
