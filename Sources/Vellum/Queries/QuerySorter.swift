/// Orders to sort objects by, the most significant first: `by.age(.ascending).fullName(.descending)`.
///
/// Every property that can be compared is a member and takes a ``QuerySortDirection``; properties of properties as
/// well, as `by.address.city(.ascending)`. Objects whose property is `nil`, or isn't equal to itself (NaN), are last in
/// both directions.
@dynamicMemberLookup
public struct QuerySorter<Result> {
    /// Compares two objects.
    public typealias Comparator = (Result, Result) -> QueryCompareResult

    @usableFromInline var orders: [SortOrder<Result>] = []

    @usableFromInline init() {}

    /// A property to sort by.
    @inlinable
    public subscript<Property>(
        dynamicMember path: KeyPath<Result, Property>
    ) -> SorterProperty<Result, Property> {
        SorterProperty(sorter: self, path: [path]) { $0[keyPath: path] }
    }

    /// An optional property to sort by; `nil` is last.
    @inlinable
    public subscript<Wrapped>(
        dynamicMember path: KeyPath<Result, Wrapped?>
    ) -> SorterProperty<Result, Wrapped> {
        SorterProperty(sorter: self, path: [path]) { $0[keyPath: path] }
    }

    /// Adds a custom order to the existing ones. `.ascending` puts the object that the comparator calls less first.
    public func manual(
        direction: QuerySortDirection, by comparator: @escaping Comparator
    ) -> QuerySorter<Result> {
        var sorter = self
        sorter.orders.append(
            SortOrder(path: nil, direction: direction) {
                SortColumn(direction: direction, comparator: comparator)
            }
        )
        return sorter
    }
}

/// How two objects compare.
public enum QueryCompareResult: Sendable, Hashable {
    /// The left one is after the right one when sorted ascending.
    case leftGreaterThanRight
    /// The left one is before the right one when sorted ascending.
    case leftLessThanRight
    /// The order doesn't distinguish them.
    case leftEqualWithRight
}

/// The direction of a sort.
public enum QuerySortDirection: Sendable, Hashable {
    /// The least first.
    case ascending
    /// The greatest first.
    case descending
}
