import ArchiveQuery
import CBOR
import TerminalKit

/// Rows as columns. On a terminal whole entries are shown by the properties that the first of them have; in a pipe by
/// their key and their value as JSON. CSV has to wait for the last row, to know the names of all properties.
struct QueryTable: QueryPrinter {
    enum Layout {
        case table, tabs, csv
    }

    /// Rows that a table's columns are made of.
    private static let firstRows = 200
    /// The widest cell of a table that isn't alone.
    private static let widest = 40
    private static let keyName = "key"

    private let columns: [String]?
    private let output: OutputWriter
    private let layout: Layout
    private var waiting: [QueryRow] = []
    private var printer: RowPrinter?
    /// Properties that whole entries are shown by.
    private var properties: [String] = []

    init(_ plan: QueryPlan, _ output: OutputWriter, layout: Layout) {
        columns = plan.columns
        self.output = output
        self.layout = layout
    }

    mutating func print(_ row: QueryRow) throws {
        switch layout {
        case .tabs:
            let cells =
                columns == nil
                ? [Cell.text(row.entry?.key ?? ""), .text(QueryCell.json(row.value))]
                : row.columns.map(QueryCell.cell)
            try output.write(cells.map(\.plain).joined(separator: "\t") + "\n")
        case .csv: waiting.append(row)
        case .table:
            if printer != nil { return try show(row) }
            waiting.append(row)
            if waiting.count == Self.firstRows { try begin() }
        }
    }

    mutating func finish() throws {
        if layout == .csv { try writeCSV() }
        if layout == .table, printer == nil, !waiting.isEmpty { try begin() }
        try printer?.finish()
        try output.flush()
    }

    // MARK: Tables

    private mutating func begin() throws {
        properties = columns == nil ? names() : []
        let titles = columns ?? [Self.keyName] + properties
        printer = RowPrinter(
            titles.enumerated().map { index, name in
                // The first columns stay longest where there is no room for all.
                Column(
                    name, title: TerminalText.sanitized(name).uppercased(), dropped: index == 0 ? nil : -index
                )
            }, layout: .table, output: output)
        for row in waiting { try show(row) }
        waiting = []
    }

    private mutating func show(_ row: QueryRow) throws {
        var cells = row.columns.map(QueryCell.cell)
        if columns == nil {
            let object = Self.object(row)
            cells = [.text(row.entry?.key ?? "")]
            if properties.isEmpty { cells.append(QueryCell.cell(row.value)) }
            cells += properties.map { name in
                object?[key: .text(name)].map { QueryCell.cell($0.encoded) } ?? .absent
            }
        }
        if cells.count > 1 { cells = cells.map(Self.shortened) }
        try printer?.print(cells)
    }

    private static func shortened(_ cell: Cell) -> Cell {
        guard case .text(let text) = cell else { return cell }
        return .text(TextWidth.truncate(text, to: widest))
    }

    private static func object(_ row: QueryRow) -> CBORMap? {
        guard let bytes = row.value, case .map(let map)? = try? CBORReader.decode(bytes) else { return nil }
        return map
    }

    /// The names of all properties that the waiting entries have, in the order in which they come.
    private func names() -> [String] {
        var names: [String] = []
        var known: Set<String> = []
        for row in waiting {
            for entry in Self.object(row) ?? CBORMap() {
                if case .text(let name) = entry.key, known.insert(name).inserted { names.append(name) }
            }
        }
        return names
    }

    // MARK: CSV

    private func writeCSV() throws {
        var text: [UInt8] = []
        let properties = columns == nil ? names() : []
        // Values that are no objects have a column of their own.
        let hasOthers = columns == nil && waiting.contains { Self.object($0) == nil }
        let names = columns ?? [Self.keyName] + properties + (hasOthers ? ["value"] : [])
        guard !waiting.isEmpty else { return }
        CSVText.appendHeader(names, to: &text)
        for row in waiting {
            var values = row.columns.map { $0.flatMap { try? CBORReader.decode($0) } }
            if columns == nil {
                let object = Self.object(row)
                values = [.text(row.entry?.key ?? "")] + properties.map { object?[key: .text($0)] }
                if hasOthers {
                    values.append(object == nil ? row.value.flatMap { try? CBORReader.decode($0) } : nil)
                }
            }
            try CSVText.appendRow(values, to: &text)
        }
        try TerminalSafe.write(text, to: output)
    }
}
