/// Something that begins or continues a query. Each call returns a query with one more step.
public protocol QueryComposing<Object> {
    /// The type of the objects.
    associatedtype Object
    /// The type of a query with one more step.
    associatedtype Composed: QueryComposing<Object>

    /// The same with another step.
    func adding(_ query: Query<Object>) -> Composed
}

extension QueryComposing {
    /// Keeps the objects that meet all conditions.
    public func findWhere(_ conditions: (QueryFinder<Object>) -> QueryFinder<Object>) -> Composed {
        adding(.find(conditions))
    }

    /// Keeps the objects that meet the conditions: `where(\.age >= 18 && \.nick != nil)`.
    public func `where`(_ conditions: QueryFinder<Object>) -> Composed { adding(.where(conditions)) }

    /// Keeps the objects whose property matches the finder: `where(\.userName, .contains("premium"))`.
    public func `where`<Property>(
        _ path: KeyPath<Object, Property>, _ finder: PropertyFinder<Property, Property>
    ) -> Composed {
        findWhere { $0[dynamicMember: path](finder) }
    }

    /// The same for an optional property.
    public func `where`<Wrapped>(
        _ path: KeyPath<Object, Wrapped?>, _ finder: PropertyFinder<Wrapped?, Wrapped>
    ) -> Composed {
        findWhere { $0[dynamicMember: path](finder) }
    }

    /// Sorts. A later sort takes precedence, and its ties keep the order of the earlier one.
    public func sorted(_ orders: (QuerySorter<Object>) -> QuerySorter<Object>) -> Composed {
        adding(.sort(orders))
    }

    /// Keeps the first objects, at most this many; a negative limit is 0.
    public func limitResults(by limit: Int) -> Composed { adding(.limit(by: limit)) }

    /// Skips this many objects; a negative number is 0.
    public func skipResults(by count: Int) -> Composed { adding(.skip(by: count)) }
}
