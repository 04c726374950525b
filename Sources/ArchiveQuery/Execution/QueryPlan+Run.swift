import CBOR
import StorageEngine

extension QueryPlan {
    /// Runs the query. Calls `body` with each row as soon as it is known, until `body` returns false. A query
    /// doesn't change recency or hits, and blocks no other process.
    ///
    /// Cost: for each entry about the time to verify its checksum. Memory: up to ``QueryOptions/memoryLimit``, and
    /// 16 bytes per entry (briefly 40 if entries are read by recency).
    ///
    /// - Throws: ``QueryError``; errors of the source (for an archive, ``StorageError``); errors of `body`.
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
            var report = try QueryExecution(self, cursor, options: options, body: body).run()
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
    private let patience = SearchPatience()
    private let budget: MemoryBudget
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
        budget = MemoryBudget(limit: options.memoryLimit)
        let (shapes, names) = Self.shapes(of: plan.pipeline.stages)
        reader = RowReader(cursor, names: names.all, now: options.now)
        output = OutputSink(
            hasColumns: plan.columns != nil, isTimed: options.measuresStages, body: body)
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
            case .select(let properties): shape = shape.with(columns: properties, hasEntry: true)
            case .distinct(let property): shape = shape.with(columns: [property], hasEntry: false)
            case .aggregate(let figures):
                shape = shape.with(columns: figures.columnProperties, hasEntry: false)
            case .group(let property, let figures):
                shape = shape.with(columns: [property] + figures.columnProperties, hasEntry: false)
            }
        }
        return (shapes, names)
    }

    private func sink(at place: Int, _ shape: RowShape, next: RowSink) throws -> RowSink {
        let stage = plan.pipeline.stages[place]
        let name = stage.description
        let isTimed = options.measuresStages
        func figures(_ figures: [QueryAggregate]) -> [(QueryAggregate, RowShape.Access)] {
            figures.map { ($0, $0.property.map(shape.access) ?? .nothing) }
        }
        switch stage {
        case .find(let predicate):
            let condition = try predicate.condition(shape, patience: patience)
            return FindStage(condition, name: name, isTimed: isTimed, next: next)
        case .limit(let count):
            return RangeStage(skipping: 0, limit: count, name: name, isTimed: isTimed, next: next)
        case .skip(let count):
            return RangeStage(skipping: count, limit: .max, name: name, isTimed: isTimed, next: next)
        case .sort(let keys):
            return SortStage(
                keys.map {
                    SortStage.Key(access: shape.access(to: $0.property), isDescending: $0.isDescending)
                },
                most: mostRows(behind: place), isByRecency: comesInAnyOrder(at: place),
                hasColumns: shape.columns != nil, reader: reader, budget: budget, name: name,
                isTimed: isTimed, next: next)
        case .select(let properties):
            return SelectStage(properties.map(shape.access), name: name, isTimed: isTimed, next: next)
        case .distinct(let property):
            return DistinctStage(
                shape.access(to: property), budget: budget, name: name, isTimed: isTimed, next: next)
        case .aggregate(let wanted):
            return AggregateStage(figures(wanted), reader: reader, name: name, isTimed: isTimed, next: next)
        case .group(let property, let wanted):
            return GroupStage(
                by: shape.access(to: property), figures(wanted), reader: reader, budget: budget, name: name,
                isTimed: isTimed, next: next)
        }
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
        report.memory = budget.peak
        report.givenUp = patience.givenUp
        if let warning = patience.warning { report.warnings.append(warning) }
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
