/// The columns of the entry table, in the order in which they stand.
package enum EntryColumn: String, Sendable, Hashable, CaseIterable {
    case key, size, tier, idle, age, expires, hits, owner

    /// As `vellum keys --order` has it.
    package var word: String {
        switch self {
        case .idle: "recency"
        case .age: "created"
        default: rawValue
        }
    }

    /// Which end a person wants first when choosing the column.
    package var beginsDescending: Bool { self == .size || self == .hits }
}

/// How entries are sorted. A value; safe to share between threads.
package struct EntryOrder: Sendable, Hashable {
    package var column: EntryColumn
    package var descending: Bool

    package init(_ column: EntryColumn, descending: Bool? = nil) {
        self.column = column
        self.descending = descending ?? column.beginsDescending
    }

    /// LRU order, the most recent first: idle time is what recency is.
    package static let recency = EntryOrder(.idle, descending: false)

    package var reversed: EntryOrder { EntryOrder(column, descending: !descending) }
}
