/// Sorts rows, and keeps only those that later stages can use.
final class SortStage: RowStage {
    private let keys: [RowSorter.Key]
    /// Whether recency breaks ties, for rows in storage order. Otherwise the earlier row is first.
    private let isByRecency: Bool
    private let most: Int
    private let form: KeptForm
    private let reader: RowReader
    private let sorter: RowSorter
    private let counters: [KindCounts]
    private var arrived: UInt64 = 0

    init(
        _ keys: [RowSorter.Key], _ counters: [KindCounts], most: Int, isByRecency: Bool, form: KeptForm,
        pool: QueryResources, next: RowSink
    ) {
        self.keys = keys
        self.counters = counters
        self.isByRecency = isByRecency
        self.most = most
        self.form = form
        reader = pool.reader
        sorter = pool.sorter(keys, most: most)
        super.init(next: next)
    }

    override func take(_ row: RowReader) throws -> Bool {
        guard most > 0 else { return false }
        arrived += 1
        var values: [SortValue] = []
        if let first = keys.first {
            // Usually decides: creating a string or an array for the row would double the time.
            let isBehind =
                try first.access.isMany ? false : count(row.itemIfReadable(first.access), counters[0])
            if isBehind, keys.count == 1 { return true }
            values.reserveCapacity(keys.count)
            for (place, key) in keys.enumerated() {
                values.append(try row.sortValue(key))
                if place > 0 || key.access.isMany { counters[place].count(values[place].sortedKind) }
            }
            if isBehind { return true }
        }
        let tie = isByRecency ? UInt64.max - (row.cursor?.recency ?? 0) : arrived
        if sorter.isBehindAll(values, tie) { return true }
        guard let kept = try row.kept(form) else { return true }
        try sorter.add(kept, values, tie)
        return true
    }

    /// Counts the first key's item, and returns whether the row follows all kept ones.
    private func count(_ item: StoredItem, _ counter: KindCounts) -> Bool {
        counter.count(item.kind)
        return sorter.isBehindAll(item)
    }

    override func begin(at number: Int) { arrived = UInt64(number) }

    override func absorb(_ part: RowSink) {
        if let part = part as? SortStage { sorter.absorb(part.sorter) }
    }

    override func finish() throws {
        try sorter.forEach { row in try reader.show(row) { try next.push(reader) } }
        try next.end()
    }
}
