import ArchiveQuery
import StoreInspection

struct QueryRows: Sendable {
    struct Order: Sendable, Hashable {
        var column: Int
        var isDescending = false
    }

    enum Change: Sendable, Hashable { case changed, removed }

    private(set) var order: Order?
    private(set) var filter = ""
    /// Indices of the answer's rows in their shown order; nil: all in the query's order.
    private var places: [Int]?
    var firstColumn = 0
    var hidden: Set<String> = []
    /// Changes of the visible rows' entries, by the index of the answer's row.
    var changes: [Int: Change] = [:]
    var isChecking = false

    /// The index of the answer's row at a shown position; -1: none.
    func row(_ place: Int) -> Int {
        guard let places else { return place }
        return places.indices.contains(place) ? places[place] : -1
    }

    /// The shown position of an answer's row; 0 if it isn't shown.
    func place(of row: Int) -> Int { places.map { $0.firstIndex(of: row) ?? 0 } ?? row }

    func count(of answer: QueryResult) -> Int { places?.count ?? answer.rows.count }

    mutating func sort(_ answer: QueryResult, by order: Order?) {
        self.order = order.flatMap { answer.columns.indices.contains($0.column) ? $0 : nil }
        arrange(answer)
    }

    mutating func filter(_ answer: QueryResult, by text: String) {
        filter = text
        arrange(answer)
    }

    private mutating func arrange(_ answer: QueryResult) {
        let rows = answer.rows
        var shown = Array(rows.indices)
        if let text = SearchText(filter) { shown.removeAll { !rows[$0].cells.contains(where: text.matches) } }
        if let order {
            shown.sort { left, right in
                let difference = SortValue.compare(
                    rows[left].values[order.column], rows[right].values[order.column],
                    isDescending: order.isDescending)
                return difference == 0 ? left < right : difference < 0
            }
        }
        places = order == nil && filter.isEmpty ? nil : shown
    }

    /// Applies order and filter to a new answer of the same query.
    mutating func renew(for answer: QueryResult) {
        changes = [:]
        sort(answer, by: order)
    }

    /// The columns that aren't hidden or scrolled out. The first is always shown.
    func columns(of answer: QueryResult) -> [Int] {
        let chosen = chosen(of: answer)
        return Array(chosen.prefix(1) + chosen.dropFirst(1 + before(in: answer)))
    }

    func before(in answer: QueryResult) -> Int { min(firstColumn, max(0, chosen(of: answer).count - 2)) }

    private func chosen(of answer: QueryResult) -> [Int] {
        answer.columns.indices.filter { $0 == 0 || !hidden.contains(answer.columns[$0].title) }
    }

    mutating func scroll(by columns: Int, in answer: QueryResult) {
        firstColumn = max(0, before(in: answer) + columns)
        firstColumn = before(in: answer)
    }
}
