import ArchiveQuery
import CBOR
import StorageEngine
import StoreInspection
import TerminalKit

package struct QueryRequest: Sendable, Hashable {
    package var archive: ArchiveAddress
    package var pipeline: QueryPipeline
    /// Whether values are read even if that counts as an access to each key.
    package var allowsAccesses = false
}

package struct QueryResult: Sendable {
    package struct Column: Sendable, Hashable {
        package var title: String
        /// Its values are numbers.
        package var isNumeric: Bool
        /// Width of its widest number, or of the widest of its first texts.
        package var width: Int
        /// Width of the widest integer part, and of the widest fraction with its point.
        private var whole = 0
        var fraction = 0
        var property: QueryProperty?
        var form = Form.plain

        init(title: String, property: QueryProperty?, form: Form) {
            (self.title, self.property, self.form) = (title, property, form)
            isNumeric = false
            width = min(QueryResult.widest, TextWidth.width(of: title))
        }

        fileprivate mutating func widen(for text: String, isNumber: Bool) {
            let columns = TextWidth.width(of: text)
            if isNumber, !text.contains(where: \.isLetter) {
                fraction = max(fraction, Table.fraction(of: text))
                whole = max(whole, columns - Table.fraction(of: text))
            }
            width = min(QueryResult.widest, max(width, columns, whole + fraction))
        }
    }

    enum Form: Sendable, Hashable {
        case plain
        /// An aggregate, with thousands separators.
        case figure
        case seconds
        case group
        case key

        fileprivate init(_ property: QueryProperty?) {
            switch property {
            case .metadata(.key): self = .key
            case .metadata(.idle), .metadata(.age), .metadata(.ttl): self = .seconds
            default: self = .plain
            }
        }

        fileprivate init(_ aggregate: QueryAggregate) {
            if case .countDistinct = aggregate { self = .figure } else { self.init(aggregate.property) }
            if self != .seconds { self = .figure }
        }

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
        /// Nil for a row of several entries.
        package var key: String?
        package var cells: [String]
        /// The values of its columns, in the order of the query; nil where no condition can name one. Only in rows of several entries.
        var literals: [QueryLiteral?]
        var values: [SortValue]
        package var target: Target?
        /// The query's row; nil beyond ``QueryResult/maximumBytes``.
        fileprivate var source: QueryRow?

        fileprivate mutating func fill(upTo count: Int) {
            let more = max(0, count - cells.count)
            cells += repeatElement("", count: more)
            values += repeatElement(.absent, count: more)
        }
    }

    private static let maximumProperties = 64
    /// Rows that are shown. Actions apply to all rows.
    package static let maximumRows = 10_000
    private static let maximumBytes = 16 << 20
    private static let maximumCell = 200
    /// Maximum bytes of a text in a condition.
    private static let longestLiteral = 4_096
    static let widest = 40
    /// Number of texts that a column's width is computed from. All numbers are included, since they must not be cut.
    private static let measured = 1_000

    package private(set) var columns: [Column] = []
    /// Number of properties beyond ``maximumProperties``, which have no column.
    private var leftOut = 0
    package private(set) var rows: [Row] = []
    package private(set) var count = 0
    /// The entries of all rows.
    package private(set) var targets: [Target] = []
    let plan: QueryPlan
    let report: QueryReport
    let explanation: QueryExplanation

    struct Builder {
        private let plan: QueryPlan
        private var cells: QueryColumns
        private var columns: [Column] = []
        private var seen: [(values: Int, areNumbers: Bool)] = []
        private var rows: [Row] = []
        private var count = 0
        private var targets: [Target] = []
        /// Kept rows whose cells are not ready yet, in order.
        private var pending: [(target: Target?, source: QueryRow?, literals: [QueryLiteral?])] = []
        private var bytes = 0
        private let forms: [String: Form]
        /// Whether a row stands for all entries with equal values, although the query returns the first of them.
        private let isOfSeveral: Bool

        init(_ plan: QueryPlan) {
            self.plan = plan
            isOfSeveral = plan.pipeline.stages.contains { if case .distinct = $0 { true } else { false } }
            forms = Form.all(plan.pipeline.stages)
            cells = QueryColumns(plan, now: .now(), most: QueryResult.maximumProperties, grows: true)
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
            guard count <= QueryResult.maximumRows else { return }
            bytes += row.columns.reduce(row.value?.count ?? 0) { $0 + ($1?.count ?? 0) }
            pending.append((target, bytes < QueryResult.maximumBytes ? row : nil, literals(row)))
            append(cells.add(row))
        }

        private func literals(_ row: QueryRow) -> [QueryLiteral?] {
            guard row.entry == nil else { return [] }
            return row.columns.map { column in
                guard let column, let value = try? CBORReader.decode(column) else { return .null }
                if case .text(let text) = value, text.utf8.count > QueryResult.longestLiteral { return nil }
                return QueryLiteral(value)
            }
        }

        mutating func finish(_ report: QueryReport) -> QueryResult {
            append(cells.finish())
            addColumns()
            for place in columns.indices {
                columns[place].isNumeric = seen[place].values > 0 && seen[place].areNumbers
            }
            for place in rows.indices { rows[place].fill(upTo: columns.count) }
            var answer = QueryResult(plan: plan, report: report, explanation: QueryExplanation(plan, report))
            (answer.columns, answer.rows, answer.count, answer.targets) = (columns, rows, count, targets)
            answer.leftOut = cells.leftOut.count
            return answer
        }

        private mutating func append(_ ready: [QueryColumns.Row]) {
            addColumns()
            for (row, pending) in zip(ready, pending) {
                let texts = row.cells.enumerated().map { place, cell in
                    String(columns[place].form.text(cell).prefix(QueryResult.maximumCell))
                }
                for (place, cell) in row.cells.enumerated() {
                    if !cell.isAbsent { seen[place].values += 1 }
                    if !cell.isAbsent, !cell.isNumber { seen[place].areNumbers = false }
                    guard cell.isNumber || seen[place].values <= QueryResult.measured else { continue }
                    columns[place].widen(for: texts[place], isNumber: cell.isNumber)
                }
                rows.append(
                    Row(
                        key: isOfSeveral ? nil : row.key, cells: texts, literals: pending.literals,
                        values: row.cells.map(\.sortValue), target: pending.target, source: pending.source))
            }
            pending.removeFirst(ready.count)
        }

        /// Adds columns for new titles: later rows may have further properties.
        private mutating func addColumns() {
            for (place, title) in cells.titles.enumerated().dropFirst(columns.count) {
                let property = cells.property(at: place)
                columns.append(Column(title: title, property: property, form: forms[title] ?? Form(property)))
                seen.append((0, true))
            }
        }
    }

    private init(plan: QueryPlan, report: QueryReport, explanation: QueryExplanation) {
        (self.plan, self.report, self.explanation) = (plan, report, explanation)
    }

    /// The row as `vellum query --json` prints it; nil if it isn't in memory.
    func json(of row: Row) -> String? { row.source?.json(plan.columns).text }

    /// Returns a function that writes these rows as they were read; nil if some aren't in memory.
    func export(_ places: [Int]) -> (@Sendable (OutputFile) throws(SourceError) -> QueryReport?)? {
        let kept = places.compactMap { rows[$0].source }
        guard kept.count == places.count else { return nil }
        return { [plan, report] (file) throws(SourceError) in
            try plan.export(to: file) { (_, body) throws(SourceError) in
                do { for row in kept { try row.pass(to: body) } } catch { throw SourceError("\(error)") }
                var report = report
                report.rows = kept.count
                return report
            }
        }
    }

    /// Keeps the positions and minimum widths of the columns of an earlier response to the same query.
    mutating func keepColumns(of old: QueryResult) {
        guard !old.rows.isEmpty, !rows.isEmpty else { return }
        let own = columns.map(\.title)
        var kept = old.columns.map { (before: Optional($0), now: own.firstIndex(of: $0.title)) }
        kept += own.indices.filter { place in !kept.contains { $0.now == place } }.map { (nil, $0) }
        // Columns that are now empty stay while there is space.
        if kept.count > QueryResult.maximumProperties + 1 { kept.removeAll { $0.now == nil } }
        columns = kept.compactMap { before, now in
            guard let now else { return before }
            var column = columns[now]
            column.width = max(column.width, before?.width ?? 0)
            column.fraction = max(column.fraction, before?.fraction ?? 0)
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
