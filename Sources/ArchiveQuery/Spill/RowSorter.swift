import StorageEngine

/// Sorts rows. Rows beyond the memory limit are written as sorted runs, merged at the end. Not thread-safe.
final class RowSorter {
    struct Key {
        var access: RowShape.Access
        var isDescending = false
    }

    /// Bytes that are kept even if other stages have used up the memory.
    private static let leastBytes = 64 << 10
    /// Files merged at a time: each has a row in memory, the bytes it is read from, and its copy.
    private var mostRuns: Int {
        max(4, min(64, max(Self.commonBytes, pool.memory.limit) / (4 * max(1, largestWritten))))
    }
    /// Memory for merging, even above the limit.
    private static let commonBytes = 16 << 20
    private var largestWritten = 0

    private struct Entry {
        var values: [SortValue]
        var tie: UInt64
        var row: KeptRow

        var bytes: Int { row.bytes + values.reduce(48) { $0 + 32 + $1.bytes } }
    }

    private let keys: [Key]
    private let most: Int
    private let pool: QueryResources
    private var entries: [Entry] = []
    private var entryBytes = 0
    private var runs: [TemporaryFile] = []
    /// Whether the first `most` entries are sorted and the others dropped.
    private var isTrimmed = false
    /// If trimmed, the first value of the last entry. `didSet` prepares it, because copying it for each comparison is slow.
    private var last = SortValue.absent {
        didSet {
            lastInteger = if case .number(.integer(let number)) = last { number } else { nil }
            lastText = if case .text(let text) = last { TextValue(text) } else { nil }
            lastKey = if case .key(let key) = last { TextValue(key.text) } else { nil }
        }
    }
    private var lastInteger: Int128?
    private var lastText: TextValue?
    private var lastKey: TextValue?

    /// - Parameter most: the number of rows that will be used.
    init(_ keys: [Key], most: Int, pool: QueryResources) {
        self.keys = keys
        self.most = most
        self.pool = pool
    }

    /// Whether the value of the first key alone shows that the row follows all kept ones.
    func isBehindAll(_ item: StoredItem) -> Bool {
        guard isTrimmed else { return false }
        let order: Int
        if case .number(.integer(let number)) = item, let lastInteger {
            order = number < lastInteger ? -1 : number > lastInteger ? 1 : 0
        } else if case .text(let text) = item, let lastText {
            order = lastText.order(of: text)
        } else if case .key(let key) = item, let lastKey {
            order = key.withBytes { lastKey.byteOrder(of: $0) }
        } else if let key = GroupKey(scalar: item) {
            return SortValue.compare(key, last, isDescending: keys[0].isDescending) > 0
        } else {
            return false
        }
        return keys[0].isDescending ? order < 0 : order > 0
    }

    func isBehindAll(_ values: [SortValue], _ tie: UInt64) -> Bool {
        isTrimmed && !precedes(values, tie, entries[most - 1])
    }

    func add(_ row: KeptRow, _ values: [SortValue], _ tie: UInt64) throws {
        let entry = Entry(values: values, tie: tie, row: row)
        if !pool.memory.hasSpace(for: entry.bytes), entryBytes >= Self.leastBytes { try spill() }
        pool.memory.use(entry.bytes)
        entryBytes += entry.bytes
        entries.append(entry)
        // Occasional sorting and trimming needs no more comparisons than a heap.
        if entries.count - min(most, entries.count) >= max(most, 256) { trim() }
    }

    /// Takes the rows of a sorter without files.
    func absorb(_ other: RowSorter) {
        pool.memory.use(other.entryBytes)
        entryBytes += other.entryBytes
        entries += other.entries
        other.forget()
        if entries.count > most { trim() }
    }

    private func spill() throws {
        trim()
        try noteLargest()
        try writeRun(entries.lazy.map { RowRecord(tie: $0.tie, row: $0.row) })
        forget()
        isTrimmed = false
        if runs.count >= mostRuns { try mergeRuns() }
    }

    /// - Throws: if merging would exceed the memory limit.
    private func noteLargest() throws {
        largestWritten = entries.reduce(largestWritten) { max($0, $1.bytes) }
        guard largestWritten <= max(Self.commonBytes, pool.memory.limit) / 16 else {
            throw QueryError.tooMuchMemory(limit: pool.memory.limit)
        }
    }

    private func forget() {
        entries = []
        pool.memory.release(entryBytes)
        entryBytes = 0
    }

