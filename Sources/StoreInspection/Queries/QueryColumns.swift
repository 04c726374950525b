import ArchiveQuery
import CBOR
import StorageEngine

/// Makes cells of a query's rows while they come, the same for both faces. For one thread.
///
/// Rows of columns are shown as they are. Whole entries are shown by their key, by what the query is about, and by the
/// properties of their values, plain ones first; the first rows wait until these are known.
package struct QueryColumns {
    package struct Row {
        /// The key of its entry; nil for a row that is made of several.
        package var key: String?
        /// One for each title.
        package var cells: [Cell]
    }

    /// Rows that the columns are chosen by: so many, or fewer that have so many bytes.
    private static let firstRows = 100
    private static let firstBytes = 8 << 20
    /// Properties beside the key that a table has where somebody reads it as it is.
    package static let usualProperties = 16
    /// The same where all properties are to be shown: so many rows wait, and their columns have so many cells at most.
    private static let firstRowsOfAll = 10_000
    private static let mostCells = 4_000_000
    /// Names of properties without a column that are remembered.
    private static let mostLeftOut = 10_000

    /// Above the columns; empty until they are chosen.
    package private(set) var titles: [String] = []
    /// The properties of whole entries that have no column: there are too many, or none of the first rows had them.
    package private(set) var leftOut: [String] = []
    private let plan: QueryPlan
    private let now: Timestamp
    private let most: Int?
    /// All properties that were met.
    private var known: Set<QueryProperty> = []
    /// What the query is about, which is shown first.
    private let asked: [QueryProperty]
    private var waiting: [QueryRow] = []
    private var waitingBytes = 0
    private var properties: [QueryProperty]?
    /// Whether values that are no objects have a column of their own.
    private var hasOthers = false

    /// `most`: how many properties have a column beside the key; nil: all, however many there are.
    package init(_ plan: QueryPlan, now: Timestamp, most: Int? = usualProperties) {
        self.plan = plan
        self.now = now
        self.most = most
        asked = plan.pipeline.stages.flatMap(\.properties).filter { $0 != .metadata(.key) }
    }

    /// The rows that are ready now: none, the first ones, or this one.
    package mutating func add(_ row: QueryRow) -> [Row] {
        if let properties {
            let value = QueryColumns.value(of: row)
            noteOthers(value)
            return [cells(of: row, value, properties)]
        }
        waiting.append(row)
        waitingBytes += row.value?.count ?? 0
        let rows = most == nil && plan.columns == nil ? QueryColumns.firstRowsOfAll : QueryColumns.firstRows
        let isWaiting = waiting.count < rows && waitingBytes < QueryColumns.firstBytes
        return isWaiting ? [] : chooseColumns()
    }

    /// The rows that are still waiting; no others come.
    package mutating func finish() -> [Row] { properties == nil ? chooseColumns() : [] }

    private mutating func chooseColumns() -> [Row] {
        let chosen = plan.columns == nil ? propertiesOfEntries() : []
        hasOthers =
            plan.columns == nil
            && (chosen.isEmpty || waiting.contains { $0.value.map(Self.isObject) == false })
        titles = plan.columns ?? (["key"] + chosen.map(\.columnName) + (hasOthers ? ["value"] : [])).distinct
        properties = chosen
        defer { waiting = [] }
        return waiting.map { cells(of: $0, QueryColumns.value(of: $0), chosen) }
    }

    private static func value(of row: QueryRow) -> CBORValue? {
        row.value.flatMap { try? CBORReader.decode($0) }
    }

    /// What a column of whole entries shows; nil for their values, and for rows of columns.
    package func property(at column: Int) -> QueryProperty? {
        guard plan.columns == nil else { return nil }
        let shown = [.metadata(.key)] + (properties ?? [])
        return shown.indices.contains(column) ? shown[column] : nil
    }

    private static func isObject(_ item: [UInt8]) -> Bool { item.first.map { $0 >> 5 == 5 } ?? false }

    private mutating func propertiesOfEntries() -> [QueryProperty] {
        var plain: [QueryProperty] = []
        var nested: [QueryProperty] = []
        for row in waiting {
            for entry in QueryColumns.value(of: row)?.asMap ?? CBORMap() {
                guard let name = entry.key.asString else { continue }
                let isNested = entry.value.asMap != nil || entry.value.asArray != nil
                if isNested { nested.append(.named(name)) } else { plain.append(.named(name)) }
            }
        }
        nested.removeAll(where: isShownByParts)
        let all = (asked + plain + nested).filter { known.insert($0).inserted }
        let most =
            most ?? max(QueryColumns.usualProperties, QueryColumns.mostCells / max(1, waiting.count))
        leftOut = all.dropFirst(most).prefix(QueryColumns.mostLeftOut).map(\.columnName)
        return Array(all.prefix(most))
    }

    /// A property that is selected by its parts needs no column of its own.
    private func isShownByParts(_ whole: QueryProperty) -> Bool { asked.contains { $0.isPart(of: whole) } }

    private mutating func noteOthers(_ value: CBORValue?) {
        for entry in value?.asMap ?? CBORMap() {
            guard leftOut.count < QueryColumns.mostLeftOut, let name = entry.key.asString else { return }
            let property = QueryProperty.named(name)
            guard !isShownByParts(property), known.insert(property).inserted else { continue }
            leftOut.append(property.columnName)
        }
    }

    private func cells(of row: QueryRow, _ value: CBORValue?, _ properties: [QueryProperty]) -> Row {
        if plan.columns != nil {
            return Row(key: row.entry?.key, cells: row.columns.map { Cell(item: $0) })
        }
        var cells = [Cell.text(row.entry?.key ?? "")] + properties.map { cell($0, value, row.entry) }
        if hasOthers {
            let isShown = properties.isEmpty || value?.asMap == nil
            cells.append(value == nil ? .text("(unreadable)") : isShown ? Cell(item: row.value) : .absent)
        }
        return Row(key: row.entry?.key, cells: cells)
    }

    private func cell(_ property: QueryProperty, _ value: CBORValue?, _ entry: EntryFacts?) -> Cell {
        switch property {
        case .metadata(let metadata): return entry.map { cell(metadata, $0) } ?? .absent
        case .path(let steps):
            let parts = value.map { $0.parts(steps[...]) } ?? []
            return Cell(item: property.isMany ? CBORValue.array(parts).encoded : parts.first?.encoded)
        case .computed: return .absent
        }
    }

    private func cell(_ metadata: QueryMetadata, _ entry: EntryFacts) -> Cell {
        switch metadata {
        case .key: .text(entry.key)
        case .size: .bytes(UInt64(entry.valueBytes))
        case .created: .time(entry.created)
        case .accessed: .time(entry.accessed)
        case .idle: .interval(now.seconds(since: entry.accessed))
        case .age: .interval(now.seconds(since: entry.created))
        case .ttl: entry.expires.map { .interval($0.seconds(since: now)) } ?? .absent
        case .expires: Cell(entry.expires)
        case .hits: .count(UInt64(entry.hits))
        case .tier: .text(entry.tier.rawValue)
        case .owner: Cell(entry.owner)
        case .rank: entry.rank.map { .count(UInt64($0)) } ?? .absent
        }
    }
}

extension QueryProperty {
    fileprivate func isPart(of whole: QueryProperty) -> Bool {
        guard case .path(let steps) = self, case .path(let other) = whole else { return false }
        return steps.count > other.count && steps.starts(with: other)
    }
}

extension CBORValue {
    /// The parts that the path leads to: at most one, or one for each element of lists on the path.
    fileprivate func parts(_ steps: ArraySlice<QueryProperty.Step>) -> [CBORValue] {
        guard let step = steps.first else { return [self] }
        return parts(step).flatMap { $0.parts(steps.dropFirst()) }
    }

    private func parts(_ step: QueryProperty.Step) -> [CBORValue] {
        switch step {
        case .name(let name): asMap?[key: .text(name)].map { [$0] } ?? []
        case .index(let index): asArray.flatMap { $0.indices.contains(index) ? [$0[index]] : nil } ?? []
        case .each: asArray ?? []
        }
    }
}
