import ArchiveQuery
import CBOR
import StorageEngine
import TerminalKit

/// Writes the rows of a query while they come. For one thread.
package protocol QueryWriter {
    mutating func write(_ row: QueryRow) throws
    /// No other rows come.
    mutating func finish() throws
}

/// What a file of a query's rows is.
package enum QueryFormat: Sendable {
    /// An object a line: `{"key":…,"value":…}`, or the columns by their names.
    case jsonLines
    /// One array of such objects.
    case jsonArray
    case delimited(DelimitedText)

    /// By the name's end, `.json`, `.csv` or `.tsv`; of any other an object a line.
    package init(fileName: String) {
        switch FileFormat(fileName: fileName) {
        case .csv: self = .delimited(.commas)
        case .tsv: self = .delimited(.tabs)
        case nil where fileName.lowercased().hasSuffix(".json"): self = .jsonArray
        default: self = .jsonLines
        }
    }

    /// The limits, in bytes, are for rows that can't be written before the last one has come.
    package func writer(
        _ plan: QueryPlan, _ output: OutputWriter, memoryLimit: Int,
        temporaryLimit: Int = QueryOptions().temporaryLimit
    ) -> any QueryWriter {
        switch self {
        case .jsonLines: QueryLines(columns: plan.columns, output: output)
        case .jsonArray: QueryArray(plan, output)
        case .delimited(let text):
            QueryDelimited(
                text, plan, output, RowSpool(memoryLimit: memoryLimit, temporaryLimit: temporaryLimit))
        }
    }
}

private struct QueryLines: QueryWriter {
    let columns: [String]?
    let output: OutputWriter

    func write(_ row: QueryRow) throws {
        try row.json(columns).writeLine(to: output)
    }

    func finish() throws { try output.flush() }
}

extension QueryRow {
    /// The columns by their names, or key and value of a whole entry.
    package func json(_ names: [String]?) -> JSONTree {
        .cells(
            names.map { zip($0, columns).map { ($0, Cell(item: $1)) } }
                ?? [("key", .text(entry?.key ?? "")), ("value", Cell(item: value))])
    }
}

/// One JSON array, a row an item. For one thread.
private struct QueryArray: QueryWriter {
    private let columns: [String]?
    private let output: OutputWriter
    private var isEmpty = true

    init(_ plan: QueryPlan, _ output: OutputWriter) {
        columns = plan.columns
        self.output = output
    }

    mutating func write(_ row: QueryRow) throws {
        try output.write(isEmpty ? "[\n" : ",\n")
        isEmpty = false
        try row.json(columns).write(to: output)
    }

    func finish() throws {
        try output.write(isEmpty ? "[]\n" : "\n]\n")
        try output.flush()
    }
}

/// Why rows can't be written in a format; one line.
package struct QueryFormatError: Error, CustomStringConvertible {
    package let description: String
}

/// Columns that the query names are written as they come; whole entries are kept until the last one, for only then the
/// names of all properties are known.
private struct QueryDelimited: QueryWriter {
    private let text: DelimitedText
    private let columns: [String]?
    private let output: OutputWriter
    private let entries: RowSpool
    private var hasHeader = false
    private var names = PropertyColumns()
    /// Values that are no objects have a column of their own.
    private var hasOthers = false

    init(_ text: DelimitedText, _ plan: QueryPlan, _ output: OutputWriter, _ entries: RowSpool) {
        self.text = text
        columns = plan.columns
        self.output = output
        self.entries = entries
    }

    mutating func write(_ row: QueryRow) throws {
        if let columns {
            if !hasHeader { try TerminalSafe.write(text.header(columns), to: output) }
            hasHeader = true
            return try TerminalSafe.write(text.row(row.columns), to: output)
        }
        try entries.append(key: row.entry?.key ?? "", value: row.value)
        let object = row.value.flatMap { try? CBORReader.decode($0) }?.asMap
        names.add(object)
        if object == nil { hasOthers = true }
    }

    mutating func finish() throws {
        if entries.count > 0 {
            if let objection = DelimitedText.objection(rows: entries.count, names) {
                throw QueryFormatError(description: objection)
            }
            let table = names.table()
            let mixed = Set(table.mixed.map { $0 + 1 })
            let header = ["key"] + table.names + (hasOthers ? ["value"] : [])
            try TerminalSafe.write(text.header(header.distinct), to: output)
            try entries.forEach { key, bytes in
                let value = bytes.flatMap { try? CBORReader.decode($0) }
                var cells = [CBORValue.text(key)] + table.row(of: value?.asMap).cells
                if hasOthers { cells.append(value?.asMap == nil ? value : nil) }
                try TerminalSafe.write(text.row(cells.map { $0?.encoded }, mixed: mixed), to: output)
            }
        }
        try output.flush()
    }
}

/// For a pipe: a line a row, the key and the value as JSON, or the columns.
package struct QueryTabs: QueryWriter {
    private let hasColumns: Bool
    private let output: OutputWriter

    package init(_ plan: QueryPlan, _ output: OutputWriter) {
        hasColumns = plan.columns != nil
        self.output = output
    }

    package func write(_ row: QueryRow) throws {
        let cells =
            hasColumns
            ? row.columns.map(Self.plain)
            : [
                Cell.text(row.entry?.key ?? "").plain,
                (row.value.map { .item($0) } ?? Cell.text("null")).plain,
            ]
        try output.write(cells.joined(separator: "\t") + "\n")
    }

    /// Nothing for what is absent or null, and quotes for an empty text.
    private static func plain(_ item: [UInt8]?) -> String {
        if case .text("") = Cell(item: item) { return "\"\"" }
        return Cell(item: item).plain
    }

    package func finish() throws { try output.flush() }
}

/// The columns that ``QueryColumns`` chooses for a terminal; all of them elsewhere.
package struct QueryTable: QueryWriter {
    /// The widest cell of a table that isn't alone.
    private static let widest = 40

    private let output: OutputWriter
    private var columns: QueryColumns
    private var printer: RowPrinter?

    package init(_ plan: QueryPlan, _ output: OutputWriter) {
        self.output = output
        columns = QueryColumns(
            plan, now: .now(), most: output.isTerminal ? QueryColumns.usualProperties : nil)
    }

    package mutating func write(_ row: QueryRow) throws { try print(columns.add(row)) }

    package mutating func finish() throws {
        try print(columns.finish())
        try printer?.finish()
        try output.flush()
    }

    private mutating func print(_ rows: [QueryColumns.Row]) throws {
        for row in rows {
            if printer == nil { printer = RowPrinter(titles, layout: .table, output: output) }
            try printer?.print(row.cells.count > 1 ? row.cells.map(Self.shortened) : row.cells)
        }
    }

    /// The titles of the columns that there was no room for.
    package var leftOut: [String] { (printer?.leftOut ?? []) + columns.leftOut.map(TerminalText.sanitized) }

    private var titles: [Column] {
        let names = columns.titles.map(TerminalText.sanitized)
        let capitals = names.map { $0.uppercased() }
        // Names that differ in nothing else stay as they are, and those that look alike get numbers.
        let titles = Set(capitals).count == capitals.count ? capitals : names.distinct { $0 }
        return zip(columns.titles, titles).enumerated().map { index, name in
            // The first columns stay longest where there is no room for all.
            Column(name.0, title: name.1, dropped: index == 0 ? nil : -index)
        }
    }

    private static func shortened(_ cell: Cell) -> Cell {
        switch cell {
        case .text, .item: .text(TextWidth.truncate(cell.human, to: widest))
        default: cell
        }
    }
}
