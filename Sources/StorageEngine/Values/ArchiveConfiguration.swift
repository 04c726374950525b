/// The kinds of archives, by content and by the behavior at the limit.
public enum ArchiveKind: UInt8, Sendable, Hashable, CaseIterable {
    /// Bounded: evicts entries by its ``EvictionPolicy``.
    case cache = 1
    /// Keeps all entries until they are deleted.
    case collection = 2
    /// A bounded ring of messages without keys, which drops the oldest ones.
    case log = 3
}

/// How a cache selects the entries that it evicts.
public enum EvictionPolicy: UInt8, Sendable, Hashable, CaseIterable {
    /// The least recently used entry, exactly.
    case lru = 0
    /// S3-FIFO: new entries enter a small queue of a tenth of the limit, and leave the cache from there unless they are accessed.
    /// Entries that are only read once don't displace the others (Yang et al., "FIFO queues are all you need for cache eviction",
    /// SOSP 2023).
    case s3fifo = 1
}

/// How an entry's value is encoded, as its writer declared. The bytes may be of a more specific format.
public enum ValueEncoding: UInt8, Sendable, Hashable, CaseIterable {
    /// The writer declared no encoding.
    case unknown = 0
    /// CBOR (RFC 8949).
    case cbor = 1
    /// JSON in UTF-8.
    case json = 2
    /// A property list, as XML or binary.
    case propertyList = 3
    /// Text in UTF-8.
    case text = 4
}

/// Kind, limits, type, durability and eviction policy of an archive, kept in its descriptor. Kind and type can't be changed later
/// (``Archive/setLimits(disk:memory:)``, ``Archive/setDurability(_:)``, ``Archive/setEvictionPolicy(_:)``).
public struct ArchiveConfiguration: Sendable, Hashable {
    /// The archive's kind of content and behavior at the limit.
    public var kind: ArchiveKind
    /// Most bytes of all values on disk, 1 to ``maximumDiskLimit``. `nil`: no limit, for a `collection` only.
    public var diskLimit: UInt64?
    /// Most bytes of all values in one process's memory tier. `nil`: no limit.
    public var memoryLimit: UInt64?
    /// The name of the Swift type whose values the archive holds, for display; at most 1,024 bytes.
    public var typeName: String
    /// The failures that changes survive (``Archive/setDurability(_:)`` changes it).
    public var durability: Durability
    /// How a cache selects the entries that it evicts (``Archive/setEvictionPolicy(_:)`` changes it).
    public var evictionPolicy = EvictionPolicy.lru

    /// Largest ``diskLimit`` in bytes: 200 GiB.
    public static let maximumDiskLimit: UInt64 = 200 << 30
    /// Largest size of a value in bytes.
    static let maximumValueBytes = 1 << 30

    /// A configuration with a disk limit of two million bytes; a collection has none.
    public init(
        kind: ArchiveKind = .cache, memoryLimit: UInt64? = 1_000_000, typeName: String = "",
        durability: Durability = .process
    ) {
        self.init(
            kind: kind, diskLimit: kind == .collection ? nil : 2_000_000, memoryLimit: memoryLimit,
            typeName: typeName, durability: durability)
    }

    /// A configuration with this disk limit in bytes. Limits are checked when the archive is created.
    public init(
        kind: ArchiveKind = .cache, diskLimit: UInt64?, memoryLimit: UInt64? = 1_000_000,
        typeName: String = "", durability: Durability = .process
    ) {
        self.kind = kind
        self.diskLimit = diskLimit
        self.memoryLimit = memoryLimit
        self.typeName = typeName
        self.durability = durability
    }
}

extension ArchiveConfiguration {
    func validate() throws(StorageError) {
        guard kind == .collection || diskLimit != nil else {
            throw .invalidConfiguration(reason: "a \(kind) needs a disk limit")
        }
        if let diskLimit {
            guard diskLimit > 0, diskLimit <= ArchiveConfiguration.maximumDiskLimit else {
                throw .invalidConfiguration(
                    reason: "a disk limit is 1 byte to 200 GiB, not \(diskLimit) bytes")
            }
            guard kind != .collection else {
                throw .invalidConfiguration(reason: "a collection never evicts, so it has no disk limit")
            }
        }
        guard evictionPolicy == .lru || kind == .cache else {
            throw .invalidConfiguration(reason: "only a cache has an eviction policy, not a \(kind)")
        }
        try durability.validate()
        guard typeName.utf8.count <= 1024 else {
            throw .invalidConfiguration(reason: "the type name is longer than 1,024 bytes")
        }
    }
}
