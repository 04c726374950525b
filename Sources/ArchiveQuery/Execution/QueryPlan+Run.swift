import CBOR
import StorageEngine

extension QueryPlan {
    /// Runs the query. Calls `body` with each row as soon as it is known, until `body` returns false. A query
    /// doesn't change recency or hits, and blocks no other process.
    ///
    /// Cost: for each entry about the time to verify its checksum. Memory: up to ``QueryOptions/memoryLimit``, and
    /// 16 bytes per entry (briefly 40 if entries are read by recency).
    ///
    /// - Throws: ``QueryError``; errors of the source (for an archive, `StorageError`); errors of `body`.
    @discardableResult
    public func run(
        over source: some QuerySource, options: QueryOptions = QueryOptions(),
        _ body: (QueryRow) throws -> Bool
    ) throws -> QueryReport {
        try withoutActuallyEscaping(body) { body in
            let clock = ContinuousClock()
            let start = clock.now
            let cursor = try keys.map(source.cursor(forKeys:)) ?? source.cursor(in: order)
            let preparation = start.duration(to: clock.now)
            let execution = try QueryExecution(self, cursor, options: options, body: body)
            var report = try execution.run()
            if options.looksForMistakes, keys == nil, report.valuesRead > 0 {
                report.warnings += try execution.missingProperties.lines(of: source, options)
            }
            report.preparation = preparation
            report.duration = start.duration(to: clock.now)
            return report
        }
    }

    /// Runs the query and returns all rows. Memory grows with the result.
    public func rows(
        of source: some QuerySource, options: QueryOptions = QueryOptions()
    ) throws -> (rows: [QueryRow], report: QueryReport) {
        var rows: [QueryRow] = []
        let report = try run(over: source, options: options) {
            rows.append($0)
            return true
        }
        return (rows, report)
    }
}

/// A single run of a plan. Not thread-safe.
private final class QueryExecution {
    private let plan: QueryPlan
    private let cursor: any QueryCursor
    private let options: QueryOptions
    private let answers = QueryAnswers()
    private let names: PropertyNames
    private let room: QueryRoom
    private let reader: RowReader
    private let output: OutputSink
    /// The stages in order, followed by the output.
    private var sinks: [RowSink]

    init(
        _ plan: QueryPlan, _ cursor: any QueryCursor, options: QueryOptions,
        body: @escaping (QueryRow) throws -> Bool
    ) throws {
        self.plan = plan
        self.cursor = cursor
        self.options = options
        let (shapes, names) = Self.shapes(of: plan.pipeline.stages)
        self.names = names
        reader = RowReader(cursor, names: names, now: options.now)
        room = QueryRoom(
            reader: reader, secondReader: RowReader(cursor, names: names, now: options.now), options: options,
            check: Self.check(cursor, reader, options))
        output = OutputSink(
            hasColumns: plan.columns != nil, isTimed: options.measuresStages, body: body)
        if options.looksForMistakes { Self.noteMissingColumns(plan.pipeline.stages, shapes, answers) }
        sinks = [output]
        for place in plan.pipeline.stages.indices.reversed() {
            sinks.insert(try sink(at: place, shapes[place], next: sinks[0]), at: 0)
        }
    }

    /// The input shape of each stage. Resolves all properties, so that their names are known before the first row.
    private static func shapes(of stages: [PipelineStage]) -> ([RowShape], PropertyNames) {
        let names = PropertyNames()
        var shape = RowShape(names: names)
        var shapes: [RowShape] = []
        for stage in stages {
            shapes.append(shape)
            for property in stage.properties { _ = shape.access(to: property) }
            switch stage {
            case .find, .sort, .limit, .skip: continue
            case .select(let columns): shape = shape.with(columns: columns.map(\.asProperty), hasEntry: true)
            case .distinct(let columns):
                shape = shape.with(columns: columns.map(\.asProperty), hasEntry: false)
            case .aggregate(let figures):
                shape = shape.with(columns: figures.columnProperties, hasEntry: false)
            case .group(let columns, let figures):
                shape = shape.with(
                    columns: columns.map(\.asProperty) + figures.columnProperties, hasEntry: false)
            }
        }
        return (shapes, names)
    }

