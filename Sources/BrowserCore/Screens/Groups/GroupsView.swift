import ArchiveQuery
import StorageEngine
import StoreInspection
import TerminalKit

enum GroupsView {
    /// The columns whose figures the source reports.
    static func columns(_ model: Model) -> [GroupColumn] {
        GroupColumn.allCases.filter { QueryMetadata(rawValue: $0.rawValue).map(model.reports) ?? true }
    }

    static func table(_ model: Model) -> Table {
        let state = model.groups
        let level = state?.level
        let order = level?.order ?? []
        let all = level?.groups
        let now = model.shownNow
        let filter = level?.filter ?? ""
        let isOfEntries = state?.column == .entries
        let columns = columns(model)
        let names = level?.nameColumns ?? 0
        let isPacked = names <= 60 && names + 68 <= model.layout.list.columns
        return Table(
            columns: columns.map { column in
                let isOrder = column == state?.column
                let (width, priority) = layout(column, names, model)
                return Table.Column(
                    title(column, level), width: isPacked && column == .group ? .fixed(names) : width,
                    alignment: column == .group ? .leading : .trailing, priority: priority,
                    order: !isOrder ? nil : state?.isDescending == true ? .descending : .ascending)
            } + [
                Table.Column(
                    isOfEntries ? "% entries" : "% bytes", width: .fixed(isOfEntries ? 9 : 7),
                    alignment: .trailing, priority: 3, fraction: 3),
                Table.Column("", width: .fixed(10), priority: 6),
            ],
            rowCount: order.count, firstRow: level?.top ?? 0,
            selectedRow: order.isEmpty ? nil : level?.cursor,
            emptyText: all == nil
                ? ""
                : filter.isEmpty
                    ? "No entries to group\(Browser.unreadText((all?.unreadable ?? 0) + (all?.unmeasured ?? 0)))."
                    : Browser.noMatch("group", filter, model)
        ) { row in
            guard let all, order.indices.contains(row) else { return Table.Row([]) }
            let group = all.groups[order[row]]
            let share = share(of: group, in: all, isOfEntries: isOfEntries)
            let cells = columns.map { Table.Cell(text($0, group, now), cut: $0 == .group ? .middle : .end) }
            return Table.Row(cells + [Table.Cell(Figures.percent(share)), Table.Cell("", gauge: share)])
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

    /// Share of the entries if the groups are sorted by them, else of the bytes.
    private static func share(of group: EntryGroup, in all: EntryGroups, isOfEntries: Bool) -> Double {
        if isOfEntries { return all.entries == 0 ? 0 : Double(group.entries) / Double(all.entries) }
        return all.bytes == 0 ? 0 : Double(group.bytes) / Double(all.bytes)
    }

    private static func layout(_ column: GroupColumn, _ names: Int, _ model: Model) -> (
        width: Part, priority: Int
    ) {
        switch column {
        // Other columns are dropped before names are cut.
        case .group: (.minimum(max(12, min(names, model.size.columns / 2)), weight: 1), 0)
        case .bytes: (.fixed(8), 1)
        case .entries: (.fixed(9), 2)
        case .hits: (.fixed(9), 4)
        case .idle: (.fixed(6), 5)
        }
    }

    static func draw(_ model: Model, _ layout: ScreenLayout, into frame: inout Frame) {
        let look = model.look
        guard let state = model.groups else { return }
        guard let groups = state.level.groups else {
            return frame.draw(
                problem: state.problem, loading: "Grouping \(state.archive.name)", in: layout.list, look: look
            )
        }
        var title = groups.grouping.title(of: groups.groups.count)
        var filter: [Span] = []
        if !state.level.filter.isEmpty {
            title = "\(Figures.count(state.level.order.count)) of \(title)"
            filter = [Span("  filter \"\(state.level.filter)\"", look[.accent])]
        }
        let (warnings, facts) = facts(state, groups, model)
        Bar(left: [Span(" " + title)] + filter, warnings: warnings, facts: facts, role: .text)
            .draw(into: &frame, in: layout.info, look: look)
        table(model).draw(into: &frame, in: layout.list, look: look)
    }

    private static func facts(
        _ state: GroupsState, _ groups: EntryGroups, _ model: Model
    ) -> (warnings: [Span], facts: [Span]) {
        let look = model.look
        var (warnings, facts): ([Span], [Span]) = ([], [])
        if let damage = model.sample(state.archive)?.damage { warnings.append(Span(damage, look[.danger])) }
        var amount = Figures.amount(groups.entries, bytes: groups.bytes)
        if state.scope.isAll, warnings.isEmpty, let limit = state.level.limit {
            amount += " (\(Figures.percent(Double(groups.bytes) / Double(limit))) of the limit)"
        }
        facts.append(Span(amount, look[.dim]))
        if let scope = state.scope.words { facts.append(Span(scope, look[.accent])) }
        if groups.ungrouped > 0 {
            let count = Figures.count(groups.ungrouped, "entry", "entries")
            warnings.append(Span("\(count) in further groups not shown", look[.warning]))
        }
        if groups.unreadable > 0 {
            warnings.append(Span("\(Figures.count(groups.unreadable)) unreadable", look[.warning]))
        }
        if let omission = groups.omission { warnings.append(Span(omission, look[.warning])) }
        return (warnings, facts)
    }
}
