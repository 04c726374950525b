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
    case select([QueryColumn])
    /// One row for each different combination of the properties' values, in the order in which they come. Numbers and texts
    /// differ as in a comparison; arrays, maps and bytes where their encodings do.
    case distinct([QueryColumn])
    /// One row with these figures of all rows.
    case aggregate([QueryFigure])
    /// One row for each different combination of the properties' values, as ``distinct(_:)`` tells them apart, with these
    /// figures of the rows that have it; in ascending order of the values, the rows without a property last.
    case group(by: [QueryColumn], [QueryFigure])
}

/// A property of rows, and what its column is called.
public struct QueryColumn: Sendable, Hashable {
    public var property: QueryProperty
    /// `as`: what later stages and the result call it; nil: as it is written.
    public var name: String?

    public init(_ property: QueryProperty, as name: String? = nil) {
        self.property = property
        self.name = name
    }
}

/// A figure of many rows, and what its column is called.
public struct QueryFigure: Sendable, Hashable {
    public var aggregate: QueryAggregate
    /// `as`: what later stages and the result call it; nil: as ``QueryAggregate/columnName`` says.
    public var name: String?

    public init(_ aggregate: QueryAggregate, as name: String? = nil) {
        self.aggregate = aggregate
        self.name = name
    }
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

    /// How many different values there are, told apart as by ``PipelineStage/distinct(_:)``; what is absent is none.
    case countDistinct(QueryProperty)
    /// The number in the middle, of an even count the mean of the two; other values are left out; null if there is none.
    case median(QueryProperty)
    /// The number that so many percent, 0 to 100, are below; between two numbers in proportion. Null if there is none.
    case percentile(QueryProperty, Double)

    /// The property that it is about.
    public var property: QueryProperty? {
        switch self {
        case .count: nil
        case .sum(let property), .average(let property), .minimum(let property), .maximum(let property),
            .countDistinct(let property), .median(let property), .percentile(let property, _):
            property
        }
    }

    /// `count`, `sum`, `avg`, `min`, `max`, `count distinct`, `median` or `percentile`: the words of the language.
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

    /// What its column is called, where no other figure is of its kind: its words, `p95` for a percentile.
    public var columnName: String {
        if case .percentile(_, let percent) = self { "p" + QueryText.percent(percent) } else { name }
    }
}