    /// Warns about properties that an earlier stage has left out.
    private static func noteMissingColumns(
        _ stages: [PipelineStage], _ shapes: [RowShape], _ answers: QueryAnswers
    ) {
        for (stage, shape) in zip(stages, shapes) {
            guard let columns = shape.columns?.map(\.columnName) else { continue }
            for property in stage.properties {
                guard case .nothing = shape.access(to: property) else { continue }
                let near = NameGuess.nearest(to: property.columnName, among: columns)
                let advice = near.map { "; did you mean \($0)?" } ?? ""
                answers.warn(
                    "\(stage): there is no \(property) any more, only " + columns.joined(separator: ", ")
                        + advice)
            }
        }
    }

    /// The properties that no visited value had.
    var missingProperties: MissingProperties {
        MissingProperties(
            plan.pipeline, names,
            unseen: names.wholes.sorted().filter { !reader.hasSeen(name: $0) }.map { .named(names.all[$0]) }
                + names.ways.indices.filter { !reader.hasSeen(way: $0) }.map { names.ways[$0] })
    }

    private func sink(at place: Int, _ shape: RowShape, next: RowSink) throws -> RowSink {
        let stage = plan.pipeline.stages[place]
        let name = stage.description
        let isTimed = options.measuresStages
        func figures(_ figures: [QueryFigure]) -> [FigureQuestion] {
            figures.map { FigureQuestion($0.aggregate, shape, answers) }
        }
        switch stage {
        case .find(let predicate):
            let condition = try predicate.condition(shape, answers)
            return FindStage(condition, name: name, isTimed: isTimed, next: next)
        case .limit(let count):
            return RangeStage(skipping: 0, limit: count, name: name, isTimed: isTimed, next: next)
        case .skip(let count):
            return RangeStage(skipping: count, limit: .max, name: name, isTimed: isTimed, next: next)
        case .sort(let keys):
            return SortStage(
                keys.map {
                    RowSorter.Key(access: shape.access(to: $0.property), isDescending: $0.isDescending)
                },
                most: mostRows(behind: place), isByRecency: comesInAnyOrder(at: place),
                form: keptForm(at: place, shape), room: room, name: name, isTimed: isTimed, next: next)
        case .select(let columns):
            return SelectStage(
                columns.map { shape.access(to: $0.property) }, name: name, isTimed: isTimed, next: next)
        case .distinct(let columns):
            return DistinctStage(
                columns.map { shape.access(to: $0.property) }, room: room, name: name, isTimed: isTimed,
                next: next)
        case .aggregate(let wanted):
            return AggregateStage(
                figures(wanted), reader: reader, budget: room.memory, name: name, isTimed: isTimed, next: next
            )
        case .group(let columns, let wanted):
            return GroupStage(
                by: columns.map { shape.access(to: $0.property) }, figures(wanted),
                form: keptForm(at: place, shape), room: room, name: name, isTimed: isTimed, next: next)
        }
    }

    /// What a stage keeps of rows: of their values only what this stage and the later ones use.
    private func keptForm(at place: Int, _ shape: RowShape) -> KeptForm {
        if shape.columns != nil { return .columns }
        var asked: [QueryProperty] = []
        for stage in plan.pipeline.stages[place...] {
            asked += stage.properties
            guard stage.makesColumns else { continue }
            let numbers = asked.compactMap { property -> Int? in
                guard case .path(let steps) = property, case .name(let name)? = steps.first else {
                    return nil
                }
                return names.index(of: name)
            }
            return .properties(Array(Set(numbers)))
        }
        return .value
    }

