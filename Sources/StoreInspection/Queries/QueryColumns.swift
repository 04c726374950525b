import ArchiveQuery
import CBOR
import StorageEngine

/// Converts a query's rows to cells as they arrive. An entry has columns for its key, the query's properties, and the properties
/// of the first rows' values, scalars first. If `grows`, properties of later rows are appended.
package struct QueryColumns {
    package struct Row {
        /// The entry's key; nil for a row of several entries.
        package var key: String?
        /// Cells for the titles known when the row was added.
        package var cells: [Cell]
    }

    /// A column of entries: a property, or values that aren't objects.
    private enum Source: Hashable {
        case property(QueryProperty), value

        var name: String { if case .property(let property) = self { property.columnName } else { "value" } }
    }

    /// Maximum number and bytes of the first rows, which determine the columns.
    private static let firstRows = 100
    private static let firstBytes = 8 << 20
    /// Maximum properties of a table for reading.
    package static let usualProperties = 16
    /// Limits if all properties are shown: waiting rows, and cells of their columns.
    private static let firstRowsOfAll = 10_000
    private static let mostCells = 4_000_000
    /// Maximum number of names in ``leftOut``.
    private static let mostLeftOut = 10_000

    /// The columns' titles; empty until the columns are chosen.
    package private(set) var titles: [String] = []
    package private(set) var leftOut: [String] = []
    private let plan: QueryPlan
    private let now: Timestamp
    private let most: Int?
    private let grows: Bool
    private var known: Set<QueryProperty> = []
    /// The properties that the query names. Their columns are first.
    private let asked: [QueryProperty]
    private var waiting: [QueryRow] = []
    private var waitingBytes = 0
    /// The columns after the key; nil until chosen.
    private var columns: [Source]?

    /// - Parameters:
    ///   - most: maximum properties beside the key; nil: all.
    ///   - grows: whether properties of later rows get columns, up to `most`.
    package init(_ plan: QueryPlan, now: Timestamp, most: Int? = usualProperties, grows: Bool = false) {
        self.plan = plan
        self.now = now
        self.most = most
        self.grows = grows
        asked = plan.pipeline.stages.flatMap(\.properties).filter { $0 != .metadata(.key) }
    }

    /// Returns the rows that are ready: none before the columns are chosen, then all waiting rows, later each row.
    package mutating func add(_ row: QueryRow) -> [Row] {
        if columns != nil {
            let value = QueryColumns.value(of: row)
            noteOthers(row, value)
            return [cells(of: row, value)]
        }
        waiting.append(row)
        waitingBytes += row.value?.count ?? 0
        let rows = most == nil && plan.columns == nil ? QueryColumns.firstRowsOfAll : QueryColumns.firstRows
        let isWaiting = waiting.count < rows && waitingBytes < QueryColumns.firstBytes
        return isWaiting ? [] : chooseColumns()
    }

    /// Returns the waiting rows at the end.
    package mutating func finish() -> [Row] { columns == nil ? chooseColumns() : [] }

    private mutating func chooseColumns() -> [Row] {
        let chosen = plan.columns == nil ? propertiesOfEntries() : []
        let hasOthers =
            plan.columns == nil && (chosen.isEmpty || waiting.contains(where: QueryColumns.isOther))
        columns = chosen.map(Source.property) + (hasOthers ? [.value] : [])
        nameColumns()
        defer { waiting = [] }
        return waiting.map { cells(of: $0, QueryColumns.value(of: $0)) }
    }

    /// Names the columns. Names that look alike get numbers.
    private mutating func nameColumns() {
        titles = plan.columns ?? (["key"] + (columns ?? []).map(\.name)).distinct { $0 }
    }

    private static func value(of row: QueryRow) -> CBORValue? {
        row.value.flatMap { try? CBORReader.decode($0) }
    }

    /// The property of a column; nil for a column of whole values, or if the query selects its columns.
    package func property(at column: Int) -> QueryProperty? {
        guard plan.columns == nil else { return nil }
        let shown = [.property(.metadata(.key))] + (columns ?? [])
        guard shown.indices.contains(column), case .property(let property) = shown[column] else { return nil }
        return property
    }

    /// Whether the value is readable and not an object.
    private static func isOther(_ row: QueryRow) -> Bool {
        row.value.map { item in item.first.map { $0 >> 5 != 5 } ?? true } ?? false
    }

    private mutating func propertiesOfEntries() -> [QueryProperty] {
        var plain: [QueryProperty] = []
        var nested: [QueryProperty] = []
        for row in waiting {
            for entry in QueryColumns.value(of: row)?.asMap ?? CBORMap() {
                let name = entry.key.memberName
                let isNested = entry.value.asMap != nil || entry.value.asArray != nil
                if isNested { nested.append(.named(name)) } else { plain.append(.named(name)) }
            }
        }
        nested.removeAll(where: isShownByParts)
        let all = (asked + plain + nested).filter { known.insert($0).inserted }
        let most = most ?? max(QueryColumns.usualProperties, QueryColumns.mostCells / max(1, waiting.count))
        leftOut = all.dropFirst(most).prefix(QueryColumns.mostLeftOut).map(\.columnName)
        return Array(all.prefix(most))
    }

    /// Whether the query names parts of this property, so that it needs no column.
    private func isShownByParts(_ whole: QueryProperty) -> Bool { asked.contains { $0.isPart(of: whole) } }

    private mutating func noteOthers(_ row: QueryRow, _ value: CBORValue?) {
        if grows, QueryColumns.isOther(row), columns?.contains(.value) == false { add(.value) }
        for entry in value?.asMap ?? CBORMap() {
            guard leftOut.count < QueryColumns.mostLeftOut else { return }
            let property = QueryProperty.named(entry.key.memberName)
            guard !isShownByParts(property), known.insert(property).inserted else { continue }
            if grows, columns?.count(where: { $0 != .value }) ?? 0 < most ?? .max {
                add(.property(property))
            } else {
                leftOut.append(property.columnName)
            }
        }
    }

    private mutating func add(_ column: Source) {
        columns?.append(column)
        nameColumns()
    }

    private func cells(of row: QueryRow, _ value: CBORValue?) -> Row {
        if plan.columns != nil { return Row(key: row.entry?.key, cells: row.columns.map { Cell(item: $0) }) }
        let columns = columns ?? []
        let isShown = value?.asMap == nil || !columns.contains { $0 != .value }
        let members = columns.count < QueryColumns.usualProperties ? nil : value?.asMap.map(CBORValue.members)
        let cells = columns.map { column -> Cell in
            if let members, case .property(.path(let steps)) = column, case .name(let name)? = steps.first,
                steps.count == 1
            {
                return Cell(item: members[.text(name)]?.encoded)
            }
            if case .property(let property) = column { return cell(property, value, row.entry) }
            return value == nil ? .text("(unreadable)") : isShown ? Cell(item: row.value) : .absent
        }
        return Row(key: row.entry?.key, cells: [.text(row.entry?.key ?? "")] + cells)
    }

    private func cell(_ property: QueryProperty, _ value: CBORValue?, _ entry: EntryFacts?) -> Cell {
        switch property {
        case .metadata(let metadata): return entry.map { cell(metadata, $0) } ?? .absent
        case .path(let steps):
            let parts = value.map { $0.parts(steps[...]) } ?? []
            return Cell(item: property.isMany ? CBORValue.array(parts).encoded : parts.first?.encoded)
        case .computed, .converted: return .absent
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
        case .type: Cell(entry.type)
        case .encoding: Cell(entry.layout ?? entry.encoding.word)
        }
    }
}

