import ArchiveQuery
import CBOR
import StorageEngine
import StoreInspection
import TerminalKit

package struct QueryRequest: Sendable, Hashable {
    package var archive: ArchiveAddress
    package var pipeline: QueryPipeline

    package init(_ pipeline: QueryPipeline, in archive: ArchiveAddress) {
        self.pipeline = pipeline
        self.archive = archive
    }
}

/// What came of a query, as a table. A value; safe to share between threads.
package struct QueryAnswer: Sendable {
    package struct Column: Sendable, Hashable {
        package var title: String
        /// Its values are numbers.
        package var isNumeric: Bool
        /// Columns that its widest number takes on a screen, or the widest of its first texts.
        package var width: Int
        /// What it shows of whole entries.
        var property: QueryProperty?
        var form = Form.plain
    }

    /// How the numbers of a column are shown.
    enum Form: Sendable, Hashable {
        case plain
        /// A figure of several entries: with separators.
        case figure
        case seconds
        /// What entries are grouped by.
        case group

        fileprivate init(_ property: QueryProperty?) {
            switch property {
            case .metadata(.idle), .metadata(.age), .metadata(.ttl): self = .seconds
            default: self = .plain
            }
        }

        fileprivate init(_ aggregate: QueryAggregate) {
            if case .countDistinct = aggregate { self = .figure } else { self.init(aggregate.property) }
            if self == .plain { self = .figure }
        }

        /// Of the columns after these stages, by their names.
        fileprivate static func all(_ stages: [PipelineStage]) -> [String: Form] {
            stages.reduce(into: [:]) { forms, stage in
                let before = forms
                func named(_ columns: [QueryColumn]) -> [(String, Form)] {
                    columns.map { ($0.columnName, before[$0.property.columnName] ?? Form($0.property)) }
                }
                func named(_ figures: [QueryFigure]) -> [(String, Form)] {
                    Array(zip(figures.columnNames, figures.map { Form($0.aggregate) }))
                }
                let columns: [(String, Form)]
                switch stage {
                case .find, .sort, .limit, .skip: return
                case .select(let chosen), .distinct(let chosen): columns = named(chosen)
                case .aggregate(let figures): columns = named(figures)
                case .group(let by, let figures):
                    columns = named(by).map { ($0.0, $0.1 == .plain ? .group : $0.1) } + named(figures)
                }
                forms = Dictionary(columns, uniquingKeysWith: { first, _ in first })
            }
        }

        fileprivate func text(_ cell: StoreInspection.Cell) -> String {
            switch (self, cell) {
            case (.group, .absent): "(absent)"
            case (_, .absent): ""
            case (.figure, .number(let number)): Figures.grouped(number)
            case (.seconds, .number(let number)): Double(number).map(Figures.interval) ?? number
            default: cell.human
            }
        }
    }

    package struct Row: Sendable, Hashable {
        /// The key of its entry; nil for a row that is made of several.
        package var key: String?
        package var cells: [String]
        /// What its first column says, where that is a value that a condition can name; of rows that are made of several entries.
        var literal: QueryLiteral?
        var values: [SortValue]
        /// Its entry, as it was when it was read.
        package var target: Target?
        /// The row as the query gave it; nil where all rows would take too much memory.
        fileprivate var source: QueryRow?

        /// Nothing in the columns that came later.
        fileprivate mutating func fill(upTo count: Int) {
            let more = max(0, count - cells.count)
            cells += repeatElement("", count: more)
            values += repeatElement(.absent, count: more)
        }
    }

    /// Properties of whole entries that have a column.
    private static let mostProperties = 64
    /// Rows that are kept to be shown; all are counted, and all entries can be acted upon.
    package static let maximumRows = 10_000
    /// Bytes of the rows that are kept as the query gave them.
    private static let maximumBytes = 16 << 20
    /// Characters of a cell that are kept.
    private static let maximumCell = 200
    /// Bytes of a text that a condition may name.
    private static let longestLiteral = 4_096
    static let widest = 40
    /// Values of a column that its width is made for. Numbers always are: of one that is cut nobody sees how large it is.
    private static let measured = 1_000

    package private(set) var columns: [Column] = []
    /// How many properties of whole entries have no column, for there are too many.
    private var leftOut = 0
    package private(set) var rows: [Row] = []
    package private(set) var count = 0
    /// The entries behind all rows, as they were when they were read.
    package private(set) var targets: [Target] = []
    /// How it was answered: its stages may show metadata that the query doesn't name.
    let plan: QueryPlan
    let report: QueryReport
    let explanation: QueryExplanation

    /// Rows while they come. For one thread.
    struct Builder {
        private let plan: QueryPlan
        private var cells: QueryColumns
        private var columns: [Column] = []
        /// Of each column how many values it has, and whether all are numbers.
        private var seen: [(values: Int, areNumbers: Bool)] = []
        private var rows: [Row] = []
        private var count = 0
        private var targets: [Target] = []
        /// The entry of each row that is kept, and the row, in their order: their cells may come later.
        private var pending: [(target: Target?, source: QueryRow?, literal: QueryLiteral?)] = []
        private var bytes = 0
        private let forms: [String: Form]
        /// Whether rows stand for all entries that have the same, though they come with the first of them.
        private let isOfSeveral: Bool

        init(_ plan: QueryPlan) {
            self.plan = plan
            isOfSeveral = plan.pipeline.stages.contains { if case .distinct = $0 { true } else { false } }
            forms = Form.all(plan.pipeline.stages)
            cells = QueryColumns(plan, now: .now(), most: QueryAnswer.mostProperties, grows: true)
        }

        mutating func add(_ row: QueryRow) {
            count += 1
            let target = row.entry.flatMap { entry in
                isOfSeveral || entry.sequence == 0
                    ? nil
                    : Target(
                        key: entry.key, sequence: entry.sequence, size: entry.valueBytes,
                        hasDeadline: entry.expires != nil)
            }
            if let target { targets.append(target) }
            guard count <= QueryAnswer.maximumRows else { return }
            bytes += row.columns.reduce(row.value?.count ?? 0) { $0 + ($1?.count ?? 0) }
            pending.append((target, bytes < QueryAnswer.maximumBytes ? row : nil, literal(row)))
            append(cells.add(row))
        }

        private func literal(_ row: QueryRow) -> QueryLiteral? {
            guard row.entry == nil, let first = row.columns.first else { return nil }
            guard let first, let value = try? CBORReader.decode(first) else { return .null }
            if case .text(let text) = value, text.utf8.count > QueryAnswer.longestLiteral { return nil }
            return QueryLiteral(value)
        }

        mutating func finish(_ report: QueryReport) -> QueryAnswer {
            append(cells.finish())
            addColumns()
            for place in columns.indices {
                columns[place].isNumeric = seen[place].values > 0 && seen[place].areNumbers
            }
            for place in rows.indices { rows[place].fill(upTo: columns.count) }
            var answer = QueryAnswer(
                plan: plan, report: report, explanation: QueryExplanation(plan, report))
            (answer.columns, answer.rows, answer.count, answer.targets) = (columns, rows, count, targets)
            answer.leftOut = cells.leftOut.count
            return answer
        }

        private mutating func append(_ ready: [QueryColumns.Row]) {
            addColumns()
            for (row, pending) in zip(ready, pending) {
                let texts = row.cells.enumerated().map { place, cell in
                    String(columns[place].form.text(cell).prefix(QueryAnswer.maximumCell))
                }
                for (place, cell) in row.cells.enumerated() {
                    if !cell.isAbsent { seen[place].values += 1 }
                    if !cell.isAbsent, !cell.isNumber { seen[place].areNumbers = false }
                    guard cell.isNumber || seen[place].values <= QueryAnswer.measured,
                        columns[place].width < QueryAnswer.widest
                    else { continue }
                    let width = max(columns[place].width, TextWidth.width(of: texts[place]))
                    columns[place].width = min(QueryAnswer.widest, width)
                }
                rows.append(
                    Row(
                        key: isOfSeveral ? nil : row.key, cells: texts, literal: pending.literal,
                        values: row.cells.map(\.sortValue), target: pending.target, source: pending.source))
            }
            pending.removeFirst(ready.count)
        }

        /// The columns that there are by now; a row may be the first to have something.
        private mutating func addColumns() {
            for (place, title) in cells.titles.enumerated().dropFirst(columns.count) {
                let width = min(QueryAnswer.widest, TextWidth.width(of: title))
                columns.append(
                    Column(
                        title: title, isNumeric: false, width: width, property: cells.property(at: place),
                        form: forms[title] ?? .plain))
                seen.append((0, true))
            }
        }
    }

    private init(plan: QueryPlan, report: QueryReport, explanation: QueryExplanation) {
        (self.plan, self.report, self.explanation) = (plan, report, explanation)
    }

    /// As `vellum query --json` prints the row; nil where it isn't kept.
    func json(of row: Row) -> String? { row.source?.json(plan.columns).text }

    /// Writes these of the rows as they were read; nil: not all of them are kept.
    func export(_ places: [Int]) -> (@Sendable (String, Bool) throws(SourceError) -> QueryReport?)? {
        let kept = places.compactMap { rows[$0].source }
        guard count == rows.count, kept.count == places.count else { return nil }
        return { [plan, report] (path, replaces) throws(SourceError) in
            try plan.export(to: path, replaces: replaces) { (_, body) throws(SourceError) in
                do { for row in kept { try row.pass(to: body) } } catch { throw SourceError("\(error)") }
                var report = report
                report.rows = kept.count
                return report
            }
        }
    }

    /// Leaves the columns of an earlier answer to the same query in their places, and as wide, so that none jumps.
    mutating func keepColumns(of old: QueryAnswer) {
        guard !old.rows.isEmpty, !rows.isEmpty else { return }
        let own = columns.map(\.title)
        var kept = old.columns.map { (before: Optional($0), now: own.firstIndex(of: $0.title)) }
        kept += own.indices.filter { place in !kept.contains { $0.now == place } }.map { (nil, $0) }
        // Columns that are empty by now stay as long as there is room for them.
        if kept.count > QueryAnswer.mostProperties + 1 { kept.removeAll { $0.now == nil } }
        columns = kept.compactMap { before, now in
            guard let now else { return before }
            var column = columns[now]
            column.width = max(column.width, before?.width ?? 0)
            column.isNumeric = column.isNumeric && before?.isNumeric != false
            return column
        }
        for row in rows.indices {
            rows[row].cells = kept.map { $0.now.map { rows[row].cells[$0] } ?? "" }
            rows[row].values = kept.map { $0.now.map { rows[row].values[$0] } ?? .absent }
        }
    }

    /// `12 rows`
    var amount: String {
        var amount = Figures.count(count, "row", "rows")
        if count > rows.count { amount += ", the first \(Figures.count(rows.count)) shown" }
        if leftOut > 0 {
            amount += ", \(Figures.count(leftOut, "more property", "more properties")) to select"
        }
        return amount
    }

    /// `12 rows  read 6,204 entries, 1.2 MB in 8 ms`
    var summary: String { "\(amount)  \(explanation.summary)" }
}
