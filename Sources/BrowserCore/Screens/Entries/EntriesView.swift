import StorageEngine
import StoreInspection
import TerminalKit

/// The entries of an archive.
enum EntriesView {
    struct Column: Sendable {
        /// Nil for the sign of the entries that are evicted next.
        let column: EntryColumn?
        let width: Part
        let alignment: Alignment
        let priority: Int
    }

    static let columns: [Column] = [
        Column(column: nil, width: .fixed(1), alignment: .leading, priority: 0),
        Column(column: .key, width: .minimum(12, weight: 4), alignment: .leading, priority: 0),
        Column(column: .size, width: .fixed(8), alignment: .trailing, priority: 1),
        Column(column: .tier, width: .fixed(6), alignment: .leading, priority: 6),
        Column(column: .idle, width: .fixed(6), alignment: .trailing, priority: 2),
        Column(column: .age, width: .fixed(6), alignment: .trailing, priority: 5),
        Column(column: .expires, width: .fixed(8), alignment: .trailing, priority: 4),
        Column(column: .hits, width: .fixed(7), alignment: .trailing, priority: 3),
        Column(column: .owner, width: .minimum(8, weight: 1), alignment: .leading, priority: 7),
    ]

    /// Those of ``columns`` that may be shown: the sign and the key always, then what isn't hidden or scrolled out.
    static func shown(_ entries: EntriesState?) -> [Int] {
        let chosen = chosen(entries)
        return Array(chosen.prefix(2) + chosen.dropFirst(2 + scrolled(entries)))
    }

    /// How many columns are scrolled out at the left.
    static func scrolled(_ entries: EntriesState?, by step: Int = 0) -> Int {
        max(0, min((entries?.firstColumn ?? 0) + step, chosen(entries).count - 3))
    }

    private static func chosen(_ entries: EntriesState?) -> [Int] {
        columns.indices.filter { index in
            index < 2 || entries?.hiddenColumns.contains(columns[index].column?.rawValue ?? "") != true
        }
    }

    static func table(_ model: Model) -> Table {
        let entries = model.entries
        let shown = shown(entries)
        let order = entries?.arrangement?.order ?? .recency
        let look = model.look
        let now = model.shownNow
        let seen = entries?.seen ?? SeenRows()
        return Table(
            columns: shown.map { columns[$0] }.map { column in
                let title = column.column?.rawValue ?? ""
                var arrow: Table.Column.Order?
                var width = column.width
                if column.column == order.column {
                    arrow = order.descending ? .descending : .ascending
                    // Room for the arrow and a space before it.
                    if case .fixed(let columns) = width { width = .fixed(max(columns, title.count + 2)) }
                }
                var priority = column.priority
                switch column.column {
                // Keys come first: other columns go before keys are cut.
                case .key: width = .minimum(max(12, min(seen.keyColumns, model.size.columns / 2)), weight: 4)
                // Columns that say the same in every row go before all others.
                case .tier where seen.tiers.count < 2: priority += 10
                case .expires where !seen.hasExpiry: priority += 10
                case .owner where !seen.hasOwner: priority += 10
                default: break
                }
                if arrow != nil, priority > 0 { priority = 1 }
                return Table.Column(
                    title, width: width, alignment: column.alignment,
                    priority: priority, order: arrow)
            }, rowCount: entries?.count ?? 0, firstRow: entries?.top ?? 0,
            selectedRow: entries?.count == 0 ? nil : entries?.cursor,
            showsMarks: entries?.marks.isEmpty == false, columnsBefore: scrolled(entries),
            emptyText: emptyText(model)
        ) { row in
            guard let entries else { return Table.Row([]) }
            var row = EntriesView.row(row, entries, now: now, look: look)
            row.cells = shown.compactMap { row.cells.indices.contains($0) ? row.cells[$0] : nil }
            return row
        }
    }

    private static func emptyText(_ model: Model) -> String {
        guard let entries = model.entries, let arrangement = entries.arrangement else { return "" }
        if !arrangement.filter.isEmpty { return "No key holds \"\(arrangement.filter)\"." }
        return "No entries."
    }

    private static func row(_ row: Int, _ entries: EntriesState, now: Timestamp, look: Look) -> Table.Row {
        guard let entry = entries.rows[row] else {
            if entries.read.problems[row] != nil {
                return Table.Row([Table.Cell(""), Table.Cell("can't be read", role: .danger)])
            }
            // Not read yet, or gone since the list was made.
            let isGone = entries.read.range.contains(row)
            return Table.Row(
                [Table.Cell(""), Table.Cell(isGone ? "gone" : look.glyphs.ellipsis)],
                role: .dim)
        }
        let isVictim = entries.isVictim(row: row)
        let expires = EntriesView.expires(entry, now: now)
        let isMarked = entries.marks.contains(entry.key)
        let isGhost = entries.ghosts.contains(entry.key)
        let role = isGhost ? .dim : entries.flashes[entry.key]?.role ?? (isVictim ? .dying : .text)
        return Table.Row(
            [
                Table.Cell(isGhost ? "x" : isVictim ? String(look.glyphs.descending) : "", role: .dying),
                Table.Cell(entry.key), Table.Cell(Figures.bytes(UInt64(entry.valueBytes))),
                Table.Cell(entry.tier.rawValue, role: .dim),
                Table.Cell(Figures.duration(now.seconds(since: entry.accessed), separator: "")),
                Table.Cell(Figures.duration(now.seconds(since: entry.created), separator: "")),
                Table.Cell(expires.text, role: expires.role), Table.Cell(Figures.count(entry.hits)),
                Table.Cell(entry.owner ?? "", role: .dim),
            ], role: role, isMarked: isMarked)
    }

