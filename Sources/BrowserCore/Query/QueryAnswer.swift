import ArchiveQuery

/// What is asked of an archive. A value; safe to share between threads.
public struct QueryRequest: Sendable, Hashable {
    public var archive: String
    public var store: String
    public var pipeline: QueryPipeline

    public init(_ pipeline: QueryPipeline, archive: String, store: String) {
        self.pipeline = pipeline
        self.archive = archive
        self.store = store
    }
}

/// What came of a query, as a table. A value; safe to share between threads.
public struct QueryAnswer: Sendable {
    public struct Column: Sendable, Hashable {
        public var title: String
        /// Its values are numbers.
        public var isNumeric: Bool
        /// Columns that the widest value in the first rows takes on a screen.
        public var width: Int
    }

    public struct Row: Sendable, Hashable {
        /// The key of its entry; nil for a row that is made of several.
        public var key: String?
        /// One for each column.
        public var cells: [String]
    }

    /// Rows that are kept to be shown; all are counted, and all entries can be acted upon.
    public static let maximumRows = 10_000
    /// Characters of a cell that are kept.
    static let maximumCell = 200

    public let columns: [Column]
    public let rows: [Row]
    /// All rows that there are.
    public let count: Int
    /// The entries behind all rows, as they were when they were read.
    public let targets: [Target]
    public let report: QueryReport
    /// Which entries were gone through, and in which order.
    let way: String
    public let made: Moment

    /// `12 rows  read 6,204 entries, 1.2 MB in 8 ms`
    var summary: String {
        var text = Figures.count(count, "row", "rows")
        if count > rows.count { text += ", the first \(Figures.count(rows.count)) shown" }
        let read =
            report.valuesRead == 0
            ? "looked at \(Figures.count(report.visited, "entry", "entries"))"
            : "read \(Figures.count(report.valuesRead, "entry", "entries")), "
                + Figures.bytes(UInt64(report.bytesRead))
        text += "  \(read) in \(QueryAnswer.text(report.duration))"
        if report.unreadable > 0 { text += "  \(Figures.count(report.unreadable)) unreadable" }
        return text
    }

    /// How the query was carried out, stage by stage.
    var explanation: [String] {
        var lines = ["Goes through \(way).", ""]
        func line(_ time: Duration?, _ rows: String, _ stage: String) {
            let time = time.map { QueryAnswer.text($0) } ?? ""
            lines.append(TextPad.start(time, 9) + "  " + TextPad.start(rows, 21) + "  " + stage)
        }
        line(report.preparation, "", "(list of the entries)")
        for stage in report.stages {
            line(
                stage.duration, "\(Figures.count(stage.rowsIn)) > \(Figures.count(stage.rowsOut)) rows",
                stage.text)
        }
        lines += ["", summary + "."]
        if report.transcoded > 0 {
            lines.append("Made CBOR of \(Figures.count(report.transcoded, "value", "values")) first.")
        }
        lines.append("At most \(Figures.bytes(UInt64(report.memory))) of rows in memory at a time.")
        return lines + report.warnings
    }

    private static func text(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let milliseconds = Double(seconds) * 1000 + Double(attoseconds) / 1e15
        if milliseconds >= 10_000 { return Figures.decimal(milliseconds / 1000, digits: 1) + " s" }
        return Figures.decimal(milliseconds, digits: milliseconds < 10 ? 2 : 0) + " ms"
    }
}

/// Stateless.
enum TextPad {
    /// ASCII text with spaces before it, up to that many characters.
    static func start(_ text: String, _ count: Int) -> String {
        String(repeating: " ", count: max(0, count - text.count)) + text
    }
}
