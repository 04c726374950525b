/// Collects what a stage of a query lets through, sorted if the stage has orders, and of that at most `most`.
struct RowCollector<Item, Result> {
    typealias Row = (item: Item, object: Result)

    private var rows: [Row] = []
    private let columns: [SortColumn<Result>]
    private let most: Int
    /// Whether the first `most` rows are sorted, and more have been seen.
    private var isTrimmed = false

    /// Without orders `most` doesn't count. Otherwise it is 1 or more.
    init(orders: [SortOrder<Result>], most: Int) {
        columns = orders.map { $0.column() }
        self.most = most
    }

    mutating func insert(_ item: Item, _ object: Result) {
        rows.append((item, object))
        if columns.isEmpty { return }
        for column in columns { column.append(object) }
        if isTrimmed, !precedes(rows.count - 1, most - 1) {
            // What compares equal comes later because it was seen later, so it is too late as well.
            rows.removeLast()
            for column in columns { column.removeLast() }
        } else if rows.count - most >= max(most, 256) {
            trim()
        }
    }

    mutating func finish() -> [Row] {
        if !columns.isEmpty { trim() }
        return rows
    }

    /// Sorting a heap's worth of rows now and then costs no more comparisons than a heap, and is stable.
    private mutating func trim() {
        let kept = Array(rows.indices.sorted(by: precedes).prefix(most))
        isTrimmed = kept.count < rows.count || isTrimmed
        rows = kept.map { rows[$0] }
        for column in columns { column.keep(kept) }
    }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        for column in columns {
            let order = column.compare(left, right)
            if order != 0 { return order < 0 }
        }
        return false
    }
}
