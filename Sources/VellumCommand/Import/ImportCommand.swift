import CBOR
import ServerInspection

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Stores the objects of a file: NDJSON, a JSON array, CSV or TSV.",
        discussion: """
            An object's key is its property --key: a string, or an integer in its JSON spelling. The last of \
            several objects with one key is kept. Creates the store and the archive if they don't exist.

            A record that can't be imported is reported with its line and skipped; for each reason, the first ten are \
            reported and the others counted. The exit code is still 0, unless nothing could be imported (1), --strict \
            stopped it (1), or the input ends within a record (1). Imported records stay.

            NDJSON objects may span several lines. The first row of CSV and TSV names the properties. The beginning of the \
            file decides the delimiter (commas, semicolons, tabs, bars or carets: the one that makes the key a column), the \
            quotes and whether fields have surrounding spaces; standard error reports unusual choices, and options override \
            them. All fields of a column decide its type: numbers, true and false only if every unquoted field is one (or \
            null); else text, and standard error gives the reason. Quoted fields are texts, unless all fields are quoted. \
            Numbers with a decimal comma or thousands separators are read if unambiguous. The key column is text \
            unless all keys are integers. An empty field omits its property; a JSON array or object is read as such, quoted \
            or not. --types sets the types of columns. A pipe is copied to a temporary file (TMPDIR), because the input is \
            read twice.
            """)

    @OptionGroup var store: StoreArguments

    @Argument(help: "The archive's name.", completion: .archives)
    var archive: String

    @Argument(help: "The file; - for standard input.", completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp(
            "The property that holds the key (required without --lossless).", valueName: "property"),
        completion: .importedProperties)
    var key: String?

    @Option(
        help: ArgumentHelp("Store only this property's value, not the whole object.", valueName: "property"),
        completion: .importedProperties)
    var value: String?

    @Option(
        help: ArgumentHelp(
            "The file's format (default: by its name or first byte).", valueName: "ndjson|json|csv|tsv"))
    var format: FileFormat?

    @Flag(help: "CSV and TSV: read every field as text.")
    var text = false

    @Option(
        help: ArgumentHelp(
            "CSV and TSV: types of columns, text, number or boolean; rows that don't match are skipped.",
            valueName: "column=kind,…"))
    var types: [ColumnTypes] = []

    @OptionGroup var delimited: DelimitedArguments

    @Flag(help: "Stop at the first record that can't be imported.")
    var strict = false

    @Flag(help: "For servers: restore an export --lossless, with types and expiry times.")
    var lossless = false

    @Flag(help: "For servers: replace existing keys, which are otherwise reported and kept.")
    var overwrite = false

    @OptionGroup var remote: RemoteWriting

    @OptionGroup var entry: EntryArguments

    @OptionGroup var settings: ArchiveArguments

    mutating func validate() throws {
        if text, !types.isEmpty { throw ValidationError("--text and --types can't be combined") }
        if lossless, key != nil || value != nil || entry.expires != nil {
            throw ValidationError("--lossless can't be combined with --key, --value or --expires")
        }
        if key == nil, !lossless { throw ValidationError("pass --key with the property that holds the key") }
    }

    func run() throws {
        Interruption.collect()
        let server = try store.server()
        guard server != nil || !lossless && !overwrite else {
            throw CommandFailure("--lossless and --overwrite are for servers", status: .usage)
        }
        try server?.requireWritable(remote.write)
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
            of: input, isTextOnly: text, delimited.options, wanted: [key].compactMap { $0.map(column) })
        if var table = reader as? DelimitedReader {
            if let remark = table.remark { Console.say(remark) }
            try checkColumns(table.columns, input.name)
            for note in try table.decideKinds(types, key: key.map(column) ?? "") { Console.say(note) }
            reader = table
        }
        try Interruption.check()
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
        // A failed archive may have no status.
        let after = (try? archive.status()) ?? before
        Console.say(
            outcome.summary(
                archive: archive.name, seconds: MonotonicClock.seconds() - start, from: before, to: after))
        try end(outcome, failure)
    }

    private func run(_ reader: inout any RecordReader, of input: InputBuffer, into server: ServerAddress)
        throws
    {
        guard entry.owner == nil, entry.memoryExpires == nil else {
            throw CommandFailure("keys of a server have no owner and no TTL in memory", status: .usage)
        }
        let target = ServerImport(
            database: try ServerDatabase(server, named: archive), key: key.map { KeyProperty($0) },
            value: value.map { KeyProperty($0) }, lifetime: entry.expires, replaces: overwrite)
        var outcome = Importer.Outcome()
        let failure = run(&reader, of: input, &outcome) { try target.store($0) }
        let skipped =
            outcome.skipped > 0 ? "; \(Figures.count(outcome.skipped, "record", "records")) skipped" : ""
        Console.say(
            "imported \(Figures.amount(outcome.imported, bytes: outcome.bytes)) into \(archive) of \(server)\(skipped)"
        )
        if let remark = target.remark { Console.warn(remark) }
        try end(outcome, failure)
    }

    /// Returns the error that stopped it.
    private func run(
        _ reader: inout any RecordReader, of input: InputBuffer, _ outcome: inout Importer.Outcome,
        store: @escaping (UnsafeRawBufferPointer) throws -> ImportedRecord
    ) -> (any Error)? {
        defer {
            if let field = (reader as? DelimitedReader)?.keptQuote {
                Console.say(
                    "\(field.description) begins with a quote, which was kept; --quote '\"' removes quotes around fields"
                )
            }
            if let count = (reader as? DelimitedReader)?.repeatedHeaders, count > 0 {
                Console.say("\(Figures.count(count, "line", "lines")) skipped: equal to the header")
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
        try Interruption.check()
        if outcome.isCut || outcome.isStopped || (outcome.imported == 0 && outcome.skipped > 0) {
            throw CommandFailure(nil, status: .nothing)
        }
    }

    private func commandForPipe(_ format: FileFormat?) -> String {
        let format = self.format ?? format
        let options =
            (key.map { ["--key", $0] } ?? ["--lossless"]) + (format.map { ["--format", $0.rawValue] } ?? [])
        return ShellWord.vellum("import", [archive, "-"], options: options, store: store.store)
    }

    /// The column title of a property. Titles that look like bytes begin with a backslash.
    private func column(_ property: String) -> String { text ? property : ByteText.spelling(of: property) }

    private func checkColumns(_ columns: [String], _ file: String) throws(CommandFailure) {
        guard !columns.isEmpty else { return Console.say("\(file) is empty: it has no header row") }
        for name in [key, value].compactMap({ $0.map(column) })
        where !columns.contains(where: { ExactText($0) == ExactText(name) }) {
            throw CommandFailure(
                "\(file) has no column \"\(name)\"; its columns are \(columns.joined(separator: ", ")) "
                    + "(--header no or --header NAMES, if it has no header row)", status: .usage)
        }
    }
}
