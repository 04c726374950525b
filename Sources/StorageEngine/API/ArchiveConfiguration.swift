/// What an archive holds, and what it does when it is full.
public enum ArchiveKind: UInt8, Sendable, Hashable, CaseIterable {
    /// Bounded: evicts the least recently used entries.
    case cache = 1
    /// Keeps everything until it is deleted.
    case collection = 2
    /// A bounded ring of messages: no keys; the oldest go first.
    case log = 3
}

/// How an entry's value is encoded, as its writer declared. A reader may find out more from the bytes.
public enum ValueEncoding: UInt8, Sendable, Hashable, CaseIterable {
    /// Not declared.
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

/// Kind, limits, type and durability of an archive, kept in its descriptor. All but the limits
/// (``Archive/setLimits(disk:memory:)``) and the durability are fixed when the archive is created.
public struct ArchiveConfiguration: Sendable, Hashable {
    /// What the archive holds, and what it does when it is full.
    public var kind: ArchiveKind
    /// Most bytes that the values on disk may take in total, 1 to ``maximumDiskLimit``. `nil`: no limit, which only a
    /// `collection` may have.
    public var diskLimit: UInt64?
    /// Most bytes that the values in one process' memory tier may take in total. `nil`: no limit.
    public var memoryLimit: UInt64?
    /// The name of the Swift type whose values the archive holds, for people to read; at most 1,024 bytes.
    public var typeName: String
    /// What survives a system crash or a power loss (``Archive/setDurability(_:)`` changes it).
    public var durability: Durability

    /// Largest ``diskLimit`` in bytes: 200 GiB.
    public static let maximumDiskLimit: UInt64 = 200 << 30

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
