/// One entry of a list: its fields in the index, without its key.
public struct EntryReference: Sendable, Hashable {
    /// The stamp, with the tier in the top two bits.
    private let use: UInt64
    /// When the entry was last recorded or accessed.
    public let accessed: Timestamp
    /// Microseconds since 1970; 0: never. (An `Optional` would make a list of a million entries a third larger.)
    private let expiry: Int64
    let location: Location
    /// Size of the encoded value in bytes.
    public let valueBytes: UInt32
    /// Accesses since the entry was recorded.
    public let hits: UInt32
    let number: UInt32
    let tag: UInt32

    /// Stamps are smaller than 2^62 (``Touch/largestStamp``).
    private static let tierShift: UInt64 = 62

    /// The stamp of the last access: a later access to any entry has a greater one.
    public var recency: UInt64 { use & (1 << EntryReference.tierShift - 1) }
    /// The tiers that have the value.
    public var tier: Tier {
        switch use >> EntryReference.tierShift {
        case 0: .disk
        case 1: .memory
        default: .both
        }
    }
    /// When the entry expires; `nil`: never.
    public var expires: Timestamp? { expiry == 0 ? nil : Timestamp(microseconds: expiry) }

    init(_ content: SlotContent, tier: Tier, expiry: Int64, use: LastUse) {
        let above: UInt64 = tier == .disk ? 0 : tier == .memory ? 1 : 2
        self.use = min(use.recency, Touch.largestStamp - 1) | above << EntryReference.tierShift
        accessed = Timestamp(microseconds: use.accessed)
        hits = use.hits
        self.expiry = expiry
        location = content.location
        valueBytes = content.bytes
        number = content.number
        tag = content.tag
    }
}
