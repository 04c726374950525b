/// A property in a sort, of type `Wrapped` or its optional. If it is comparable, call it with a ``QuerySortDirection``.
@dynamicMemberLookup
public struct SorterProperty<Result, Wrapped> {
    @usableFromInline let sorter: QuerySorter<Result>
    @usableFromInline let path: [AnyKeyPath]
    @usableFromInline let read: (Result) -> Wrapped?

    @usableFromInline init(
        sorter: QuerySorter<Result>, path: [AnyKeyPath], read: @escaping (Result) -> Wrapped?
    ) {
        self.sorter = sorter
        self.path = path
        self.read = read
    }

    /// A property of this property, `nil` if this one is.
    @inlinable
    public subscript<Inner>(dynamicMember member: KeyPath<Wrapped, Inner>) -> SorterProperty<Result, Inner> {
        let read = read
        return .init(sorter: sorter, path: path + [member]) { read($0)?[keyPath: member] }
    }

    /// An optional property of this property.
    @inlinable
    public subscript<Inner>(dynamicMember member: KeyPath<Wrapped, Inner?>) -> SorterProperty<Result, Inner> {
        let read = read
        return .init(sorter: sorter, path: path + [member]) { read($0)?[keyPath: member] }
    }
}

extension SorterProperty where Wrapped: Comparable {
    /// Adds an order by this property to the existing ones.
    @inlinable public func callAsFunction(_ direction: QuerySortDirection) -> QuerySorter<Result> {
        var sorter = sorter
        let read = read
        sorter.orders.append(
            SortOrder(path: path, direction: direction) { SortColumn(direction: direction, read: read) })
        return sorter
    }
}
