/// The stages of a query for one cursor: all, or the first ones for a part. Used by one thread at a time.
final class QueryChain {
    let plan: QueryPlan
    let cursor: any QueryCursor
    let reader: RowReader
    let diagnostics: QueryDiagnostics
    let names: PropertyNames
    let pool: QueryResources
    /// The stages in order, followed by the receiver of their rows.
    private(set) var sinks: [RowSink]

    /// Stages up to `end`, or all; `last` receives their rows. `testsAll`: see ``RowReader/testsAll``.
    init(
        _ plan: QueryPlan, _ cursor: any QueryCursor, options: QueryOptions, memory: MemoryBudget,
        diagnostics: QueryDiagnostics = QueryDiagnostics(), through end: Int? = nil, testsAll: Bool = false,
        into last: RowSink
    ) throws {
        self.plan = plan
        self.cursor = cursor
        let (shapes, names) = Self.shapes(
            of: plan.pipeline.stages, storingNumbersAsText: cursor.storesNumbersAsText)
        self.names = names
        if let output = last as? OutputSink, let shape = shapes.last { output.setKeys(shape, cursor) }
        self.diagnostics = diagnostics
        reader = RowReader(
            cursor, names: names, now: options.now, mostBytes: options.mostOfValue, testsAll: testsAll)
        let secondReader = RowReader(
            cursor, names: names, now: options.now, mostBytes: options.mostOfValue)
        // Rows that are read again were counted before.
        secondReader.countsFailures = false
        pool = QueryResources(
            reader: reader, secondReader: secondReader, memory: memory,
            temporary: TemporaryBudget(limit: options.temporaryLimit),
            check: Self.check(cursor, reader, options))
        sinks = []
        let end = end ?? plan.pipeline.stages.count
        if options.looksForMistakes, end == plan.pipeline.stages.count {
            Self.noteMissingColumns(plan.pipeline.stages, shapes, diagnostics)
        }
        let forms = Self.keptForms(of: plan, shapes, names)
        var next = last
        for place in (0..<end).reversed() {
            sinks.append(next)
            next = try sink(at: place, shapes[place], forms[place], next: next)
            next.name = plan.pipeline.stages[place].description
        }
        sinks.append(next)
        sinks.reverse()
        for sink in sinks { sink.isTimed = options.measuresStages }
    }

    /// The input shape of each stage, and the output's. Resolves all properties before the first row.
    static func shapes(
        of stages: [PipelineStage], storingNumbersAsText: Bool = false
    ) -> (shapes: [RowShape], names: PropertyNames) {
        let names = PropertyNames()
        var shape = RowShape(names: names)
        shape.storesNumbersAsText = storingNumbersAsText
        var shapes: [RowShape] = []
        shapes.reserveCapacity(stages.count + 1)
        for stage in stages {
            shapes.append(shape)
            for property in stage.properties { _ = shape.access(to: property) }
            switch stage {
            case .find, .sort, .limit, .skip: continue
            case .select(let columns), .distinct(let columns):
                let hasEntry = if case .select = stage { true } else { false }
                shape = shape.with(
                    columns: columns.map(\.asProperty), from: columns.map(\.property), hasEntry: hasEntry)
            case .aggregate(let figures):
                shape = shape.with(
                    columns: figures.columnProperties, from: figures.map(\.aggregate.extreme), hasEntry: false
                )
            case .group(let columns, let figures):
                shape = shape.with(
                    columns: columns.map(\.asProperty) + figures.columnProperties,
                    from: columns.map(\.property) + figures.map(\.aggregate.extreme), hasEntry: false)
            }
        }
        shapes.append(shape)
        return (shapes, names)
    }

    private static let mostNamed = 50

    /// Warns about properties that an earlier stage has dropped.
    private static func noteMissingColumns(
        _ stages: [PipelineStage], _ shapes: [RowShape], _ diagnostics: QueryDiagnostics
    ) {
        for (stage, shape) in zip(stages, shapes) {
            guard let columns = shape.columns else { continue }
            let names = columns.map(\.columnName)
            let all = columns.prefix(mostNamed).map(\.description) + (columns.count > mostNamed ? ["…"] : [])
            // A calculated column has no missing parts if it is requested as a whole.
            let asked = stage.askedProperties.filter { property in
                switch shape.access(to: property) {
                case .column, .keyColumn: false
                default: true
                }
            }
            for property in asked.flatMap(\.sources) {
                guard case .nothing = shape.access(to: property) else { continue }
                let near = NameGuess.nearest(to: property.columnName, among: names)
                let advice = near.flatMap(names.firstIndex).map { "; did you mean \(columns[$0])?" } ?? ""
                diagnostics.warn(
                    "\(stage): there is no \(property) after the previous stage, only \(all.joined(separator: ", "))\(advice)"
                )
            }
        }
    }

