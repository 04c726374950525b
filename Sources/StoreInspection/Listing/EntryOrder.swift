import ArchiveQuery

/// The columns of the entry table, in the order in which they stand.
package enum EntryColumn: String, Sendable, Hashable, CaseIterable {
    // As `vellum keys --order` has them.
    case key, size, tier
    case idle = "recency"
    case age = "created"
    case expires, hits, owner

    package var title: String {
        switch self {
        case .idle: "idle"
        case .age: "age"
        default: rawValue
        }
    }

    /// Which end a person wants first when choosing the column.
    package var beginsDescending: Bool { self == .size || self == .hits }
}

/// How entries are sorted. A value; safe to share between threads.
package struct EntryOrder: Sendable, Hashable {
    package enum Basis: Sendable, Hashable {
        case column(EntryColumn)
        /// What their values have there; those that have nothing come last in both directions.
        case property(QueryProperty)
        /// Nothing: as a server's scan found them.
        case scan
    }

    package let basis: Basis
    package var descending: Bool

    package init(_ basis: Basis, descending: Bool? = nil) {
        self.basis = basis
        let column: EntryColumn? = if case .column(let column) = basis { column } else { nil }
        self.descending = descending ?? column?.beginsDescending ?? false
    }

    package init(_ column: EntryColumn, descending: Bool? = nil) {
        self.init(.column(column), descending: descending)
    }

    /// LRU order, the most recent first: idle time is what recency is.
    package static let recency = EntryOrder(.idle, descending: false)

    /// A server's own order, which means nothing.
    package static let found = EntryOrder(.scan, descending: false)

    package var needsFigures: Bool { self != .found && column != .key }

    package var reversed: EntryOrder { EntryOrder(basis, descending: !descending) }

    package var column: EntryColumn? { if case .column(let column) = basis { column } else { nil } }
    package var property: QueryProperty? { if case .property(let property) = basis { property } else { nil } }

    /// `size`, `address.city`
    package var name: String { column?.title ?? property?.columnName ?? "scan" }
}
