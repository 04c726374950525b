/// Sendable value type; safe to use from any thread. A query: a sequence of stages, each of which processes the
/// rows of the one before. Without stages the result is all entries, the most recent first.
///
/// ``parse(_:)`` reads a pipeline from text, and ``description`` writes it.
public struct QueryPipeline: Sendable, Hashable {
    /// The stages in order.
    public var stages: [PipelineStage]

    /// Creates a pipeline of these stages.
    public init(_ stages: [PipelineStage] = []) {
        self.stages = stages
    }
}

/// One step of a pipeline.
public enum PipelineStage: Sendable, Hashable {
    /// Keeps the rows that match the condition.
    case find(QueryPredicate)
    /// Sorts by the first key, then by the second, and so on. The sort is stable. Rows without the property come
    /// last in both directions.
    case sort([QuerySortKey])
    /// Keeps at most this many rows. Negative numbers count as 0.
    case limit(Int)
    /// Skips this many rows. Negative numbers count as 0.
    case skip(Int)
    /// Reduces rows to these properties, in this order. Later stages can use only these, and metadata.
    case select([QueryProperty])
    /// One row for each different value of the property, in order of first appearance. Numbers and texts are
    /// compared as in a condition; arrays, maps and bytes by their encodings.
    case distinct(QueryProperty)
    /// One row with these aggregates of all rows.
    case aggregate([QueryAggregate])
    /// One row for each different value of the property (compared as by ``distinct(_:)``), with these aggregates of
    /// its rows. In ascending order of the values; rows without the property come last.
    case group(by: QueryProperty, [QueryAggregate])
}

/// A property to sort by, and the direction.
public struct QuerySortKey: Sendable, Hashable {
    /// The property to sort by.
    public var property: QueryProperty
    /// Whether the greatest value comes first.
    public var isDescending: Bool

    /// Creates a key; ascending unless told otherwise.
    public init(_ property: QueryProperty, isDescending: Bool = false) {
        self.property = property
        self.isDescending = isDescending
    }
}

/// An aggregate of many rows.
public enum QueryAggregate: Sendable, Hashable {
    /// The number of rows.
    case count
    /// The sum of the numbers; exact for integers. Other values are ignored; without numbers it is 0.
    case sum(QueryProperty)
    /// The mean of the numbers; null without numbers.
    case average(QueryProperty)
    /// The least value in sort order; null if no row has a value that can be ordered.
    case minimum(QueryProperty)
    /// The greatest value in sort order; null if no row has a value that can be ordered.
    case maximum(QueryProperty)

    /// The aggregated property; nil for ``count``.
    public var property: QueryProperty? {
        switch self {
        case .count: nil
        case .sum(let property), .average(let property), .minimum(let property), .maximum(let property):
            property
        }
    }

    /// `count`, `sum`, `avg`, `min` or `max`: the keyword, and the name of the column.
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
