import ArchiveQuery
import StorageEngine
import StoreInspection
import TerminalKit

enum EntriesView {
    struct Column: Sendable {
        /// Nil for the column of marks and signs, which doesn't sort.
        let basis: EntryOrder.Basis?
        let title: String
        let width: Part
        let alignment: Alignment
        let priority: Int
        var fraction = 0

        init(_ column: EntryColumn?, _ width: Part, _ alignment: Alignment, priority: Int) {
            basis = column.map { .column($0) }
            title = column?.title ?? ""
            (self.width, self.alignment, self.priority) = (width, alignment, priority)
        }

        init(_ property: QueryProperty, _ seen: SeenRows.Values?) {
            basis = .property(property)
            if case .metadata(let metadata) = property, !ChosenColumns.hideable.contains(metadata.rawValue) {
                title = metadata.rawValue
            } else {
                title = property.columnName
            }
            let isNumeric = seen?.isNumeric ?? false
            fraction = isNumeric ? seen?.fraction ?? 0 : 0
            let columns = max(min(TextWidth.width(of: title), Column.widest), seen?.columns ?? 0)
            width = isNumeric ? .fixed(columns) : .minimum(min(columns, Column.narrowest), weight: 1)
            alignment = isNumeric ? .trailing : .leading
            priority = 1
        }

        /// The title, with the sign `@` of metadata if a property has the same name.
        static func heading(_ title: String, isProperty: Bool, besides properties: [String]) -> String {
            (!isProperty && properties.contains(title) ? "@" : "") + title
        }

        var isProperty: Bool { if case .property? = basis { true } else { false } }

        private static let widest = 24
        private static let narrowest = 16
    }

    private static let first: [Column] = [
        Column(nil, .fixed(1), .leading, priority: 0),
        Column(.key, .minimum(12, weight: 4), .leading, priority: 0),
    ]
    private static let facts: [Column] = [
        Column(.size, .fixed(8), .trailing, priority: 1),
        Column(.tier, .fixed(6), .leading, priority: 6),
        Column(.idle, .fixed(6), .trailing, priority: 2),
        Column(.age, .fixed(6), .trailing, priority: 5),
        Column(.expires, .fixed(8), .trailing, priority: 4),
        Column(.hits, .fixed(7), .trailing, priority: 3),
        Column(.queue, .fixed(7), .leading, priority: 1),
        Column(.owner, .minimum(8, weight: 1), .leading, priority: 7),
    ]

    /// All columns: the sign, the key, the chosen properties and the metadata.
    static func columns(_ entries: EntriesState?) -> [Column] {
        let properties = entries?.properties ?? []
        return first + properties.map { Column($0, entries?.seen.values[$0]) } + facts
    }

    static func unreported(_ model: Model) -> Set<EntryColumn> {
        let hasQueues = model.entries.flatMap { model.sample($0.archive) }?.evictionPolicy == .s3fifo
        return Set(
            EntryColumn.allCases.filter {
                $0 == .queue ? !hasQueues : QueryMetadata(rawValue: $0.title).map(model.reports) == false
            })
    }

    /// Indices of ``columns(_:)`` that are chosen and not scrolled out. The sign and the key are always shown.
    static func shown(_ entries: EntriesState?) -> [Int] {
        let chosen = chosen(entries)
        return Array(chosen.prefix(2) + chosen.dropFirst(2 + scrolled(entries)))
    }

    static func scrolled(_ entries: EntriesState?, by step: Int = 0) -> Int {
        max(0, min((entries?.firstColumn ?? 0) + step, chosen(entries).count - 3))
    }

    /// Indices of ``columns(_:)`` that are reported and not hidden.
    private static func chosen(_ entries: EntriesState?) -> [Int] {
        let columns = columns(entries)
        return columns.indices.filter { index in
            guard index >= 2, case .column(let column)? = columns[index].basis else { return true }
            return entries?.hiddenColumns.contains(column.title) != true
                && entries?.unreported.contains(column) != true
        }
    }

