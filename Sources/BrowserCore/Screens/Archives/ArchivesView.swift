import StorageEngine
import StoreInspection
import TerminalKit

/// The archives of a store with what they hold and do.
enum ArchivesView {
    static func table(_ model: Model) -> Table {
        if let server = model.archives.figures?.server { return DatabasesView.table(model, server) }
        let archives = model.archives.archives
        let histories = model.archives.shownHistories
        let isOver = archives.contains { $0.problem == nil && $0.footprintExcess != nil }
        let isDamaged = archives.contains { $0.problem == nil && $0.damagedPlaces > 0 }
        return Table(
            columns: [
                Table.Column("archive", width: .minimum(8, weight: 1)),
                // It says so, on narrow screens too.
                Table.Column("kind", width: .fixed(10), priority: isDamaged ? 1 : 8),
                Table.Column("entries", width: .fixed(9), alignment: .trailing, priority: 1),
                Table.Column("disk", width: .fixed(15), alignment: .trailing, priority: 2),
                Table.Column("", width: .fixed(10), priority: 9),
                Table.Column(
                    "footprint", width: .fixed(isOver ? 15 : 9), alignment: .trailing, priority: 7),
                Table.Column("memory", width: .fixed(15), alignment: .trailing, priority: 10),
                Table.Column("", width: .fixed(10), priority: 11),
                Table.Column("hits", width: .fixed(6), alignment: .trailing, priority: 3),
                Table.Column("", width: .minimum(12, weight: 1), priority: 6),
                Table.Column("ops/s", width: .fixed(6), alignment: .trailing, priority: 4),
                Table.Column("evict/s", width: .fixed(7), alignment: .trailing, priority: 5),
            ], rowCount: archives.count, firstRow: model.archives.top,
            selectedRow: archives.isEmpty ? nil : model.archives.cursor,
            emptyText: model.archives.figures == nil ? "" : "No archives yet."
        ) { row in
            ArchivesView.row(archives[row], histories[ExactText(archives[row].name)])
        }
    }

    private static func row(_ archive: ArchiveSample, _ history: ArchiveHistory?) -> Table.Row {
        guard archive.problem == nil else {
            let cells = [archive.name, "?", "-", "unreadable"]
            return Table.Row(cells.map { Table.Cell($0) }, role: .danger)
        }
        let now = history?.now
        return Table.Row([
            Table.Cell(archive.name),
            archive.damagedPlaces > 0
                ? Table.Cell("damaged", role: .danger) : Table.Cell("\(archive.kind)", role: .dim),
            Table.Cell(Figures.count(archive.entries)),
            Table.Cell(Figures.share(archive.diskBytes, of: archive.diskLimit)),
            archive.diskShare.map { Table.Cell("", gauge: $0) } ?? Table.Cell("no limit", role: .dim),
            footprint(archive),
            Table.Cell(Figures.share(archive.memoryBytes, of: archive.memoryLimit)),
            archive.memoryShare.map { Table.Cell("", gauge: $0) } ?? Table.Cell("no limit", role: .dim),
            Table.Cell(archive.hitRatio.map(Figures.percent) ?? "-"),
            Table.Cell("", spark: history?.points.compactMap(\.hitRatio) ?? []),
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
            drawTotals(figures, into: &frame, in: layout.info, look: look)
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
                history: model.archives.shownHistories[ExactText(archive.name)]
            )
            .draw(into: &frame, in: layout.pane, look: look)
        }
    }

    private static func drawTotals(
        _ figures: StoreFigures, into frame: inout Frame, in rect: Rect, look: Look
    ) {
        guard !rect.isEmpty else { return }
        func sum(_ value: (ArchiveSample) -> UInt64) -> String {
            Figures.bytes(figures.archives.reduce(0) { $0 &+ value($1) })
        }
        let entries = figures.archives.reduce(0) { $0 &+ $1.entries }
        let damaged = figures.archives.count { $0.problem == nil && $0.damagedPlaces > 0 }
        var parts = [
            Figures.count(figures.archives.count, "archive", "archives"),
            Figures.count(entries, "entry", "entries"), "disk \(sum(\.diskBytes))",
            "memory \(sum(\.memoryBytes))", "footprint \(sum(\.footprint))",
        ].map { Span($0, look[.text]) }
        if damaged > 0 { parts.insert(Span("\(Figures.count(damaged)) damaged", look[.danger]), at: 1) }
        let line = rect.inset(left: 1)
        write(parts, into: &frame, in: line.line(0))
        let processes = figures.processes.map { process in
            let hits = process.hitRatio.map { " \(Figures.percent($0)) hits" } ?? ""
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
