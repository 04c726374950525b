import ArchiveQuery

package enum EntryColumn: String, Sendable, Hashable, CaseIterable {
    // The names of `vellum keys --order`.
    case key, size, tier
    case idle = "recency"
    case age = "created"
    case expires, hits, owner
    /// The queue of S3-FIFO; the next evicted entry first.
    case queue = "eviction"

    package var title: String {
        switch self {
        case .idle: "idle"
        case .age: "age"
        case .queue: "queue"
        default: rawValue
        }
    }

    /// The default direction of the column.
    package var beginsDescending: Bool { self == .size || self == .hits }
}

package struct EntryOrder: Sendable, Hashable {
    package enum Basis: Sendable, Hashable {
        case column(EntryColumn)
        /// A property; entries without it are last in both directions.
        case property(QueryProperty)
        /// Unsorted, as a server's scan returns them.
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

    /// The most recently used first.
    package static let recency = EntryOrder(.idle, descending: false)

    /// The order in which the server returned the keys.
    package static let found = EntryOrder(.scan, descending: false)

    package var needsFigures: Bool { self != .found && column != .key }

    package var reversed: EntryOrder { EntryOrder(basis, descending: !descending) }

    package var column: EntryColumn? { if case .column(let column) = basis { column } else { nil } }
    package var property: QueryProperty? { if case .property(let property) = basis { property } else { nil } }

    /// `size`, `address.city`
    package var name: String { column?.title ?? property?.columnName ?? "scan" }
}
