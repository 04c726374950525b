/// Collects the results of a query's stage, sorted if it has orders, and only as many as the next stage uses.
struct RowCollector<Item, Result> {
    private(set) var items: [Item] = []
    /// One for each item, unless the stage is the last one.
    private var objects: [Result] = []
    private let keepsObjects: Bool

    private let column: SortColumn<Result>?
    /// Maximum number of rows; at least 1 if there is a column.
    private let most: Int
    /// Whether the first `most` rows are sorted and others have been dropped.
    private var isTrimmed = false

    init(_ stage: QueryStage<Result>, isLast: Bool) {
        keepsObjects = !isLast
        column = SortColumn.joined(stage.orders.map { $0.column() })
        most = stage.most
    }

    mutating func insert(_ item: Item, _ object: Result) {
        if let column {
            column.append(object)
            // On a tie the row is later, because it was seen later; so it is dropped as well.
            if isTrimmed, column.compare(items.count, most - 1) >= 0 { return column.removeLast() }
        }
        items.append(item)
        if keepsObjects { objects.append(object) }
        // Sorting and trimming from time to time needs no more comparisons than a heap, and is stable.
        if column != nil, items.count - most >= max(most, 256) { trim() }
    }

    consuming func finish() -> RowCollector {
        trim()
        return self
    }

    consuming func passed(through stage: QueryStage<Result>, isLast: Bool) -> RowCollector {
        trim()
        var rows = RowCollector(stage, isLast: isLast)
        let gate = Gate<Result>(stage)
        for (item, object) in zip(items, objects) {
            if gate.lock.isClosed { break }
            if gate.admits(object) { rows.insert(item, object) }
        }
        return rows
    }

    private mutating func trim() {
        guard let column else { return }
        let kept = Array(items.indices.sorted { column.compare($0, $1) < 0 }.prefix(most))
        isTrimmed = isTrimmed || kept.count < items.count
        items = kept.map { items[$0] }
        if keepsObjects { objects = kept.map { objects[$0] } }
        column.keep(kept)
    }
}
