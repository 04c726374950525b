import ArchiveQuery
import CBOR

struct QueryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query", abstract: "Finds, sorts and aggregates entries of an archive.",
        discussion: """
            Stages are separated by |, and each processes the rows of the one before: find CONDITION, sort PROPERTY [desc], \
            …, limit N, skip N, select PROPERTY [as NAME], …, distinct PROPERTY, …, group by PROPERTY, … | AGGREGATE, …, or \
            aggregates alone: count, count distinct PROPERTY, sum|avg|min|max|median PROPERTY, percentile PROPERTY N, each \
            optionally as NAME. Without a sort, the most recent entry is first.

            Conditions: =, !=, <, <=, >, >= with a number, "text", true, false, null, a duration (500ms, 5m, 1h30m, 3d), a \
            size (10kB, 2 MiB), a date (2026-01-31, 2026-01-31T09:05:00Z) or another property; in [..]; between A and B; \
            contains, icontains, starts with, ends with, like "a%_", ilike and matches (a regular expression) for texts; \
            has, has any [..], has all [..] for lists; count(LIST) = N; is null, is empty, is null or empty, is not …; and, \
            or, not, parentheses. Properties: name, address.city, tags[0], items[].price (of all elements), "odd name", and \
            calculations with + - * /; metadata: @key @size @created @accessed @idle @age @ttl @expires @hits @tier @owner \
            @rank @type @encoding.

            On a terminal, rows are a table; in a pipe, a line per row with the key and the value as JSON, or the selected \
            columns, separated by tabs: null and an absent property are empty, and an empty text is "". Infinity and NaN are \
            null in JSON, CSV and TSV, and inf, -inf and nan in tables and selected columns. A repeated column name gets a \
            number: if entries have a property key, the column key is the entry's key, and the property is key 2. \
            Exit code 1 if nothing matched.

            Example: vellum query City 'find countrycode = "ID" | sort population desc | limit 10 | select name, population'
            """)

    @OptionGroup var reference: ArchiveReference

    @Argument(help: "The query (default: all entries).")
    var pipeline = ""

    @Flag(
        help:
            "Print one JSON object per line: {\"key\":…,\"value\":…}, or the selected properties and figures."
    )
    var json = false

    @Flag(help: "Print CSV with all properties as columns.")
    var csv = false

    @Flag(help: "With --csv: put an apostrophe before texts that a spreadsheet would execute as formulas.")
    var spreadsheet = false
    @OptionGroup var output: QueryOutput

    @Flag(help: "Print how the query was executed instead of its rows; with --json as one object.")
    var explain = false

    @OptionGroup var reading: ValueReading

    @Option(help: ArgumentHelp("Memory limit, beyond which temporary files are used.", valueName: "size"))
    var memory: ByteCount?

    @Option(help: ArgumentHelp("Limit of temporary files, in TMPDIR or /tmp.", valueName: "size"))
    var temp: ByteCount?

    private var options: QueryOptions {
        var options = QueryOptions()
        options.looksForMistakes = true
        options.memoryLimit =
            memory.map { Int(clamping: $0.bytes) } ?? ProcessLimits.memoryForQuery(options.memoryLimit)
        if let temp { options.temporaryLimit = Int(clamping: temp.bytes) }
        return options
    }

    mutating func validate() throws {
        if csv, json || explain { throw ValidationError("--csv can't be combined with --json or --explain") }
        if spreadsheet, !csv { throw ValidationError("--spreadsheet requires --csv") }
        if output.format != nil, csv || json || explain {
            throw ValidationError("--format can't be combined with --json, --csv or --explain")
        }
        if output.file != nil, !pipeline.isEmpty {
            throw ValidationError("pass the query either on the command line or with --file")
        }
    }

    func run() throws {
        let plan = QueryPlan(try QueryProblem.pipeline(output.text() ?? pipeline))
        if let server = try reference.store.server() {
            let database = try ServerDatabase(server, named: reference.archive)
            let plan = reading.touch ? plan : try database.withoutAccesses(plan)
            return try run(plan, over: try database.query(plan, touches: reading.touch)) { _ in false }
        }
        let archive = try reference.openEntries()
        // A query that reads no values counts entries of lost segments.
        try run(plan, over: archive) { try archive.reportLoss(withSegments: $0.valuesRead == 0) }
    }

    /// `reportLoss` reports entries that may be missing.
    private func run(
        _ plan: QueryPlan, over source: some QuerySource, reportLoss: (QueryReport) throws -> Bool
    ) throws {
        Interruption.collect()
        let whole = try self.output.begin()
        defer { whole?.discard() }
        let output = whole?.output ?? OutputWriter()
        let progress = QueryProgressLine()
        defer { progress.finish() }
        do {
            let report =
                try explain
                ? explain(plan, source, progress, to: output) : print(plan, source, progress, to: output)
            try whole?.finish()
            for warning in report.warnings { Console.warn(warning) }
            let hasLost = try reportLoss(report)
            if report.damaged > 0 || hasLost { throw CommandFailure(nil, status: .storeFailure) }
            if report.rows == 0, !explain { throw CommandFailure(nil, status: .nothing) }
        } catch QueryError.cancelled {
            throw CommandFailure.interrupted
        } catch let error as QueryError {
            throw CommandFailure(Self.words(error), status: error.isWrongQuery ? .usage : .storeFailure)
        } catch let error as QueryFormatError {
            throw CommandFailure(error.description, status: .usage)
        }
    }

    private static func words(_ error: QueryError) -> String {
        switch error {
        case .tooMuchMemory: "\(error) (--memory)"
        case .tooMuchTemporary: "\(error) (--temp)"
        case .noTemporaryFile, .temporaryFileFailed, .invalidPattern, .cancelled: "\(error)"
        }
    }

    private func print(
        _ plan: QueryPlan, _ source: some QuerySource, _ progress: QueryProgressLine, to output: OutputWriter
    ) throws -> QueryReport {
        var options = self.options
        options.progress = progress.update
        let format = json ? .ndjson : csv ? .csv : try self.output.chosenFormat()
        func writer(_ format: QueryFormat) -> any QueryWriter {
            format.writer(
                plan, output, memoryLimit: options.memoryLimit, temporaryLimit: options.temporaryLimit)
        }
        var writer: any QueryWriter =
            switch format {
            case .table: QueryTable(plan, output)
            case .json: writer(.jsonArray)
            case .ndjson: writer(.jsonLines)
            case .csv: writer(.delimited(spreadsheet ? .spreadsheet : .commas))
            case .tsv: writer(.delimited(.tabs))
            case nil where output.isTerminal: QueryTable(plan, output)
            case nil: QueryTabs(plan, hasTextKeys: source is Archive, output)
            }
        var repeating = 0
        let report = try plan.runInPlace(over: source, options: options) { row in
            progress.finish()
            try writer.write(row)
            let items = format == .json || format == .ndjson ? [row.value] + row.columns : []
            if items.contains(where: { $0.map(CBORReader.repeatsName) ?? false }) { repeating += 1 }
            if Interruption.isRequested { throw QueryError.cancelled }
            return true
        }
        progress.finish()
        try writer.finish()
        Console.sayLeftOut((writer as? QueryTable)?.leftOut ?? [])
        if repeating > 0 {
            Console.warn("\(Figures.count(repeating, "row has", "rows have")) an object with duplicate names")
        }
        return report
    }

    private func explain(
        _ plan: QueryPlan, _ source: some QuerySource, _ progress: QueryProgressLine, to output: OutputWriter
    ) throws -> QueryReport {
        var options = self.options
        options.measuresStages = true
        options.progress = progress.update
        let report = try plan.run(over: source, options: options) { _ in true }
        progress.finish()
        let explanation = QueryExplanation(plan, report)
        if json {
            try explanation.json.writeLine(to: output)
        } else {
            try output.write(explanation.lines.joined(separator: "\n") + "\n")
        }
        try output.flush()
        return report
    }
}

/// Progress of a query on a terminal; stops the query on a signal. For one thread.
private final class QueryProgressLine {
    private var bar = ProgressBar()
    /// Short queries, and queries whose rows are printed to the terminal, show no progress.
    private var isOver = false

    func update(_ progress: QueryProgress) -> Bool {
        if !isOver {
            bar.update(
                done: UInt64(progress.visited), total: UInt64(progress.total), entries: progress.visited)
        }
        return !Interruption.isRequested
    }

    func finish() {
        guard !isOver else { return }
        isOver = true
        bar.finish()
    }
}
