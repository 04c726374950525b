import StorageEngine

/// Sendable value type; safe to use from any thread. What was known of an entry when it was seen.
public struct EntryFacts: QueryEntry, Sendable, Hashable {
    public var key: String
    public var valueBytes: Int
    public var created: Timestamp
    public var accessed: Timestamp
    public var expires: Timestamp?
    public var hits: UInt32
    public var tier: Tier
    public var owner: String?
    public var rank: Int?
    public var recency: UInt64
    public var encoding: ValueEncoding
    public var sequence: UInt64
}

extension EntryFacts {
    init(_ entry: any QueryEntry) {
        key = entry.key
        valueBytes = entry.valueBytes
        created = entry.created
        accessed = entry.accessed
        expires = entry.expires
        hits = entry.hits
        tier = entry.tier
        owner = entry.owner
        rank = entry.rank
        recency = entry.recency
        encoding = entry.encoding
        sequence = entry.sequence
    }
}

/// A row that outlives the cursor's stay at its entry.
struct KeptRow {
    /// nil for a row that no single entry is behind.
    var facts: EntryFacts?
    /// One CBOR item; nil if it can't be read.
    var document: [UInt8]?
    /// Whether that is an array of columns rather than the value.
    var hasColumns: Bool

    /// About how much memory it takes.
    var bytes: Int { (document?.count ?? 0) + (facts?.key.utf8.count ?? 0) + 256 }
}

extension QueryMetadata {
    /// Whether it is kept with the value only, and not in the index.
    var isInFrame: Bool {
        switch self {
        case .key, .created, .age, .owner: true
        case .size, .accessed, .idle, .ttl, .expires, .hits, .tier, .rank: false
        }
    }

    func item(of entry: some QueryEntry, now: Timestamp) -> StoredItem {
        switch self {
        case .key: .string(entry.key)
        case .size: .number(.integer(Int128(entry.valueBytes)))
        case .created: Self.date(entry.created)
        case .accessed: Self.date(entry.accessed)
        case .idle: Self.seconds(entry.accessed, now)
        case .age: Self.seconds(entry.created, now)
        case .expires: entry.expires.map(Self.date) ?? .absent
        case .ttl: entry.expires.map { Self.seconds(now, $0) } ?? .absent
        case .hits: .number(.integer(Int128(entry.hits)))
        case .tier: .string(entry.tier.rawValue)
        case .owner: entry.owner.map { .string($0) } ?? .absent
        case .rank: entry.rank.map { .number(.integer(Int128($0))) } ?? .absent
        }
    }

    private static func date(_ time: Timestamp) -> StoredItem {
        .date(StoredItem.date(microseconds: time.microseconds))
    }

    private static func seconds(_ from: Timestamp, _ to: Timestamp) -> StoredItem {
        // Times are as the files have them, and may be as far apart as numbers can be.
        let (difference, isTooFar) = to.microseconds.subtractingReportingOverflow(from.microseconds)
        let microseconds =
            isTooFar ? Double(to.microseconds) - Double(from.microseconds) : Double(difference)
        return .number(.float(microseconds / 1_000_000))
    }
}
