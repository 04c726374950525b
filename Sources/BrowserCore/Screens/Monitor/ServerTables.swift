import ServerInspection
import StoreInspection
import TerminalKit

/// Clients and slow log of a server, which the monitor shows instead of processes and events.
enum ServerTables {
    static func clients(_ model: Model, _ monitor: MonitorState) -> Table {
        let clients = monitor.clients
        return Table(
            columns: [
                Table.Column("id", width: .fixed(9), alignment: .trailing, priority: 4),
                Table.Column("address", width: .minimum(15, weight: 2)),
                Table.Column("name", width: .minimum(8, weight: 2), priority: 2),
                Table.Column("db", width: .fixed(4), alignment: .trailing, priority: 5),
                Table.Column("since", width: .fixed(6), alignment: .trailing, priority: 3),
                Table.Column("idle", width: .fixed(6), alignment: .trailing, priority: 1),
                Table.Column("command", width: .minimum(10, weight: 1), priority: 1),
                Table.Column(
                    "memory", width: .fixed(8), alignment: .trailing, priority: 3,
                    order: monitor.sortsByCost ? .descending : nil),
            ], rowCount: clients.count, firstRow: monitor.processTop,
            selectedRow: clients.isEmpty ? nil : monitor.processRow, emptyText: emptyText(model, monitor)
        ) { row in
            let client = clients[row]
            return Table.Row([
                Table.Cell(String(client.id), role: .dim), Table.Cell(client.address),
                Table.Cell(client.name),
                Table.Cell(String(client.database)),
                Table.Cell(Figures.duration(client.age)),
                Table.Cell(Figures.duration(client.idle)), Table.Cell(client.command),
                Table.Cell(Figures.bytes(client.memory)),
            ])
        }
    }

    static func slow(_ model: Model, _ monitor: MonitorState) -> Table {
        let commands = monitor.slow
        return Table(
            columns: [
                Table.Column(
                    "time", width: .fixed(19), priority: 2, order: monitor.sortsByCost ? nil : .ascending),
                Table.Column(
                    "took", width: .fixed(12), alignment: .trailing, priority: 1,
                    order: monitor.sortsByCost ? .descending : nil),
                Table.Column("command", width: .minimum(16, weight: 4)),
                Table.Column("client", width: .minimum(15, weight: 1), priority: 3),
            ], rowCount: commands.count, firstRow: monitor.processTop,
            selectedRow: commands.isEmpty ? nil : monitor.processRow,
            emptyText: emptyText(model, monitor)
        ) { row in
            let command = commands[row]
            return Table.Row([
                Table.Cell(Figures.date(command.time), role: .dim), Table.Cell(took(command)),
                Table.Cell(command.words.joined(separator: " ")), Table.Cell(command.client, role: .dim),
            ])
        }
    }

    private static func emptyText(_ model: Model, _ monitor: MonitorState) -> String {
        let isSlow = monitor.part == .events
        guard let activity = monitor.activity else { return monitor.activityProblem ?? "" }
        if isSlow, activity.slow.isEmpty {
            return "The slow log is empty; the setting slowlog-log-slower-than changes its bound."
        }
        return Browser.noMatch(isSlow ? "command" : "client", monitor.filter.text, model)
    }

    /// Whether a table of a server is shown, which `s` sorts.
    static func areShown(_ model: Model) -> Bool { model.isOfServer && model.monitor?.part != .graphs }

    static func sort(_ model: inout Model) {
        model.monitor?.sortsByCost.toggle()
        let isNewestLast = model.monitor?.sortsByCost == false && model.monitor?.part == .events
        model.monitor?.processRow = isNewestLast ? .max : 0
    }

    static func took(_ command: SlowCommand) -> String {
        Figures.fixed(Double(command.microseconds) / 1000, digits: 2) + " ms"
    }

    static func count(_ monitor: MonitorState) -> Int {
        switch monitor.part {
        case .events: monitor.slow.count
        case .processes: monitor.clients.count
        case .graphs: 0
        }
    }

    static func message(_ monitor: MonitorState) -> MessageBox? {
        guard monitor.part == .events, case let slow = monitor.slow,
            slow.indices.contains(monitor.processRow)
        else { return nil }
        let command = slow[monitor.processRow]
        return MessageBox(
            title: "Slow command \(command.id)",
            lines: [
                "\(Figures.date(command.time)), took \(took(command)), from \(command.client)", "",
                TerminalText.sanitized(command.words.joined(separator: " ")),
            ])
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
        } then: { model, result in
            model.monitor?.isActivityPending = false
            model.monitor?.activityRead = model.now
            switch result {
            case .success(var activity):
                let isFirst = model.monitor?.activity == nil
                // Newest at the bottom, as events are.
                activity?.slow.reverse()
                model.monitor?.activity = activity
                model.monitor?.activityProblem = nil
                if isFirst, monitor.part == .events { model.monitor?.processRow = .max }
            case .failure(let error): model.monitor?.activityProblem = error.description
            }
            return []
        }
    }
}

extension MonitorState {
    /// The server's clients that the filter selects, in the shown order.
    var clients: [ServerClient] {
        let found = activity?.clients.filter { matches([$0.address, $0.name, $0.command]) } ?? []
        return sortsByCost ? found.sorted { $0.memory > $1.memory } : found
    }

    /// The slow commands that the filter selects, in the shown order.
    var slow: [SlowCommand] {
        let found = activity?.slow.filter { matches([$0.words.joined(separator: " "), $0.client]) } ?? []
        return sortsByCost ? found.sorted { $0.microseconds > $1.microseconds } : found
    }

    private func matches(_ texts: [String]) -> Bool {
        guard let pattern = SearchText(filter.text) else { return true }
        return texts.contains { Array($0.utf8).withUnsafeBytes(pattern.matches) }
    }
}
