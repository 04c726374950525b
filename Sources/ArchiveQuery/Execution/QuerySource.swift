import StorageEngine

/// Where a query's entries come from.
public protocol QuerySource {
    /// A way through all entries.
    func cursor(in order: QueryScanOrder) throws -> any QueryCursor
    /// A way through the entries of these keys, the most recent first, found without looking at others.
    func cursor(forKeys keys: [String]) throws -> any QueryCursor
}

/// In which order a query goes through the entries.
public enum QueryScanOrder: String, Sendable, Hashable {
    /// As they are stored, which is the quickest.
    case storage
    /// The most recent first.
    case recency
}

/// What is known of an entry besides its value.
public protocol QueryEntry {
    var key: String { get }
    /// Bytes of the value.
    var valueBytes: Int { get }
    /// When it was first recorded.
    var created: Timestamp { get }
    /// When it was last recorded or accessed.
    var accessed: Timestamp { get }
    /// When it stops being valid; nil: never.
    var expires: Timestamp? { get }
    /// Accesses since it was recorded.
    var hits: UInt32 { get }
    var tier: Tier { get }
    var owner: String? { get }
    /// Place in recency order, from 1 on; nil where it isn't known.
    var rank: Int? { get }
    /// Grows with each use of any entry.
    var recency: UInt64 { get }
    var encoding: ValueEncoding { get }
    /// Which writing of the key it is: another one whenever the value is replaced; 0 before it was read.
    var sequence: UInt64 { get }
}

/// A way through entries, for one thread. What it says of an entry is asked between two calls of ``advance()``; key,
/// creation, owner, encoding and value once ``load()`` said that it is present.
///
/// Each entry that is there all the time is visited once, as it was at one moment of the query; no other one twice.
public protocol QueryCursor: AnyObject, QueryEntry {
    /// Entries that there were at the beginning.
    var count: Int { get }
    /// How many of them are behind or at the cursor.
    var visited: Int { get }
    /// Goes on to the next entry, without reading it; false at the end.
    func advance() throws -> Bool
    /// Reads the entry, unless that was done.
    func load() throws -> QueryCursorReading
    /// The same, with what it gave: one call for what is asked of nearly every entry.
    func loadValue() throws -> QueryCursorValue
    /// Reads the key, and need not read the value for it; the key is valid until the next call of any of these.
    func loadKey() throws -> (reading: QueryCursorReading, key: UnsafeRawBufferPointer)
    /// UTF-8, valid until the next call of `advance()`.
    var keyBytes: UnsafeRawBufferPointer { get }
    /// Valid until the next call of `advance()`; nil for an entry that only a process' memory holds.
    var valueContent: UnsafeRawBufferPointer? { get }
}

/// What ``QueryCursor/loadValue()`` found.
public struct QueryCursorValue {
    public var reading: QueryCursorReading
    /// As ``QueryCursor/valueContent``; nil as well unless the entry is present.
    public var content: UnsafeRawBufferPointer?
    public var encoding: ValueEncoding

    public init(
        reading: QueryCursorReading, content: UnsafeRawBufferPointer?, encoding: ValueEncoding
    ) {
        self.reading = reading
        self.content = content
        self.encoding = encoding
    }
}

extension QueryCursor {
    public func loadKey() throws -> (reading: QueryCursorReading, key: UnsafeRawBufferPointer) {
        let reading = try load()
        guard reading == .present else { return (reading, UnsafeRawBufferPointer(start: nil, count: 0)) }
        return (reading, keyBytes)
    }

    public func loadValue() throws -> QueryCursorValue {
        let reading = try load()
        guard reading == .present else {
            return QueryCursorValue(reading: reading, content: nil, encoding: .unknown)
        }
        return QueryCursorValue(reading: reading, content: valueContent, encoding: encoding)
    }
}

/// What came of reading an entry.
public enum QueryCursorReading: Sendable, Hashable {
    case present
    /// It has been removed meanwhile.
    case gone
    /// Its bytes are damaged.
    case damaged
}

extension Archive: QuerySource {
    public func cursor(in order: QueryScanOrder) throws -> any QueryCursor {
        try scan(order == .storage ? .location : .recency)
    }

    public func cursor(forKeys keys: [String]) throws -> any QueryCursor { try scan(keys: keys) }
}

extension EntryScan: QueryCursor {
    public func load() throws -> QueryCursorReading {
        Self.reading(try read())
    }

    public func loadValue() throws -> QueryCursorValue {
        let (reading, value, encoding) = try readValue()
        return QueryCursorValue(reading: Self.reading(reading), content: value, encoding: encoding)
    }

    public func loadKey() throws -> (reading: QueryCursorReading, key: UnsafeRawBufferPointer) {
        let (reading, head) = try readHead()
        return (Self.reading(reading), head?.key ?? UnsafeRawBufferPointer(start: nil, count: 0))
    }

    private static func reading(_ reading: Reading) -> QueryCursorReading {
        switch reading {
        case .present: .present
        case .gone: .gone
        case .damaged: .damaged
        }
    }

    public var key: String { UTF8Text.string(keyBytes) }
    public var rank: Int? { order == .recency ? place : nil }
    public var valueContent: UnsafeRawBufferPointer? { isInMemoryOnly ? nil : valueBuffer }
}
