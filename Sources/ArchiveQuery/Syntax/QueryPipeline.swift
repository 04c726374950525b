/// Sendable value type; safe to use from any thread. What is asked of an archive: stages, each working on the rows that
/// the one before has left. Without stages it is all entries, the most recent first.
///
/// The text of a pipeline is read with ``parse(_:)`` and written by ``description``.
public struct QueryPipeline: Sendable, Hashable {
    public var stages: [PipelineStage]

    public init(_ stages: [PipelineStage] = []) {
        self.stages = stages
    }
}

/// One step of a pipeline.
public enum PipelineStage: Sendable, Hashable {
    /// Keeps the rows that meet the condition.
    case find(QueryPredicate)
    /// Sorts by the first key, where that finds no difference by the second, and so on. What no key tells apart keeps
    /// its place; rows without the property come last in both directions.
    case sort([QuerySortKey])
    /// Keeps the first rows, at most this many; a negative number is 0.
    case limit(Int)
    /// Leaves out the first rows, this many; a negative number is 0.
    case skip(Int)
    /// Keeps these properties of each row, in this order. Later stages see no others, but metadata.
    case select([QueryProperty])
    /// One row for each different value of the property, in the order in which they come. Numbers and texts differ as in
    /// a comparison; arrays, maps and bytes where their encodings do.
    case distinct(QueryProperty)
    /// One row with these figures of all rows.
    case aggregate([QueryAggregate])
    /// One row for each different value of the property, as ``distinct(_:)`` tells them apart, with these figures of the
    /// rows that have it; in ascending order of the values, the rows without the property last.
    case group(by: QueryProperty, [QueryAggregate])
}

/// A property to sort by, and which end comes first.
public struct QuerySortKey: Sendable, Hashable {
    public var property: QueryProperty
    /// The greatest first.
    public var isDescending: Bool

    public init(_ property: QueryProperty, isDescending: Bool = false) {
        self.property = property
        self.isDescending = isDescending
    }
}

/// A figure of many rows.
public enum QueryAggregate: Sendable, Hashable {
    /// How many rows there are.
    case count
    /// The sum of the numbers; of integers it is exact. Other values are left out; of none it is 0.
    case sum(QueryProperty)
    /// The mean of the numbers; null if there is none.
    case average(QueryProperty)
    /// The least value, in the order of a sort; null if no row has a value with a place in it.
    case minimum(QueryProperty)
    /// The greatest value, in the order of a sort; null if no row has a value with a place in it.
    case maximum(QueryProperty)

    /// The property that it is about.
    public var property: QueryProperty? {
        switch self {
        case .count: nil
        case .sum(let property), .average(let property), .minimum(let property), .maximum(let property):
            property
        }
    }

    /// `count`, `sum`, `avg`, `min` or `max`: the word of the language, and the name of the column.
    public var name: String {
        switch self {
        case .count: "count"
        case .sum: "sum"
        case .average: "avg"
        case .minimum: "min"
        case .maximum: "max"
        }
    }
}
