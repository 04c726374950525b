/// The tiers that have an entry's value.
public enum Tier: String, Sendable, Hashable {
    /// The value is only on disk, only in the memory of a process, or in both.
    case disk, memory, both
}

/// All metadata of an entry, without its value.
public struct EntryMetadata: Sendable, Hashable {
    /// The entry's key.
    public var key: String
    /// Size of the encoded value in bytes, which counts against the archive's limit.
    public var valueBytes: Int
    /// How the value is encoded.
    public var encoding: ValueEncoding
    /// When the object under this key was first recorded.
    public var created: Timestamp
    /// When the entry was last recorded or accessed.
    public var accessed: Timestamp
    /// When the entry expires; `nil`: never.
    public var expires: Timestamp?
    /// Accesses since the entry was recorded.
    public var hits: UInt32
    /// The entry's owner; `nil` if it has none.
    public var owner: String?
    /// Position in the order of recency; 1 is the most recent. `nil` unless the entry is from a list.
    public var rank: Int?
    /// The stamp of the last access; each access to any entry of the archive gets a greater one.
    public var recency: UInt64
    /// Number of the operation that stored this value. A new value gets a new number.
    public var sequence: UInt64
    /// The tiers that have the value.
    public var tier: Tier
    /// The queue under S3-FIFO; `nil` under LRU, if unknown, and if the entry is from an ``EntryList``.
    package var queue: QueueState?
}

extension EntryMetadata {
    package init(key: String, valueBytes: Int, recorded: Timestamp, sequence: UInt64) {
        self.init(
            key: key, valueBytes: valueBytes, encoding: .unknown, created: recorded, accessed: recorded,
            expires: nil, hits: 0, owner: nil, rank: nil, recency: 0, sequence: sequence, tier: .disk)
    }
}

/// The queue of an entry under S3-FIFO, and the accesses that keep it.
package struct QueueState: Sendable, Hashable {
    /// Whether the entry is in the small queue, and not in the main queue.
    package var isSmall: Bool
    /// Accesses since it entered the queue, 0 to 3.
    package var frequency: UInt8

    package init(isSmall: Bool, frequency: UInt8) { (self.isSmall, self.frequency) = (isSmall, frequency) }
}