extension QueryProperty {
    fileprivate func isPart(of whole: QueryProperty) -> Bool {
        guard case .path(let steps) = self, case .path(let other) = whole else { return false }
        return steps.count > other.count && steps.starts(with: other)
    }
}

extension CBORMap {
    /// The member whose name isn't text but has this spelling.
    fileprivate func member(named name: String) -> CBORValue? {
        first { member in
            member.key.asString.map { ByteText.spelling(of: $0) != $0 } != false
                && member.key.memberName == name
        }?.value
    }
}

extension CBORValue {
    /// The values of a map by key; for repeated keys, the first value.
    fileprivate static func members(of map: CBORMap) -> [CBORValue: CBORValue] {
        Dictionary(map.lazy.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    /// The values at a path, one for each element of lists on it; null where it is absent.
    fileprivate func parts(_ steps: ArraySlice<QueryProperty.Step>) -> [CBORValue] {
        guard let each = steps.firstIndex(of: .each) else { return part(steps).map { [$0] } ?? [] }
        let rest = steps[(each + 1)...]
        return (part(steps[..<each])?.asArray ?? []).flatMap { element in
            rest.contains(.each) ? element.parts(rest) : [element.part(rest) ?? .null]
        }
    }

    private func part(_ steps: ArraySlice<QueryProperty.Step>) -> CBORValue? {
        steps.reduce(Optional(self)) { value, step in
            switch step {
            case .name(let name): value?.asMap.flatMap { $0[key: .text(name)] ?? $0.member(named: name) }
            case .index(let index): value?.asArray.flatMap { $0.indices.contains(index) ? $0[index] : nil }
            case .each: nil
            }
        }
    }
}
