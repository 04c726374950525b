struct QueryOutput: ParsableArguments {
    enum Format: String, CaseIterable, Sendable, ExpressibleByArgument {
        case table, json, ndjson, csv, tsv
    }

    @Option(
        help: ArgumentHelp("Read the query from this file; - for standard input.", valueName: "file"),
        completion: .file())
    var file: String?

    @Option(
        help: ArgumentHelp(
            "The format of the rows: json is one array, ndjson an object per line.",
            valueName: "table|json|ndjson|csv|tsv"))
    var format: Format?

    @Option(
        help: ArgumentHelp(
            "Write to this file, complete or not at all; its name decides the format.",
            valueName: "file"), completion: .file())
    var output: String?

    @OptionGroup var replacement: Replacement

    func text() throws(CommandFailure) -> String? {
        guard let file else { return nil }
        let input = try InputBuffer(path: file)
        try input.skipByteOrderMark()
        while try input.fill() {}
        guard let text = String(validating: input.unread, as: UTF8.self) else {
            throw CommandFailure("\(input.name) is not UTF-8 text", status: .usage)
        }
        return text
    }

    func begin() throws(CommandFailure) -> WholeFile? {
        guard let output else { return nil }
        return try WholeFile.toWrite(output, force: replacement.force)
    }

    /// Nil: the default of the destination.
    func chosenFormat() throws(CommandFailure) -> Format? {
        if let format { return format }
        guard let output else { return nil }
        return Format(rawValue: try FileFormat.toWrite(output).rawValue)
    }
}
