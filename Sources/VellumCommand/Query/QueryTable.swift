import ArchiveQuery
import CBOR
import TerminalKit

/// Rows as columns. On a terminal whole entries are shown by the properties that the first of them have; in a pipe by
/// their key and their value as JSON.
struct QueryTable: QueryPrinter {
    enum Layout {
        case table, tabs
    }

    /// Rows that a table's columns are made of.
    private static let firstRows = 200
    /// The widest cell of a table that isn't alone.
    private static let widest = 40

    private let columns: [String]?
    private let output: OutputWriter
    private let layout: Layout
    private var waiting: [QueryRow] = []
    private var printer: RowPrinter?
    /// Properties that whole entries are shown by.
    private var names = ColumnNames()

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
        case .table:
            if printer != nil { return try show(row) }
            waiting.append(row)
            if waiting.count == Self.firstRows { try begin() }
        }
    }

    mutating func finish() throws {
        if layout == .table, printer == nil, !waiting.isEmpty { try begin() }
        try printer?.finish()
        try output.flush()
    }

    // MARK: Tables

    private mutating func begin() throws {
        if columns == nil {
            for row in waiting { names.add(QueryCell.object(row.value)) }
        }
        let titles = columns ?? [QueryCell.keyName] + names.all
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
            let object = QueryCell.object(row.value)
            cells = [.text(row.entry?.key ?? "")]
            if names.all.isEmpty { cells.append(QueryCell.cell(row.value)) }
            cells += names.row(of: object).map { $0.map { QueryCell.cell($0.encoded) } ?? .absent }
        }
        if cells.count > 1 { cells = cells.map(Self.shortened) }
        try printer?.print(cells)
    }

    private static func shortened(_ cell: Cell) -> Cell {
        guard case .text(let text) = cell else { return cell }
        return .text(TextWidth.truncate(text, to: widest))
    }

}