    static func expires(_ entry: EntryMetadata, now: Timestamp) -> (text: String, role: Role?) {
        guard let deadline = entry.expires else { return ("-", .dim) }
        let left = deadline.seconds(since: now)
        if left <= 0 { return ("expired", .danger) }
        return (Figures.duration(left), left < 10 ? .warning : nil)
    }

    /// `12 of 6,204 entries  3.4 kB`
    static func countText(_ model: Model) -> String {
        guard let arrangement = model.entries?.arrangement else { return "" }
        let bytes = Figures.bytes(arrangement.rowBytes)
        let all = Figures.count(arrangement.listing.count - arrangement.gone, "entry", "entries")
        guard !arrangement.filter.isEmpty || arrangement.group != nil else { return "\(all)  \(bytes)" }
        // Whether these have what is looked for nobody knows.
        let unreadable = arrangement.keys?.unreadable ?? 0
        let rest = unreadable == 0 ? "" : ", \(Figures.count(unreadable)) unreadable"
        return "\(Figures.count(arrangement.count)) of \(all)\(rest)  \(bytes)"
    }

    static func draw(_ model: Model, _ layout: ScreenLayout, into frame: inout Frame) {
        let look = model.look
        guard let entries = model.entries else { return }
        guard let arrangement = entries.arrangement else {
            let text = ProblemText(
                text: entries.problem ?? "Reading \(entries.archive.name)",
                role: entries.problem == nil ? .dim : .danger, isCentered: true)
            return frame.draw(text, in: layout.list, look: look)
        }
        drawInfo(model, entries, arrangement, into: &frame, in: layout.info)
        let table = table(model)
        table.draw(into: &frame, in: layout.list, look: look)
        highlight(arrangement, entries, table.layout(in: layout.list), into: &frame, look: look)
        EventsTable.drawTail(model, archive: entries.archive.name, into: &frame, in: layout.events)
        if !layout.pane.isEmpty {
            PreviewPane(entries, isBeside: layout.isBeside, now: model.now)
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
        if let group = entries.group { left.append(Span("  of \(group.name)", look[.accent])) }
        if arrangement.filter.isEmpty {
            if entries.group == nil, let limit = summary?.diskLimit, limit > 0 {
                let share = Figures.percent(Double(arrangement.listing.valueBytes) / Double(limit))
                left.append(Span(" of \(Figures.bytes(limit)) (\(share))", look[.dim]))
            }
        } else {
            left.append(Span("  filter \"\(arrangement.filter)\"", look[.accent]))
        }
        // The index was rebuilt, so it is unknown which entries were lost.
        if let summary, summary.damagedPlaces > 0 {
            left.append(Span("  log damaged: some may be missing", look[.danger]))
        }
        var right: [Span] = []
        if !arrangement.victims.isEmpty {
            let count = Figures.count(arrangement.victims.count)
            right.append(Span("\(look.glyphs.descending) \(count) evicted next ", look[.dying]))
        }
        if !entries.marks.isEmpty {
            let figures =
                "\(Figures.count(entries.marks.count)) marked, \(Figures.bytes(entries.marks.bytes))"
            right.append(Span(" \(look.glyphs.marked) \(figures) ", look[.marked]))
        }
        Bar(left: left, right: right, role: .text).draw(into: &frame, in: rect, look: look)
    }

    /// Shows where keys match the filter.
    private static func highlight(
        _ arrangement: Arrangement, _ entries: EntriesState, _ places: TableLayout, into frame: inout Frame,
        look: Look
    ) {
        guard let pattern = KeyPattern(arrangement.filter),
            // The sign stands before it.
            let place = places.columns.first(where: { $0.index == 1 })
        else { return }
        for (offset, row) in places.rows.enumerated() {
            guard let key = entries.rows[row]?.key else { continue }
            // Only as much of the key as is seen, so that a long one costs no more.
            let shown = TextWidth.truncate(key, to: place.columns, ellipsis: look.glyphs.ellipsis)
            guard let range = pattern.range(in: shown) else { continue }
            let before = TextWidth.width(of: String(shown.prefix(range.lowerBound)))
            let width = TextWidth.width(of: String(shown.prefix(range.upperBound))) - before
            let cells = Rect(
                column: place.column + before, row: places.body.row + offset, columns: width, rows: 1)
            frame.restyle(cells) { $0 = look[.match].over($0) }
        }
    }
}
