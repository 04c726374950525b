import StorageEngine
import StoreInspection
import TerminalKit

enum ArchivesView {
    static func table(_ model: Model) -> Table {
        if let server = model.archives.figures?.server { return DatabasesView.table(model, server) }
        let archives = model.archives.rows
        let histories = model.archives.shownHistories
        let kinds = archives.map { kind($0, model) }
        let kindColumns = kinds.reduce(10) { max($0, TextWidth.width(of: $1.text)) }
        let isOver = archives.contains { $0.problem == nil && $0.footprintExcess != nil }
        var columns = [
            Table.Column("archive", width: .minimum(12, weight: 1)),
            // It has warnings, which narrow screens show too.
            Table.Column(
                "kind", width: .fixed(kindColumns), priority: kinds.contains { $0.role != .dim } ? 1 : 9),
            Table.Column("entries", width: .fixed(9), alignment: .trailing, priority: 3),
            Table.Column("disk", width: .fixed(15), alignment: .trailing, priority: 4),
            Table.Column("", width: .minimum(10, weight: 1), priority: 5),
            Table.Column("footprint", width: .fixed(isOver ? 15 : 11), alignment: .trailing, priority: 8),
            Table.Column("memory", width: .fixed(15), alignment: .trailing, priority: 10),
            Table.Column("", width: .minimum(10, weight: 1), priority: 11),
            Table.Column(
                "hit \(RecentHits(histories.values).window)", width: .fixed(9), alignment: .trailing,
                priority: 2),
            Table.Column("each second", width: .minimum(12, weight: 1), priority: 12),
            Table.Column("ops/s", width: .fixed(7), alignment: .trailing, priority: 6),
            Table.Column("evict/s", width: .fixed(9), alignment: .trailing, priority: 7),
        ]
        let (sorted, isReversed) = (model.archives.column, model.archives.isReversed)
        if model.archives.arranged != nil, let place = bases.firstIndex(of: sorted) {
            columns[place].order = isReversed == (sorted == .name) ? .descending : .ascending
        }
        return Table(
            columns: columns, rowCount: archives.count, firstRow: model.archives.top,
            selectedRow: archives.isEmpty ? nil : model.archives.cursor,
            emptyText: model.archives.filter.isEmpty ? "" : "No name holds \"\(model.archives.filter)\"."
        ) { row in
            ArchivesView.row(archives[row], histories[ExactText(archives[row].name)], kinds[row])
        }
    }

    /// The columns of the table by which it is sorted; nil of the others.
    static let bases: [ArchiveColumn?] = [
        .name, nil, .entries, .disk, nil, .footprint, .memory, nil, .hits, nil, .operations, .evictions,
    ]

    /// The kind of an archive, and its most urgent warning.
    private static func kind(_ archive: ArchiveSample, _ model: Model) -> Table.Cell {
        func flag(_ words: String, _ role: Role) -> Table.Cell {
            Table.Cell("\(archive.kind) \(words)", role: role)
        }
        if archive.damagedPlaces > 0 { return flag("damaged", .danger) }
        let rings = model.archives.alarms.contains {
            $0.isRinging && $0.archive.map(ExactText.init) == ExactText(archive.name)
        }
        if rings { return flag("ALARM", .danger) }
        return model.events.returns(in: archive.name).isMany
            ? flag("too small", .warning) : Table.Cell("\(archive.kind)", role: .dim)
    }

    private static func row(
        _ archive: ArchiveSample, _ history: ArchiveHistory?, _ kind: Table.Cell
    ) -> Table.Row {
        guard archive.problem == nil else {
            let cells = [archive.name, "?", "-", "unreadable"]
            return Table.Row(cells.map { Table.Cell($0) }, role: .danger)
        }
        let now = history?.now
        let histories = [history].compactMap { $0 }
        let ratios = GraphColumn.columns(
            120, step: 1, until: history?.latest ?? .init(seconds: 0), of: histories)
        return Table.Row([
            Table.Cell(archive.name), kind,
            Table.Cell(Figures.count(archive.entries)),
            Table.Cell(Figures.share(archive.diskBytes, of: archive.diskLimit)),
            archive.diskShare.map { Table.Cell("", gauge: $0) } ?? Table.Cell("no limit", role: .dim),
            footprint(archive),
            Table.Cell(Figures.share(archive.memoryBytes, of: archive.memoryLimit)),
            archive.memoryShare.map { Table.Cell("", gauge: $0) } ?? Table.Cell("no limit", role: .dim),
            Table.Cell(RecentHits(histories).ratio.map(Figures.percent) ?? "-"),
            Table.Cell("", spark: ratios.map { $0?.hitRatio }),
            Table.Cell(now.map { Figures.rate($0.operations) } ?? "-"),
            Table.Cell(
                now.map { Figures.rate($0.evictions) } ?? "-",
                role: (now?.evictions ?? 0) > 0 ? .warning : nil),
        ])
    }