    /// The columns that sort, in the order of `s` and the digits: metadata, then properties. On a server, those of its list in
    /// their order.
    static func bases(_ model: Model) -> [EntryOrder.Basis] {
        guard model.isOfServer else {
            return EntryColumn.allCases.filter { model.entries?.unreported.contains($0) != true }
                .map(EntryOrder.Basis.column)
                + (model.entries?.properties ?? []).map(EntryOrder.Basis.property)
        }
        let columns = columns(model.entries)
        return chosen(model.entries).compactMap { columns[$0].basis }
    }

    static func table(_ model: Model) -> Table {
        let entries = model.entries
        let shown = shown(entries)
        let columns = columns(entries)
        let order = entries?.arrangement?.order ?? .recency
        let look = model.look
        let now = model.shownNow
        let seen = entries?.seen ?? SeenRows()
        let columnsBefore = scrolled(entries)
        let names = (entries?.properties ?? []).map(\.columnName)
        // The line below has the selected key in full.
        let widestKey = model.layout.list.columns / 2
        let pattern = FilterPattern(entries?.arrangement?.filter ?? "")
        return Table(
            columns: shown.enumerated().map { place, index in
                let column = columns[index]
                let title = Column.heading(column.title, isProperty: column.isProperty, besides: names)
                var arrow: Table.Column.Order?
                var width = column.width
                if column.basis == order.basis {
                    arrow = order.descending ? .descending : .ascending
                    let titled = TextWidth.width(of: title) + 2
                    if case .fixed(let columns) = width { width = .fixed(max(columns, titled)) }
                    if case .minimum(let columns, let weight) = width {
                        width = .minimum(max(columns, titled), weight: weight)
                    }
                }
                var priority = column.priority
                switch column.basis {
                case .column(.key): width = .minimum(max(12, min(seen.keyColumns, widestKey)), weight: 4)
                // Columns with equal values in all rows are dropped first.
                case .column(.tier) where seen.tiers.count < 2: priority += 10
                case .column(.expires) where !seen.hasExpiry: priority += 10
                case .column(.owner) where !seen.hasOwner: priority += 10
                default: break
                }
                // Each column is reachable by scrolling.
                if columnsBefore > 0, place == 2 { priority = 0 }
                return Table.Column(
                    title, width: width, alignment: column.alignment,
                    priority: priority, order: arrow, fraction: column.fraction)
            }, rowCount: entries?.count ?? 0, firstRow: entries?.top ?? 0,
            selectedRow: entries?.count == 0 ? nil : entries?.cursor,
            columnsBefore: columnsBefore,
            emptyText: emptyText(model)
        ) { row in
            guard let entries else { return Table.Row([]) }
            return EntriesView.row(
                row, entries, shown.map { columns[$0].basis }, pattern, now: now, look: look,
                withheld: model.countsReads)
        }
    }

    private static func emptyText(_ model: Model) -> String {
        guard let entries = model.entries, let arrangement = entries.arrangement else { return "" }
        if TitleView.isArchiveRemoved(model) {
            return "\(entries.archive.name) was removed; \(Browser.keyName(model, .clear)) goes back."
        }
        if arrangement.isPart { return "Reading \(entries.archive.name)" }
        let filter = arrangement.filter
        let age = model.now.seconds(since: arrangement.made)
        let old =
            !model.isOfServer || age < 2
            ? ""
            : entries.ticket != nil
                ? " Reading the keys again."
                : " The list is \(Figures.duration(age)) old; \(Browser.keyName(model, .refresh)) reads it again."
        guard let condition = arrangement.condition else {
            let new =
                model.keyMap.action(.newEntry) == nil
                ? "" : "; \(Browser.keyName(model, .newEntry)) creates one"
            if let group = entries.group, filter.isEmpty { return "No entries of \(group.description)." }
            if filter.isEmpty { return "No entries\(new)." }
            let keys = (model.prompt == nil ? "" : "enter, then ") + Browser.keyName(model, .history)
            let why =
                entries.askedKey == nil || model.isOfServer ? "" : " \(keys) shows the history of that key."
            return Browser.noMatch("key", filter, model, arrangement.unread) + why + old
        }
        let rest = filter.isEmpty ? "" : " and has \"\(filter)\" in its key"
        let unread = max(arrangement.unread.filtered, arrangement.unread.chosen)
        let remark =
            Browser.unreadText(unread) + (entries.unknownNames(in: condition).map { ": \($0)" } ?? ";")
        return
            "No entry matches \(condition.text)\(rest)\(remark) \(Browser.keyName(model, .clear)) clears this."
            + old
    }

