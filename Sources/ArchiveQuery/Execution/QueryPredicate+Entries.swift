extension QueryPredicate {
    /// Calls `body` with what is known of each entry that meets the condition, the most recent first, until it returns false:
    /// what a removal, a change of deadlines or an export is to be about. Leaves no trace, and copies no values.
    ///
    /// The report tells of entries that couldn't be asked; whoever changes something on its word has to look at that first.
    /// - Throws: ``QueryError``; what the source throws or `body` does.
    @discardableResult
    package func forEachEntry(
        of source: some QuerySource, options: QueryOptions = QueryOptions(),
        _ body: (EntryFacts) throws -> Bool
    ) throws -> QueryReport {
        // Without columns, rows are the entries alone.
        try QueryPlan(QueryPipeline([.find(self), .select([])])).run(over: source, options: options) { row in
            try row.entry.map(body) ?? true
        }
    }
}
