/// Where an entry's value can be found.
public enum Tier: String, Sendable, Hashable {
    case disk, memory, both
}

/// All that is known of an entry without its value.
public struct EntryMetadata: Sendable, Hashable {
    public var key: String
    /// Size of the encoded value in bytes; what counts against the archive's limit.
    public var valueBytes: Int
    public var encoding: ValueEncoding
    /// When the object under this key was first recorded.
    public var created: Timestamp
    /// When it was last recorded or accessed.
    public var accessed: Timestamp
    /// When it stops being valid; `nil`: never.
    public var expires: Timestamp?
    /// Accesses since it was recorded.
    public var hits: UInt32
    public var owner: String?
    /// Place in recency order, 1 is the most recent. Only a list of entries knows it.
    public var rank: Int?
    /// The stamp of its last use; stamps grow with each use of any entry of the archive.
    public var recency: UInt64
    /// Number of the operation that stored this value; a change of the value changes it.
    public var sequence: UInt64
    public var tier: Tier
}

extension EntryMetadata {
    /// One on disk that was never accessed.
    package init(key: String, valueBytes: Int, recorded: Timestamp, sequence: UInt64) {
        self.init(
            key: key, valueBytes: valueBytes, encoding: .unknown, created: recorded, accessed: recorded,
            expires: nil, hits: 0, owner: nil, rank: nil, recency: 0, sequence: sequence, tier: .disk)
    }
}
