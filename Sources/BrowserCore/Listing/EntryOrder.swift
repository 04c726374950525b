/// The columns of the entry table, in the order in which they stand.
public enum EntryColumn: String, Sendable, Hashable, CaseIterable {
    case key, size, tier, idle, age, expires, hits, owner

    /// Which end a person wants first when choosing the column.
    var beginsDescending: Bool { self == .size || self == .hits }
}

/// How entries are sorted. A value; safe to share between threads.
public struct EntryOrder: Sendable, Hashable {
    public var column: EntryColumn
    public var descending: Bool

    public init(_ column: EntryColumn, descending: Bool? = nil) {
        self.column = column
        self.descending = descending ?? column.beginsDescending
    }

    /// LRU order, the most recent first: idle time is what recency is.
    public static let recency = EntryOrder(.idle, descending: false)

    public var reversed: EntryOrder { EntryOrder(column, descending: !descending) }
}
