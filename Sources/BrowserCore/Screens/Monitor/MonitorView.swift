import StorageEngine
import StoreInspection
import TerminalKit

enum MonitorView {
    struct Attachment: Sendable {
        let archive: String
        let process: AttachedProcess
    }

    static func processes(_ model: Model) -> [Attachment] {
        model.archives.archives.filter {
            ExactText(model.monitor?.filter.archive ?? $0.name) == ExactText($0.name)
        }
        .flatMap { archive in archive.processes.map { Attachment(archive: archive.name, process: $0) } }
    }

    static func table(_ model: Model) -> Table {
        guard let monitor = model.monitor else {
            return Table(columns: [], rowCount: 0) { _ in Table.Row([]) }
        }
        if model.isOfServer { return ServerTables.table(model, monitor) }
        if monitor.part == .processes { return processTable(model, monitor) }
        let log = model.shownEvents
        let count = monitor.count(log)
        return EventsTable.table(
            model, rowCount: count, firstRow: monitor.top, selectedRow: count == 0 ? nil : monitor.row(log),
            showsArchive: monitor.filter.archive == nil,
            emptyText: monitor.filter.isEmpty
                ? "No events yet." : "No event matches; \(Browser.keyName(model, .clear)) clears the filter."
        ) { monitor.number(row: $0, log) }
    }

    private static func processTable(_ model: Model, _ monitor: MonitorState) -> Table {
        let attachments = processes(model)
        let now = model.shownNow
        return Table(
            columns: [
                Table.Column("pid", width: .fixed(7), alignment: .trailing),
                Table.Column("name", width: .minimum(8, weight: 2)),
                Table.Column("archive", width: .minimum(8, weight: 2), priority: 1),
                Table.Column("since", width: .fixed(6), alignment: .trailing, priority: 7),
                Table.Column("hits", width: .fixed(11), alignment: .trailing, priority: 4),
                Table.Column("misses", width: .fixed(11), alignment: .trailing, priority: 5),
                Table.Column(
                    "overall hit", width: .fixed(11), alignment: .trailing, priority: 2, fraction: 3),
                Table.Column("memory", width: .fixed(15), alignment: .trailing, priority: 6),
                Table.Column("", width: .fixed(10), priority: 8),
                Table.Column("state", width: .fixed(5), priority: 3),
            ], rowCount: attachments.count, firstRow: monitor.processTop,
            selectedRow: attachments.isEmpty ? nil : monitor.processRow,
            emptyText: model.archives.figures?.absence ?? ""
        ) { row in
            let process = attachments[row].process
            let limit = process.memoryLimit == 0 ? nil : process.memoryLimit
            let share = limit.map { Double(process.memoryBytes) / Double($0) }
            return Table.Row(
                [
                    Table.Cell(String(process.pid)), Table.Cell(process.name),
                    Table.Cell(attachments[row].archive, role: .dim, cut: .middle),
                    Table.Cell(
                        process.attached.microseconds == 0
                            ? "-" : Figures.duration(now.seconds(since: process.attached))),
                    Table.Cell(Figures.count(process.hits)), Table.Cell(Figures.count(process.misses)),
                    Table.Cell(process.hitRatio.map(Figures.percent) ?? "-"),
                    Table.Cell(Figures.share(process.memoryBytes, of: limit)),
                    share.map { Table.Cell("", gauge: $0) } ?? Table.Cell("no limit", role: .dim),
                    Table.Cell(process.isAlive ? "alive" : "ended", role: process.isAlive ? .good : .danger),
                ], role: process.isAlive ? .text : .dim)
        }
    }

    static func draw(_ model: Model, _ layout: ScreenLayout, into frame: inout Frame) {
        let look = model.look
        guard let monitor = model.monitor else { return }
        drawInfo(model, monitor, into: &frame, in: layout.info)
        if monitor.part == .graphs { return GraphsView.draw(model, monitor, into: &frame, in: layout.list) }
        table(model).draw(into: &frame, in: layout.list, look: look)
    }

    private static func drawInfo(
        _ model: Model, _ monitor: MonitorState, into frame: inout Frame, in rect: Rect
    ) {
        let look = model.look
        // On narrow screens the subject is more important than the other parts.
        let parts = rect.columns < 60 ? [monitor.part] : MonitorState.Part.allCases
        let left = parts.flatMap { part in
            [
                Span(" "),
                Span(
                    model.isOfServer ? part.serverName : part.rawValue,
                    look[monitor.part == part ? .accent : .dim]),
            ]
        }
        var (warnings, facts, right): ([Span], [Span], [Span]) = ([], [], [])
        switch monitor.part {
        case .graphs:
            let words = GraphsView.words(GraphsView.times(model, monitor), monitor)
            if let cursor = words.cursor { facts.append(Span(cursor, look[.good])) }
            let subject =
                monitor.filter.archive ?? (model.isOfServer ? "the server" : "all archives but logs")
            facts.append(Span("\(words.extent) of \(subject)", look[.accent]))
            let others = model.archives.alarms.filter {
                $0.archive.map(ExactText.init) != monitor.filter.archive.map(ExactText.init)
            }
            right += others.map { alarm in
                Span(" \(alarm.subject(model)) \(alarm.words) ", look[alarm.isRinging ? .badge : .dim])
            }
        case .processes where model.isOfServer, .events where model.isOfServer:
            let (count, filter) = (ServerTables.count(monitor), monitor.filter.text)
            if !filter.isEmpty { facts.append(Span("filter \"\(filter)\"", look[.accent])) }
            if monitor.hidesOwn { facts.append(Span("without vellum", look[.accent])) }
            facts.append(
                Span(
                    monitor.part == .processes
                        ? Figures.count(count, "client", "clients")
                        : (filter.isEmpty ? "latest " : "") + Figures.count(count, "command", "commands")))
            if let problem = monitor.activityProblem { warnings.append(Span(problem, look[.danger])) }
        case .processes:
            let shown = processes(model)
            let count = Figures.count(Set(shown.map(\.process.pid)).count, "process", "processes")
            let archives = Figures.count(
                Set(shown.map { ExactText($0.archive) }).count, "archive", "archives")
            facts.append(Span("\(count), \(monitor.filter.archive ?? archives) open"))
        case .events:
            let filter = monitor.filter
            let all =
                (model.shownEvents.isCutOff ? "latest " : "")
                + Figures.count(model.shownEvents.count(of: filter.archive), "event", "events")
            let isPart = filter.kind != nil || !filter.text.isEmpty
            // On narrow screens the last facts are left out.
            if let kind = filter.kind { facts.append(Span("kind \(kind.label)", look[.accent])) }
            if !filter.text.isEmpty { facts.append(Span("filter \"\(filter.text)\"", look[.accent])) }
            facts.append(Span(isPart ? "\(Figures.count(monitor.count(model.shownEvents))) of \(all)" : all))
            if let archive = filter.archive { facts.append(Span("of \(archive)", look[.accent])) }
            facts += model.shownEvents.missing(of: filter.archive, look)
            if monitor.follows { right.append(Span(" newest ", look[.good])) }
        }
        Bar(left: left, warnings: warnings, facts: facts, right: right, role: .text)
            .draw(into: &frame, in: rect, look: look)
    }
}
