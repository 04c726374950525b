/// Optional properties of an entry besides its value.
public struct EntryAttributes: Sendable, Hashable {
    /// Time from storing the entry until it expires (S8). `nil`: until it is deleted or evicted. Zero or less: it expires at
    /// once. Measured on a clock that continues during sleep and can't be set.
    public var lifetime: Duration?
    /// Longest time that an object may stay in memory after being read from disk. `nil`: as long as there is space.
    public var memoryLifetime: Duration?
    /// A label for entries that belong together, 1 to 255 bytes of UTF-8. `nil`: none.
    public var owner: String?

    /// Attributes for an entry. The owner's length is checked when the entry is stored.
    public init(lifetime: Duration? = nil, memoryLifetime: Duration? = nil, owner: String? = nil) {
        self.lifetime = lifetime
        self.memoryLifetime = memoryLifetime
        self.owner = owner
    }

    /// No lifetimes and no owner.
    public static let none = EntryAttributes()
}
