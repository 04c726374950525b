/// Keeps rows and hands them on in order when all have come; of these no more than the stages behind it look at.
final class SortStage: RowStage {
    private let keys: [RowSorter.Key]
    /// Whether rows come in any order, and the more recent one is to come first; else the earlier one is.
    private let isByRecency: Bool
    private let most: Int
    private let form: KeptForm
    private let reader: RowReader
    private let sorter: RowSorter
    private var arrived: UInt64 = 0

    init(
        _ keys: [RowSorter.Key], most: Int, isByRecency: Bool, form: KeptForm, room: QueryRoom,
        name: String, isTimed: Bool, next: RowSink
    ) {
        self.keys = keys
        self.isByRecency = isByRecency
        self.most = most
        self.form = form
        reader = room.reader
        sorter = room.sorter(keys, most: most)
        super.init(name: name, isTimed: isTimed, next: next)
    }

    override func take(_ row: RowReader) throws -> Bool {
        guard most > 0 else { return false }
        arrived += 1
        var values: [SortValue] = []
        values.reserveCapacity(keys.count)
        for (place, key) in keys.enumerated() {
            let value = try row.sortValue(key)
            if place == 0, sorter.isBehindAll(value) { return true }
            values.append(value)
        }
        let tie = isByRecency ? UInt64.max - (row.cursor?.recency ?? 0) : arrived
        if sorter.isBehindAll(values, tie) { return true }
        guard let kept = try row.kept(form) else { return true }
        try sorter.add(kept, values, tie)
        return true
    }

    override func finish() throws {
        try sorter.forEach { row in try reader.show(row) { try next.push(reader) } }
        try next.end()
    }
}

/// What of a row is kept.
enum KeptForm {
    case columns
    /// The whole value.
    case value
    /// Of the value the properties of these numbers alone: no stage behind asks for more.
    case properties([Int])
}
