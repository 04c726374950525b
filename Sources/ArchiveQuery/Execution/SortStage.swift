/// Keeps rows and hands them on in order when all have come; of these no more than the stages behind it look at.
final class SortStage: RowStage {
    struct Key {
        var access: RowShape.Access
        var isDescending: Bool
    }

    /// A row with what it is sorted by.
    private struct Entry {
        var values: [SortValue]
        /// Decides where no key does: how recent it is, or when it came.
        var tie: UInt64
        var row: KeptRow

        var bytes: Int { row.bytes + values.reduce(48) { $0 + 24 + $1.bytes } }
    }

    private let keys: [Key]
    private let most: Int
    /// Whether rows come in any order, and the more recent one is to come first; else the earlier one is.
    private let isByRecency: Bool
    private let hasColumns: Bool
    private let reader: RowReader
    private let budget: MemoryBudget
    private var entries: [Entry] = []
    private var arrived: UInt64 = 0
    /// Whether the first `most` entries are in order and others have been let go.
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
        // Sorting a heap's worth of rows now and then costs no more comparisons than a heap.
        if entries.count - min(most, entries.count) >= max(most, 256) { trim() }
        return true
    }

    /// Whether the first key alone says that the row comes too late.
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