    /// - Parameters:
    ///   - columns: the shown columns' bases.
    ///   - isWithheld: whether no values are read, because a server counts that as accesses.
    private static func row(
        _ row: Int, _ entries: EntriesState, _ columns: [EntryOrder.Basis?], _ pattern: FilterPattern?,
        now: Timestamp, look: Look, withheld isWithheld: Bool
    ) -> Table.Row {
        guard let entry = entries.rows[row] else {
            if entries.read.problems[row] != nil {
                return Table.Row([Table.Cell(""), Table.Cell("can't be read", role: .danger)])
            }
            let isRemoved = entries.read.range.contains(row)
            return Table.Row(
                [Table.Cell(""), Table.Cell(isRemoved ? "removed" : look.glyphs.ellipsis)], role: .dim)
        }
        let isVictim = entries.isVictim(row: row)
        let isMarked = entries.marks.contains(entry.key)
        let isStale = entries.vanished.contains(ExactText(entry.key))
        let role =
            isStale ? .dim : entries.flashes[ExactText(entry.key)]?.role ?? (isVictim ? .disappearing : .text)
        let cells = columns.map { column in
            switch column {
            case nil, .scan:
                isMarked && !isStale
                    ? Table.Cell(String(look.glyphs.marked), role: .marked)
                    : Table.Cell(
                        isStale ? "x" : isVictim ? String(look.glyphs.descending) : "", role: .disappearing)
            case .column(.key): keyCell(entry.key, pattern, look)
            case .column(let column):
                entries.read.unknown[row]?.contains { $0.rawValue == column.title } == true
                    ? Table.Cell("?", role: .dim) : cell(column, entry, now: now)
            case .property(let property): cell(property, row, entries, look: look, isWithheld)
            }
        }
        return Table.Row(cells, role: role, isMarked: isMarked)
    }

    /// Longer keys are cut without regard to the match.
    private static let longestSearchedKey = 1_000

    private static func keyCell(_ key: String, _ pattern: FilterPattern?, _ look: Look) -> Table.Cell {
        var cell = Table.Cell(key, cut: .middle)
        if let pattern, key.utf8.count <= longestSearchedKey {
            cell.match = pattern.ranges(in: look.legible(key), most: 1).first
        }
        return cell
    }

    private static func cell(_ column: EntryColumn, _ entry: EntryMetadata, now: Timestamp) -> Table.Cell {
        switch column {
        case .key: return Table.Cell(entry.key, cut: .middle)
        case .size: return Table.Cell(Figures.bytes(UInt64(entry.valueBytes)))
        case .tier: return Table.Cell(entry.tier.rawValue, role: .dim)
        case .idle: return Table.Cell(Figures.duration(now.seconds(since: entry.accessed)))
        case .age: return Table.Cell(Figures.duration(now.seconds(since: entry.created)))
        case .expires:
            let expires = expires(entry, now: now)
            return Table.Cell(expires.text, role: expires.role)
        case .hits: return Table.Cell(Figures.count(entry.hits))
        case .queue: return Table.Cell(entry.queue.map { "\($0.name) \($0.frequency)" } ?? "")
        case .owner: return Table.Cell(entry.owner ?? "", role: .dim)
        }
    }

    private static func cell(
        _ property: QueryProperty, _ row: Int, _ entries: EntriesState, look: Look, _ isWithheld: Bool
    ) -> Table.Cell {
        guard let number = entries.read.properties.firstIndex(of: property) else {
            return Table.Cell(look.glyphs.ellipsis, role: .dim)
        }
        guard let cells = entries.read.cells[row], cells.indices.contains(number) else {
            return Table.Cell("")
        }
        switch cells[number] {
        case .value(let text, _): return Table.Cell(text)
        case .absent: return Table.Cell("-", role: .dim)
        case .noAccess: return Table.Cell("no access", role: .dim)
        case .unreadable where isWithheld: return Table.Cell("not read", role: .dim)
        case .unreadable: return Table.Cell("unreadable", role: .danger)
        case .tooLong: return Table.Cell("too long", role: .warning)
        }
    }

