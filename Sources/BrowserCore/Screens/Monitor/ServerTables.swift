import ServerInspection
import StoreInspection
import TerminalKit

/// Clients and slow log of a server, which the monitor shows instead of processes and events.
enum ServerTables {
    static func clients(_ model: Model, _ monitor: MonitorState) -> Table {
        let clients = monitor.activity?.clients ?? []
        return Table(
            columns: [
                Table.Column("id", width: .fixed(9), alignment: .trailing, priority: 4),
                Table.Column("address", width: .minimum(15, weight: 2)),
                Table.Column("name", width: .minimum(8, weight: 2), priority: 2),
                Table.Column("db", width: .fixed(4), alignment: .trailing, priority: 5),
                Table.Column("since", width: .fixed(6), alignment: .trailing, priority: 3),
                Table.Column("idle", width: .fixed(6), alignment: .trailing, priority: 1),
                Table.Column("command", width: .minimum(10, weight: 1), priority: 1),
                Table.Column("memory", width: .fixed(8), alignment: .trailing, priority: 3),
            ], rowCount: clients.count, firstRow: monitor.processTop,
            selectedRow: clients.isEmpty ? nil : monitor.processRow, emptyText: monitor.activityProblem ?? ""
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
        let commands = monitor.activity?.slow ?? []
        return Table(
            columns: [
                Table.Column("time", width: .fixed(19), priority: 2),
                Table.Column("took", width: .fixed(12), alignment: .trailing, priority: 1),
                Table.Column("command", width: .minimum(16, weight: 4)),
                Table.Column("client", width: .minimum(15, weight: 1), priority: 3),
            ], rowCount: commands.count, firstRow: monitor.processTop,
            selectedRow: commands.isEmpty ? nil : monitor.processRow,
            emptyText: monitor.activity == nil
                ? monitor.activityProblem ?? ""
                : "The slow log is empty; the setting slowlog-log-slower-than changes its bound."
        ) { row in
            let command = commands[row]
            return Table.Row([
                Table.Cell(Figures.date(command.time), role: .dim), Table.Cell(took(command)),
                Table.Cell(command.words.joined(separator: " ")), Table.Cell(command.client, role: .dim),
            ])
        }
    }

    static func took(_ command: SlowCommand) -> String {
        Figures.fixed(Double(command.microseconds) / 1000, digits: 2) + " ms"
    }

    static func count(_ monitor: MonitorState) -> Int {
        switch monitor.part {
        case .events: monitor.activity?.slow.count ?? 0
        case .processes: monitor.activity?.clients.count ?? 0
        case .graphs: 0
        }
    }

    static func message(_ monitor: MonitorState) -> MessageBox? {
        guard monitor.part == .events, let slow = monitor.activity?.slow,
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
