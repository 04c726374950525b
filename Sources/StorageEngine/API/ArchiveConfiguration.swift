/// What an archive does when it is full.
public enum ArchiveKind: UInt8, Sendable, Hashable, CaseIterable {
    /// Bounded: evicts the least recently used entries.
    case cache = 1
    /// Keeps everything until it is deleted.
    case collection = 2
    /// A bounded ring of messages: no keys; the oldest go first.
    case log = 3
}

/// How an entry's value is encoded, as its writer said. A reader may find out more by looking.
public enum ValueEncoding: UInt8, Sendable, Hashable, CaseIterable {
    case unknown = 0
    case cbor = 1
    case json = 2
    case propertyList = 3
    case text = 4
}

/// Kind, limits and type of an archive; kept in its descriptor and fixed when the archive is made, except
/// for the limits (``Archive/setLimits(disk:memory:)``) and the durability.
public struct ArchiveConfiguration: Sendable, Hashable {
    public var kind: ArchiveKind
    /// Most bytes that the values on disk may have in total, 1 to ``maximumDiskLimit``. `nil`: no limit,
    /// which only a `collection` may have.
    public var diskLimit: UInt64?
    /// Most bytes that the values in one process' memory tier may have in total. `nil`: no limit.
    public var memoryLimit: UInt64?
    /// The name of the Swift type whose values the archive holds, for people to read; at most 1,024 bytes.
    public var typeName: String
    /// What survives a crash of the system and a power loss (``Archive/setDurability(_:)`` changes it).
    public var durability: Durability

    public static let maximumDiskLimit: UInt64 = 200 << 30

    /// Two million bytes on disk, where the kind has a limit: a collection has none.
    public init(
        kind: ArchiveKind = .cache, memoryLimit: UInt64? = 1_000_000, typeName: String = "",
        durability: Durability = .process
    ) {
        self.init(
            kind: kind, diskLimit: kind == .collection ? nil : 2_000_000, memoryLimit: memoryLimit,
            typeName: typeName, durability: durability)
    }

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
