/// Something that begins or continues a query. Each call returns a query with one more step.
public protocol QueryComposing<Archive> {
    /// The type of the objects.
    associatedtype Archive
    /// The type of a query with one more step.
    associatedtype Composed: QueryComposing<Archive>

    /// The same with another step.
    func adding(_ query: Query<Archive>) -> Composed
}

extension QueryComposing {
    /// Keeps the objects that meet all conditions.
    public func findWhere(_ conditions: (QueryFinder<Archive>) -> QueryFinder<Archive>) -> Composed {
        adding(.find(conditions))
    }

    /// Keeps the objects that meet the conditions: `where(\.age >= 18 && \.nick != nil)`.
    public func `where`(_ conditions: QueryFinder<Archive>) -> Composed { adding(.where(conditions)) }

    /// Keeps the objects whose property matches the finder: `where(\.userName, .contains("premium"))`.
    public func `where`<Property>(
        _ path: KeyPath<Archive, Property>, _ finder: PropertyFinder<Property, Property>
    ) -> Composed {
        findWhere { $0[dynamicMember: path](finder) }
    }

    /// The same for an optional property.
    public func `where`<Wrapped>(
        _ path: KeyPath<Archive, Wrapped?>, _ finder: PropertyFinder<Wrapped?, Wrapped>
    ) -> Composed {
        findWhere { $0[dynamicMember: path](finder) }
    }

    /// Sorts. A later sort takes precedence, and its ties keep the order of the earlier one.
    public func sorted(_ orders: (QuerySorter<Archive>) -> QuerySorter<Archive>) -> Composed {
        adding(.sort(orders))
    }

    /// Keeps the first objects, at most this many; a negative limit is 0.
    public func limitResults(by limit: Int) -> Composed { adding(.limit(by: limit)) }

    /// Skips this many objects; a negative number is 0.
    public func skipResults(by count: Int) -> Composed { adding(.skip(by: count)) }
}
