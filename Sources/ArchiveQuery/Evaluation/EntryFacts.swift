import CBOR
import StorageEngine

/// The metadata of an entry at the time it was read.
public struct EntryFacts: QueryEntry, Sendable, Hashable {
    /// The entry's key.
    public var key: String
    /// Size of the encoded value, in bytes.
    public var valueBytes: Int
    /// When the entry was first recorded.
    public var created: Timestamp
    /// When the entry was last recorded or accessed.
    public var accessed: Timestamp
    /// When the entry expires; nil if it never does.
    public var expires: Timestamp?
    /// How often the entry was accessed since it was recorded.
    public var hits: UInt32
    /// Where the object is held: on disk, in memory, or both.
    public var tier: Tier
    /// The entry's owner; nil without one.
    public var owner: String?
    /// Place in recency order, from 1 for the most recent; nil if the query used another order.
    public var rank: Int?
    /// Grows with each access of any entry, so it orders entries by their last access.
    public var recency: UInt64
    /// How the value is encoded.
    public var encoding: ValueEncoding
    /// Number of the operation that stored this value, which changes with each new value; 0 if the entry wasn't read.
    public var sequence: UInt64
    /// The type of a server's key, such as `hash`; nil in a store.
    public var type: String?
    /// How a server stores the value, such as `listpack`; nil in a store.
    public var layout: String?
    /// Metadata of a server's key that the user has no right to read; empty in a store.
    public var unknown: Set<QueryMetadata> = []
    /// ``QueryCursor/spellsKeys`` of the source.
    var isKeySpelled = false

    /// The key in JSON and CSV: a text that looks like bytes has a backslash before it.
    package var spelledKey: String { isKeySpelled ? key : ByteText.spelling(of: key) }
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
        type = entry.type
        layout = entry.layout
        unknown = entry.unknown
    }
}

/// A row that can be kept after the cursor has advanced.
struct KeptRow {
    /// Nil for a row that isn't a single entry.
    var facts: EntryFacts?
    /// One CBOR item; nil if it is unreadable.
    var document: [UInt8]?
    /// Whether `document` is an array of columns instead of the value.
    var hasColumns: Bool
    /// Whether the entry is counted as unreadable.
    var isDamageNoted = false

    var bytes: Int { (document?.count ?? 0) + (facts?.key.utf8.count ?? 0) + 256 }
}

enum KeptForm {
    case columns
    case value
    /// Only the properties with these numbers.
    case properties([Int])
}

extension QueryMetadata {
    var isInFrame: Bool {
        switch self {
        case .key, .created, .age, .owner, .encoding: true
        case .size, .accessed, .idle, .ttl, .expires, .hits, .tier, .rank, .type: false
        }
    }

    func item(of entry: some QueryEntry, now: Timestamp) -> StoredItem {
        switch self {
        case .key: .key(.string(entry.key))
        case .size: .number(.integer(Int128(entry.valueBytes)))
        case .created: Self.date(entry.created)
        case .accessed: Self.date(entry.accessed)
        // A future time, from another machine's clock, is an age of 0.
        case .idle: Self.seconds(min(entry.accessed, now), now)
        case .age: Self.seconds(min(entry.created, now), now)
        case .expires: entry.expires.map(Self.date) ?? .absent
        case .ttl: entry.expires.map { Self.seconds(now, $0) } ?? .absent
        case .hits: .number(.integer(Int128(entry.hits)))
        case .tier: .string(entry.tier.rawValue)
        case .owner: entry.owner.map { .key(.string($0)) } ?? .absent
        case .rank: entry.rank.map { .number(.integer(Int128($0))) } ?? .absent
        case .type: entry.type.map { .string($0) } ?? .absent
        case .encoding: (entry.layout ?? entry.encoding.word).map { .string($0) } ?? .absent
        }
    }

    private static func date(_ time: Timestamp) -> StoredItem {
        .date(DateText.date(microseconds: time.microseconds))
    }

    private static func seconds(_ from: Timestamp, _ to: Timestamp) -> StoredItem {
        // Times are read from files, so their difference may overflow.
        let (difference, isTooFar) = to.microseconds.subtractingReportingOverflow(from.microseconds)
        let microseconds = isTooFar ? Double(to.microseconds) - Double(from.microseconds) : Double(difference)
        return .number(.float(microseconds / 1_000_000))
    }
}

extension ValueEncoding {
    /// The name in queries; nil if unknown.
    package var word: String? { self == .unknown ? nil : "\(self)" }
}
