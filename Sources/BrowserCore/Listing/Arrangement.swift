/// A listing as a table shows it: sorted and filtered. Immutable; safe to share between threads.
public struct Arrangement: Sendable {
    public let listing: any EntryListing
    public let order: EntryOrder
    public let filter: String
    /// All entries in `order`.
    let sorted: Positions
    /// Those of `sorted` whose key matches the filter: the rows.
    public let rows: Positions
    /// Sum of the sizes of the rows.
    public let rowBytes: UInt64
    let keys: KeyIndex?
    /// The listing's indices of the entries that are evicted next; empty when there is room.
    public let victims: Range<Int>
    /// When the listing was taken.
    public let made: Moment

    public var count: Int { rows.count }
}

/// What an arrangement is to be made of. A value; safe to share between threads.
public struct ArrangementRequest: Sendable {
    public var archive: String
    public var store: String
    public var order: EntryOrder
    public var filter: String
    /// The arrangement whose listing is used again; nil takes a new listing.
    public var base: Arrangement?
    /// The key whose row is looked for.
    public var anchor: String?
    /// Where the anchor was, to look there first and to stay there when it is gone.
    public var anchorRow: Int
    /// Rows in view, and how far below the top one the anchor is.
    public var visible: Int
    public var anchorOffset: Int
    /// Keys in view, of which those that went are wanted.
    public var shown: [String] = []

    public init(archive: String, store: String, order: EntryOrder = .recency, filter: String = "") {
        self.archive = archive
        self.store = store
        self.order = order
        self.filter = filter
        anchorRow = 0
        visible = 0
        anchorOffset = 0
    }
}

/// An arrangement with the rows that are in view first. A value; safe to share between threads.
public struct Arranged: Sendable {
    public var arrangement: Arrangement
    /// Where the anchor stands now; nil when it is gone or filtered out.
    public var anchorRow: Int?
    /// Metadata of the rows around the anchor.
    public var entries: [Int: Entry]
    /// The rows that were looked at; one of them without metadata is gone.
    public var range: Range<Int>
    /// The keys of ``ArrangementRequest/shown`` that are no entries any more.
    public var vanished: Set<String>
    /// What it cost, in seconds, so that refreshing takes a bounded share of the time.
    public var cost: Double
}
