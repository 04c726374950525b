/// A query: a sequence of stages, each of which processes the rows of the one before. Without stages the result is all entries,
/// most recent first. ``parse(_:)`` reads a pipeline from text, and ``description`` writes it.
public struct QueryPipeline: Sendable, Hashable {
    /// The stages in order.
    public var stages: [PipelineStage]

    /// Creates a pipeline.
    public init(_ stages: [PipelineStage] = []) { self.stages = stages }
}

/// One step of a pipeline.
public enum PipelineStage: Sendable, Hashable {
    /// Keeps the rows that match the condition.
    case find(QueryPredicate)
    /// Sorts by the first key, then by the second, and so on. Stable. Rows without the property are last in both directions.
    case sort([QuerySortKey])
    /// Keeps at most this many rows. Negative numbers count as 0.
    case limit(Int)
    /// Skips this many rows. Negative numbers count as 0.
    case skip(Int)
    /// Reduces rows to these columns, in this order. Later stages can use only these, and metadata.
    case select([QueryColumn])
    /// One row for each distinct combination of the properties' values, in order of first appearance. Equality is that of
    /// conditions, by element for lists and maps.
    case distinct([QueryColumn])
    /// One row with these aggregates of all rows.
    case aggregate([QueryFigure])
    /// One row for each distinct combination of the properties' values (compared as by ``distinct(_:)``), with these aggregates
    /// of its rows. In ascending order of the values; rows without a property are last.
    case group(by: [QueryColumn], [QueryFigure])
}

/// A column of a result.
public struct QueryColumn: Sendable, Hashable {
    /// The property of the column.
    public var property: QueryProperty
    /// The name after `as`, for later stages and the result; nil: the property's text.
    public var name: String?

    /// Creates a column; without a name it has the property's.
    public init(_ property: QueryProperty, as name: String? = nil) {
        self.property = property
        self.name = name
    }
}

/// An aggregate with the name of its column.
public struct QueryFigure: Sendable, Hashable {
    /// The aggregate of the column.
    public var aggregate: QueryAggregate
    /// The name after `as`, for later stages and the result; nil: ``QueryAggregate/name``, with the property if ambiguous.
    public var name: String?

    /// Creates a figure; without a name it has the aggregate's.
    public init(_ aggregate: QueryAggregate, as name: String? = nil) {
        self.aggregate = aggregate
        self.name = name
    }
}

/// A property to sort by, and the direction.
public struct QuerySortKey: Sendable, Hashable {
    /// The property to sort by.
    public var property: QueryProperty
    /// Whether the greatest value is first.
    public var isDescending: Bool

    /// Creates a key, ascending by default.
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
    /// The least number; without numbers the least date, text or boolean, in this order. Ignores other kinds; may be null.
    case minimum(QueryProperty)
    /// Like ``minimum(_:)``, but the greatest value of that kind.
    case maximum(QueryProperty)

    /// The number of distinct values, compared as by ``PipelineStage/distinct(_:)``. Absent values don't count.
    case countDistinct(QueryProperty)
    /// The middle number, or the mean of the two middle ones. Other values are ignored; null without numbers.
    case median(QueryProperty)
    /// The percentile of the numbers, in percent from 0 to 100, interpolated linearly. Null without numbers.
    case percentile(QueryProperty, Double)

    /// The aggregated property; nil for ``count``.
    public var property: QueryProperty? {
        switch self {
        case .count: nil
        case .sum(let property), .average(let property), .minimum(let property), .maximum(let property),
            .countDistinct(let property), .median(let property), .percentile(let property, _):
            property
        }
    }

    /// The property whose value the aggregate selects; nil for calculated aggregates.
    var extreme: QueryProperty? {
        switch self {
        case .minimum(let property), .maximum(let property): property
        default: nil
        }
    }

    /// The keywords: `count`, `sum`, `avg`, `min`, `max`, `count distinct`, `median` or `percentile`.
    public var name: String {
        switch self {
        case .count: "count"
        case .sum: "sum"
        case .average: "avg"
        case .minimum: "min"
        case .maximum: "max"
        case .countDistinct: "count distinct"
        case .median: "median"
        case .percentile: "percentile"
        }
    }

    /// The name of its column, unless it is ambiguous: its keywords, or `p95` for a percentile.
    public var columnName: String {
        if case .percentile(_, let percent) = self { "p" + QueryText.percent(percent) } else { name }
    }
}
