extension QueryPlan {
    /// Runs the query. Calls `body` with each row as soon as it is known, until `body` returns false. Changes neither recency
    /// nor hits, and blocks no other process.
    ///
    /// Cost: about the time to verify the checksum of each entry. Memory: up to ``QueryOptions/memoryLimit``, and 16 bytes per
    /// entry (briefly 40 if entries are read by recency).
    ///
    /// - Throws: ``QueryError``; errors of the source (for an archive, `StorageError`); `StorageError.limitReached` if the
    ///   address space of this process is too small; errors of `body`.
    @discardableResult
    public func run(
        over source: some QuerySource, options: QueryOptions = QueryOptions(),
        _ body: (QueryRow) throws -> Bool
    ) throws -> QueryReport {
        try runInPlace(over: source, options: options) { try body($0.kept) }
    }

    /// Like ``run(over:options:_:)`` without a copy of the rows.
    package func runInPlace(
        over source: some QuerySource, options: QueryOptions = QueryOptions(),
        _ body: (PassingRow) throws -> Bool
    ) throws -> QueryReport {
        try QueryClock.$running.withValue(QueryClock(now: options.now, zone: options.timeZone)) {
            try withoutActuallyEscaping(body) { try run(over: source, options, $0) }
        }
    }

    private func run(
        over source: some QuerySource, _ options: QueryOptions, _ body: @escaping (PassingRow) throws -> Bool
    ) throws -> QueryReport {
        let clock = ContinuousClock()
        let start = clock.now
        let cursor = try keys.map(source.cursor(forKeys:)) ?? source.cursor(in: order)
        let preparation = start.duration(to: clock.now)
        let execution = try QueryExecution(self, cursor, options: options, body: body)
        var report = try execution.run(over: source)
        report.dates = QueryClock.running?.dates ?? []
        if options.looksForMistakes, keys == nil || options.looksBeyondKeys, report.valuesRead > 0 {
            report.warnings += try execution.missingProperties.lines(of: source, options)
        }
        report.preparation = preparation
        report.duration = start.duration(to: clock.now)
        return report
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
