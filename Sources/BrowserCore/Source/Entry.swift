/// How a value says that it is encoded.
public enum ValueNotation: String, Sendable, Hashable {
    case unknown, cbor, json, propertyList, text

    /// For a person; `nil` where nothing is said.
    public var name: String? {
        switch self {
        case .unknown: nil
        case .cbor: "CBOR"
        case .json: "JSON"
        case .propertyList: "property list"
        case .text: "text"
        }
    }
}

/// Which tiers hold an entry.
public enum EntryTier: String, Sendable, Hashable {
    case disk, memory, both

    /// For the column: one column in a narrow screen is enough to tell them apart.
    var order: Int64 {
        switch self {
        case .memory: 0
        case .both: 1
        case .disk: 2
        }
    }
}

/// An entry's metadata as one row shows them. A value; safe to share between threads.
public struct Entry: Sendable, Hashable {
    public var key: String
    /// Bytes of the value.
    public var size: Int
    public var notation: ValueNotation
    public var created: Moment
    public var accessed: Moment
    public var expires: Moment?
    public var hits: UInt32
    public var owner: String?
    public var tier: EntryTier
    /// Which writing of the key this is: it changes whenever the value is replaced.
    public var sequence: UInt64

    public init(
        key: String, size: Int, notation: ValueNotation = .unknown, created: Moment, accessed: Moment,
        expires: Moment? = nil, hits: UInt32 = 0, owner: String? = nil, tier: EntryTier = .disk,
        sequence: UInt64
    ) {
        self.key = key
        self.size = size
        self.notation = notation
        self.created = created
        self.accessed = accessed
        self.expires = expires
        self.hits = hits
        self.owner = owner
        self.tier = tier
        self.sequence = sequence
    }

    public var target: Target { Target(key: key, sequence: sequence, size: size) }
}
