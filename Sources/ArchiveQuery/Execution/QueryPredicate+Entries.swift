extension QueryPredicate {
    /// Calls `body` with the metadata of each matching entry, the most recent first, until it returns false. Leaves no trace, and
    /// copies no values. The report counts entries that couldn't be queried: check it before changing anything.
    /// - Throws: ``QueryError``; what the source throws or `body` does.
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
