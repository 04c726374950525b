import ServerInspection
import StoreInspection
import TerminalKit

private struct ServerColumn<Row: Sendable>: Sendable {
    let column: Table.Column
    let precedes: @Sendable (Row, Row) -> Bool
    let isDescending: Bool
    let cell: @Sendable (Row) -> Table.Cell

    init<Value: Comparable & SendableMetatype>(
        _ title: String, _ width: Part, _ alignment: Alignment, _ priority: Int,
        _ value: @escaping @Sendable (Row) -> Value, largestFirst isDescending: Bool = false,
        _ role: Role? = nil, _ text: @escaping @Sendable (Row) -> String
    ) {
        self.isDescending = isDescending
        column = Table.Column(title, width: width, alignment: alignment, priority: priority)
        precedes = { isDescending ? value($0) > value($1) : value($0) < value($1) }
        cell = { Table.Cell(text($0), role: role) }
    }
}

/// Clients and slow log of a server, which the monitor shows instead of processes and events.
enum ServerTables {
    private static let clientColumns: [ServerColumn<ServerClient>] = [
        .init("id", .fixed(9), .trailing, 4, { $0.id }, .dim) { "\($0.id)" },
        .init("address", .minimum(15, weight: 2), .leading, 0, { $0.address }) { $0.address },
        .init("name", .minimum(8, weight: 2), .leading, 2, { $0.name }) { $0.name },
        .init("db", .fixed(4), .trailing, 5, { $0.database }) { "\($0.database)" },
        .init("since", .fixed(7), .trailing, 3, { $0.age }, largestFirst: true) { Figures.duration($0.age) },
        .init("idle", .fixed(6), .trailing, 1, { $0.idle }, largestFirst: true) { Figures.duration($0.idle) },
        .init("command", .minimum(10, weight: 1), .leading, 1, { $0.command }) { $0.command },
        .init("memory", .fixed(8), .trailing, 3, { $0.memory }, largestFirst: true) {
            Figures.bytes($0.memory)
        },
    ]

    /// In the log's own order the newest is at the bottom, as in the list of events.
    private static let slowColumns: [ServerColumn<SlowCommand>] = [
        .init("time", .fixed(19), .leading, 2, { $0.id }, .dim) { Figures.date($0.time) },
        .init("took", .fixed(12), .trailing, 1, { $0.microseconds }, largestFirst: true) { took($0) },
        .init("command", .minimum(16, weight: 4), .leading, 0, { $0.text }) { $0.text },
        .init("client", .minimum(15, weight: 1), .leading, 3, { $0.client }, .dim) { $0.client },
    ]

    private static func clients(_ monitor: MonitorState) -> [ServerClient] {
        (monitor.activity?.clients ?? []).filter {
            monitor.shows([$0.address, $0.name, $0.command], isOwn: $0.isOwn)
        }
    }

    private static func slow(_ monitor: MonitorState) -> [SlowCommand] {
        (monitor.activity?.slow ?? []).filter { monitor.shows([$0.text, $0.client], isOwn: $0.isOwn) }
    }

    private static func sorted<Row>(
        _ rows: [Row], by columns: [ServerColumn<Row>], _ monitor: MonitorState
    ) -> [Row] {
        let precedes = columns[monitor.sorted.column].precedes
        return rows.sorted { monitor.sorted.isReversed ? precedes($1, $0) : precedes($0, $1) }
    }

    static func table(_ model: Model, _ monitor: MonitorState) -> Table {
        monitor.part == .processes
            ? table(clients(monitor), clientColumns, model, monitor)
            : table(slow(monitor), slowColumns, model, monitor)
    }

    private static func table<Row>(
        _ rows: [Row], _ columns: [ServerColumn<Row>], _ model: Model, _ monitor: MonitorState
    ) -> Table {
        let (place, isReversed) = monitor.sorted
        let rows = sorted(rows, by: columns, monitor)
        return Table(
            columns: columns.map(\.column).marked(
                place, isDescending: columns[place].isDescending != isReversed),
            rowCount: rows.count, firstRow: monitor.processTop,
            selectedRow: rows.isEmpty ? nil : monitor.processRow, emptyText: emptyText(model, monitor)
        ) { row in Table.Row(columns.map { $0.cell(rows[row]) }) }
    }

