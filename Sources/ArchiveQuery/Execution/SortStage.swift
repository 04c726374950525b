/// Collects rows and passes them on in order at the end. Keeps only as many as the later stages can use.
final class SortStage: RowStage {
    struct Key {
        var access: RowShape.Access
        var isDescending: Bool
    }

    /// A row with its sort values.
    private struct Entry {
        var values: [SortValue]
        /// Breaks ties: the row's recency, or its place in the input.
        var tie: UInt64
        var row: KeptRow

        var bytes: Int { row.bytes + values.reduce(48) { $0 + 24 + $1.bytes } }
    }

    private let keys: [Key]
    private let most: Int
    /// Whether ties are broken by recency, for rows that come in storage order. Otherwise the earlier row comes
    /// first.
    private let isByRecency: Bool
    private let hasColumns: Bool
    private let reader: RowReader
    private let budget: MemoryBudget
    private var entries: [Entry] = []
    private var arrived: UInt64 = 0
    /// Whether the first `most` entries are sorted and the others dropped.
    private var isTrimmed = false

    init(
        _ keys: [Key], most: Int, isByRecency: Bool, hasColumns: Bool, reader: RowReader,
        budget: MemoryBudget,
        name: String, isTimed: Bool, next: RowSink
    ) {
        self.keys = keys
        self.most = most
        self.isByRecency = isByRecency
        self.hasColumns = hasColumns
        self.reader = reader
        self.budget = budget
        super.init(name: name, isTimed: isTimed, next: next)
    }

    override func take(_ row: RowReader) throws -> Bool {
        guard most > 0 else { return false }
        arrived += 1
        var values: [SortValue] = []
        values.reserveCapacity(keys.count)
        for (place, key) in keys.enumerated() {
            let value = SortValue(try row.itemIfReadable(key.access))
            if place == 0, isTrimmed, isBehindAll(value) { return true }
            values.append(value)
        }
        let tie = isByRecency ? UInt64.max - (row.cursor?.recency ?? 0) : arrived
        if isTrimmed, !precedes(values, tie, entries[most - 1]) { return true }
        guard let kept = try row.kept(hasColumns: hasColumns) else { return true }
        let entry = Entry(values: values, tie: tie, row: kept)
        try budget.take(entry.bytes)
        entries.append(entry)
        // Sorting and trimming from time to time needs no more comparisons than a heap.
        if entries.count - min(most, entries.count) >= max(most, 256) { trim() }
        return true
    }

    /// Whether the first key alone shows that the row comes after all kept ones.
    private func isBehindAll(_ value: SortValue) -> Bool {
        SortValue.compare(value, entries[most - 1].values[0], isDescending: keys[0].isDescending) > 0
    }

    private func precedes(_ values: [SortValue], _ tie: UInt64, _ other: Entry) -> Bool {
        for (place, key) in keys.enumerated() {
            let order = SortValue.compare(
                values[place], other.values[place], isDescending: key.isDescending)
            if order != 0 { return order < 0 }
        }
        return tie < other.tie
    }

    private func trim() {
        entries.sort { precedes($0.values, $0.tie, $1) }
        guard entries.count > most else { return }
        budget.giveBack(entries[most...].reduce(0) { $0 + $1.bytes })
        entries.removeSubrange(most...)
        isTrimmed = true
    }

    override func finish() throws {
        trim()
        let sorted = entries
        entries = []
        for entry in sorted {
            guard try reader.show(entry.row, { try next.push(reader) }) else { break }
        }
        budget.giveBack(sorted.reduce(0) { $0 + $1.bytes })
        try next.end()
    }
}
