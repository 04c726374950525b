/// The memory and temporary files of a query's stages. Not thread-safe.
final class QueryResources {
    let reader: RowReader
    /// Reads kept rows while `reader` stays at its row.
    let secondReader: RowReader
    let memory: MemoryBudget
    let temporary: TemporaryBudget
    /// Throws if the query is to end.
    private let check: () throws -> Void
    private var steps = 0

    init(
        reader: RowReader, secondReader: RowReader, memory: MemoryBudget, temporary: TemporaryBudget,
        check: @escaping () throws -> Void
    ) {
        self.reader = reader
        self.secondReader = secondReader
        self.memory = memory
        self.temporary = temporary
        self.check = check
    }

    /// Call for each row of a temporary file.
    func step() throws {
        steps += 1
        if steps & 1023 == 0 { try check() }
    }

    func sorter(_ keys: [RowSorter.Key], most: Int = .max) -> RowSorter {
        RowSorter(keys, most: most, pool: self)
    }
}
