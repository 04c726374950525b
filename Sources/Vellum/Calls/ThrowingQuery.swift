/// A query with throwing results: `try users.throwing.findWhere { $0.age(.less(than: 30)) }.getResults()`. Otherwise
/// like a ``QueryBuilder``.
public struct ThrowingQuery<Object: Archivable>: QueryComposing {
    let handle: ArchiveHandle<Object>
    /// The steps so far.
    public let queries: [Query<Object>]

    /// The same with another step.
    public func adding(_ query: Query<Object>) -> ThrowingQuery {
        ThrowingQuery(handle: handle, queries: queries + [query])
    }

    /// As ``QueryBuilder/getResults()``.
    public func getResults() throws -> [Object] { try handle.perform { try $0.process(queries) } }

    /// As ``QueryBuilder/firstResult()``.
    public func firstResult() throws -> Object? { try limitResults(by: 1).getResults().first }

    /// As ``QueryBuilder/lastResult()``.
    public func lastResult() throws -> Object? { try getResults().last }

    /// As ``QueryBuilder/count()``.
    public func count() throws -> Int { try handle.perform { try $0.seen(by: queries).count } }

    /// As ``QueryBuilder/deleteResults()``.
    @discardableResult
    public func deleteResults() throws -> Int { try handle.perform { try $0.deleteResults(of: queries) } }

    /// How the query is carried out.
    public func explain() throws -> QueryExplanation {
        try handle.perform { try $0.explanation(of: queries) }
    }
}

extension ThrowingArchives: QueryComposing {
    /// Begins a query.
    public func adding(_ query: Query<Object>) -> ThrowingQuery<Object> {
        ThrowingQuery(handle: handle, queries: [query])
    }
}
