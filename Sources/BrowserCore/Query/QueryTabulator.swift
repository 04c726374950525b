import ArchiveQuery
import CBOR
import StorageEngine
import TerminalKit

/// Makes a table of a query's rows while they come. For one thread.
///
/// Rows of columns are shown as they are. Whole entries are shown by their key, by what the query is about, and by the
/// first plain properties of their values.
struct QueryTabulator {
    /// Rows that the columns are chosen by.
    private static let firstRows = 100
    /// Properties beside the key.
    private static let mostProperties = 8
    private static let widest = 40

    private let plan: QueryPlan
    private let now: Moment
    private let maximumRows: Int
    private var waiting: [QueryRow] = []
    private var properties: [QueryProperty]?
    private var columns: [QueryAnswer.Column] = []
    private var rows: [QueryAnswer.Row] = []
    private var count = 0
    private var targets: [Target] = []

    init(_ plan: QueryPlan, now: Moment, maximumRows: Int = QueryAnswer.maximumRows) {
        self.maximumRows = maximumRows
        self.plan = plan
        self.now = now
    }

    mutating func add(_ row: QueryRow) {
        count += 1
        if let entry = row.entry, entry.sequence != 0 {
            targets.append(Target(key: entry.key, sequence: entry.sequence, size: entry.valueBytes))
        }
        if properties != nil {
            if rows.count < maximumRows { append(row) }
        } else {
            waiting.append(row)
            if waiting.count == QueryTabulator.firstRows { chooseColumns() }
        }
    }

    mutating func finish(_ report: QueryReport) -> QueryAnswer {
        if properties == nil { chooseColumns() }
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

    private mutating func chooseColumns() {
        if let names = plan.columns {
            properties = []
            columns = names.map { QueryAnswer.Column(title: $0, isNumeric: true, width: 0) }
        } else {
            var chosen = plan.pipeline.stages.flatMap(\.properties).filter { $0 != .metadata(.key) }
            for row in waiting {
                guard let value = row.value.flatMap({ try? CBORReader.decode($0) }),
                    case .map(let map) = value
                else { continue }
                for entry in map.entries {
                    guard let name = entry.key.asString, entry.value.isPlain else { continue }
                    chosen.append(.named(name))
                }
            }
            var seen: Set<QueryProperty> = []
            let distinct = chosen.filter { seen.insert($0).inserted }.prefix(QueryTabulator.mostProperties)
            properties = Array(distinct)
            columns = [QueryAnswer.Column(title: "key", isNumeric: false, width: 0)]
            columns += distinct.map { QueryAnswer.Column(title: $0.columnName, isNumeric: true, width: 0) }
            if distinct.isEmpty {
                columns.append(QueryAnswer.Column(title: "value", isNumeric: false, width: 0))
            }
        }
        for row in waiting { append(row) }
        for (index, column) in columns.enumerated() {
            let cells = rows.map { $0.cells[index] }.filter { !$0.isEmpty }
            let width = cells.reduce(TextWidth.width(of: column.title)) { max($0, TextWidth.width(of: $1)) }
            columns[index].width = min(QueryTabulator.widest, width)
            columns[index].isNumeric =
                !cells.isEmpty && cells.allSatisfy { QueryTabulator.isNumber($0) }
        }
        waiting = []
    }

    private static func isNumber(_ text: String) -> Bool {
        guard let first = text.utf8.first else { return false }
        return (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) || first == UInt8(ascii: "-")
            ? Double(text.split(separator: " ").first ?? "") != nil : false
    }

    private mutating func append(_ row: QueryRow) {
        var cells: [String]
        if plan.columns != nil {
            cells = row.columns.map { item in
                item.flatMap { try? CBORReader.decode($0) }.map(QueryTabulator.text) ?? ""
            }
        } else {
            cells = [row.entry?.key ?? ""]
            let value = row.value.flatMap { try? CBORReader.decode($0) }
            let properties = properties ?? []
            cells += properties.map { text(of: $0, value, row.entry) }
            if properties.isEmpty { cells.append(value.map(QueryTabulator.text) ?? "(unreadable)") }
        }
        rows.append(
            QueryAnswer.Row(
                key: row.entry?.key, cells: cells.map { String($0.prefix(QueryAnswer.maximumCell)) }))
    }

    private func text(of property: QueryProperty, _ value: CBORValue?, _ entry: EntryFacts?) -> String {
        switch property {
        case .metadata(let metadata): return entry.map { text(of: metadata, $0) } ?? ""
        case .path(let steps):
            var part = value
            for step in steps { part = part.flatMap { $0.part(step) } }
            return part.map(QueryTabulator.text) ?? ""
        }
    }

    private func text(of metadata: QueryMetadata, _ entry: EntryFacts) -> String {
        func age(_ time: Timestamp) -> String { Figures.duration(now.seconds(since: Moment(time))) }
        switch metadata {
        case .key: return entry.key
        case .size: return Figures.bytes(UInt64(entry.valueBytes))
        case .created: return Figures.date(Moment(entry.created))
        case .accessed: return Figures.date(Moment(entry.accessed))
        case .idle: return age(entry.accessed)
        case .age: return age(entry.created)
        case .ttl: return entry.expires.map { Figures.duration(Moment($0).seconds(since: now)) } ?? ""
        case .expires: return entry.expires.map { Figures.date(Moment($0)) } ?? ""
        case .hits: return Figures.count(entry.hits)
        case .tier: return entry.tier.rawValue
        case .owner: return entry.owner ?? ""
        case .rank: return entry.rank.map { Figures.count($0) } ?? ""
        }
    }

    private static func text(_ value: CBORValue) -> String {
        switch value {
        case .text(let text): text
        case .null, .undefined: ""
        default: ValueTree(value).nodes.first.flatMap { $0.isContainer ? nil : $0.value } ?? value.json()
        }
    }
}

extension CBORValue {
    fileprivate func part(_ step: QueryProperty.Step) -> CBORValue? {
        switch step {
        case .name(let name): asMap?[key: .text(name)]
        case .index(let index): asArray.flatMap { $0.indices.contains(index) ? $0[index] : nil }
        }
    }

    /// Fits a cell.
    fileprivate var isPlain: Bool { asMap == nil && asArray == nil }
}
