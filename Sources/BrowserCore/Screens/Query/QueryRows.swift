import ArchiveQuery
import StoreInspection

/// How the rows of a result are shown: in which order, with which columns, and what has become of their entries since.
struct QueryRows: Sendable {
    /// A column of the result, by its place, and the direction.
    struct Order: Sendable, Hashable {
        var column: Int
        var isDescending = false
    }

    /// What happened to an entry since its row was read.
    enum Change: Sendable, Hashable { case changed, gone }

    /// Nil: the order in which the query gave the rows.
    private(set) var order: Order?
    /// Text that the rows shown have in a cell.
    private(set) var filter = ""
    /// The answer's rows as they are shown; nil: as they came.
    private var places: [Int]?
    /// Columns that are scrolled out at the left, the first one excepted.
    var firstColumn = 0
    /// Titles of columns that nobody wants to see.
    var hidden: Set<String> = []
    /// By the answer's row, of those that were looked at last.
    var changes: [Int: Change] = [:]
    var isChecking = false

    /// The answer's row that stands at that place; -1: none.
    func row(_ place: Int) -> Int {
        guard let places else { return place }
        return places.indices.contains(place) ? places[place] : -1
    }

    /// Where that row of the answer stands; the first place where it isn't shown.
    func place(of row: Int) -> Int { places.map { $0.firstIndex(of: row) ?? 0 } ?? row }

    func count(of answer: QueryAnswer) -> Int { places?.count ?? answer.rows.count }

    /// Rows with equal values stay in the order in which they came.
    mutating func sort(_ answer: QueryAnswer, by order: Order?) {
        self.order = order.flatMap { answer.columns.indices.contains($0.column) ? $0 : nil }
        arrange(answer)
    }

    mutating func filter(_ answer: QueryAnswer, by text: String) {
        filter = text
        arrange(answer)
    }

    private mutating func arrange(_ answer: QueryAnswer) {
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

    /// Takes over an answer to the same query.
    mutating func renew(for answer: QueryAnswer) {
        changes = [:]
        sort(answer, by: order)
    }

    /// The columns of the answer that may be shown, from the left: the first always, then what isn't hidden or scrolled out.
    func columns(of answer: QueryAnswer) -> [Int] {
        let chosen = chosen(of: answer)
        return Array(chosen.prefix(1) + chosen.dropFirst(1 + min(firstColumn, max(0, chosen.count - 2))))
    }

    /// How many columns are scrolled out at the left.
    func before(in answer: QueryAnswer) -> Int { min(firstColumn, max(0, chosen(of: answer).count - 2)) }

    private func chosen(of answer: QueryAnswer) -> [Int] {
        answer.columns.indices.filter { $0 == 0 || !hidden.contains(answer.columns[$0].title) }
    }

    mutating func scroll(by columns: Int, in answer: QueryAnswer) {
        firstColumn = max(0, before(in: answer) + columns)
        firstColumn = before(in: answer)
    }
}
