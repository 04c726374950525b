import ArchiveQuery
import StorageEngine
import StoreInspection
import TerminalKit

/// Groups of entries, with their share of all that is grouped and of the archive's limit.
enum GroupsView {
    /// The columns, without the figures that the source can't report.
    static func columns(_ model: Model) -> [GroupColumn] {
        GroupColumn.allCases.filter { QueryMetadata(rawValue: $0.rawValue).map(model.reports) ?? true }
    }

    static func table(_ model: Model) -> Table {
        let state = model.groups
        let level = state?.level
        let order = level?.order ?? []
        let all = level?.groups
        let now = model.shownNow
        let limit = level?.limit
        let columns = columns(model)
        // Figures stand beside the names, where there is room for both.
        let names = level?.nameColumns ?? 0
        let isPacked = names <= 60 && names + 68 <= model.layout.list.columns
        let ofLimit = Table.Column("% of limit", width: .fixed(10), alignment: .trailing, priority: 4)
        return Table(
            columns: columns.map { column in
                let isOrder = column == state?.column
                return Table.Column(
                    title(column, level),
                    width: isPacked && column == .group ? .fixed(names) : width(column, names, model),
                    alignment: column == .group ? .leading : .trailing, priority: priority(column),
                    order: !isOrder ? nil : state?.isDescending == true ? .descending : .ascending)
            } + [
                Table.Column("share", width: .fixed(6), alignment: .trailing, priority: 3)
            ] + (limit == nil ? [] : [ofLimit]) + [Table.Column("", width: .fixed(10), priority: 6)],
            rowCount: order.count, firstRow: level?.top ?? 0,
            selectedRow: order.isEmpty ? nil : level?.cursor,
            emptyText: emptyText(state)
        ) { row in
            guard let all, order.indices.contains(row) else { return Table.Row([]) }
            let group = all.groups[order[row]]
            let share = share(of: group, in: all, isOfEntries: state?.column == .entries)
            let cells = (columns.map { text($0, group, now) } + [Figures.percent(share)]).map {
                Table.Cell($0)
            }
            let part = limit.map { Table.Cell(Figures.percent(Double(group.bytes) / Double($0))) }
            return Table.Row(cells + (part.map { [$0] } ?? []) + [Table.Cell("", gauge: share)])
        }
    }

    private static func text(_ column: GroupColumn, _ group: EntryGroup, _ now: Timestamp) -> String {
        switch column {
        case .group: group.name
        case .entries: Figures.count(group.entries)
        case .bytes: Figures.bytes(group.bytes)
        case .hits: Figures.count(group.hits)
        case .idle: Figures.duration(now.seconds(since: group.accessed))
        }
    }

    private static func title(_ column: GroupColumn, _ level: GroupsState.Level?) -> String {
        guard column == .group, case .property(let property)? = level?.groups?.grouping else {
            return column.rawValue
        }
        return property.columnName
    }

    /// Of the entries where these order the groups, else of the bytes.
    private static func share(of group: EntryGroup, in all: EntryGroups, isOfEntries: Bool) -> Double {
        if isOfEntries { return all.entries == 0 ? 0 : Double(group.entries) / Double(all.entries) }
        return all.bytes == 0 ? 0 : Double(group.bytes) / Double(all.bytes)
    }

    private static func width(_ column: GroupColumn, _ names: Int, _ model: Model) -> Part {
        switch column {
        // Other columns are dropped before names are cut.
        case .group: .minimum(max(12, min(names, model.size.columns / 2)), weight: 1)
        case .entries: .fixed(9)
        case .bytes: .fixed(8)
        case .hits: .fixed(9)
        case .idle: .fixed(6)
        }
    }

    private static func priority(_ column: GroupColumn) -> Int {
        switch column {
        case .group: 0
        case .bytes: 1
        case .entries: 2
        case .hits: 4
        case .idle: 5
        }
    }

    private static func emptyText(_ state: GroupsState?) -> String {
        guard let state, state.level.groups != nil else { return "" }
        return "No entries, so there are no groups."
    }

    static func draw(_ model: Model, _ layout: ScreenLayout, into frame: inout Frame) {
        let look = model.look
        guard let state = model.groups else { return }
        guard let groups = state.level.groups else {
            let text = ProblemText(
                text: state.problem ?? "Grouping \(state.archive.name)",
                role: state.problem == nil ? .dim : .danger, isCentered: true)
            return frame.draw(text, in: layout.list, look: look)
        }
        Bar(left: information(state, groups, model), right: [], role: .text)
            .draw(into: &frame, in: layout.info, look: look)
        table(model).draw(into: &frame, in: layout.list, look: look)
    }

    /// `12 groups by owner  6,204 entries, 1.2 MB`, and what is in none.
    private static func information(_ state: GroupsState, _ groups: EntryGroups, _ model: Model) -> [Span] {
        let look = model.look
        let count = Figures.count(groups.groups.count, "group", "groups")
        var spans = [
            Span(" \(count) by \(groups.grouping.name)"),
            Span("  \(Figures.amount(groups.entries, bytes: groups.bytes))", look[.dim]),
        ]
        // With a damaged log the share of the limit is no figure to go by, and the warning needs the room.
        let damage = model.sample(state.archive)?.status.damage
        if let damage { spans.append(Span("  \(damage)", look[.danger])) }
        if let scope = state.scope.words {
            spans.append(Span("  \(scope)", look[.accent]))
        } else if damage == nil, let limit = state.level.limit {
            let share = Figures.percent(Double(groups.bytes) / Double(limit))
            spans.append(Span(" (\(share) of the limit)", look[.dim]))
        }
        if groups.ungrouped > 0 {
            spans.append(
                Span(
                    "  \(Figures.count(groups.ungrouped)) entries of more groups are left out", look[.warning]
                ))
        }
        if groups.unreadable > 0 {
            spans.append(Span("  \(Figures.count(groups.unreadable)) unreadable", look[.warning]))
        }
        return spans
    }
}
