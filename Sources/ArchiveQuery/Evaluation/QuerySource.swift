import StorageEngine

/// A source of entries for queries, such as an archive.
public protocol QuerySource {
    /// A cursor over all entries in this order.
    func cursor(in order: QueryScanOrder) throws -> any QueryCursor
    /// A cursor over the entries with these keys, most recent first. Doesn't visit other entries.
    func cursor(forKeys keys: [String]) throws -> any QueryCursor
}

/// The order in which a query reads entries.
public enum QueryScanOrder: String, Sendable, Hashable {
    /// Storage order, which is the fastest.
    case storage
    /// The most recent first.
    case recency
}

/// The metadata of an entry.
public protocol QueryEntry {
    /// The entry's key.
    var key: String { get }
    /// Size of the encoded value, in bytes.
    var valueBytes: Int { get }
    /// When it was first recorded.
    var created: Timestamp { get }
    /// When it was last recorded or accessed.
    var accessed: Timestamp { get }
    /// When it expires; nil if it never does.
    var expires: Timestamp? { get }
    /// Accesses since it was recorded.
    var hits: UInt32 { get }
    /// Where the object is held: on disk, in memory, or both.
    var tier: Tier { get }
    /// The entry's owner; nil without one.
    var owner: String? { get }
    /// Place in recency order, from 1 for the most recent; nil if unknown.
    var rank: Int? { get }
    /// Grows with each access of any entry, so it orders entries by their last access.
    var recency: UInt64 { get }
    /// How the value is encoded.
    var encoding: ValueEncoding { get }
    /// Number of the operation that stored the value, which changes with each new value; 0 until the entry is read.
    var sequence: UInt64 { get }
    /// The type of a server's key, such as `hash`; nil in a store.
    var type: String? { get }
    /// How a server stores the value, such as `listpack`; nil in a store.
    var layout: String? { get }
    /// Metadata of a server's key that the user has no right to read; empty in a store.
    var unknown: Set<QueryMetadata> { get }
}

extension QueryEntry {
    /// Nil in a store.
    public var type: String? { nil }
    /// Nil in a store.
    public var layout: String? { nil }
    /// Empty in a store.
    public var unknown: Set<QueryMetadata> { [] }
}

/// A cursor over entries. Not thread-safe. The metadata of an entry are available until the next ``advance()``; its key,
/// creation time, owner, encoding and value only after ``load()`` has returned that it is present.
///
/// An entry that exists during the whole query is visited exactly once, in its state at one moment of the query. Any other
/// entry is visited at most once.
public protocol QueryCursor: AnyObject, QueryEntry {
    /// The number of entries at the start.
    var count: Int { get }
    /// Entries that the cursor has reached.
    var visited: Int { get }
    /// Moves to the next entry without reading it. Returns false at the end.
    func advance() throws -> Bool
    /// Reads the entry, unless it has been read.
    func load() throws -> QueryCursorReading
    /// Like ``load()``, but also returns value and encoding.
    func loadValue() throws -> QueryCursorValue
    /// Reads the key, without the value if possible. The key is valid until the next call of any method of the cursor.
    func loadKey() throws -> (reading: QueryCursorReading, key: UnsafeRawBufferPointer)
    /// The key as UTF-8. Valid until the next call of `advance()`.
    var keyBytes: UnsafeRawBufferPointer { get }
    /// The encoded value. Valid until the next call of `advance()`; nil for an entry that only a process's memory holds.
    var valueContent: UnsafeRawBufferPointer? { get }
    /// Whether the source stores numbers as texts, like a server's hashes. Then a text in JSON's number grammar counts as a
    /// number in sorts, calculations, aggregates and comparisons with numbers.
    var storesNumbersAsText: Bool { get }
    /// Whether keys are byte strings, which `key` spells as text (`h'636166e9'`), like a server's.
    var spellsKeys: Bool { get }
    /// The warning about `count` unreadable entries; at least 1.
    func damageWarning(_ count: Int) -> String
}

/// The result of ``QueryCursor/loadValue()``.
public struct QueryCursorValue {
    /// Whether the entry was present.
    public var reading: QueryCursorReading
    /// Like ``QueryCursor/valueContent``; also nil unless the entry is present.
    public var content: UnsafeRawBufferPointer?
    /// How the value is encoded; `unknown` unless the entry is present.
    public var encoding: ValueEncoding

    /// Creates a result for a cursor.
    public init(reading: QueryCursorReading, content: UnsafeRawBufferPointer?, encoding: ValueEncoding) {
        self.reading = reading
        self.content = content
        self.encoding = encoding
    }
}

extension QueryCursor {
    /// False: values have kinds.
    public var storesNumbersAsText: Bool { false }

    /// False: keys are texts.
    public var spellsKeys: Bool { false }

    /// Reports damaged entries, which a check locates.
    public func damageWarning(_ count: Int) -> String {
        "\(count) damaged entr\(count == 1 ? "y was" : "ies were") left out; run a check to locate the damage"
    }

    /// Calls ``load()`` and returns the key.
    public func loadKey() throws -> (reading: QueryCursorReading, key: UnsafeRawBufferPointer) {
        let reading = try load()
        guard reading == .present else { return (reading, UnsafeRawBufferPointer(start: nil, count: 0)) }
        return (reading, keyBytes)
    }

    /// Calls ``load()`` and reads the properties.
    public func loadValue() throws -> QueryCursorValue {
        let reading = try load()
        guard reading == .present else {
            return QueryCursorValue(reading: reading, content: nil, encoding: .unknown)
        }
        return QueryCursorValue(reading: reading, content: valueContent, encoding: encoding)
    }
}

/// The result of reading an entry.
public enum QueryCursorReading: Sendable, Hashable {
    /// The entry was read.
    case present
    /// The entry has been removed in the meantime.
    case removed
    /// The entry's bytes fail their checksum.
    case damaged
}

extension Archive: QuerySource {
    /// A scan of all entries, without access records.
    public func cursor(in order: QueryScanOrder) throws -> any QueryCursor {
        try scan(order == .storage ? .location : .recency)
    }

    /// A scan of these keys' entries, without access records.
    public func cursor(forKeys keys: [String]) throws -> any QueryCursor { try scan(keys: keys) }
}

extension EntryScan: QueryCursor {
    /// Reads the entry and verifies its checksum.
    public func load() throws -> QueryCursorReading { Self.reading(try read()) }

    /// Reads the entry and verifies its checksum.
    public func loadValue() throws -> QueryCursorValue {
        let (reading, value, encoding) = try readValue()
        return QueryCursorValue(reading: Self.reading(reading), content: value, encoding: encoding)
    }

    /// Reads the key without the value.
    public func loadKey() throws -> (reading: QueryCursorReading, key: UnsafeRawBufferPointer) {
        let (reading, head) = try readHead()
        return (Self.reading(reading), head?.key ?? UnsafeRawBufferPointer(start: nil, count: 0))
    }

    private static func reading(_ reading: Reading) -> QueryCursorReading {
        switch reading {
        case .present: .present
        case .removed: .removed
        case .damaged: .damaged
        }
    }

    /// The entry's key.
    public var key: String { UTF8Text.string(keyBytes) }
    /// Place in recency order; nil for a scan in another order.
    public var rank: Int? { order == .recency ? place : nil }
    /// The encoded value; nil if only a process's memory holds it.
    public var valueContent: UnsafeRawBufferPointer? { isInMemoryOnly ? nil : valueBuffer }
}
