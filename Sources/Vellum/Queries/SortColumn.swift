@usableFromInline package struct SortOrder<Result> {
    /// The path from the object to the property; nil for a comparator.
    package let path: [AnyKeyPath]?
    package let direction: QuerySortDirection
    package let column: () -> SortColumn<Result>

    @usableFromInline init(
        path: [AnyKeyPath]?, direction: QuerySortDirection, column: @escaping () -> SortColumn<Result>
    ) {
        self.path = path
        self.direction = direction
        self.column = column
    }
}

@usableFromInline package struct SortColumn<Result> {
    let append: (Result) -> Void
    let removeLast: () -> Void
    /// Keeps these places and renumbers them from 0.
    let keep: ([Int]) -> Void
    /// Negative if the object at the left place is first, positive if the one at the right is.
    let compare: (_ left: Int, _ right: Int) -> Int

    private init(
        append: @escaping (Result) -> Void, removeLast: @escaping () -> Void, keep: @escaping ([Int]) -> Void,
        compare: @escaping (Int, Int) -> Int
    ) {
        self.append = append
        self.removeLast = removeLast
        self.keep = keep
        self.compare = compare
    }

    @usableFromInline init<Value>(
        _ values: SortValues<Value>, value: @escaping (Result) -> Value, compare: @escaping (Int, Int) -> Int
    ) {
        self.init(
            append: { values.all.append(value($0)) }, removeLast: { values.all.removeLast() },
            keep: { places in values.all = places.map { values.all[$0] } }, compare: compare)
    }

    /// Combines the columns: each breaks the ties of the one before. Nil without columns.
    static func joined(_ columns: [SortColumn]) -> SortColumn? {
        columns.reversed().reduce(nil) { rest, first in
            guard let rest else { return first }
            return SortColumn {
                first.append($0)
                rest.append($0)
            } removeLast: {
                first.removeLast()
                rest.removeLast()
            } keep: {
                first.keep($0)
                rest.keep($0)
            } compare: { left, right in
                let order = first.compare(left, right)
                return order != 0 ? order : rest.compare(left, right)
            }
        }
    }

    @inlinable init<Key: Comparable>(direction: QuerySortDirection, read: @escaping (Result) -> Key?) {
        let keys = SortValues<Key?>()
        let less = direction == .ascending ? -1 : 1
        self.init(keys) { object in
            guard let key = read(object), key == key else { return nil }
            return key
        } compare: { left, right in
            guard let left = keys.all[left] else { return keys.all[right] == nil ? 0 : 1 }
            guard let right = keys.all[right] else { return -1 }
            return left < right ? less : right < left ? -less : 0
        }
    }

    init(direction: QuerySortDirection, comparator: @escaping QuerySorter<Result>.Comparator) {
        let objects = SortValues<Result>()
        let less = direction == .ascending ? -1 : 1
        self.init(objects, value: { $0 }) { left, right in
            switch comparator(objects.all[left], objects.all[right]) {
            case .leftLessThanRight: less
            case .leftGreaterThanRight: -less
            case .leftEqualWithRight: 0
            }
        }
    }
}

@usableFromInline final class SortValues<Value> {
    @usableFromInline var all: [Value] = []

    @inlinable init() {}
}