    /// What the files take; if that is more than they should, as a multiple of it too.
    private static func footprint(_ archive: ArchiveSample) -> Table.Cell {
        let bytes = Figures.bytes(archive.footprint)
        guard let excess = archive.footprintExcess else { return Table.Cell(bytes) }
        return Table.Cell("x\(Figures.decimal(excess, digits: 2)) \(bytes)", role: .danger)
    }

    static func draw(_ model: Model, _ layout: ScreenLayout, into frame: inout Frame) {
        let look = model.look
        guard let figures = model.archives.figures else {
            let problem = model.archives.problem
            let text = ProblemText(
                text: problem ?? "Opening \(model.store ?? "")", role: problem == nil ? .dim : .danger,
                isCentered: true)
            return frame.draw(text, in: layout.list, look: look)
        }
        if let server = figures.server {
            let line = layout.info.inset(left: 1)
            for (row, parts) in DatabasesView.lines(model, server).enumerated() where row < line.rows {
                write(
                    parts.map { Span($0, look[row == 0 ? .text : .dim]) }, into: &frame, in: line.line(row))
            }
        } else {
            drawTotals(model, figures, into: &frame, in: layout.info)
        }
        guard !figures.archives.isEmpty else {
            return explain(model, layout, into: &frame)
        }
        table(model).draw(into: &frame, in: layout.list, look: look)
        EventsTable.drawTail(model, archive: nil, into: &frame, in: layout.events)
        if !layout.pane.isEmpty,
            let archive = figures.whole ?? model.archives.summary(model.archives.selected ?? "")
        {
            ArchivePane(
                archive: archive, server: figures.server,
                history: model.archives.shownHistories[ExactText(archive.name)],
                returns: model.events.returns(in: archive.name), now: model.shownNow
            )
            .draw(into: &frame, in: layout.pane, look: look)
        }
    }

    private static func drawTotals(
        _ model: Model, _ figures: StoreFigures, into frame: inout Frame, in rect: Rect
    ) {
        let look = model.look
        guard !rect.isEmpty else { return }
        func sum(_ value: (ArchiveSample) -> UInt64) -> String {
            Figures.bytes(figures.archives.reduce(0) { $0 &+ value($1) })
        }
        let entries = figures.archives.reduce(0) { $0 &+ $1.entries }
        let damaged = figures.archives.count { $0.problem == nil && $0.damagedPlaces > 0 }
        var parts = [
            Figures.count(figures.archives.count, "archive", "archives"),
            Figures.count(entries, "entry", "entries"), "disk \(sum(\.diskBytes))",
            "memory \(sum(\.memoryBytes))", RecentHits(model.archives.shownHistories.values).words,
            "footprint \(sum(\.footprint))",
        ].map { Span($0, look[.text]) }
        if damaged > 0 { parts.insert(Span("\(Figures.count(damaged)) damaged", look[.danger]), at: 1) }
        let line = rect.inset(left: 1)
        write(parts, into: &frame, in: line.line(0))
        let processes = figures.processes.map { process in
            let hits = process.hitRatio.map { " (lifetime hit \(Figures.percent($0)))" } ?? ""
            return "\(process.name) \(process.pid)\(process.isAlive ? hits : " ended")"
        }
        let count = Figures.count(figures.processes.count, "process", "processes")
        write(
            (processes.isEmpty ? [figures.absence] : ["\(count):"] + processes).map { Span($0, look[.dim]) },
            into: &frame, in: line.line(1))
    }

    /// Writes as many of the parts as fit whole, from the left.
    private static func write(_ parts: [Span], into frame: inout Frame, in line: Rect) {
        var column = line.column
        for part in parts {
            let width = TextWidth.width(of: part.text)
            guard column + width <= line.endColumn || column == line.column else { break }
            column +=
                frame.write([part], at: Point(column: column, row: line.row), within: line) + 2
        }
    }

    private static func explain(_ model: Model, _ layout: ScreenLayout, into frame: inout Frame) {
        let command = ShellWord.vellum("put", ["NAME", "KEY", "FILE"], store: model.store ?? "")
        let lines =
            ["This store has no archives yet.", ""]
            + TextWrap.lines(
                "\(command) makes one and records its first entry.",
                columns: max(1, layout.list.columns - 2))
        let box = layout.list.centered(
            Size(columns: lines.map { TextWidth.width(of: $0) }.max() ?? 0, rows: lines.count))
        for (row, line) in lines.prefix(box.rows).enumerated() {
            frame.write(
                line, at: box.line(row).origin, style: model.look[row == 0 ? .accent : .dim],
                within: box.intersection(layout.list))
        }
    }
}
