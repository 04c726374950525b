/// A query of an archive that is being put together, step by step. Nothing is read before the results are asked for.
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
/// The steps are executed one after the other as they are written: a limit before a find finds only among the
/// objects that the limit has left. Without a sort the most recent objects come first.
public struct QueryBuilder<Queriable: Archivist>: QueryComposing {
    /// What is asked for.
    public typealias Archive = Queriable.Archive

    let archives: Queriable
    /// The steps so far.
    public let queries: [Query<Archive>]

    init(archives: Queriable, queries: [Query<Archive>] = []) {
        self.archives = archives
        self.queries = queries
    }

    /// The same with another step.
    public func adding(_ query: Query<Archive>) -> QueryBuilder {
        QueryBuilder(archives: archives, queries: queries + [query])
    }

    /// What the steps leave of all objects of the archive. Counts as an access of each of the results.
    public func getResults() -> [Archive] {
        archives.process(queries: queries)
    }

    /// The first of the results; no further one is looked for. `nil` if there are none.
    public func firstResult() -> Archive? {
        limitResults(by: 1).getResults().first
    }

    /// The last of the results, all of which it makes. `nil` if there are none.
    public func lastResult() -> Archive? {
        getResults().last
    }

    /// How many results there are. Looks at what the query looks at; counts as an access of none.
    public func count() -> Int { archives.countResults(of: queries) }

    /// Deletes the results, and returns how many that were. Counts as an access of none; one that is stored anew after it
    /// was found stays.
    @discardableResult
    public func deleteResults() -> Int { archives.deleteResults(of: queries) }
}

extension Archivist {
    /// Begins a query that keeps the objects that meet all conditions.
    public func findWhere(_ conditions: (QueryFinder<Archive>) -> QueryFinder<Archive>) -> QueryBuilder<Self>
    {
        QueryBuilder(archives: self).findWhere(conditions)
    }

    /// Begins a query that keeps the objects that meet the conditions: `where(\.age >= 18 && \.nick != nil)`.
    public func `where`(_ conditions: QueryFinder<Archive>) -> QueryBuilder<Self> {
        QueryBuilder(archives: self).where(conditions)
    }

    /// Begins a query that keeps the objects whose property meets the finder.
    public func `where`<Property>(
        _ path: KeyPath<Archive, Property>, _ finder: PropertyFinder<Property, Property>
    ) -> QueryBuilder<Self> {
        QueryBuilder(archives: self).where(path, finder)
    }

    /// The same for an optional property.
    public func `where`<Wrapped>(
        _ path: KeyPath<Archive, Wrapped?>, _ finder: PropertyFinder<Wrapped?, Wrapped>
    ) -> QueryBuilder<Self> {
        QueryBuilder(archives: self).where(path, finder)
    }

    /// Begins a query that sorts all objects.
    public func sorted(_ orders: (QuerySorter<Archive>) -> QuerySorter<Archive>) -> QueryBuilder<Self> {
        QueryBuilder(archives: self).sorted(orders)
    }

    /// Begins a query with the most recent objects, at most this many; a negative limit is 0.
    public func limitResults(by limit: Int) -> QueryBuilder<Self> {
        QueryBuilder(archives: self).limitResults(by: limit)
    }

    /// Begins a query without the most recent objects, this many; a negative number is 0.
    public func skipResults(by count: Int) -> QueryBuilder<Self> {
        QueryBuilder(archives: self).skipResults(by: count)
    }
}