    static func expires(_ entry: EntryMetadata, now: Timestamp) -> (text: String, role: Role?) {
        guard let deadline = entry.expires else { return ("-", .dim) }
        let left = deadline.seconds(since: now)
        if left <= 0 { return ("expired", .danger) }
        return (Figures.duration(left), left < 10 ? .warning : nil)
    }

    /// `12 of 6,204 entries  3.4 kB`
    static func countText(_ model: Model) -> String {
        guard let entries = model.entries, let arrangement = entries.arrangement else { return "" }
        let sample = model.sample(entries.archive)
        let present = sample.map { Figures.count($0.entries, "entry", "entries") }
        if arrangement.isPart {
            let count = Figures.count(arrangement.listing.count)
            return
                (!arrangement.isFiltered && !entries.growsList
                ? "" : "\(Figures.count(arrangement.count)) of the ")
                + (model.isOfServer ? "first \(count)" : "most recent \(count)")
                + (present.map { " of \($0)" } ?? "")
        }
        // The totals are current, but the rows may be older.
        if let sample, let present, sample.problem == nil, !arrangement.isFiltered, !model.isOfServer {
            return "\(present)  \(Figures.bytes(sample.diskBytes))"
        }
        // A server's sizes are requested only when a sort needs them.
        let isReading = entries.ticket != nil && entries.order.needsFigures
        var bytes =
            arrangement.hasBytes
            ? "  " + Figures.bytes(arrangement.rowBytes) : isReading ? "  \(model.look.glyphs.ellipsis)" : ""
        let count = arrangement.listing.count - arrangement.deleted - arrangement.removed
        var all = Figures.count(count, "entry", "entries")
        if arrangement.removed > 0 { all += ", \(Figures.count(arrangement.removed)) removed since" }
        if arrangement.listing.isCut { all = "first \(all); filter to search the server" }
        let unknown = arrangement.unread.unknown
        if unknown > 0 { bytes += ", \(Figures.count(unknown)) without permission" }
        guard arrangement.isFiltered else { return "\(all)\(bytes)" }
        let unreadable = max(arrangement.unread.filtered, arrangement.unread.chosen)
        var rest = unreadable == 0 ? "" : ", \(Figures.count(unreadable)) unreadable"
        let untested = arrangement.unread.untested
        if untested > 0 { rest += ", \(Browser.untestedText(untested))" }
        return "\(Figures.count(arrangement.count)) of \(all)\(rest)\(bytes)"
    }

    static func draw(_ model: Model, _ layout: ScreenLayout, into frame: inout Frame) {
        let look = model.look
        guard let entries = model.entries else { return }
        guard let arrangement = entries.arrangement else {
            return frame.draw(
                problem: entries.problem, loading: "Reading \(entries.archive.name)", in: layout.list,
                look: look)
        }
        drawInfo(model, entries, arrangement, into: &frame, in: layout.info)
        let table = table(model)
        table.draw(into: &frame, in: layout.list, look: look)
        highlight(arrangement, entries, table.layout(in: layout.list), into: &frame, look: look)
        EventsTable.drawTail(model, archive: entries.archive.name, into: &frame, in: layout.events)
        if !layout.pane.isEmpty {
            PreviewPane(entries, isBeside: layout.isBeside, model)
                .draw(into: &frame, in: layout.pane, look: look)
        }
    }

