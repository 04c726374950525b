import CBOR
import StorageEngine

/// Options for running a query.
public struct QueryOptions {
    /// The approximate limit, in bytes, of the rows that all stages keep in memory together. Rows beyond it are written to
    /// temporary files. 256 MiB by default; less in a limited address space (`ulimit -v`). A value that must be copied or converted is
    /// unreadable if it takes more than half of this.
    public var memoryLimit = 256 << 20
    /// The limit, in bytes, of temporary files, in the folder `TMPDIR` of the environment, or else `/tmp`. 4 GiB by default.
    public var temporaryLimit = 4 << 30
    /// Whether to measure each stage's time, for ``QueryReport/stages``. Costs some ten nanoseconds per row, and parallelism.
    public var measuresStages = false
    /// Whether ``QueryReport/warnings`` reports properties that no entry has, each with the most similar existing one. If no
    /// visited entry has a property, or a condition met only values of kinds that it isn't for, this reads all entries once more. Meant for interactive queries; off by default.
    public var looksForMistakes = false
    /// Whether ``looksForMistakes`` also reads entries that a query excludes by naming its keys. For conditions of changes.
    package var looksBeyondKeys = false
    /// The maximum number of threads that read an archive's entries: by default the number of processors, at most eight; 1 uses
    /// only the caller's thread. Fewer in a limited address space (`ulimit -v`). The order of rows doesn't
    /// depend on it. The last digit of a sum of decimals may depend on the number of threads.
    public var mostThreads: Int?
    /// The time for ages, remaining TTLs, and dates such as `now` and `today`.
    public var now = Timestamp.now()
    /// The time zone of `today` and of all dates without one, in the query and in stored texts.
    public var timeZone = QueryTimeZone.local
    /// Called by the caller's thread after every thousand entries, or after 50 milliseconds; with several threads some fifty
    /// times a second. Returning false ends the query with ``QueryError/cancelled``.
    public var progress: ((QueryProgress) -> Bool)?

    /// Creates default options.
    public init() {}

    /// The limit of all copies of a single value, in bytes: at least a megabyte.
    var mostOfValue: Int { max(1 << 20, memoryLimit) }
}

/// The progress of a running query.
public struct QueryProgress: Sendable, Hashable {
    /// Entries visited so far.
    public var visited: Int
    /// Entries to visit.
    public var total: Int
    /// Rows returned so far.
    public var rows: Int
    /// Bytes of values read so far.
    public var bytesRead: Int
}

/// One row of a result.
public struct QueryRow: Sendable, Hashable {
    /// The metadata of its entry; nil for a row that combines several.
    public var entry: EntryFacts?
    /// The entry's value, converted to one CBOR item; nil if it is unreadable, and for rows of columns.
    public var value: [UInt8]?
    /// One CBOR item for each column of ``QueryPlan/columns``, nil for an absent one. Empty for whole entries.
    public var columns: [[UInt8]?]
}

/// One row of a result in place: its bytes are valid only during the call.
package struct PassingRow {
    package var entry: EntryFacts?
    /// As ``QueryRow/value``.
    package var value: UnsafeRawBufferPointer?
    /// As ``QueryRow/columns``.
    package var columns: [UnsafeRawBufferPointer?]

    package var kept: QueryRow {
        QueryRow(entry: entry, value: value.map { Array($0) }, columns: columns.map { $0.map { Array($0) } })
    }
}

extension QueryRow {
    /// A row without an entry.
    package init(columns: [[UInt8]?]) { self.init(entry: nil, value: nil, columns: columns) }

    package func pass(to body: (PassingRow) throws -> Void) throws {
        let parts: [[UInt8]?] = [value] + columns
        let bytes: [UInt8] = parts.flatMap { $0 ?? [] }
        try bytes.withUnsafeBytes { buffer in
            var start = 0
            var passed: [UnsafeRawBufferPointer?] = []
            for part in parts {
                let end = start + (part?.count ?? 0)
                passed.append(part.map { _ in UnsafeRawBufferPointer(rebasing: buffer[start..<end]) })
                start = end
            }
            try body(PassingRow(entry: entry, value: passed[0], columns: Array(passed.dropFirst())))
        }
    }
}

extension QueryReport {
    package init(rows: Int) {
        self.init()
        self.rows = rows
    }
}

