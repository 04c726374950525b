extension QueryPredicate {
    /// Calls `body` with the metadata of each matching entry, most recent first, until it returns false, without access records
    /// and copies of values. The report counts entries that couldn't be queried: check it before changing anything.
    /// - Throws: ``QueryError``; errors of the source and of `body`.
    @discardableResult
    package func forEachEntry(
        of source: some QuerySource, options: QueryOptions = QueryOptions(),
        _ body: (EntryFacts) throws -> Bool
    ) throws -> QueryReport {
        // An empty selection yields the entries without their values.
        try QueryPlan(QueryPipeline([.find(self), .select([])])).run(over: source, options: options) { row in
            try row.entry.map(body) ?? true
        }
    }
}
