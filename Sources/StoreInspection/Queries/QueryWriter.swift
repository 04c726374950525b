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
    case delimited(DelimitedText)

    /// By the name's end, `.csv` or `.tsv`; of any other an object a line.
    package init(fileName: String) {
        let name = fileName.lowercased()
        self =
            name.hasSuffix(".csv")
            ? .delimited(.commas) : name.hasSuffix(".tsv") ? .delimited(.tabs) : .jsonLines
    }

    /// The limits are those of the rows that can't be written before the last has come, in bytes.
    package func writer(
        _ plan: QueryPlan, _ output: OutputWriter, memoryLimit: Int,
        temporaryLimit: Int = QueryOptions().temporaryLimit
    ) -> any QueryWriter {
        switch self {
        case .jsonLines: QueryLines(columns: plan.columns, output: output)
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
        let members: [(name: String, value: Cell)] =
            columns.map { zip($0, row.columns).map { ($0, Cell(item: $1)) } }
            ?? [("key", .text(row.entry?.key ?? "")), ("value", Cell(item: row.value))]
        try JSONTree.cells(members).writeLine(to: output)
    }

    func finish() throws { try output.flush() }
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
            let (columns, properties) = (names.all.count, names.properties)
            if let objection = DelimitedText.objection(
                rows: entries.count, columns: columns, properties: properties)
            {
                throw QueryFormatError(description: objection)
            }
            let header = ["key"] + names.all + (hasOthers ? ["value"] : [])
            try TerminalSafe.write(text.header(header), to: output)
            try entries.forEach { key, bytes in
                let value = bytes.flatMap { try? CBORReader.decode($0) }
                var cells = [CBORValue.text(key)] + names.row(of: value?.asMap)
                if hasOthers { cells.append(value?.asMap == nil ? value : nil) }
                try TerminalSafe.write(text.row(cells.map { $0?.encoded }), to: output)
            }
        }
        try output.flush()
    }
}

/// The names of all properties that some objects have, in the order in which they come.
struct PropertyColumns {
    private(set) var all: [String] = []
    /// How many all objects have together.
    private(set) var properties = 0
    private var places: [ExactText: Int] = [:]

    mutating func add(_ object: CBORMap?) {
        for entry in object ?? CBORMap() {
            properties += 1
            guard case .text(let name) = entry.key, places[ExactText(name)] == nil else { continue }
            places[ExactText(name)] = all.count
            all.append(name)
        }
    }

    /// What an object has under each of them; of two properties of one name the first.
    func row(of object: CBORMap?) -> [CBORValue?] {
        var row = [CBORValue?](repeating: nil, count: all.count)
        for entry in object ?? CBORMap() {
            guard case .text(let name) = entry.key, let place = places[ExactText(name)] else { continue }
            row[place] = row[place] ?? entry.value
        }
        return row
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
            ? row.columns.map { Cell(item: $0) }
            : [Cell.text(row.entry?.key ?? ""), row.value.map { .item($0) } ?? .text("null")]
        try output.write(cells.map(\.plain).joined(separator: "\t") + "\n")
    }

    package func finish() throws { try output.flush() }
}

/// For a terminal: the columns that ``QueryColumns`` chooses.
package struct QueryTable: QueryWriter {
    /// The widest cell of a table that isn't alone.
    private static let widest = 40

    private let output: OutputWriter
    private var columns: QueryColumns
    private var printer: RowPrinter?

    package init(_ plan: QueryPlan, _ output: OutputWriter) {
        self.output = output
        columns = QueryColumns(plan, now: .now())
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

    private var titles: [Column] {
        columns.titles.enumerated().map { index, name in
            // The first columns stay longest where there is no room for all.
            Column(name, title: TerminalText.sanitized(name).uppercased(), dropped: index == 0 ? nil : -index)
        }
    }

    private static func shortened(_ cell: Cell) -> Cell {
        switch cell {
        case .text, .item: .text(TextWidth.truncate(cell.human, to: widest))
        default: cell
        }
    }
}
