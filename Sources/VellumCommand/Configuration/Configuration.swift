import ArchiveQuery
import Foundation
import TerminalKit

enum SettingOrigin: Sendable, Hashable, CustomStringConvertible {
    case standard
    case file(String, line: Int)
    case environment(String)
    case option(String)

    var description: String {
        switch self {
        case .standard: "default"
        case .file(let path, let line): "\(path):\(line)"
        case .environment(let name): "environment: \(name)"
        case .option(let name): "option: \(name)"
        }
    }
}

struct Setting<Value: Sendable>: Sendable {
    var value: Value
    var origin = SettingOrigin.standard
}

/// The user's settings with defaults. Ignores invalid settings, and the whole file if it can't be parsed.
struct Configuration: Sendable {
    enum Times: String, Sendable, CaseIterable { case local, utc }

    enum Switch: String, Sendable, CaseIterable { case on, off }

    /// A line of a table: keys of an action, columns of an archive, or a query.
    struct Assignment: Sendable {
        var name: String
        var texts: [String]
        var line: Int
    }

    private(set) var theme = Setting(value: Theme.Name.dark)
    /// Seconds between two updates of the browser.
    private(set) var refresh = Setting(value: 0.2)
    private(set) var times = Setting(value: Times.local)
    private(set) var mouse = Setting(value: Switch.on)
    private(set) var store: Setting<String?> = Setting(value: nil)
    private(set) var assignments: [Assignment] = []
    private(set) var columns: [Assignment] = []
    private(set) var queries: [Assignment] = []
    /// Nil without a home folder.
    let path: String?
    let exists: Bool
    private(set) var problems: [String]

    static let names = ["theme", "refresh", "times", "mouse", "store"]
    static let keysTable = "keys"
    static let columnsTable = "columns"
    static let queriesTable = "queries"
    private static let tables = [keysTable, columnsTable, queriesTable]
    private static let refreshes = 0.1...3_600.0

    /// The settings of this process, read once.
    static let current = Configuration(environment: ProcessInfo.processInfo.environment)

    init(environment: [String: String]) {
        if let ground = environment["COLORFGBG"], Self.isLight(ground) {
            theme = Setting(value: .light, origin: .environment("COLORFGBG"))
        }
        let folder = StateFile.folder("XDG_CONFIG_HOME", or: ".config", environment: environment)
        path = folder.map { $0 + "/config.toml" }
        problems = []
        guard let path else {
            exists = false
            return
        }
        var file = ConfigurationFile(path: path)
        exists = file.exists
        for item in file.items { take(item, &file) }
        for (name, table) in file.tables.sorted(by: { $0.value.line < $1.value.line }) {
            takeTable(name, table.line, table.items, &file)
        }
        problems = file.problems
    }

    /// `COLORFGBG` is set by some terminals: foreground and background as numbers of the 16 colors, separated by semicolons.
    private static func isLight(_ colors: String) -> Bool {
        guard colors.contains(";"), let ground = colors.split(separator: ";").last.flatMap({ UInt8($0) })
        else { return false }
        return ground == 7 || 9...15 ~= ground
    }

    private mutating func take(_ item: ConfigurationFile.Item, _ file: inout ConfigurationFile) {
        let origin = SettingOrigin.file(file.path, line: item.line)
        func object(_ reason: String) { file.object(line: item.line, item.name, reason) }
        guard Self.names.contains(item.name) else {
            return object(
                Self.tables.contains(item.name)
                    ? "expected a table: [\(item.name)]"
                    : Self.unknown("setting", item.name, among: Self.names + Self.tables))
        }
        guard let texts = item.texts, texts.count == 1, let text = texts.first else {
            return object("expected a text in quotes")
        }
        func choose<Value: RawRepresentable<String> & CaseIterable & Sendable>(
            _ setting: inout Setting<Value>
        ) {
            guard let value = Value(rawValue: text) else {
                return object(Self.noChoice(text, among: Value.allCases.map(\.rawValue)))
            }
            setting = Setting(value: value, origin: origin)
        }
        switch item.name {
        case "theme": choose(&theme)
        case "times": choose(&times)
        case "mouse": choose(&mouse)
        case "refresh":
            do throws(DurationFault) {
                let seconds = try DurationText.interval(text) / .seconds(1)
                guard Self.refreshes.contains(seconds) else { return object("must be 100ms to 1h") }
                refresh = Setting(value: seconds, origin: origin)
            } catch {
                object(error.description)
            }
        default:
            let path = WholeFile.path(typed: text)
            guard path.hasPrefix("/") else { return object("expected an absolute path, from / or ~") }
            store = Setting(value: path, origin: origin)
        }
    }

    private mutating func takeTable(
        _ name: String, _ line: Int, _ items: [ConfigurationFile.Item], _ file: inout ConfigurationFile
    ) {
        guard Self.tables.contains(name) else {
            let isSetting = Self.names.contains(name)
            return file.object(
                line: line, name,
                isSetting ? "expected a text in quotes" : Self.unknown("table", name, among: Self.tables))
        }
        for item in items {
            guard let texts = item.texts else {
                let reason = "expected a text in quotes or a list of them"
                file.object(line: item.line, "\(name).\(item.name)", reason)
                continue
            }
            let assignment = Assignment(name: item.name, texts: texts, line: item.line)
            switch name {
            case Self.columnsTable: columns.append(assignment)
            case Self.queriesTable: queries.append(assignment)
            default: assignments.append(assignment)
            }
        }
    }

    private static func unknown(_ what: String, _ name: String, among names: [String]) -> String {
        let near = Suggestion.nearest(to: name, among: names).map { "; did you mean \($0)?" } ?? ""
        return "unknown \(what)\(near.isEmpty ? "; use \(names.joined(separator: ", "))" : near)"
    }

    static func noChoice(_ text: String, among names: [String]) -> String {
        let near = Suggestion.nearest(to: text, among: names).map { "; did you mean \($0)?" } ?? ""
        return "\(TerminalSafe.quoted(text)) is not one of \(names.joined(separator: ", "))\(near)"
    }

    // MARK: Precedence over the file

    func theme(option: Theme.Name?) -> Setting<Theme.Name> {
        option.map { Setting(value: $0, origin: .option("--theme")) } ?? theme
    }

    static var storeOfEnvironment: String? { SystemText.environment("VELLUM_STORE") }

    func store(option: String?) -> Setting<String?> {
        if let option { return Setting(value: option, origin: .option("--store")) }
        if let named = Configuration.storeOfEnvironment {
            return Setting(value: named, origin: .environment("VELLUM_STORE"))
        }
        return store
    }

    /// A suffix for an error about a store that the file names.
    func hint(for error: StorageError) -> String? {
        guard let path = store.value, store(option: nil).value == path, error.description.contains(path)
        else { return nil }
        return " (store from \(store.origin))"
    }
}
