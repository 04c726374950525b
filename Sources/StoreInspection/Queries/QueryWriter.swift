import ArchiveQuery
import CBOR
import TerminalKit

package protocol QueryWriter {
    mutating func write(_ row: PassingRow) throws
    mutating func finish() throws
}

package enum QueryFormat: Sendable {
    /// One object per line: `{"key":…,"value":…}`, or the columns by name.
    case jsonLines
    case jsonArray
    case delimited(DelimitedText)

    /// The format of the extension `.json`, `.csv` or `.tsv`; NDJSON for others.
    package init(fileName: String) {
        switch FileFormat(fileName: fileName) {
        case .csv: self = .delimited(.commas)
        case .tsv: self = .delimited(.tabs)
        case nil where fileName.lowercased().hasSuffix(".json"): self = .jsonArray
        default: self = .jsonLines
        }
    }

    /// The limits, in bytes, apply to rows that are collected before writing.
    /// - Parameter omitsAbsent: whether JSON has no member for an absent column, instead of null.
    package func writer(
        _ plan: QueryPlan, _ output: OutputWriter, omitsAbsent: Bool = false, memoryLimit: Int,
        temporaryLimit: Int = QueryOptions().temporaryLimit
    ) -> any QueryWriter {
        func records(isArray: Bool) -> QueryRecords {
            QueryRecords(
                columns: plan.columns, omitsAbsent: omitsAbsent, output: output,
                records: JSONRecords(isArray: isArray, output: output))
        }
        return switch self {
        case .jsonLines: records(isArray: false)
        case .jsonArray: records(isArray: true)
        case .delimited(let text):
            QueryDelimited(
                text, plan, output, RowSpool(memoryLimit: memoryLimit, temporaryLimit: temporaryLimit))
        }
    }
}

private struct QueryRecords: QueryWriter {
    let columns: [String]?
    let omitsAbsent: Bool
    let output: OutputWriter
    var records: JSONRecords

    mutating func write(_ row: PassingRow) throws { try records.write(row.json(columns, omitsAbsent)) }

    func finish() throws {
        try records.finish()
        try output.flush()
    }
}

extension PassingRow {
    /// The columns by their names, or key and value of a whole entry.
    fileprivate func json(_ names: [String]?, _ omitsAbsent: Bool) -> JSONTree {
        .object(
            names.map {
                zip($0, columns).compactMap { omitsAbsent && $1 == nil ? nil : ($0, .item($1)) }
            }
                ?? [("key", .text(entry?.spelledKey ?? "")), ("value", .item(value))])
    }
}

extension QueryRow {
    /// The columns by their names, or key and value of a whole entry.
    package func json(_ names: [String]?) -> JSONTree {
        .cells(
            names.map { zip($0, columns).map { ($0, Cell(item: $1)) } }
                ?? [("key", .text(entry?.spelledKey ?? "")), ("value", Cell(item: value))])
    }
}

/// Why rows don't fit a format, in one line.
package struct QueryFormatError: Error, CustomStringConvertible {
    package let description: String

    fileprivate static let repeatedName = QueryFormatError(
        description: "an object has a repeated name, which a table can't hold; write JSON")
}

/// Rows of named columns are written at once; entries wait until all properties are known.
private struct QueryDelimited: QueryWriter {
    private let text: DelimitedText
    private let columns: [String]?
    private let output: OutputWriter
    private let entries: RowSpool
    private var header: [UInt8] = []
    private var names = PropertyColumns()
    /// Whether there is a column of values that aren't objects.
    private var hasOthers = false

    init(_ text: DelimitedText, _ plan: QueryPlan, _ output: OutputWriter, _ entries: RowSpool) {
        self.text = text
        columns = plan.columns
        self.output = output
        self.entries = entries
    }

    mutating func write(_ row: PassingRow) throws {
        if let columns {
            if header.isEmpty {
                header = text.header(columns)
                try TerminalSafe.write(header, to: output)
            }
            return try text.write(row.columns, unlike: header, to: output)
        }
        try entries.append(key: row.entry?.spelledKey ?? "", value: row.value)
        let object = row.value.flatMap { ObjectFields($0) }
        names.add(object ?? ObjectFields())
        if object == nil { hasOthers = true }
    }

    mutating func finish() throws {
        if entries.count > 0 {
            if let reason = DelimitedText.unsupportedReason(rows: entries.count, names) {
                throw QueryFormatError(description: reason)
            }
            let table = names.table()
            let mixed = Set(table.mixed.map { $0 + 1 })
            let header = text.header((["key"] + table.names + (hasOthers ? ["value"] : [])).distinct)
            try TerminalSafe.write(header, to: output)
            try entries.forEach { key, bytes in
                try ByteText.value(of: key).encoded.withUnsafeBytes { key in
                    try (bytes ?? []).withUnsafeBytes { value in
                        let object = ObjectFields(value)
                        let row = table.row(of: object ?? ObjectFields())
                        guard row.isWhole else { throw QueryFormatError.repeatedName }
                        var cells = [key] + row.cells
                        if hasOthers { cells.append(object == nil && bytes != nil ? value : nil) }
                        try text.write(cells, mixed: mixed, unlike: header, to: output)
                    }
                }
            }
        }
        try output.flush()
    }
}

