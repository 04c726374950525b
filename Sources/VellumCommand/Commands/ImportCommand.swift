import ArgumentParser
import ServerInspection
import StorageEngine
import StoreInspection

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Records every object of a file: NDJSON, a JSON array, CSV or TSV.",
        discussion: """
            An object's key is its property --key: a string, or an integer as JSON spells it. Of objects with the same \
            key the last one stays. Makes the store and the archive if they aren't there.

            A record that can't be imported is reported with its line and passed over; of many for one reason the first \
            ten are, and the others counted. That still ends with exit code 0, unless nothing at all could be imported \
            (1), --strict stopped it (1), or the input ends within a record (1). What was imported stays.

            NDJSON may have its objects over several lines. The first row of CSV and TSV names the properties. Their beginning \
            decides what separates the fields (commas, semicolons, tabs, bars, carets: what makes the key a column), which \
            quotes they have and whether spaces stand around them; standard error says what isn't usual, and the options \
            override it. What a column holds is decided by a look at all of it: numbers, true and false are these where every \
            field without quotes is one (or null); else all are text, and standard error says why. Quotes make texts, unless all \
            fields have them. Numbers with a decimal comma or thousands separators are numbers where that is certain. The column of the \
            keys is text unless all are integers. An empty field leaves its property out; a JSON array or object is that, in \
            quotes or not. --types says it for columns. For that a pipe is kept in a temporary file (TMPDIR).
            """)

    @OptionGroup var store: StoreArguments

    @Argument(help: "The archive's name.", completion: .archives)
    var archive: String

    @Argument(help: "The file; - for standard input.", completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp(
            "The property that holds an entry's key (needed unless --lossless is said).",
            valueName: "property"),
        completion: .importedProperties)
    var key: String?

    @Option(
        help: ArgumentHelp("Record only this property's value, not the whole object.", valueName: "property"),
        completion: .importedProperties)
    var value: String?

    @Option(
        help: ArgumentHelp(
            "What the file is (default: what its name or its first byte says).",
            valueName: "ndjson|json|csv|tsv"))
    var format: FileFormat?

    @Flag(help: "CSV and TSV: take every field as text.")
    var text = false

    @Option(
        help: ArgumentHelp(
            "CSV and TSV: what columns hold, text, number or boolean; rows that don't fit are passed over.",
            valueName: "column=kind,…"))
    var types: [ColumnTypes] = []

    @OptionGroup var delimited: DelimitedArguments

    @Flag(help: "Stop at the first record that can't be imported.")
    var strict = false

    @Flag(help: "Into a server: restore what export --lossless wrote, with types and expiry times.")
    var lossless = false

    @Flag(help: "Into a server: replace keys that exist; without it they stay, and are reported.")
    var overwrite = false

    @Flag(help: "Let a server that isn't on this machine be changed.")
    var write = false

    @OptionGroup var entry: EntryArguments

    @OptionGroup var settings: ArchiveArguments

    mutating func validate() throws {
        if text, !types.isEmpty {
            throw ValidationError("--text says that all is text, so it excludes --types")
        }
        if lossless, key != nil || value != nil || entry.expires != nil {
            throw ValidationError("--lossless records hold their keys, values and expiry times")
        }
        if key == nil, !lossless {
            throw ValidationError("say with --key which property holds an entry's key")
        }
    }

    func run() throws {
        Interruption.collect()
        let server = try store.server()
        guard server != nil || !lossless && !overwrite else {
            throw CommandFailure("--lossless and --overwrite are for servers", status: .usage)
        }
        try server?.requireWritable(write)
        let input = try InputBuffer(path: file)
        try CompressedInput.refuse(input, command: commandForPipe)
        try input.skipByteOrderMark()
        let format = try format ?? FileFormat.recognize(input)
        if text || !types.isEmpty || !delimited.isEmpty, format == .ndjson || format == .json {
            let options =
                text || !types.isEmpty
                ? "--text and --types" : "--delimiter, --quote, --decimal, --trim and --header"
            throw CommandFailure("\(options) are for CSV and TSV, not \(format.rawValue)", status: .usage)
        }
        let types = types.flatMap(\.kinds)
        var reader = try format.reader(
            of: input, isTextOnly: text, delimited.options,
            wanted: [key].compactMap(\.self))
        if var table = reader as? DelimitedReader {
            if let remark = table.remark { Narration.say(remark) }
            try checkColumns(table.columns, input.name)
            for note in try table.decideKinds(types, key: key ?? "") { Narration.say(note) }
            reader = table
        }
        if Interruption.isRequested { throw CommandFailure("interrupted", status: Interruption.status) }
        if let server { return try run(&reader, of: input, into: server) }
        let store = try store.openForWriting(creating: true)
        defer { store.close() }
        try settings.withArchive(named: archive, in: store) { try run(&reader, of: input, into: $0) }
    }

    private func run(_ reader: inout any RecordReader, of input: InputBuffer, into archive: Archive) throws {
        try archive.requireEntries()
        let before = try archive.status()
        let start = MonotonicClock.seconds()
        let target = ArchiveImport(
            archive: archive, key: KeyProperty(key ?? ""), value: value.map { KeyProperty($0) },
            attributes: entry.attributes)
        var outcome = Importer.Outcome()
        let failure = run(&reader, of: input, &outcome) { try target.store($0) }
        // An archive that failed may have nothing more to say.
        let after = (try? archive.status()) ?? before
        Narration.say(
            outcome.summary(
                archive: archive.name, seconds: MonotonicClock.seconds() - start, from: before, to: after))
        try end(outcome, failure)
    }

    private func run(_ reader: inout any RecordReader, of input: InputBuffer, into server: ServerAddress)
        throws
    {
        guard entry.owner == nil, entry.memoryExpires == nil else {
            throw CommandFailure("keys of a server have no owners and no time in memory", status: .usage)
        }
        let target = ServerImport(
            database: try ServerDatabase(server, named: archive), key: key.map { KeyProperty($0) },
            value: value.map { KeyProperty($0) }, lifetime: entry.expires, replaces: overwrite)
        var outcome = Importer.Outcome()
        let failure = run(&reader, of: input, &outcome) { try target.store($0) }
        let skipped =
            outcome.skipped > 0 ? "; \(Figures.count(outcome.skipped, "record", "records")) skipped" : ""
        Narration.say(
            "imported \(Figures.amount(outcome.imported, bytes: outcome.bytes)) into \(archive) of \(server)\(skipped)"
        )
        if let remark = target.remark { Narration.complain(remark) }
        try end(outcome, failure)
    }

    /// Returns what stopped it.
    private func run(
        _ reader: inout any RecordReader, of input: InputBuffer, _ outcome: inout Importer.Outcome,
        store: @escaping (UnsafeRawBufferPointer) throws -> ImportedRecord
    ) -> (any Error)? {
        defer {
            if let field = (reader as? DelimitedReader)?.keptQuote {
                Narration.say(
                    "the quote that \(field.said) begins with is kept; --quote '\"' removes quotes around fields"
                )
            }
        }
        do {
            try Importer(isStrict: strict, store: store).run(&reader, of: input, &outcome)
            return nil
        } catch {
            outcome.isStopped = true
            return error
        }
    }

    private func end(_ outcome: Importer.Outcome, _ failure: (any Error)?) throws {
        if let failure { throw failure }
        if Interruption.isRequested { throw CommandFailure("interrupted", status: Interruption.status) }
        if outcome.isCut || outcome.isStopped || (outcome.imported == 0 && outcome.skipped > 0) {
            throw CommandFailure(nil, status: .nothing)
        }
    }

    /// What imports standard input in this way.
    private func commandForPipe(_ format: FileFormat?) -> String {
        let format = self.format ?? format
        let options =
            (key.map { ["--key", $0] } ?? ["--lossless"]) + (format.map { ["--format", $0.rawValue] } ?? [])
        return ShellWord.vellum("import", [archive, "-"], options: options, store: store.store)
    }

    private func checkColumns(_ columns: [String], _ file: String) throws(CommandFailure) {
        guard !columns.isEmpty else {
            return Narration.say("\(file) is empty: it has no row that names columns")
        }
        for name in [key, value].compactMap({ $0 })
        where !columns.contains(where: { ExactText($0) == ExactText(name) }) {
            throw CommandFailure(
                "\(file) has no column \"\(name)\"; its columns are \(columns.joined(separator: ", ")) "
                    + "(--header no or --header NAMES, if its first row names none)", status: .usage)
        }
    }
}
