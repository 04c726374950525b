import ServerInspection
import StorageEngine
import StoreInspection
import TerminalKit

enum ArchivesView {
    static func table(_ model: Model) -> Table {
        if let server = model.archives.figures?.server { return DatabasesView.table(model, server) }
        let archives = model.archives.rows
        let histories = model.archives.shownHistories
        let isOver = archives.contains { $0.problem == nil && $0.footprintExcess != nil }
        let columns = [
            Table.Column("archive", width: nameWidth(archives.map(\.name), model)),
            Table.Column("", width: .fixed(1)),
            Table.Column("kind", width: .fixed(10), priority: 9),
            Table.Column("entries", width: .fixed(9), alignment: .trailing, priority: 3),
            Table.Column("disk", width: .fixed(15), alignment: .trailing, priority: 4),
            Table.Column("", width: .minimum(10, weight: 1), priority: 5),
            Table.Column("file size", width: .fixed(isOver ? 15 : 11), alignment: .trailing, priority: 8),
            Table.Column("memory", width: .fixed(15), alignment: .trailing, priority: 10),
            Table.Column("", width: .minimum(10, weight: 1), priority: 11),
            Table.Column(
                "hit \(RecentHits(histories.values).window)", width: .fixed(9), alignment: .trailing,
                priority: 2, fraction: 3),
            Table.Column("hit, by second", width: .minimum(14, weight: 1), priority: 12),
            Table.Column("ops/s", width: .fixed(7), alignment: .trailing, priority: 6, fraction: 2),
            Table.Column("evict/s", width: .fixed(9), alignment: .trailing, priority: 7, fraction: 2),
        ]
        return Table(
            columns: marked(columns, model), rowCount: archives.count, firstRow: model.archives.top,
            selectedRow: archives.isEmpty ? nil : model.archives.cursor,
            emptyText: model.archives.filter.isEmpty
                ? "" : Browser.noMatch("archive name", model.archives.filter, model)
        ) { row in
            ArchivesView.row(
                archives[row], histories[ExactText(archives[row].name)],
                model.warnings(of: archives[row]).first?.role)
        }
    }

    /// The sort column of each table column; nil where it doesn't sort.
    static func bases(_ model: Model) -> [ArchiveColumn?] {
        model.isOfServer
            ? [.name, .entries, .expiring, nil]
            : [
                .name, nil, nil, .entries, .disk, nil, .footprint, .memory, nil, .hits, nil, .operations,
                .evictions,
            ]
    }

    static func marked(_ columns: [Table.Column], _ model: Model) -> [Table.Column] {
        let (sorted, isReversed) = (model.archives.column, model.archives.isReversed)
        return columns.marked(
            model.archives.arranged == nil ? nil : bases(model).firstIndex(of: sorted),
            isDescending: isReversed == (sorted == .name))
    }

