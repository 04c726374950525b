/// Which keys to list, in which order, and how many.
public struct KeyQuery: Sendable, Hashable {
    public enum Order: Sendable, Hashable {
        /// By the keys' UTF-8 bytes, ascending.
        case key
        /// The most recently used first.
        case recency
    }

    /// What the keys begin with, byte by byte: `"é"` written as one character is no prefix of one written as two.
    public var prefix: String
    /// Only entries of this owner, compared byte by byte; `nil`: of any, and of none.
    public var owner: String?
    public var order: Order
    /// In order of keys, only those behind this one: the last of the page before.
    public var after: String?
    /// Most keys to return; `nil`: all.
    public var limit: Int?

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

/// Keys that were found.
public struct KeyPage: Sendable, Hashable {
    public var keys: [String]
    /// Whether more match than the limit left room for.
    public var hasMore: Bool
    /// Entries whose bytes are damaged, so that nobody knows whether they belong here; a check says where they are.
    public var unreadable: Int

    public init(keys: [String], hasMore: Bool, unreadable: Int) {
        self.keys = keys
        self.hasMore = hasMore
        self.unreadable = unreadable
    }
}

/// What the entries of one owner come to.
public struct OwnerSummary: Sendable, Hashable {
    /// `nil`: those that have none.
    public var owner: String?
    public var entries: Int
    /// Sum of the sizes of their values.
    public var bytes: UInt64
    public var hits: UInt64
    /// How many of the entries are damaged: their owner is told by the index's hash of the name. Where no intact entry
    /// has a name of that hash, they stand with those that have none.
    public var unreadable = 0
}

extension Archive {
    /// Keys without their values, as they are at this moment. Leaves no trace, and reads no value.
    ///
    /// Costs a look at each entry's line in the index and, of those that may belong to it, at the beginning of its frame:
    /// some 100 ns an entry. Keeps 16 bytes an entry meanwhile and, with a limit, about twice as many keys as that; so
    /// page by page (``KeyQuery/after``) also of an archive with more keys than memory has room for. In order of recency
    /// it ends when the limit is reached.
    /// - Throws: also when bytes can't be reached now, for want of descriptors or memory; `invalidOwner` for an empty one.
    public func keys(_ query: KeyQuery = KeyQuery()) throws(StorageError) -> KeyPage {
        if let owner = query.owner { try EntryAttributes.checkNotEmpty(owner: owner) }
        return try KeySearch(query).run(engine())
    }

    /// What the entries of each owner come to, those without one included, most bytes first. Names are compared byte by
    /// byte. Leaves no trace. Costs a look at each entry's line in the index and at the beginning of each owned entry's
    /// frame, some 100 ns an entry; no value is read.
    /// - Throws: also when bytes can't be reached now, for want of descriptors or memory.
    public func owners() throws(StorageError) -> [OwnerSummary] { try engine().owners() }
}