    private static func drawInfo(
        _ model: Model, _ entries: EntriesState, _ arrangement: Arrangement, into frame: inout Frame,
        in rect: Rect
    ) {
        let look = model.look
        var left = [Span(" "), Span(countText(model))]
        let summary = model.sample(entries.archive)
        if arrangement.filter.isEmpty, !arrangement.isPart, !arrangement.isFiltered,
            let limit = summary?.diskLimit, let share = summary?.diskShare
        {
            left.append(Span(" of \(Figures.bytes(limit)) (\(Figures.percent(share)))", look[.dim]))
        }
        // Before a condition, which may take the rest of the line.
        if !entries.marks.isEmpty {
            let (marks, hidden, removed) = (entries.marks, entries.hiddenMarks, entries.removedMarks)
            var figures = "\(Figures.count(marks.count)) marked, \(Figures.bytes(marks.bytes))"
            if hidden > 0 { figures += ", \(Figures.count(hidden)) hidden" }
            if removed > 0 { figures += ", \(Figures.count(removed)) removed since" }
            left += [Span("  "), Span(" \(look.glyphs.marked) \(figures) ", look[.marked])]
        }
        if let group = entries.group { left.append(Span("  of \(group.description)", look[.accent])) }
        if let condition = arrangement.condition {
            left.append(Span("  where \(condition.text)", look[.accent]))
        }
        if !arrangement.filter.isEmpty {
            left.append(Span("  filter \"\(arrangement.filter)\"", look[.accent]))
        }
        var facts: [Span] = []
        let (all, order) = (columns(entries), arrangement.order)
        if order != .found, !shown(entries).contains(where: { all[$0].basis == order.basis }) {
            let arrow = order.descending ? look.glyphs.descending : look.glyphs.ascending
            facts.append(Span("sorted by \(order.name) \(arrow)"))
        }
        var warnings = [summary?.damage].compactMap { $0.map { Span($0, look[.danger]) } }
        if arrangement.unread.sorted > 0 {
            let count = Figures.count(arrangement.unread.sorted, "value", "values")
            warnings.append(Span("\(count) unreadable, listed last", look[.warning]))
        }
        warnings += (arrangement.unread.warnings + arrangement.unread.remarks).prefix(1).map {
            Span($0, look[.warning])
        }
        var right: [Span] = []
        if let server = model.archives.figures?.server, order == server.evictionOrder?.keys {
            let isPart =
                arrangement.isFiltered
                && (entries.victims?.own != nil || arrangement.condition != entries.victims?.condition)
            let among = isPart || arrangement.isPart || !arrangement.filter.isEmpty ? "among these " : ""
            right.append(Span("likely victims of \(server.policy) \(among)first ", look[.disappearing]))
        }
        // An older list's victims may be evicted already.
        if !arrangement.victims.indices.isEmpty, EntriesScreen.age(model) == nil {
            let count = Figures.count(arrangement.victims.indices.count)
            // They free 1% of the limit or, if that is less than an average entry, one entry.
            let average = arrangement.listing.valueBytes / UInt64(max(1, arrangement.listing.count))
            let next = (summary?.diskLimit ?? 0) / 100 > average ? "next 1%" : "next"
            right.append(
                Span("\(look.glyphs.descending) \(next) to be evicted: \(count) ", look[.disappearing]))
        }
        Bar(left: left, warnings: warnings, facts: facts, right: right, role: .text)
            .draw(into: &frame, in: rect, look: look)
    }

    private static func highlight(
        _ arrangement: Arrangement, _ entries: EntriesState, _ places: TableLayout, into frame: inout Frame,
        look: Look
    ) {
        guard let pattern = FilterPattern(arrangement.filter),
            let place = places.columns.first(where: { $0.index == 1 })
        else { return }
        for (offset, row) in places.rows.enumerated() where entries.rows[row] != nil {
            let start = Point(column: place.column, row: places.body.row + offset)
            // Searches only the visible part of long keys.
            let shown = (0..<place.columns).map { frame[start.column + $0, start.row].text }.joined()
            guard let range = pattern.ranges(in: shown, most: 1).first else { continue }
            frame.highlight(range, of: shown, at: start, look: look)
        }
    }
}

extension Frame {
    mutating func highlight(
        _ range: Range<Int>, of text: String, at point: Point, within clip: Rect? = nil, look: Look
    ) {
        let before = TextWidth.width(of: String(text.prefix(range.lowerBound)))
        let width = TextWidth.width(of: String(text.prefix(range.upperBound))) - before
        let cells = Rect(column: point.column + before, row: point.row, columns: width, rows: 1)
        restyle(clip.map(cells.intersection) ?? cells) { $0 = look[.match].over($0) }
    }
}