/// Writes one line per row for a pipe, with key and value as JSON, or with the columns.
package struct QueryTabs: QueryWriter {
    private let hasColumns: Bool
    private let rawColumns: Set<Int>
    private let output: OutputWriter

    /// - Parameter hasTextKeys: whether keys are written unescaped, because they are texts.
    package init(_ plan: QueryPlan, hasTextKeys: Bool, _ output: OutputWriter) {
        hasColumns = plan.columns != nil
        rawColumns = hasTextKeys ? plan.keyColumns : []
        self.output = output
    }

    package func write(_ row: PassingRow) throws {
        if hasColumns {
            for (index, item) in row.columns.enumerated() {
                if index > 0 { try output.write("\t") }
                try write(item, isRaw: rawColumns.contains(index))
            }
        } else {
            try output.write(Cell.text(row.entry?.key ?? "").plain + "\t")
            if let value = row.value {
                try write(long: value, isBare: false)
            } else {
                try output.write("null")
            }
        }
        try output.write("\n")
    }

    /// Writes a field: nothing for absent or null, quotes for an empty text.
    private func write(_ item: UnsafeRawBufferPointer?, isRaw: Bool) throws(SourceError) {
        guard let item else { return }
        if isRaw, case .text(let key)? = try? CBORReader.decode(Array(item)), !key.isEmpty {
            return try output.write(Cell.text(key).plain)
        }
        // Texts and nested values may be long.
        guard item.count >= 1 << 16, (0x60..<0xc0).contains(item[0]), !QueryTabs.isSpelled(item) else {
            let cell = Cell(item: Array(item))
            if case .text("") = cell { return try output.write("\"\"") }
            return try output.write(cell.plain)
        }
        try write(long: item, isBare: item[0] < 0x80)
    }

    /// Whether the item is a text that looks like bytes.
    private static func isSpelled(_ item: UnsafeRawBufferPointer) -> Bool {
        var reader = CBORReader(item)
        guard case .text(let count?)? = try? reader.readHead() else { return false }
        return (try? reader.readContent(count: count)).map(ByteText.needsEscape) ?? false
    }

    private func write(long item: UnsafeRawBufferPointer, isBare: Bool) throws(SourceError) {
        guard CBORReader.isWellFormed(item) else { return }
        try output.write(.cbor(item), isBare: isBare) { piece in
            let text = String(decoding: piece, as: UTF8.self)
            return Array((isBare ? TerminalSafe.column(text) : TerminalSafe.column(json: text)).utf8)
        }
    }

    package func finish() throws { try output.flush() }
}

/// A table. On a terminal it has the columns of ``QueryColumns``, otherwise all columns.
package struct QueryTable: QueryWriter {
    /// Maximum width of a cell if there are several columns.
    private static let widest = 40

    private let output: OutputWriter
    private var columns: QueryColumns
    private var printer: RowPrinter?

    package init(_ plan: QueryPlan, _ output: OutputWriter) {
        self.output = output
        columns = QueryColumns(
            plan, now: .now(), most: output.isTerminal ? QueryColumns.usualProperties : nil)
    }

    /// Maximum size of a value whose properties become columns.
    private static let longest = 8 << 20

    package mutating func write(_ row: PassingRow) throws {
        let long = [row.value].compactMap { $0 } + row.columns.compactMap { $0 }
        guard long.contains(where: { $0.count > QueryTable.longest }) else {
            return try print(columns.add(row.kept))
        }
        func shown(_ item: UnsafeRawBufferPointer?) -> [UInt8]? {
            guard let item, item.count > QueryTable.longest else { return item.map { Array($0) } }
            return CBORValue.text(Cell.tooLong(bytes: item.count)).encoded
        }
        var head = row
        (head.value, head.columns) = (nil, [])
        var kept = head.kept
        (kept.value, kept.columns) = (shown(row.value), row.columns.map(shown))
        try print(columns.add(kept))
    }

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

    package var leftOut: [String] { (printer?.leftOut ?? []) + columns.leftOut.map(TerminalText.sanitized) }

    private var titles: [Column] {
        let names = columns.titles.map(TerminalText.sanitized)
        // Names that are bytes keep their spelling.
        let capitals = names.map { ByteText.spelling(of: $0) == $0 ? $0.uppercased() : $0 }
        // Names that look alike get numbers.
        let titles = Set(capitals).count == capitals.count ? capitals : names.distinct { $0 }
        return zip(columns.titles, titles).enumerated().map { index, name in
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
