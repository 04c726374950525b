import StorageEngine
import StoreInspection

struct StoresState: Sendable {
    /// Nil until the folder was read.
    var stores: [StoreSummary]?
    var problem: String?
    /// Why favourites and recent ones are missing.
    var unremembered: String?
    /// The activity of each store, by its path, while the list was shown.
    private(set) var histories: [ExactText: ArchiveHistory] = [:]
    var filter = ""
    var cursor = 0
    /// The store that a person came back from, until the cursor is on it.
    var left: String?
    var top = 0
    var isPending = false
    var loaded: Timestamp?

    /// Seconds between two looks at the folder: each opens every store in it.
    static let interval = 1.0

    /// Adds the counters of the stores at a moment; forgets stores that aren't listed.
    mutating func note(_ stores: [StoreSummary], at moment: Timestamp) {
        var noted: [ExactText: ArchiveHistory] = [:]
        for store in stores where store.problem == nil {
            var history = histories[ExactText(store.path)] ?? ArchiveHistory()
            history.add(store.activity, at: moment)
            noted[ExactText(store.path)] = history
        }
        histories = noted
    }

    /// The rows: the stores that the filter leaves.
    var rows: [StoreSummary] {
        guard let pattern = SearchText(filter) else { return stores ?? [] }
        return (stores ?? []).filter { pattern.matches($0.name) || pattern.matches($0.path) }
    }

    var selected: StoreSummary? {
        let rows = rows
        return rows.indices.contains(cursor) ? rows[cursor] : nil
    }
}