    private func sink(
        at place: Int, _ shape: RowShape, _ form: KeptForm, next: RowSink
    ) throws -> RowSink {
        var shape = shape
        shape.diagnostics = diagnostics
        func accesses(_ columns: [QueryColumn], _ stage: String) -> [RowShape.Access] {
            columns.map { shape.counting(shape.access(to: $0.property), $0.property, stage: stage) }
        }
        func figures(_ figures: [QueryFigure]) -> [FigureQuestion] {
            figures.map { FigureQuestion($0.aggregate, shape, diagnostics) }
        }
        switch plan.pipeline.stages[place] {
        case .find(let predicate):
            let condition = try predicate.condition(shape, diagnostics)
            return FindStage(condition, diagnostics.undecided(predicate.description), next: next)
        case .limit(let count): return RangeStage(limit: count, next: next)
        case .skip(let count): return RangeStage(skipping: count, next: next)
        case .sort(let keys):
            return SortStage(
                keys.map {
                    let access = shape.numericAccess(to: $0.property)
                    return RowSorter.Key(
                        access: shape.counting(access, $0.property, stage: "sort"),
                        isDescending: $0.isDescending)
                },
                keys.map { diagnostics.counter($0.property, wanting: [], "sort \($0)", .sorted) },
                most: mostRows(behind: place), isByRecency: comesInAnyOrder(at: place), form: form,
                pool: pool, next: next)
        case .select(let columns): return SelectStage(accesses(columns, "select"), next: next)
        case .distinct(let columns):
            return DistinctStage(accesses(columns, "distinct"), pool: pool, next: next)
        case .aggregate(let wanted):
            return AggregateStage(figures(wanted), reader: reader, budget: pool.memory, next: next)
        case .group(let columns, let wanted):
            return GroupStage(
                by: accesses(columns, "group by"), figures(wanted), form: form, pool: pool, next: next)
        }
    }

    /// The kept form of the rows before the stage at `place`, or after the last one.
    static func form(of plan: QueryPlan, at place: Int) -> KeptForm {
        let (shapes, names) = shapes(of: plan.pipeline.stages)
        guard place < plan.pipeline.stages.count else { return plan.columns == nil ? .value : .columns }
        return keptForms(of: plan, shapes, names)[place]
    }

    /// The form in which each stage keeps rows: only properties used from here to the next columns. One pass from the end.
    private static func keptForms(
        of plan: QueryPlan, _ shapes: [RowShape], _ names: PropertyNames
    ) -> [KeptForm] {
        var forms: [KeptForm] = []
        var form = KeptForm.value
        var known: Set<Int>?
        for (stage, shape) in zip(plan.pipeline.stages, shapes).reversed() {
            let before = stage.makesColumns ? nil : known
            if stage.makesColumns { known = [] }
            for case .path(let steps) in known == nil ? [] : stage.properties {
                if case .name(let name)? = steps.first { known?.insert(names.index(of: name)) }
            }
            // Consecutive stages share a list.
            if let known, known.count != before?.count { form = .properties(Array(known)) }
            forms.append(shape.columns != nil ? .columns : form)
        }
        return forms.reversed()
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

    /// Whether a sort gets rows in storage order, and so must break ties by recency.
    private func comesInAnyOrder(at place: Int) -> Bool {
        guard plan.order == .storage, plan.keys == nil else { return false }
        return plan.pipeline.stages[..<place].allSatisfy(\.isOfSingleRows)
    }

    /// Reports progress, and throws if the query is to end.
    private static func check(
        _ cursor: any QueryCursor, _ reader: RowReader, _ options: QueryOptions
    ) -> () throws -> Void {
        {
            let state = QueryProgress(
                visited: cursor.visited, total: cursor.count, rows: 0, bytesRead: reader.bytesRead)
            if options.progress?(state) == false { throw QueryError.cancelled }
        }
    }
}