    /// The most rows that the stages after a sort can use, by their skips and limits.
    private func mostRows(behind place: Int) -> Int {
        var skipped = 0
        for stage in plan.pipeline.stages[(place + 1)...] {
            switch stage {
            case .skip(let count):
                let (sum, isTooMuch) = skipped.addingReportingOverflow(max(0, count))
                skipped = isTooMuch ? .max : sum
            case .limit(let count):
                let (sum, isTooMuch) = skipped.addingReportingOverflow(max(0, count))
                return isTooMuch ? .max : sum
            case .select: continue
            case .find, .sort, .distinct, .aggregate, .group: return .max
            }
        }
        return .max
    }

    /// Whether a sort gets rows in storage order, and so has to break ties by recency itself.
    private func comesInAnyOrder(at place: Int) -> Bool {
        guard plan.order == .storage, plan.keys == nil else { return false }
        return plan.pipeline.stages[..<place].allSatisfy {
            switch $0 {
            case .find, .select: true
            default: false
            }
        }
    }

    // MARK: Running

    func run() throws -> QueryReport {
        try goThroughEntries()
        try sinks[0].end()
        return report(visited: cursor.visited)
    }

    private func goThroughEntries() throws {
        let first = sinks[0]
        let isToTell = options.progress != nil
        var count = 0
        var told = ContinuousClock.now
        while try cursor.advance() {
            reader.next()
            guard try first.push(reader) else { return }
            guard isToTell else { continue }
            count += 1
            // Also by time, because a regular expression may take a tenth of a second for one text.
            guard count & 7 == 0, count % 1000 == 0 || told.duration(to: .now) > .milliseconds(50) else {
                continue
            }
            told = .now
            try tell()
        }
    }

    /// A closure that reports progress, and throws if the query is to end.
    private static func check(
        _ cursor: any QueryCursor, _ reader: RowReader, _ options: QueryOptions
    ) -> () throws -> Void {
        {
            let state = QueryProgress(
                visited: cursor.visited, total: cursor.count, rows: 0, bytesRead: reader.bytesRead)
            if options.progress?(state) == false { throw QueryError.cancelled }
        }
    }

    private func tell() throws {
        guard let progress = options.progress else { return }
        let state = QueryProgress(
            visited: cursor.visited, total: cursor.count, rows: output.rows, bytesRead: reader.bytesRead)
        guard progress(state) else { throw QueryError.cancelled }
    }

    private func report(visited: Int) -> QueryReport {
        var report = QueryReport()
        report.rows = output.rows
        report.visited = visited
        report.valuesRead = reader.valuesRead
        report.bytesRead = reader.bytesRead
        report.unreadable = reader.unreadable
        report.damaged = reader.damaged
        report.transcoded = reader.transcoded
        report.memory = room.memory.peak
        report.temporary = room.temporary.peak
        report.givenUp = answers.patience.givenUp
        report.warnings = answers.warnings
        if reader.damaged > 0 {
            report.warnings.append(
                "\(reader.damaged) entr\(reader.damaged == 1 ? "y is" : "ies are") damaged: what is in "
                    + (reader.damaged == 1 ? "it" : "them") + " could not be queried; a check tells where")
        }
        let invalid = reader.unreadable - reader.damaged - reader.oversized
        if invalid > 0 {
            report.warnings.append(
                "\(invalid) value\(invalid == 1 ? " is" : "s are") not what the encoding says, and matched nothing"
            )
        }
        if reader.inMemoryOnly > 0 {
            report.warnings.append(
                "\(reader.inMemoryOnly) entr\(reader.inMemoryOnly == 1 ? "y is" : "ies are") in the memory of a process only: their "
                    + "values could not be queried")
        }
        if reader.oversized > 0 {
            report.warnings.append(
                "\(reader.oversized) property list\(reader.oversized == 1 ? "" : "s") could not be queried: nested too deeply, of "
                    + "too many parts, or made to expand to many times its size")
        }
        for (sink, next) in zip(sinks, sinks.dropFirst()) {
            report.stages.append(
                QueryReport.Stage(
                    text: sink.name, rowsIn: sink.rowsIn, rowsOut: next.rowsIn,
                    duration: options.measuresStages
                        ? .nanoseconds(Int64(sink.nanoseconds &- min(sink.nanoseconds, next.nanoseconds)))
                        : nil))
        }
        return report
    }
}
