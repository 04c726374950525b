import ArchiveQuery
import CBOR
import StorageEngine

/// Makes cells of a query's rows while they come. For one thread.
///
/// Rows of columns are shown as they are. Whole entries are shown by their key, by what the query is about, and by the
/// first plain properties of their values; the first rows wait until these are known.
struct QueryCells {
    struct Row {
        /// The key of its entry; nil for a row that is made of several.
        var key: String?
        /// One for each title.
        var cells: [String]
    }

    /// Rows that the columns are chosen by: so many, or fewer that have so many bytes.
    private static let firstRows = 100
    private static let firstBytes = 8 << 20
    /// Properties beside the key.
    private static let mostProperties = 8

    /// Above the columns; empty until they are chosen.
    private(set) var titles: [String] = []
    private let plan: QueryPlan
    private let now: Moment
    private var waiting: [QueryRow] = []
    private var waitingBytes = 0
    private var properties: [QueryProperty]?

    init(_ plan: QueryPlan, now: Moment) {
        self.plan = plan
        self.now = now
    }

    /// The rows that are ready now: none, the first ones, or this one.
    mutating func add(_ row: QueryRow) -> [Row] {
        if let properties { return [cells(of: row, properties)] }
        waiting.append(row)
        waitingBytes += row.value?.count ?? 0
        let isWaiting = waiting.count < QueryCells.firstRows && waitingBytes < QueryCells.firstBytes
        return isWaiting ? [] : chooseColumns()
    }

    /// The rows that are still waiting; no others come.
    mutating func finish() -> [Row] { properties == nil ? chooseColumns() : [] }

    private mutating func chooseColumns() -> [Row] {
        let chosen = plan.columns == nil ? propertiesOfEntries() : []
        titles = plan.columns ?? ["key"] + (chosen.isEmpty ? ["value"] : chosen.map(\.columnName))
        properties = chosen
        defer { waiting = [] }
        return waiting.map { cells(of: $0, chosen) }
    }

    private func propertiesOfEntries() -> [QueryProperty] {
        var chosen = plan.pipeline.stages.flatMap(\.properties).filter { $0 != .metadata(.key) }
        for row in waiting {
            guard let value = row.value.flatMap({ try? CBORReader.decode($0) }), case .map(let map) = value
            else { continue }
            for entry in map.entries {
                guard let name = entry.key.asString, entry.value.isPlain else { continue }
                chosen.append(.named(name))
            }
        }
        var seen: Set<QueryProperty> = []
        return Array(chosen.filter { seen.insert($0).inserted }.prefix(QueryCells.mostProperties))
    }

    private func cells(of row: QueryRow, _ properties: [QueryProperty]) -> Row {
        if plan.columns != nil {
            let cells = row.columns.map { item in
                item.flatMap { try? CBORReader.decode($0) }.map(QueryCells.text) ?? ""
            }
            return Row(key: row.entry?.key, cells: cells)
        }
        let value = row.value.flatMap { try? CBORReader.decode($0) }
        var cells = [row.entry?.key ?? ""] + properties.map { text(of: $0, value, row.entry) }
        if properties.isEmpty { cells.append(value.map(QueryCells.text) ?? "(unreadable)") }
        return Row(key: row.entry?.key, cells: cells)
    }

    private func text(of property: QueryProperty, _ value: CBORValue?, _ entry: EntryFacts?) -> String {
        switch property {
        case .metadata(let metadata): return entry.map { text(of: metadata, $0) } ?? ""
        case .path(let steps):
            var part = value
            for step in steps { part = part.flatMap { $0.part(step) } }
            return part.map(QueryCells.text) ?? ""
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