    private static func emptyText(_ model: Model, _ monitor: MonitorState) -> String {
        let isSlow = monitor.part == .events
        guard let activity = monitor.activity else { return monitor.activityProblem ?? "" }
        if isSlow, activity.slow.isEmpty {
            return "The slow log is empty; slowlog-log-slower-than sets its threshold."
        }
        if monitor.filter.text.isEmpty {
            return "All are from vellum; \(Browser.keyName(model, .eventKind)) shows them."
        }
        return Browser.noMatch(isSlow ? "command" : "client", monitor.filter.text, model)
    }

    /// Whether a table of a server is shown, which `s` sorts.
    static func areShown(_ model: Model) -> Bool { model.isOfServer && model.monitor?.part != .graphs }

    /// Sorts by a column, and selects the first row or, in the log's own order, the newest one.
    static func sort(_ model: inout Model, by column: Int, isReversed: Bool = false) {
        model.monitor?.sorted = (column, isReversed)
        let isNewestLast = column == 0 && !isReversed && model.monitor?.part == .events
        model.monitor?.processRow = isNewestLast ? .max : 0
    }

    static func hideOwn(_ model: inout Model) {
        model.monitor?.hidesOwn.toggle()
        let isHidden = model.monitor?.hidesOwn == true
        model.say("\(isHidden ? "Hides" : "Shows") the connections and commands of vellum.", seconds: 3)
    }

    static func took(_ command: SlowCommand) -> String {
        Figures.fixed(Double(command.microseconds) / 1000, digits: 2) + " ms"
    }

    static func count(_ monitor: MonitorState) -> Int {
        switch monitor.part {
        case .events: slow(monitor).count
        case .processes: clients(monitor).count
        case .graphs: 0
        }
    }

    static func message(_ monitor: MonitorState) -> MessageBox? {
        switch monitor.part {
        case .events: message(slow(monitor), slowColumns, monitor) { "Slow command \($0.id)" }
        case .processes: message(clients(monitor), clientColumns, monitor) { "Client \($0.id)" }
        case .graphs: nil
        }
    }

    /// All columns of the selected row.
    private static func message<Row>(
        _ rows: [Row], _ columns: [ServerColumn<Row>], _ monitor: MonitorState, title: (Row) -> String
    ) -> MessageBox? {
        sorted(rows, by: columns, monitor).dropFirst(monitor.processRow).first.map { row in
            MessageBox(
                title(row),
                columns.map {
                    TextWidth.pad($0.column.title, to: 8) + " " + TerminalText.sanitized($0.cell(row).text)
                })
        }
    }

    /// Requests clients and slow log, at most once a second and only while they are shown: they cost the server more than figures.
    static func load(_ model: inout Model) -> [Effect] {
        guard model.isOfServer, let monitor = model.monitor, monitor.part != .graphs,
            !monitor.isActivityPending,
            monitor.activityRead.map({ model.now.seconds(since: $0) >= 1 }) ?? true
        else { return [] }
        model.monitor?.isActivityPending = true
        return .ask("load clients and slow log") { (context) throws(SourceError) in
            try context.source.serverActivity()
        } done: { model, result in
            model.monitor?.isActivityPending = false
            model.monitor?.activityRead = model.now
            switch result {
            case .success(let activity):
                let isFirst = model.monitor?.activity == nil
                model.monitor?.activity = activity
                model.monitor?.activityProblem = nil
                if isFirst, monitor.part == .events { model.monitor?.processRow = .max }
            case .failure(let error): model.monitor?.activityProblem = error.description
            }
        }
    }
}

extension MonitorState {
    fileprivate func shows(_ texts: [String], isOwn: Bool) -> Bool {
        if hidesOwn, isOwn { return false }
        guard let pattern = SearchText(filter.text) else { return true }
        return texts.contains { Array($0.utf8).withUnsafeBytes(pattern.matches) }
    }
}

extension SlowCommand {
    fileprivate var text: String { words.joined(separator: " ") }
}
