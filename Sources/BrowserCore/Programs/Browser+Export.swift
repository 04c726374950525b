import ArchiveQuery
import CBOR
import StorageEngine
import StoreInspection
import TerminalKit

struct RowExport: Sendable {
    /// Writes the rows to a file. Returns nil if stopped.
    typealias Write = @Sendable (QuestionContext, OutputFile) throws(SourceError) -> QueryReport?

    /// The rows in words, as in `write 60 messages to:`.
    var amount: String
    /// The number of rows; nil: unknown until they are written.
    var count: Int?
    var noun = ("row", "rows")
    /// The extensions of file names that choose a format.
    var formats = ".ndjson, .json, .csv or .tsv"
    /// A possible difference between the screen and the file.
    var remark: String?
    let write: Write

    /// Writes marked entries with their whole values.
    /// - Parameter hidden: the number of those without a row.
    static func entries(
        _ marks: Marks, hidden: Int = 0, of archive: ArchiveAddress, allowsAccesses: Bool = false
    ) -> RowExport {
        let keys = marks.list.map { QueryLiteral.text($0.key) }
        let request = QueryRequest(
            archive: archive, pipeline: QueryPipeline([.find(.isIn(.metadata(.key), keys))]),
            allowsAccesses: allowsAccesses)
        return .marked(marks, hidden: hidden) { (context, file) throws(SourceError) in
            try context.source.export(request, to: file, progress: context.progress)
        }
    }

    static func marked(_ marks: Marks, hidden: Int, write: @escaping Write) -> RowExport {
        let noun = ("marked entry", "marked entries")
        let rest = hidden == 0 ? "" : " (\(Figures.count(hidden)) hidden)"
        return RowExport(
            amount: Figures.count(marks.count, noun.0, noun.1) + rest, count: marks.count, noun: noun,
            write: write)
    }
}

extension RowExport {
    static func table(
        _ names: [String], _ noun: (String, String), count: Int,
        row: @escaping @Sendable (Int) -> [CBORValue?]
    ) -> RowExport {
        let amount = Figures.count(count, noun.0, noun.1)
        return RowExport(amount: amount, count: count, noun: noun) {
            (context, file) throws(SourceError) in
            try write(names, to: file, values: row) { body throws(SourceError) in
                for number in 0..<count {
                    if number % 1024 == 0, !context.progress(Double(number) / Double(count)) { return nil }
                    try body(number)
                }
                return count
            }
        }
    }

    /// Writes rows under the names of columns; JSON has no member for an absent value. `read` returns their number, or nil if
    /// stopped.
    static func write<Row>(
        _ names: [String], to file: OutputFile, values: @escaping (Row) -> [CBORValue?],
        _ read: @escaping ((Row) throws(SourceError) -> Void) throws(SourceError) -> Int?
    ) throws(SourceError) -> QueryReport? {
        let columns = names.map { QueryColumn(.path([.name($0)])) }
        let plan = QueryPlan(QueryPipeline([.select(columns)]))
        return try plan.export(to: file, omitsAbsent: true) {
            (_, body) throws(SourceError) in
            let count = try read { (row) throws(SourceError) in
                let row = QueryRow(columns: values(row).map { $0?.encoded })
                do { try row.pass(to: body) } catch { throw SourceError("\(error)") }
            }
            return count.map { QueryReport(rows: $0) }
        }
    }
}

extension CBORValue {
    /// Seconds since 1970.
    static func seconds(_ time: Timestamp) -> CBORValue { .float(Double(time.microseconds) / 1_000_000) }
}

extension Model {
    /// The archive whose rows are written; for rows of several archives, an address with the screen's name.
    fileprivate var exported: ArchiveAddress? { archiveInView ?? address(screenName) }
}

extension Browser {
    static func askExport(_ model: inout Model) {
        guard let export = model.parts.export(model), let archive = model.exported else {
            return model.say("Nothing to write here.")
        }
        var prompt = Prompt(
            label: "write \(export.amount) to: ", field: TextField(fileName(archive.name, ending: "ndjson")),
            keys: [("enter", "Write"), ("tab", "Complete"), ("esc", "Cancel")], purpose: .export,
            note: "  \(export.formats)")
        // The first character typed replaces it.
        prompt.field.isSuggestion = true
        model.prompt = prompt
    }

    /// Writes the rows to a file. Replacing a file needs confirmation.
    static func export(_ model: inout Model, to path: String, replaces: Bool = false) -> [Effect] {
        guard !path.isEmpty, let export = model.parts.export(model) ?? EntriesScreen.listExport(model),
            let archive = model.exported
        else { return [] }
        let target = filePath(path, model)
        let ticket = model.begin("writing \(path)")
        return .ask("write \(export.amount) of \(archive.name) to \(path)", ticket: ticket) {
            (context) throws(SourceError) in
            try context.unlessStopped { () throws(SourceError) in
                try export.write(context, context.output(target, replaces: replaces))
            }
        } done: { model, result in
            model.ends(ticket)
            switch result {
            case .success(nil): break
            case .success(let report?):
                let all = export.count.map { $0 == report.rows ? "" : " of \(Figures.count($0))" } ?? ""
                let rows = Figures.count(report.rows) + all
                let noun = (export.count ?? report.rows) == 1 ? export.noun.0 : export.noun.1
                let words =
                    ["\(rows) \(noun) written to \(path)"] + [export.remark].compactMap { $0 }
                    + report.warnings.map(TerminalText.sanitized)
                let isGood = words.count == 1 && all.isEmpty
                model.say(words.joined(separator: "; ") + ".", role: isGood ? .good : .warning)
            case .failure(let error) where error.fileExists:
                model.overlay = Plan(replacing: path, archive: archive)
            case .failure(let error):
                model.overlay = MessageBox("Writing failed", [error.description])
            }
        }
    }

    static func filePath(_ typed: String, _ model: Model) -> String {
        let path = WholeFile.path(typed: typed)
        let folder = model.environment.writingFolder
        return folder.isEmpty || path.hasPrefix("/") ? path : "\(folder)/\(path)"
    }
}
