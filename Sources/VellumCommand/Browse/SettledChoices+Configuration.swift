import ArchiveQuery
import BrowserCore

extension SettledChoices {
    /// Columns and queries of the file. Appends a line to `problems` for each unusable one.
    init(_ configuration: Configuration, problems: inout [String]) {
        self.init()
        let path = configuration.path ?? ""
        func take(
            _ assignments: [Configuration.Assignment], _ table: String,
            _ body: (Configuration.Assignment) throws(SourceError) -> Void
        ) {
            for assignment in assignments {
                do throws(SourceError) { try body(assignment) } catch {
                    problems.append(
                        "\(path):\(assignment.line): \(table).\(assignment.name): \(error.description)")
                }
            }
        }
        take(configuration.columns, Configuration.columnsTable) { (setting) throws(SourceError) in
            columns.remember(try Self.columns(setting))
        }
        take(configuration.queries, Configuration.queriesTable) { (setting) throws(SourceError) in
            queries.append(try Self.query(setting, "\(path):\(setting.line)"))
        }
    }

    private static func query(
        _ setting: Configuration.Assignment, _ place: String
    ) throws(SourceError) -> SavedQuery {
        guard setting.texts.count == 1, let text = setting.texts.first else {
            throw SourceError("expected a query in quotes")
        }
        // Blank names and queries would be shown as empty lines.
        if setting.name.allSatisfy(\.isWhitespace) { throw SourceError("a query needs a name") }
        if text.allSatisfy(\.isWhitespace) { throw SourceError("the query is empty") }
        do throws(QuerySyntaxError) { _ = try QueryPipeline(text) } catch {
            throw SourceError(error.description)
        }
        return SavedQuery(name: setting.name, text: text, setting: place)
    }

    /// Parses property names; a leading dash hides a standard column.
    private static func columns(_ setting: Configuration.Assignment) throws(SourceError) -> ChosenColumns {
        var properties: [QueryProperty] = []
        var hidden: Set<String> = []
        for text in setting.texts {
            if text.hasPrefix("-") {
                let name = String(text.dropFirst())
                guard ChosenColumns.hideable.contains(name) else {
                    throw SourceError(Configuration.noChoice(name, among: ChosenColumns.hideable))
                }
                hidden.insert(name)
            } else {
                do throws(QuerySyntaxError) { properties.append(try QueryProperty(text)) } catch {
                    let name = TerminalSafe.quoted(text)
                    throw SourceError(
                        "\(name) isn't a property: \(error); write other names in quotes: '\"a b\"'")
                }
            }
        }
        return ChosenColumns(archive: setting.name, properties: properties, hidden: hidden)
    }
}
