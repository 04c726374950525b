import ServerInspection
import StorageEngine
import StoreInspection
import TerminalKit

/// The databases of a server, and the figures of the server as a whole.
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
            selectedRow: databases.isEmpty ? nil : model.archives.cursor, emptyText: "No database has keys."
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
            [server.remark].compactMap { $0 } + [
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
