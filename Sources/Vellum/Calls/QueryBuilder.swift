/// Builds a query of an archive, step by step. Nothing is read until the results are requested.
///
/// ```swift
/// let results = userCache.findWhere { archive in
///     archive.userName(.contains("premium"))
///         .fullName(.isNotEqual(nil))
/// }
/// .sorted { by in
///     by.age(.ascending)
/// }
/// .limitResults(by: 10)
/// .getResults()
/// ```
///
/// The steps run in the order in which they are written: a find after a limit searches only the limited objects.
/// Without a sort the most recent objects come first.
public struct QueryBuilder<Queriable: Archivist>: QueryComposing {
    /// The type of the objects.
    public typealias Object = Queriable.Object

    let archives: Queriable
    /// The steps so far.
    public let queries: [Query<Object>]

    init(archives: Queriable, queries: [Query<Object>] = []) {
        self.archives = archives
        self.queries = queries
    }

    /// The same with another step.
    public func adding(_ query: Query<Object>) -> QueryBuilder {
        QueryBuilder(archives: archives, queries: queries + [query])
    }

    /// Runs the query. Counts as an access of each result.
    public func getResults() -> [Object] { archives.process(queries: queries) }

    /// The first result, without searching for others; `nil`: no results.
    public func firstResult() -> Object? { limitResults(by: 1).getResults().first }

    /// The last result; `nil`: no results. Builds all results.
    public func lastResult() -> Object? { getResults().last }

    /// The number of results. Costs as much as the query, and doesn't count as an access.
    public func count() -> Int { archives.countResults(of: queries) }

    /// Deletes the results and returns their number. Doesn't count as an access. Objects stored again since they were
    /// found stay.
    @discardableResult
    public func deleteResults() -> Int { archives.deleteResults(of: queries) }
}

extension QueryBuilder {
    /// How the query is carried out. `nil`, and logged, if the archive can't be read.
    public func explain<Object>() -> QueryExplanation? where Queriable == ArchiveManager<Object> {
        archives.attempt("explain a query", else: nil) { try $0.explanation(of: queries) }
    }
}

extension Archivist {
    /// Begins a query that keeps the objects that meet all conditions.
    public func findWhere(_ conditions: (QueryFinder<Object>) -> QueryFinder<Object>) -> QueryBuilder<Self> {
        QueryBuilder(archives: self).findWhere(conditions)
    }

    /// Begins a query that keeps the objects that meet the conditions: `where(\.age >= 18 && \.nick != nil)`.
    public func `where`(_ conditions: QueryFinder<Object>) -> QueryBuilder<Self> {
        QueryBuilder(archives: self).where(conditions)
    }

    /// Begins a query that keeps the objects whose property matches the finder.
    public func `where`<Property>(
        _ path: KeyPath<Object, Property>, _ finder: PropertyFinder<Property, Property>
    ) -> QueryBuilder<Self> {
        QueryBuilder(archives: self).where(path, finder)
    }

    /// The same for an optional property.
    public func `where`<Wrapped>(
        _ path: KeyPath<Object, Wrapped?>, _ finder: PropertyFinder<Wrapped?, Wrapped>
    ) -> QueryBuilder<Self> {
        QueryBuilder(archives: self).where(path, finder)
    }

    /// Begins a query that sorts all objects.
    public func sorted(_ orders: (QuerySorter<Object>) -> QuerySorter<Object>) -> QueryBuilder<Self> {
        QueryBuilder(archives: self).sorted(orders)
    }

    /// Begins a query of the most recent objects, at most this many; a negative limit is 0.
    public func limitResults(by limit: Int) -> QueryBuilder<Self> {
        QueryBuilder(archives: self).limitResults(by: limit)
    }

    /// Begins a query that skips this many of the most recent objects; a negative number is 0.
    public func skipResults(by count: Int) -> QueryBuilder<Self> {
        QueryBuilder(archives: self).skipResults(by: count)
    }
}
