import ArgumentParser
import TerminalKit

/// Sendable value type. A screen's size as `100x30`: columns and rows, 1 to 1,000 each.
struct ScreenSize: Sendable, Hashable, ExpressibleByArgument {
    let size: Size

    init?(argument: String) {
        let parts = argument.lowercased().split(separator: "x", omittingEmptySubsequences: false)
        guard parts.count == 2, let columns = Int(parts[0]), let rows = Int(parts[1]),
            (1...1000).contains(columns), (1...1000).contains(rows)
        else { return nil }
        size = Size(columns: columns, rows: rows)
    }
}

/// Sendable value type. Keys to press, as `jj<enter>/foo<esc>`.
struct KeyScript: Sendable, Hashable, ExpressibleByArgument {
    let keys: [Key]

    init?(argument: String) {
        guard let keys = try? Key.script(argument) else { return nil }
        self.keys = keys
    }
}

/// Sendable value type. How a screen is printed.
enum ScreenFormat: String, CaseIterable, Sendable, ExpressibleByArgument {
    case text, ansi, svg
}

extension Theme.Name: ExpressibleByArgument {}
