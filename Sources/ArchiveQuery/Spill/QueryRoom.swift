/// Where the stages of a query keep what they can't hand on yet. For one thread.
final class QueryRoom {
    let reader: RowReader
    /// Looks at kept rows without moving the first one from its row.
    let secondReader: RowReader
    let memory: MemoryBudget
    let temporary: TemporaryBudget
    /// Throws when the query is to end.
    private let check: () throws -> Void
    private var steps = 0

    init(
        reader: RowReader, secondReader: RowReader, options: QueryOptions, check: @escaping () throws -> Void
    ) {
        self.reader = reader
        self.secondReader = secondReader
        memory = MemoryBudget(limit: options.memoryLimit)
        temporary = TemporaryBudget(limit: options.temporaryLimit)
        self.check = check
    }

    /// To be called for each row of a temporary file.
    func step() throws {
        steps += 1
        if steps & 1023 == 0 { try check() }
    }

    func sorter(_ keys: [RowSorter.Key], most: Int = .max) -> RowSorter {
        RowSorter(keys, most: most, room: self)
    }
}
