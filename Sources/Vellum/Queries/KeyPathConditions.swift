// Conditions of key paths, for `where`: `users.where(\.age >= 18 && \.nick != nil)`. Each is what the finder of the same
// meaning is; of an optional property, `nil` is equal to `nil` and less than nothing.

public func == <Root, Value: Equatable>(path: KeyPath<Root, Value>, value: Value) -> QueryFinder<Root> {
    QueryFinder()[dynamicMember: path](.isEqual(with: value))
}

public func == <Root, Value: Equatable>(path: KeyPath<Root, Value?>, value: Value?) -> QueryFinder<Root> {
    QueryFinder()[dynamicMember: path](.isEqual(with: value))
}

public func != <Root, Value: Equatable>(path: KeyPath<Root, Value>, value: Value) -> QueryFinder<Root> {
    QueryFinder()[dynamicMember: path](.isNotEqual(with: value))
}

public func != <Root, Value: Equatable>(path: KeyPath<Root, Value?>, value: Value?) -> QueryFinder<Root> {
    QueryFinder()[dynamicMember: path](.isNotEqual(with: value))
}

public func < <Root, Value: Comparable>(path: KeyPath<Root, Value>, value: Value) -> QueryFinder<Root> {
    QueryFinder()[dynamicMember: path](.less(than: value))
}

public func < <Root, Value: Comparable>(path: KeyPath<Root, Value?>, value: Value) -> QueryFinder<Root> {
    QueryFinder()[dynamicMember: path](.less(than: value))
}

public func <= <Root, Value: Comparable>(path: KeyPath<Root, Value>, value: Value) -> QueryFinder<Root> {
    QueryFinder()[dynamicMember: path](.lessOrEqual(with: value))
}

public func <= <Root, Value: Comparable>(path: KeyPath<Root, Value?>, value: Value) -> QueryFinder<Root> {
    QueryFinder()[dynamicMember: path](.lessOrEqual(with: value))
}

public func > <Root, Value: Comparable>(path: KeyPath<Root, Value>, value: Value) -> QueryFinder<Root> {
    QueryFinder()[dynamicMember: path](.greater(than: value))
}

public func > <Root, Value: Comparable>(path: KeyPath<Root, Value?>, value: Value) -> QueryFinder<Root> {
    QueryFinder()[dynamicMember: path](.greater(than: value))
}

public func >= <Root, Value: Comparable>(path: KeyPath<Root, Value>, value: Value) -> QueryFinder<Root> {
    QueryFinder()[dynamicMember: path](.greaterOrEqual(with: value))
}

public func >= <Root, Value: Comparable>(path: KeyPath<Root, Value?>, value: Value) -> QueryFinder<Root> {
    QueryFinder()[dynamicMember: path](.greaterOrEqual(with: value))
}
