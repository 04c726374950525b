/// The command line that gives what a screen shows. Stateless; safe to call from any thread.
package enum CommandLine {
    /// Marked keys that are spelled out; a shell takes no longer line anyway.
    private static let maximumKeys = 100

    package static func words(for model: Model) -> String {
        var words = ["vellum"]
        if let store = model.store { words += ["--store", store] }
        switch model.screen {
        case .stores: words += ["browse"]
        case .archives: words += ["ls"]
        case .entries:
            guard let entries = model.entries else { break }
            if entries.marks.isEmpty {
                words += ["keys", entries.archive] + order(entries.order)
            } else {
                words += ["rm", entries.archive] + entries.marks.list.prefix(maximumKeys).map(\.key)
                words.append("--dry-run")
            }
        case .value:
            guard let value = model.value else { break }
            words += ["get", value.archive, value.key]
            if value.mode == .hex { words.append("--hex") }
        }
        return words.map(ShellWord.quoted).joined(separator: " ")
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
