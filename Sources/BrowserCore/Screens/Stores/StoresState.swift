import StorageEngine
import StoreInspection

struct StoresState: Sendable {
    var stores: [StoreSummary]?
    var problem: String?
    /// Why favourites couldn't be read.
    var unremembered: String?
    private(set) var histories: [ExactText: ArchiveHistory] = [:]
    var filter = ""
    var cursor = 0
    /// The store that was left, until it is selected.
    var left: String?
    var top = 0
    var isPending = false
    var loaded: Timestamp?

    /// Seconds between refreshes, which open every store in the folder.
    static let interval = 1.0

    mutating func note(_ stores: [StoreSummary], at moment: Timestamp) {
        var noted: [ExactText: ArchiveHistory] = [:]
        for store in stores where store.problem == nil {
            var history = histories[ExactText(store.path)] ?? ArchiveHistory()
            history.add(store.activity, at: moment)
            noted[ExactText(store.path)] = history
        }
        histories = noted
    }

    var rows: [StoreSummary] {
        guard let pattern = SearchText(filter) else { return stores ?? [] }
        return (stores ?? []).filter { pattern.matches($0.name) || pattern.matches($0.path) }
    }

    var selected: StoreSummary? {
        let rows = rows
        return rows.indices.contains(cursor) ? rows[cursor] : nil
    }
}