    private func writeRun(_ records: some Sequence<RowRecord>) throws {
        let run = try TemporaryFile(pool.temporary)
        for record in records { try run.append(record.encoded) }
        try run.rewind()
        runs.append(run)
    }

    /// Merges the smaller half of the files into one. Merged files are large, and so are seldom merged again.
    private func mergeRuns() throws {
        let merged = try TemporaryFile(pool.temporary)
        runs.sort { $0.written < $1.written }
        var merge = try RunMerge(runs.prefix(runs.count / 2), values: values, precedes: precedes)
        runs.removeFirst(runs.count / 2)
        var count = 0
        while count < most, let record = try merge.next() {
            try merged.append(record.encoded)
            try pool.step()
            count += 1
        }
        try merged.rewind()
        runs.append(merged)
    }

    func forEach(_ body: (KeptRow) throws -> Bool) throws {
        trim()
        defer { forget() }
        guard !runs.isEmpty else {
            // Release the memory first: later stages may need it for the row.
            entries.reverse()
            while let entry = entries.popLast() {
                pool.memory.release(entry.bytes)
                entryBytes -= entry.bytes
                guard try body(entry.row) else { return }
            }
            return
        }
        try writeRun(entries.lazy.map { RowRecord(tie: $0.tie, row: $0.row) })
        forget()
        var merge = try RunMerge(runs, values: values, precedes: precedes)
        runs = []
        var count = 0
        while count < most, let record = try merge.next() {
            try pool.step()
            guard try body(record.row) else { return }
            count += 1
        }
    }

    private func trim() {
        entries.sort { precedes($0.values, $0.tie, $1) }
        guard entries.count > most else { return }
        let bytes = entries[most...].reduce(0) { $0 + $1.bytes }
        pool.memory.release(bytes)
        entryBytes -= bytes
        entries.removeSubrange(most...)
        isTrimmed = most > 0
        last = entries.last?.values.first ?? .absent
    }

    private func precedes(_ values: [SortValue], _ tie: UInt64, _ other: Entry) -> Bool {
        precedes((values, tie), (other.values, other.tie))
    }

    private func precedes(
        _ left: (values: [SortValue], tie: UInt64), _ right: (values: [SortValue], tie: UInt64)
    ) -> Bool {
        for (place, key) in keys.enumerated() {
            let order = SortValue.compare(
                left.values[place], right.values[place], isDescending: key.isDescending)
            if order != 0 { return order < 0 }
        }
        return left.tie < right.tie
    }

    private func values(of row: KeptRow) -> [SortValue] {
        pool.secondReader.show(row) { keys.map { (try? pool.secondReader.sortValue($0)) ?? .absent } }
    }
}

/// Merges sorted files, with log2(files) comparisons per record.
private struct RunMerge {
    typealias Place = (values: [SortValue], tie: UInt64)

    private struct Head {
        let run: TemporaryFile
        let record: RowRecord
        let values: [SortValue]
    }

    /// The next record of each file, in descending order.
    private var heads: [Head] = []
    private let values: (KeptRow) -> [SortValue]
    private let precedes: (Place, Place) -> Bool

    init(
        _ runs: some Collection<TemporaryFile>, values: @escaping (KeptRow) -> [SortValue],
        precedes: @escaping (Place, Place) -> Bool
    ) throws(QueryError) {
        self.values = values
        self.precedes = precedes
        for run in runs { try advance(run) }
    }

    mutating func next() throws(QueryError) -> RowRecord? {
        guard let first = heads.popLast() else { return nil }
        try advance(first.run)
        return first.record
    }

    /// Inserts the file's next record. A file without one is closed.
    private mutating func advance(_ run: TemporaryFile) throws(QueryError) {
        guard let record = try run.next().map(RowRecord.init) else { return }
        let values = values(record.row)
        let place = heads.partitioningIndex {
            precedes(($0.values, $0.record.tie), (values, record.tie))
        }
        heads.insert(Head(run: run, record: record, values: values), at: place)
    }
}

extension RowReader {
    /// The row's value for a sort; for all elements of a list, the first in the order.
    func sortValue(_ key: RowSorter.Key) throws -> SortValue {
        guard key.access.isMany else { return try sortValueIfReadable(key.access) }
        var best = SortValue.absent
        try forEachReadable(key.access) { item in
            guard let value = try ifReadable({ () throws(RowFault) in try groupKey(item) }) else { return }
            if SortValue.compare(value, best, isDescending: key.isDescending) < 0 { best = value }
        }
        return best
    }
}
