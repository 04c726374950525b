import StorageEngine

/// The screen of stores.
struct StoresState: Sendable {
    /// Nil until the folder was read.
    var stores: [StoreSummary]?
    var problem: String?
    var cursor = 0
    /// The store that a person came back from, until the cursor is on it.
    var left: String?
    var top = 0
    var isPending = false
    /// When the folder was read last.
    var loaded: Timestamp?

    /// Seconds between two looks at the folder: each opens every store in it.
    static let interval = 1.0

    /// The store under the cursor.
    var selected: StoreSummary? {
        guard let stores, stores.indices.contains(cursor) else { return nil }
        return stores[cursor]
    }
}
