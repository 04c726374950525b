/// A request for keys: which, in which order, and how many.
public struct KeyQuery: Sendable, Hashable {
    /// The order of the listed keys.
    public enum Order: Sendable, Hashable {
        /// Sorts by the keys' UTF-8 bytes, ascending.
        case key
        /// Sorts by the last access, the most recent first.
        case recency
    }

    /// Selects keys with this prefix, compared by bytes: `"é"` as one scalar is no prefix of one written as two.
    public var prefix: String
    /// Selects entries of this owner, compared by bytes; `nil`: all entries, with and without an owner.
    public var owner: String?
    /// The order of the result.
    public var order: Order
    /// Selects keys after this one, with `order` `key`: pass the last key of the previous page.
    public var after: String?
    /// Most keys to return; `nil`: all.
    public var limit: Int?

    /// A query for the keys that meet all of these conditions.
    public init(
        prefix: String = "", owner: String? = nil, order: Order = .key, after: String? = nil,
        limit: Int? = nil
    ) {
        self.prefix = prefix
        self.owner = owner
        self.order = order
        self.after = after
        self.limit = limit
    }
}

/// The result of a ``KeyQuery``.
public struct KeyPage: Sendable, Hashable {
    /// The keys, in the requested order.
    public var keys: [String]
    /// Whether more keys match than the limit allowed.
    public var hasMore: Bool
    /// Entries whose bytes are damaged, so that it is unknown whether they match. A check reports their locations.
    public var unreadable: Int

    /// A page with these keys.
    public init(keys: [String], hasMore: Bool, unreadable: Int) {
        self.keys = keys
        self.hasMore = hasMore
        self.unreadable = unreadable
    }
}

/// Totals of one owner's entries.
public struct OwnerSummary: Sendable, Hashable {
    /// The owner; `nil` for entries without one.
    public var owner: String?
    /// Number of entries.
    public var entries: Int
    /// Sum of the sizes of their values in bytes.
    public var bytes: UInt64
    /// Accesses of these entries since they were recorded.
    public var hits: UInt64
    /// Number of damaged entries, by the hash of the owner's name; without owner if no intact entry has that hash.
    public var unreadable = 0
}
