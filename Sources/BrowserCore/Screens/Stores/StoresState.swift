import StorageEngine
import StoreInspection

/// The screen of stores.
struct StoresState: Sendable {
    /// Nil until the folder was read.
    var stores: [StoreSummary]?
    var problem: String?
    /// Why favourites and recent ones are missing.
    var unremembered: String?
    /// Text that names or paths of the rows have.
    var filter = ""
    var cursor = 0
    /// The store that a person came back from, until the cursor is on it.
    var left: String?
    var top = 0
    var isPending = false
    /// When the folder was read last.
    var loaded: Timestamp?

    /// Seconds between two looks at the folder: each opens every store in it.
    static let interval = 1.0

    /// The rows: the stores that the filter leaves.
    var rows: [StoreSummary] {
        guard let pattern = SearchText(filter) else { return stores ?? [] }
        return (stores ?? []).filter { pattern.matches($0.name) || pattern.matches($0.path) }
    }

    /// The store under the cursor.
    var selected: StoreSummary? {
        let rows = rows
        return rows.indices.contains(cursor) ? rows[cursor] : nil
    }
}
