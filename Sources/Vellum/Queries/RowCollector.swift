/// Collects what a stage of a query lets through, sorted if the stage has orders, and of that no more than the next
/// stage looks at.
struct RowCollector<Item, Result> {
    private(set) var items: [Item] = []
    /// Of each item, unless the stage is the last one.
    private var objects: [Result] = []
    private let keepsObjects: Bool

    private let column: SortColumn<Result>?
    /// Most rows that count; 1 or more if there is a column.
    private let most: Int
    /// Whether the first `most` rows are sorted, and more have been seen.
    private var isTrimmed = false

    init(_ stage: QueryStage<Result>, isLast: Bool) {
        keepsObjects = !isLast
        column = SortColumn.joined(stage.orders.map { $0.column() })
        most = stage.most
    }

    mutating func insert(_ item: Item, _ object: Result) {
        if let column {
            column.append(object)
            // What compares equal comes later because it was seen later, so it is too late as well.
            if isTrimmed, column.compare(items.count, most - 1) >= 0 { return column.removeLast() }
        }
        items.append(item)
        if keepsObjects { objects.append(object) }
        // Sorting a heap's worth of rows now and then costs no more comparisons than a heap, and is stable.
        if column != nil, items.count - most >= max(most, 256) { trim() }
    }

    /// Sorts what was collected.
    consuming func finish() -> RowCollector {
        trim()
        return self
    }

    /// What another stage leaves of the rows.
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
