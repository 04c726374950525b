import Synchronization

/// An archive's content at one moment: every key, value and expiry time, unaffected by later changes (S15).
///
/// Entries are numbered from 0 in the order of recency, the most recent first; messages of a log the oldest first. Expired and
/// memory-only entries are not included. Recency and hits may be slightly later than the snapshot's moment, because accesses take
/// no lock. Calls that read an entry throw `corrupted` for damaged bytes.
///
/// Uses 40 bytes for each entry, and 4 more once a key is looked up. The values stay in the archive's files, which keep their
/// space on disk until the last reference to the snapshot ends, even if the archive removes them: at most their size at the
/// snapshot's moment. A snapshot kept while the log advances by 4,096 segments blocks its process's writes to the archive until
/// it is released.
public final class ArchiveSnapshot: Sendable {
    /// Name of the archive.
    public let name: String
    /// Kind of the archive.
    public let kind: ArchiveKind
    /// The snapshot's moment.
    public let time: Timestamp
    /// For a log: a `corrupted` error for each unreadable place; its messages are missing. For others, reading throws.
    public let damagedPlaces: [StorageError]
    private let engine: ArchiveEngine
    private let items: [SnapshotItem]
    private let segments: PinnedSegments
    /// Microseconds by which the wall clock is ahead of the boot clock.
    private let wallOffset: Int64
    /// Entry numbers sorted by key hash; created when the first key is looked up.
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

    /// Sum of the sizes of all values, in bytes. Reads every entry's header.
    public var valueBytes: UInt64 {
        items.reduce(0) { $0 + UInt64(segments.uncheckedFrame(at: $1.location)?.valueBytes ?? 0) }
    }

    /// Bytes on disk of the files that the snapshot keeps.
    public var pinnedBytes: Int { segments.bytes }

    /// Calls `body` with the value of entry `number`, counted from 0; the bytes are valid during the call.
    public func withValue<Result>(
        at number: Int, _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(StorageError) -> Result { body(try frame(at: number).value) }

    /// The value of entry `number`, counted from 0.
    public func value(at number: Int) throws(StorageError) -> [UInt8] { Array(try frame(at: number).value) }

    /// The value of `key`; `nil` if absent. Costs the sum of ``number(of:)`` and ``value(at:)``.
    public func value(_ key: String) throws(StorageError) -> [UInt8]? {
        guard let number = try self.number(of: key) else { return nil }
        return try value(at: number)
    }

    /// The key of entry `number`, counted from 0; empty for a message of a log.
    public func key(at number: Int) throws(StorageError) -> String {
        String(decoding: try frame(at: number).key, as: UTF8.self)
    }

    /// All metadata of entry `number`; its tier is `disk`.
    public func metadata(at number: Int) throws(StorageError) -> EntryMetadata {
        let item = items[number]
        let frame = try frame(at: number)
        return EntryMetadata(
            key: String(decoding: frame.key, as: UTF8.self), valueBytes: frame.valueBytes,
            encoding: frame.encoding, created: Timestamp(microseconds: frame.created),
            accessed: Timestamp(microseconds: item.accessed),
            expires: item.deadline == Deadline.never
                ? nil : Timestamp(microseconds: item.deadline.addingSaturating(wallOffset)),
            hits: item.hits, owner: frame.ownerName, rank: number + 1, recency: item.recency,
            sequence: frame.sequence, tier: .disk)
    }

    /// The number of the entry of `key`; `nil` if absent. The first call sorts the hashes of all keys. Throws `corrupted` if only
    /// a damaged entry can have had this key.
    public func number(of key: String) throws(StorageError) -> Int? {
        try withBytes(of: key) { (key) throws(StorageError) in
            guard kind != .log else { return nil }
            let tag = engine.hash.tag(key)
            let places = byTag.withLock { known in
                let places =
                    known ?? (0..<UInt32(items.count)).sorted { items[Int($0)].tag < items[Int($1)].tag }
                known = places
                return places
            }
            var damaged: Location?
            for place in places[places.partitioningIndex(where: { items[Int($0)].tag >= tag })...] {
                let number = Int(place)
                guard items[number].tag == tag else { break }
                let frame = segments.uncheckedFrame(at: items[number].location)
                if frame?.key.elementsEqual(key) == true { return number }
                if !hasOwnKey(frame, number) { damaged = items[number].location }
            }
            if let damaged { throw self.damaged(at: damaged) }
            return nil
        }
    }

    /// The numbers of all entries, sorted by their keys' bytes. Reads every key.
    public func numbersByKey() throws(StorageError) -> [Int] {
        var keys: [(key: UnsafeRawBufferPointer, number: Int)] = []
        keys.reserveCapacity(count)
        for number in 0..<count { keys.append((try frame(at: number).key, number)) }
        keys.sort { $0.key.lexicographicallyPrecedes($1.key) }
        return keys.map(\.number)
    }

    /// The numbers of the entries whose keys begin with `prefix`, compared by bytes, sorted by creation time, then by
    /// key. Reads headers and keys; values are checked only when they are read. `unreadable` counts damaged keys.
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

    private func hasOwnKey(_ frame: Frame?, _ number: Int) -> Bool {
        frame.map { engine.hash.tag($0.key) == items[number].tag } ?? false
    }

    package func intactKey(at number: Int) throws(StorageError) -> String {
        guard let frame = segments.uncheckedFrame(at: items[number].location), hasOwnKey(frame, number) else {
            throw damaged(at: items[number].location)
        }
        return String(decoding: frame.key, as: UTF8.self)
    }

    package func entry(at number: Int) throws(StorageError) -> (key: String, entry: CurrentEntry) {
        let frame = try frame(at: number)
        return (String(decoding: frame.key, as: UTF8.self), CurrentEntry(frame))
    }

    /// Calls `body` with the key and content of entry `number`, from one read. The value is valid during the call.
    package func withEntry<Result>(
        at number: Int,
        _ body: (_ key: String, UnsafeRawBufferPointer, ValueEncoding, _ sequence: UInt64) -> Result
    ) throws(StorageError) -> Result {
        let frame = try frame(at: number)
        return body(String(decoding: frame.key, as: UTF8.self), frame.value, frame.encoding, frame.sequence)
    }

    private func damaged(at location: Location) -> StorageError {
        guard segments.pins[location.segment] == nil else { return engine.log.damagedEntry(at: location) }
        return engine.log.unreadable(location.segment)
    }

    func item(at number: Int) -> SnapshotItem { items[number] }

    func frame(at number: Int) throws(StorageError) -> Frame {
        let location = items[number].location
        guard let frame = segments.frame(at: location) else { throw damaged(at: location) }
        return frame
    }
}

extension Archive {
    /// The archive's content at one moment. Stops no other process and records no access. Costs some tens of nanoseconds
    /// an entry, and reads the frames written while it is taken.
    /// - Throws: `busy` if constant removals by other processes allow no consistent moment.
    public func snapshot() throws(StorageError) -> ArchiveSnapshot { try ArchiveSnapshot(try engine()) }
}
