/// One step of a query over objects: it finds, sorts, limits or skips the results of the step before.
///
/// Steps are made with a ``QueryBuilder``, or one by one for ``Archivist/process(queries:)``:
///
/// ```swift
/// let oldest = archives.process(queries: [
///     .find { $0.userName(.contains("premium")) },
///     .sort { $0.age(.descending) },
///     .limit(by: 10),
/// ])
/// ```
public struct Query<Result> {
    package enum Step {
        case find([QueryCondition<Result>])
        case sort([SortOrder<Result>])
        case limit(QueryLimiter)
        case skip(Int)
    }

    package let step: Step

    /// Keeps the objects that meet all conditions, in their order.
    public static func find(_ conditions: (QueryFinder<Result>) -> QueryFinder<Result>) -> Query {
        Query(step: .find(conditions(QueryFinder()).conditions))
    }

    /// Sorts by the first order, then by the second, and so on. The sort is stable.
    public static func sort(_ orders: (QuerySorter<Result>) -> QuerySorter<Result>) -> Query {
        Query(step: .sort(orders(QuerySorter()).orders))
    }

    /// Keeps the first objects, at most this many; a negative limit is 0.
    public static func limit(by limit: Int) -> Query { Query(step: .limit(QueryLimiter(limit: limit))) }

    /// Skips this many objects; a negative number is 0.
    public static func skip(by count: Int) -> Query { Query(step: .skip(max(0, count))) }

    /// Keeps the objects that meet the conditions: `.where(\.age >= 18 && \.nick != nil)`.
    public static func `where`(_ conditions: QueryFinder<Result>) -> Query {
        Query(step: .find(conditions.conditions))
    }
}

/// Keeps the first results of the step before.
public struct QueryLimiter: Sendable, Hashable {
    /// Maximum number of objects, 0 or more.
    public let limit: Int

    /// A negative limit is 0.
    public init(limit: Int) { self.limit = max(0, limit) }
}
