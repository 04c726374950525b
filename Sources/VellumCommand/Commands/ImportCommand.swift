import ArgumentParser
import StorageEngine
import StoreInspection

/// `vellum import`.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Records every object of a file: NDJSON, a JSON array, CSV or TSV.",
        discussion: """
            An object's key is its property --key: a string, or an integer as JSON spells it. Of objects with the same \
            key the last one stays. Makes the store and the archive if they aren't there.

            A record that can't be imported is reported with its line and passed over. That still ends with exit code \
            0, unless nothing at all could be imported (1) or --strict stopped it (1). What was imported stays.

            CSV follows RFC 4180: commas, fields in double quotes where needed. TSV has no quotes. The first row names \
            the properties. Without quotes, true, false, null and numbers spelled as JSON spells them are these, and an \
            empty field leaves its property out; a JSON array or object is that, in quotes or not; all else is text.
            """)

    @OptionGroup var store: StoreArguments

    @Argument(help: "The archive's name.")
    var archive: String

    @Argument(help: "The file; - for standard input.", completion: .file())
    var file: String

    @Option(help: ArgumentHelp("The property that holds an entry's key.", valueName: "property"))
    var key: String

    @Option(
        help: ArgumentHelp("Record only this property's value, not the whole object.", valueName: "property"))
    var value: String?

    @Option(
        help: ArgumentHelp(
            "What the file is (default: what its name or its first byte says).",
            valueName: "ndjson|json|csv|tsv"))
    var format: FileFormat?

    @Flag(help: "CSV and TSV: take every field as text.")
    var text = false

    @Flag(help: "Stop at the first record that can't be imported.")
    var strict = false

    @OptionGroup var entry: EntryArguments

    @OptionGroup var settings: ArchiveArguments

    func run() throws {
        Interruption.collect()
        let input = try InputBuffer(path: file)
        try input.skipByteOrderMark()
        let format = try format ?? FileFormat.recognize(input)
        if text, format == .ndjson || format == .json {
            throw CommandFailure("--text is for CSV and TSV, not \(format.rawValue)", status: .usage)
        }
        var reader = try format.reader(of: input, isTextOnly: text)
        if let columns = (reader as? DelimitedReader)?.columns { try checkColumns(columns, input.name) }
        let store = try store.openForWriting(creating: true)
        defer { store.close() }
        let archive = try settings.archive(named: archive, in: store)
        try archive.requireEntries()
        let evictions = try archive.status().evictions
        let start = MonotonicClock.seconds()
        let importer = Importer(
            archive: archive, key: KeyProperty(key), value: value.map { KeyProperty($0) },
            attributes: entry.attributes, isStrict: strict)
        var outcome = Importer.Outcome()
        let failure: (any Error)?
        do {
            try importer.run(&reader, of: input, &outcome)
            failure = nil
        } catch {
            outcome.isStopped = true
            failure = error
        }
        // An archive that failed may have nothing more to say.
        let evicted = (try? archive.status()).map { $0.evictions - evictions }
        summarize(outcome, seconds: MonotonicClock.seconds() - start, evicted: evicted ?? 0)
        if let failure { throw failure }
        if Interruption.isRequested { throw CommandFailure("interrupted", status: Interruption.status) }
        if outcome.isStopped || (outcome.imported == 0 && outcome.skipped > 0) {
            throw CommandFailure(nil, status: .nothing)
        }
    }

    private func checkColumns(_ columns: [String], _ file: String) throws(CommandFailure) {
        guard !columns.isEmpty else { return }
        for name in [key, value].compactMap({ $0 })
        where !columns.contains(where: { ExactText($0) == ExactText(name) }) {
            throw CommandFailure(
                "\(file) has no column \"\(name)\"; its columns are \(columns.joined(separator: ", "))",
                status: .usage)
        }
    }

    private func summarize(_ outcome: Importer.Outcome, seconds: Double, evicted: UInt64) {
        var text = "imported \(Figures.amount(outcome.imported, bytes: outcome.bytes)) into \(archive)"
        text += " in \(Figures.fixed(seconds, digits: 2)) s"
        if seconds > 0 { text += ", \(Figures.rate(Double(outcome.imported) / seconds)) a second" }
        if evicted > 0 { text += "; \(Figures.count(evicted, "entry", "entries")) evicted" }
        if outcome.skipped > 0 {
            text += "; \(Figures.count(outcome.skipped, "record", "records")) skipped"
        }
        if outcome.isStopped { text += "; stopped" }
        Narration.say(text)
    }
}