/// Statistics of a query's run.
public struct QueryReport: Sendable, Hashable {
    /// Rows returned.
    public var rows = 0
    /// Entries visited, whether or not their values were read.
    public var visited = 0
    /// Values read.
    public var valuesRead = 0
    /// Bytes of these values.
    public var bytesRead = 0
    /// Values that couldn't be queried: damaged, not in their declared encoding, or too long for ``QueryOptions/memoryLimit``. They
    /// match nothing.
    public var unreadable = 0
    /// The unreadable values whose bytes fail their checksum.
    public var damaged = 0
    /// Texts whose search by a regular expression exceeded the time limit. The condition is unknown for them.
    public var givenUp = 0
    /// Values that had to be converted to CBOR.
    public var transcoded = 0
    /// The peak memory of the stages' rows, in bytes; approximate.
    public var memory = 0
    /// The peak size of temporary files, in bytes.
    public var temporary = 0
    /// Threads that read entries.
    public var threads = 1
    /// Time until the first entry was visited.
    public var preparation = Duration.zero
    /// Total time.
    public var duration = Duration.zero
    /// The stages in order.
    public var stages: [Stage] = []
    /// The dates of the query that depend on clock and time zone: `today is 2026-01-31T00:00:00+01:00`.
    public var dates: [String] = []
    /// Warnings about the result, one line each.
    public var warnings: [String] = []
    /// The warnings that only report values that were left out: of kinds that a condition, an aggregate or a sort isn't for, or
    /// too long for the query's memory. The other warnings suggest a mistake in the query, or missing data.
    public var kindRemarks: [String] = []
    /// Entries and rows for which a condition could not be evaluated.
    public var unevaluated = 0

    /// Whether a warning suggests a mistake in the query, or missing data.
    package var isDoubtful: Bool { warnings.count > kindRemarks.count }

    /// Statistics of one stage.
    public struct Stage: Sendable, Hashable {
        /// The stage as text of the query language.
        public var text: String
        /// Rows that the stage received.
        public var rowsIn: Int
        /// Rows that the stage passed on.
        public var rowsOut: Int
        /// Time in this stage alone; nil without ``QueryOptions/measuresStages``. Reading a value counts for its first user.
        public var duration: Duration?
    }
}

final class OutputSink: RowSink {
    private let hasColumns: Bool
    private let body: (PassingRow) throws -> Bool
    private(set) var rows = 0
    private var spellsKeys = false
    private var spelledColumns: Set<Int> = []

    init(hasColumns: Bool, body: @escaping (PassingRow) throws -> Bool) {
        self.hasColumns = hasColumns
        self.body = body
    }

    func setKeys(_ shape: RowShape, _ cursor: some QueryCursor) {
        spellsKeys = cursor.spellsKeys
        spelledColumns = spellsKeys ? shape.keyColumns : []
    }

    override func take(_ row: RowReader) throws -> Bool {
        guard let document = try row.documentIfThere() else { return true }
        let columns = hasColumns ? try document.map { try ColumnRow.decode($0) } : nil
        return try pass(row, columns == nil ? document : nil, columns ?? [])
    }

    /// Replaces a stage that selects these columns, without copying them.
    func take(_ row: RowReader, _ accesses: [RowShape.Access]) throws -> Bool {
        var kept: [UnsafeMutableRawBufferPointer] = []
        defer { for copy in kept { copy.deallocate() } }
        count(rows: 1)
        return try pass(row, nil, try accesses.map { try row.encodedInPlace($0, &kept) })
    }

    private func pass(
        _ row: RowReader, _ value: UnsafeRawBufferPointer?, _ columns: [UnsafeRawBufferPointer?]
    ) throws -> Bool {
        rows += 1
        var entry = try row.entryFacts()
        entry?.isKeySpelled = spellsKeys
        let passing = PassingRow(entry: entry, value: value, columns: columns)
        guard !spelledColumns.isEmpty else { return try body(passing) }
        var kept = passing.kept
        for column in spelledColumns { kept.columns[column] = kept.columns[column].map(Self.key) }
        var shouldContinue = true
        try kept.pass { shouldContinue = try body($0) }
        return shouldContinue
    }

    /// The key that a column's text spells.
    private static func key(_ item: [UInt8]) -> [UInt8] {
        guard case .text(let text)? = try? CBORReader.decode(item) else { return item }
        return ByteText.value(of: text).encoded
    }
}
