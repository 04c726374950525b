import StoreInspection

/// The command line that gives what a screen shows. Stateless; safe to call from any thread.
package enum CommandLine {
    /// Marked keys that are spelled out; a shell takes no longer line anyway.
    private static let maximumKeys = 100

    package static func words(for model: Model) -> String {
        func line(_ name: String, _ arguments: [String] = [], _ options: [String] = []) -> String {
            ShellWord.vellum(name, arguments, options: options, store: model.store)
        }
        switch model.screen {
        case .stores: return line("browse")
        case .archives: return line("ls")
        case .entries:
            guard let entries = model.entries else { return line("ls") }
            guard !entries.marks.isEmpty else { return line("keys", [entries.archive], order(entries.order)) }
            return line(
                "rm", [entries.archive] + entries.marks.list.prefix(maximumKeys).map(\.key), ["--dry-run"])
        case .value:
            guard let value = model.value else { return line("ls") }
            return line("get", [value.archive, value.key], value.mode == .hex ? ["--hex"] : [])
        case .query:
            guard let query = model.query else { return line("ls") }
            return line("query", [query.archive, query.field.text])
        // What the command line has no screen for begins with the archives.
        case .messages, .monitor: return line("ls")
        }
    }

    /// The options for an order, as far as the command line has it.
    private static func order(_ order: EntryOrder) -> [String] {
        let name: String
        switch order.column {
        case .idle: name = "recency"
        case .age: name = "created"
        case .key, .size, .expires, .hits: name = order.column.rawValue
        case .tier, .owner: return []
        }
        // The command line's orders begin where these columns begin.
        return ["--order", name] + (order.descending != order.column.beginsDescending ? ["--reverse"] : [])
    }
}
