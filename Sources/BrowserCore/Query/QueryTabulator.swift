import ArchiveQuery
import TerminalKit

/// Makes a table of a query's rows while they come. For one thread.
struct QueryTabulator {
    private static let widest = 40

    private let plan: QueryPlan
    private let now: Moment
    private var cells: QueryCells
    private var columns: [QueryAnswer.Column] = []
    private var rows: [QueryAnswer.Row] = []
    private var count = 0
    private var targets: [Target] = []

    init(_ plan: QueryPlan, now: Moment) {
        self.plan = plan
        self.now = now
        cells = QueryCells(plan, now: now)
    }

    mutating func add(_ row: QueryRow) {
        count += 1
        if let entry = row.entry, entry.sequence != 0 {
            targets.append(Target(key: entry.key, sequence: entry.sequence, size: entry.valueBytes))
        }
        if rows.count < QueryAnswer.maximumRows { append(cells.add(row)) }
    }

    mutating func finish(_ report: QueryReport) -> QueryAnswer {
        append(cells.finish())
        if columns.isEmpty { columns = measuredColumns() }
        return QueryAnswer(
            columns: columns, rows: rows, count: count, targets: targets, report: report, way: way, made: now)
    }

    private var way: String {
        if let keys = plan.keys {
            return "the entries of \(Figures.count(keys.count, "key", "keys")), which are looked up"
        }
        return plan.order == .storage
            ? "all entries as they are stored" : "all entries, the most recent first"
    }

    private mutating func append(_ ready: [QueryCells.Row]) {
        guard !ready.isEmpty else { return }
        rows += ready.map { row in
            QueryAnswer.Row(key: row.key, cells: row.cells.map { String($0.prefix(QueryAnswer.maximumCell)) })
        }
        if columns.isEmpty { columns = measuredColumns() }
    }

    /// Wide enough for the rows that there are.
    private func measuredColumns() -> [QueryAnswer.Column] {
        cells.titles.enumerated().map { index, title in
            let cells = rows.map { $0.cells[index] }.filter { !$0.isEmpty }
            let width = cells.reduce(TextWidth.width(of: title)) { max($0, TextWidth.width(of: $1)) }
            return QueryAnswer.Column(
                title: title,
                isNumeric: !cells.isEmpty && cells.allSatisfy { QueryTabulator.isNumber($0) },
                width: min(QueryTabulator.widest, width))
        }
    }

    private static func isNumber(_ text: String) -> Bool {
        guard let first = text.utf8.first else { return false }
        return (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) || first == UInt8(ascii: "-")
            ? Double(text.split(separator: " ").first ?? "") != nil : false
    }
}
