/// The command line that gives what a screen shows. Stateless; safe to call from any thread.
package enum CommandLine {
    /// Marked keys that are spelled out; a shell takes no longer line anyway.
    private static let maximumKeys = 100

    package static func words(for model: Model) -> String {
        var words = ["vellum"]
        if let store = model.store { words += ["--store", store] }
        switch model.screen {
        case .stores: words.append("browse")
        case .archives: words.append("ls")
        case .entries:
            guard let entries = model.entries else { break }
            words +=
                entries.marks.isEmpty
                ? command("keys", [entries.archive], order(entries.order))
                : command(
                    "rm", [entries.archive] + entries.marks.list.prefix(maximumKeys).map(\.key), ["--dry-run"]
                )
        case .value:
            guard let value = model.value else { break }
            words += command("get", [value.archive, value.key], value.mode == .hex ? ["--hex"] : [])
        case .query:
            guard let query = model.query else { break }
            words += command("query", [query.archive, query.field.text], [])
        // What the command line has no screen for begins with the archives.
        case .messages, .monitor: words.append("ls")
        }
        return words.map(ShellWord.quoted).joined(separator: " ")
    }

    /// A name or key that looks like an option, such as `--all`, must not become one.
    private static func command(_ name: String, _ arguments: [String], _ options: [String]) -> [String] {
        arguments.contains { $0.hasPrefix("-") }
            ? [name] + options + ["--"] + arguments : [name] + arguments + options
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
