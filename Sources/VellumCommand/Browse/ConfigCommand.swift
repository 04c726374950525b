import ArchiveQuery
import BrowserCore
import TerminalKit

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Shows the settings and the origin of each.",
        discussion: """
            Settings are in $XDG_CONFIG_HOME/vellum/config.toml, or else in ~/.config/vellum/config.toml. The output is a \
            valid settings file: vellum config > FILE creates one to start with. Options and environment variables override \
            the file. Unusable settings are reported on standard error, with exit code 1.
            """)

    @OptionGroup var store: StoreArguments

    @Option(
        help: ArgumentHelp(
            "Theme, as for browse.", valueName: Theme.Name.allCases.map(\.rawValue).joined(separator: "|")))
    var theme: Theme.Name?

    @Flag(help: "Print only the path of the file, whether or not it exists.")
    var path = false

    func run() throws {
        let configuration = Configuration.current
        if path {
            guard let path = configuration.path else {
                throw CommandFailure("neither XDG_CONFIG_HOME nor HOME is set", status: .usage)
            }
            return try OutputWriter.print(path + "\n")
        }
        let keys = KeyAssignments(configuration)
        var problems = configuration.problems + keys.problems
        let choices = SettledChoices(configuration, problems: &problems)
        try OutputWriter.print(text(configuration, keys, choices))
        for problem in problems { Console.warn(problem) }
        if !problems.isEmpty { throw CommandFailure(nil, status: .nothing) }
    }

    private func text(_ configuration: Configuration, _ keys: KeyAssignments, _ choices: SettledChoices)
        -> String
    {
        let file = configuration.path ?? "no file: neither XDG_CONFIG_HOME nor HOME is set"
        let isMissing = !configuration.exists && configuration.path != nil
        var lines = ["# \(TerminalSafe.column(file))" + (isMissing ? " (not found)" : ""), ""]
        func add<Value>(_ help: String, _ name: String, _ setting: Setting<Value>, _ value: String?) {
            lines.append("# " + help)
            let origin = TerminalSafe.column(setting.origin.description)
            lines.append(
                "\(value == nil ? "# " : "")\(name) = \(Self.quoted(value ?? "/FOLDER"))  # \(origin)")
            lines.append("")
        }
        func list(_ names: [String]) -> String { names.joined(separator: ", ") }
        let theme = configuration.theme(option: theme)
        add(
            "The browser's colors: \(list(Theme.Name.allCases.map(\.rawValue))).", "theme", theme,
            theme.value.rawValue)
        let refresh = configuration.refresh
        add(
            "How often the browser updates: 100ms to 1h.", "refresh", refresh,
            DurationText.text(.microseconds(Int64((refresh.value * 1e6).rounded()))))
        let times = configuration.times
        add(
            "Time zone of displayed times: \(list(Configuration.Times.allCases.map(\.rawValue))).", "times",
            times, times.value.rawValue)
        let mouse = configuration.mouse
        add(
            "Mouse support of the browser, on or off; with off, the terminal can select text.", "mouse",
            mouse,
            mouse.value.rawValue)
        let store = configuration.store(option: self.store.store)
        add("The default store; without it, the only one in the caches folder.", "store", store, store.value)
        lines += [
            "# Keys of the browser. An assigned key is removed from other actions of the same screens.",
            "[\(Configuration.keysTable)]",
        ]
        let shipped = ActionTable.keyMap()
        for action in keys.keyMap.actions {
            let line = keys.lines[action.id.rawValue]
            let source = line.map { SettingOrigin.file(configuration.path ?? "", line: $0) } ?? .standard
            var origin = source.description
            let lost = (shipped.action(action.id)?.keys ?? []).filter { !action.keys.contains($0) }
            if line == nil, !lost.isEmpty {
                origin += " without \(lost.map(\.description).joined(separator: ", "))"
            }
            let list = action.keys.map { Self.quoted($0.description) }.joined(separator: ", ")
            // Defaults are commented out, so that a copied file uses the defaults of later versions.
            let comment = "  # \(TerminalSafe.column(origin)). \(action.help)"
            lines.append((line == nil ? "# " : "") + "\(action.id.rawValue) = [\(list)]" + comment)
        }
        lines += tables(configuration, choices)
        return lines.joined(separator: "\n") + "\n"
    }

    /// The tables of columns and queries; an empty table gets an example.
    private func tables(_ configuration: Configuration, _ choices: SettledChoices) -> [String] {
        var lines = [
            "", "# Columns of entries, by archive: properties of their values; -NAME hides a standard one",
            "# (\(ChosenColumns.hideable.joined(separator: ", "))). Choices in the browser override these.",
            "[\(Configuration.columnsTable)]",
        ]
        if choices.columns.isEmpty { lines.append("# cities = [\"name\", \"population\", \"-owner\"]") }
        for chosen in choices.columns {
            let list = chosen.properties.map(\.description) + chosen.hidden.map { "-" + $0 }
            let line = configuration.columns.last { $0.name == chosen.archive }?.line
            let origin = line.map { SettingOrigin.file(configuration.path ?? "", line: $0) } ?? .standard
            lines.append(
                "\(Self.quoted(chosen.archive)) = [\(list.map(Self.quoted).joined(separator: ", "))]"
                    + "  # \(TerminalSafe.column(origin.description))")
        }
        lines += ["", "# Saved queries, for all archives.", "[\(Configuration.queriesTable)]"]
        if choices.queries.isEmpty { lines.append("# \"most hit\" = \"sort @hits desc | limit 20\"") }
        for query in choices.queries {
            let origin = TerminalSafe.column(query.setting ?? "")
            lines.append("\(Self.quoted(query.name)) = \(Self.quoted(query.text))  # \(origin)")
        }
        return lines
    }

    /// JSON strings are also valid basic strings of TOML.
    private static func quoted(_ text: String) -> String { JSONTree.text(text).text }
}

enum ConfigurationReport {
    private static let most = 3

    static var problems: [String] {
        let configuration = Configuration.current
        // Building the table of actions takes time; skip it without assignments.
        var problems = configuration.problems
        if !configuration.assignments.isEmpty { problems += KeyAssignments(configuration).problems }
        _ = SettledChoices(configuration, problems: &problems)
        return problems
    }

    static func printProblems() {
        let problems = problems
        for problem in problems.prefix(most) { Console.warn(problem) }
        if problems.count > most {
            Console.warn("\(problems.count - most) more; vellum config shows all")
        }
    }
}
