import CBOR
import StorageEngine

/// How a query is carried out.
public struct QueryOptions {
    /// Most bytes that sorts, groupings and the like may keep in memory together, about; what has no room there goes to
    /// temporary files. By default 256 MiB.
    public var memoryLimit = 256 << 20
    /// Most bytes of temporary files, in the folder that the environment calls `TMPDIR`, or `/tmp`. By default 4 GiB.
    public var temporaryLimit = 4 << 30
    /// Whether ``QueryReport`` says how long each stage took, which costs some ten nanoseconds a row and stage.
    public var measuresStages = false
    /// Whether ``QueryReport/warnings`` names properties that no entry has, and the nearest one that some have. To be sure, all
    /// entries are gone through once more where none of those that were asked has one; so it is off unless a person asks.
    public var looksForMistakes = false
    /// The moment that ages and remaining times count from.
    public var now = Timestamp.now()
    /// Called after each thousand entries; returning false ends the query with ``QueryError/cancelled``.
    public var progress: ((QueryProgress) -> Bool)?

    public init() {}
}

/// How far a query is.
public struct QueryProgress: Sendable, Hashable {
    /// Entries that were looked at.
    public var visited: Int
    /// Entries that there are to look at.
    public var total: Int
    /// Rows that have come out.
    public var rows: Int
    public var bytesRead: Int
}

/// One row of a result; a value that is safe to keep.
public struct QueryRow: Sendable, Hashable {
    /// What is known of its entry; nil for a row that is made of several.
    public var entry: EntryFacts?
    /// The entry's value as one CBOR item, whatever its encoding; nil if it can't be read, and for a row of columns.
    public var value: [UInt8]?
    /// The columns as one CBOR item each, nil for what is absent; as many as ``QueryPlan/columns`` has, empty without.
    public var columns: [[UInt8]?]
}

/// What a query did.
public struct QueryReport: Sendable, Hashable {
    /// Rows that came out.
    public var rows = 0
    /// Entries that were looked at, in whatever depth.
    public var visited = 0
    /// Values that were read, and their bytes.
    public var valuesRead = 0
    public var bytesRead = 0
    /// Values that no query can ask: those that are damaged, and those that are not what their encoding says.
    public var unreadable = 0
    /// Of these, values that are damaged: their bytes fail their checksum.
    public var damaged = 0
    /// Values that had to be made CBOR first.
    public var transcoded = 0
    /// The most memory that stages kept at a time, in bytes, about.
    public var memory = 0
    /// The most bytes that temporary files had at a time.
    public var temporary = 0
    /// Until the first entry was looked at, and in all.
    public var preparation = Duration.zero
    public var duration = Duration.zero
    public var stages: [Stage] = []
    /// What a person should know of the result, a line each.
    public var warnings: [String] = []

    public struct Stage: Sendable, Hashable {
        /// The stage as the language has it.
        public var text: String
        public var rowsIn: Int
        public var rowsOut: Int
        /// Time in this stage alone; nil unless ``QueryOptions/measuresStages``. Values are read by the first stage that
        /// asks for them.
        public var duration: Duration?
    }
}

/// The last of all stages: hands rows to the caller.
final class OutputSink: RowSink {
    private let hasColumns: Bool
    private let body: (QueryRow) throws -> Bool
    private(set) var rows = 0

    init(hasColumns: Bool, isTimed: Bool, body: @escaping (QueryRow) throws -> Bool) {
        self.hasColumns = hasColumns
        self.body = body
        super.init(name: "", isTimed: isTimed)
    }

    override func take(_ row: RowReader) throws -> Bool {
        guard let kept = try row.kept(hasColumns ? .columns : .value) else { return true }
        rows += 1
        guard hasColumns, let document = kept.document else {
            return try body(QueryRow(entry: kept.facts, value: kept.document, columns: []))
        }
        let columns = try document.withUnsafeBytes { try ColumnRow.decode($0) }
        return try body(QueryRow(entry: kept.facts, value: nil, columns: columns))
    }
}
