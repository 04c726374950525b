struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes the values of an archive as NDJSON, a JSON array, CSV or TSV.",
        discussion: """
            The least recently used entry is first, so that an import restores the LRU order and equal values. If values \
            don't contain their keys, export --with-keys and import --key key --value value keep them.

            A file is renamed to its name when it is complete; if the export fails, an existing file is kept. It is \
            replaced only after confirmation on a terminal, or with --force.

            Texts and other bytes that aren't documents become JSON strings. A row of CSV or TSV holds only an object; other \
            values are reported and left out, with exit code 1, and damaged entries with exit code 3. Nested arrays and \
            objects are written as JSON. Spreadsheets execute texts that begin with =, +, - or @; --spreadsheet protects \
            against this, but an import doesn't restore its texts.
            """)

    @OptionGroup var reference: ArchiveReference

    @Argument(help: "The file to write; - or nothing: standard output.", completion: .file())
    var file = "-"

    @Option(
        help: ArgumentHelp(
            "The format (default: by the file name; ndjson for standard output).",
            valueName: "ndjson|json|csv|tsv"))
    var format: FileFormat?

    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "Only entries that meet this condition, in the syntax of find in vellum query.",
            valueName: "condition"))
    var condition: String?

    @Flag(help: "Wrap each value: {\"key\":…,\"value\":…}.")
    var withKeys = false

    @Flag(
        help:
            "For servers: write type, expiry time and serialized form (DUMP) of each key, for import --lossless."
    )
    var lossless = false

    @OptionGroup var reading: ValueReading

    @Flag(help: "In CSV: put an apostrophe before texts that a spreadsheet would execute as formulas.")
    var spreadsheet = false

    @OptionGroup var replacement: Replacement

    mutating func validate() throws {
        if spreadsheet, (format ?? FileFormat(fileName: file)) != .csv {
            throw ValidationError("--spreadsheet is for --format csv")
        }
    }

    func run() throws {
        Interruption.collect()
        if let server = try reference.store.server() {
            return try export(ServerDatabase(server, named: reference.archive))
        }
        guard !lossless else {
            throw CommandFailure("--lossless is for servers; use dump for an archive", status: .usage)
        }
        let archive = try reference.openEntries()
        try write("entry", "entries") { format, output in
            let chosen = try condition.map { Set(try archive.entries(meeting: $0).map(\.sequence)) }
            let exporter = try Exporter(archive, to: output, wrapsKeys: withKeys, only: chosen)
            switch format {
            case .ndjson, .json: return try exporter.writeJSON(isArray: format == .json)
            case .csv: return try exporter.writeTable(spreadsheet ? .spreadsheet : .commas)
            case .tsv: return try exporter.writeTable(.tabs)
            }
        } hasLost: {
            try archive.reportLoss()
        }
    }

    private func export(_ database: ServerDatabase) throws {
        try write("key", "keys") { format, output in
            guard format == .ndjson || format == .json && !lossless else {
                throw CommandFailure(
                    "a server's keys are exported as ndjson or json (--lossless: ndjson); query --csv writes tables",
                    status: .usage)
            }
            let export = ServerExport(
                database: database, output: output, wrapsKeys: withKeys, isLossless: lossless,
                touches: reading.touch)
            return try export.run(condition, isArray: format == .json)
        } hasLost: {
            false
        }
    }

    private func write(
        _ entry: String, _ entries: String, _ body: (FileFormat, OutputWriter) throws -> Exporter.Outcome,
        hasLost: () throws -> Bool
    ) throws {
        let whole = try WholeFile.toWrite(file, force: replacement.force)
        defer { whole?.discard() }
        let format = try format ?? FileFormat.toWrite(file)
        let output = whole?.output ?? OutputWriter()
        let outcome = try body(format, output)
        try output.flush()
        try whole?.finish()
        if whole != nil {
            Console.say("exported \(Figures.count(outcome.exported, entry, entries)) to \(file)")
        }
        let hasLost = try hasLost()
        if outcome.damaged > 0 || hasLost { throw CommandFailure(nil, status: .storeFailure) }
        let isNoneFound = condition != nil && outcome.exported == 0
        if isNoneFound || outcome.skipped > 0 || outcome.missed > 0 {
            throw CommandFailure(nil, status: .nothing)
        }
    }
}
