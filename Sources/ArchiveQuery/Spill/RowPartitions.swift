/// The rows beyond the memory of a grouping, partitioned into temporary files by group, in their order. Not thread-safe.
final class RowPartitions {
    private static let count = 16
    /// The maximum depth of partitions; rows of one group always stay together.
    static let deepest = 6

    private var files: [TemporaryFile] = []
    private let depth: Int
    private let pool: QueryResources

    init(depth: Int, pool: QueryResources) throws(QueryError) {
        self.depth = depth
        self.pool = pool
        for _ in 0..<Self.count { files.append(try TemporaryFile(pool.temporary)) }
    }

    func add(_ row: KeptRow, tie: UInt64, _ key: GroupKey) throws(QueryError) {
        var hasher = Hasher()
        // Partition differently at each depth.
        hasher.combine(depth)
        hasher.combine(key)
        let place = Int(UInt(bitPattern: hasher.finalize()) % UInt(Self.count))
        try files[place].append(RowRecord(tie: tie, row: row).encoded)
    }

    /// Calls `body` with the rows of each file, and `end` after each file. Removes the files.
    func forEachFile(_ body: (RowRecord) throws -> Void, end: () throws -> Void) throws {
        while let file = files.popLast() {
            try file.rewind()
            var isEmpty = true
            while let record = try file.next().map(RowRecord.init) {
                isEmpty = false
                try pool.step()
                try body(record)
            }
            if !isEmpty { try end() }
        }
    }
}