    private static func row(
        _ archive: ArchiveSample, _ history: ArchiveHistory?, _ warning: Role?
    ) -> Table.Row {
        guard archive.problem == nil else {
            let cells = ["", "?", "-", "unreadable"].map { Table.Cell($0) }
            return Table.Row([Table.Cell(archive.name, cut: .middle)] + cells, role: .danger)
        }
        let now = history?.now
        let histories = [history].compactMap { $0 }
        let ratios = GraphColumn.columns(
            120, step: 1, until: history?.latest ?? .init(seconds: 0), of: histories)
        return Table.Row([
            Table.Cell(archive.name, cut: .middle), Table.Cell(warning == nil ? "" : "!", role: warning),
            Table.Cell("\(archive.kind)", role: .dim),
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

    /// The width of a column of names. Other columns are dropped or shrink before a name of up to 60 columns, or two fifths of the
    /// screen, is cut; then the names get the free columns first.
    static func nameWidth(_ names: [String], _ model: Model) -> Part {
        let widest = names.reduce(10) { max($0, TextWidth.width(of: model.look.legible($1))) }
        let columns = min(widest, max(10, min(60, model.size.columns * 2 / 5)))
        return .minimum(columns, weight: widest > columns ? 100 : 1)
    }

    /// Disk usage of the files. If it exceeds the expected maximum, also as a multiple of that.
    private static func footprint(_ archive: ArchiveSample) -> Table.Cell {
        let bytes = Figures.bytes(archive.footprint)
        guard let excess = archive.footprintExcess else { return Table.Cell(bytes) }
        return Table.Cell("x\(Figures.decimal(excess, digits: 2)) \(bytes)", role: .danger)
    }

    static func draw(_ model: Model, _ layout: ScreenLayout, into frame: inout Frame) {
        let look = model.look
        guard let figures = model.archives.figures else {
            return frame.draw(
                problem: model.archives.problem, loading: "Opening \(model.store ?? "")", in: layout.list,
                look: look)
        }
        if let server = figures.server {
            for (row, parts) in DatabasesView.lines(model, server).prefix(layout.info.rows).enumerated() {
                let spans = parts.map { Span($0, look[row == 0 ? .text : .dim]) }
                drawFacts(spans, into: &frame, in: layout.info.line(row), look)
            }
        } else {
            drawTotals(model, figures, into: &frame, in: layout.info)
        }
        guard !figures.archives.isEmpty else { return explain(model, layout, into: &frame) }
        table(model).draw(into: &frame, in: layout.list, look: look)
        EventsTable.drawTail(model, archive: nil, into: &frame, in: layout.events)
        if !layout.pane.isEmpty,
            let archive = figures.whole ?? model.archives.summary(model.archives.selected ?? "")
        {
            ArchivePane(
                archive: archive, server: figures.server,
                history: model.archives.shownHistories[ExactText(archive.name)],
                warnings: model.warnings(of: archive),
                uncertainty: model.returns(in: archive.name).uncertainty(in: archive),
                now: model.shownNow
            )
            .draw(into: &frame, in: layout.pane, look: look)
        }
    }

    private static func drawTotals(
        _ model: Model, _ figures: StoreFigures, into frame: inout Frame, in rect: Rect
    ) {
        let archives = model.archives.rows
        func sum(_ value: (ArchiveSample) -> UInt64) -> String {
            Figures.bytes(archives.reduce(0) { $0 &+ value($1) })
        }
        let entries = archives.reduce(0) { $0 &+ $1.entries }
        let damaged = archives.count { $0.problem == nil && $0.isDamaged }
        let histories = archives.compactMap { model.archives.shownHistories[ExactText($0.name)] }
        let parts = [
            ArchivesScreen.filtered(model) ?? Figures.count(figures.archives.count, "archive", "archives"),
            "disk \(sum(\.diskBytes))", Figures.count(entries, "entry", "entries"),
            archives.contains { $0.kind != .log && $0.memoryLimit != 0 }
                ? "memory \(sum(\.memoryBytes))" : nil,
            RecentHits(histories).words, "file size \(sum(\.footprint))",
        ].compactMap { $0.map { Span($0) } }
        let warnings = damaged == 0 ? [] : [Span("\(Figures.count(damaged)) damaged", model.look[.danger])]
        drawFacts(parts, warnings, into: &frame, in: rect.line(0), model.look)
        let processes = figures.processes.map { process in
            let hits = process.hitRatio.map { " (overall hit ratio \(Figures.percent($0)))" } ?? ""
            return "\(process.name) \(process.pid)\(process.isAlive ? hits : " ended")"
        }
        let count = Figures.count(figures.processes.count, "process", "processes")
        let words = processes.isEmpty ? [figures.absence] : ["\(count):"] + processes
        drawFacts(words.map { Span($0, model.look[.dim]) }, into: &frame, in: rect.line(1), model.look)
    }

    private static func drawFacts(
        _ facts: [Span], _ warnings: [Span] = [], into frame: inout Frame, in line: Rect, _ look: Look
    ) {
        Bar(
            left: [Span(" ")] + facts.prefix(1), warnings: warnings, facts: Array(facts.dropFirst()),
            role: .text
        )
        .draw(into: &frame, in: line, look: look)
    }

    private static func explain(_ model: Model, _ layout: ScreenLayout, into frame: inout Frame) {
        let command = ShellWord.vellum("put", ["NAME", "KEY", "FILE"], store: model.store ?? "")
        let text = "This store has no archives yet. \(command) creates one and stores its first entry."
        ProblemText(text: text, role: .accent, isCentered: true)
            .draw(into: &frame, in: layout.list, look: model.look)
    }
}

extension Model {
    func returns(in archive: String) -> EvictedReturns { shownEvents.returns(in: archive, at: shownNow) }

    /// Why an archive is marked with `!`, the most important first.
    func warnings(of archive: ArchiveSample) -> [(name: String, words: String, role: Role)] {
        let alarms = archives.alarms.filter {
            $0.isRinging && $0.archive.map(ExactText.init) == ExactText(archive.name)
        }.map { "\($0.metric.title) \($0.condition)\($0.metric.window)" }
        let places =
            archive.damagedPlaces > 0
            ? Figures.count(archive.damagedPlaces, "place", "places") : "a segment can't be read"
        return [
            archive.isDamaged ? ("damaged", "\(places); vellum check lists them", .danger) : nil,
            alarms.isEmpty ? nil : ("ALARM", alarms.joined(separator: ", "), .danger),
            returns(in: archive.name).reason(of: archive).map { ("too small", $0, .warning) },
        ].compactMap { $0 }
    }
}

enum DatabasesView {
    static func table(_ model: Model, _ server: ServerFigures) -> Table {
        let databases = model.archives.rows
        let columns = [
            Table.Column("database", width: .minimum(8, weight: 1)),
            Table.Column("keys", width: .fixed(12), alignment: .trailing, priority: 1),
            Table.Column("expiring", width: .fixed(12), alignment: .trailing, priority: 2),
            Table.Column("", width: .fixed(10), priority: 3),
        ]
        return Table(
            columns: ArchivesView.marked(columns, model), rowCount: databases.count,
            firstRow: model.archives.top,
            selectedRow: databases.isEmpty ? nil : model.archives.cursor,
            emptyText: model.archives.filter.isEmpty
                ? "No database has keys." : Browser.noMatch("database name", model.archives.filter, model)
        ) { row in
            let database = databases[row]
            let expiring = server.expiring(in: database.name)
            let share = database.entries > 0 ? Double(expiring) / Double(database.entries) : 0
            return Table.Row([
                Table.Cell(database.name, cut: .middle), Table.Cell(Figures.count(database.entries)),
                Table.Cell(Figures.count(expiring)), Table.Cell("", gauge: share),
            ])
        }
    }

    static func lines(_ model: Model, _ server: ServerFigures) -> [[String]] {
        let history = model.archives.figures?.whole.flatMap {
            model.archives.shownHistories[ExactText($0.name)]
        }
        let now = history?.now
        return [
            [
                server.product, server.role, "up \(Figures.duration(server.uptime))",
                "memory \(Figures.share(server.memory, of: server.memoryLimit))"
                    + (server.memoryLimit == nil ? ", no limit" : ", \(server.policy)"),
                Figures.count(server.clients, "client", "clients"),
            ],
            [ArchivesScreen.filtered(model), server.remark].compactMap { $0 } + [
                "\(now.map { Figures.rate($0.operations) } ?? "-") commands/s",
                RecentHits([history].compactMap { $0 }).words,
                "evictions \(now.map { Figures.rate($0.evictions) } ?? "-")/s",
                "expiries \(now.map { Figures.rate($0.expirations) } ?? "-")/s",
            ],
        ]
    }

    static func facts(_ server: ServerFigures) -> [(name: String, value: String)] {
        [
            ("accesses", Ratio.words(server.hits, server.misses)),
            (
                "total",
                "\(Figures.count(server.commands, "command", "commands")), "
                    + "\(Figures.count(server.evictions, "eviction", "evictions")), "
                    + Figures.count(server.expirations, "expiration", "expirations")
            ),
            ("policy", server.policy + (server.memoryLimit == nil ? " (no limit)" : "")),
        ]
    }
}
