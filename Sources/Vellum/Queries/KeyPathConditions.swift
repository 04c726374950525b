// Conditions on key paths, for `where`: `users.where(\.age >= 18 && \.nick != nil)`. Each is equivalent to the finder
// of the same meaning. For optional properties, `nil` equals `nil`, and is neither less nor greater than any value.

/// Matches objects whose property equals the value.
public func == <Root, Value: Equatable>(path: KeyPath<Root, Value>, value: Value) -> QueryFinder<Root> {
    QueryFinder()[dynamicMember: path](.isEqual(with: value))
}

/// Matches objects whose property equals the value; `nil` equals `nil`.
public func == <Root, Value: Equatable>(path: KeyPath<Root, Value?>, value: Value?) -> QueryFinder<Root> {
    QueryFinder()[dynamicMember: path](.isEqual(with: value))
}

/// Matches objects whose property differs from the value.
public func != <Root, Value: Equatable>(path: KeyPath<Root, Value>, value: Value) -> QueryFinder<Root> {
    QueryFinder()[dynamicMember: path](.isNotEqual(with: value))
}

/// Matches objects whose property differs from the value; `nil` equals `nil`.
public func != <Root, Value: Equatable>(path: KeyPath<Root, Value?>, value: Value?) -> QueryFinder<Root> {
    QueryFinder()[dynamicMember: path](.isNotEqual(with: value))
}

/// Matches objects whose property is less than the value.
public func < <Root, Value: Comparable>(path: KeyPath<Root, Value>, value: Value) -> QueryFinder<Root> {
    QueryFinder()[dynamicMember: path](.less(than: value))
}

/// Matches objects whose property is less than the value; `nil` never matches.
public func < <Root, Value: Comparable>(path: KeyPath<Root, Value?>, value: Value) -> QueryFinder<Root> {
    QueryFinder()[dynamicMember: path](.less(than: value))
}

/// Matches objects whose property is at most the value.
public func <= <Root, Value: Comparable>(path: KeyPath<Root, Value>, value: Value) -> QueryFinder<Root> {
    QueryFinder()[dynamicMember: path](.lessOrEqual(with: value))
}

/// Matches objects whose property is at most the value; `nil` never matches.
public func <= <Root, Value: Comparable>(path: KeyPath<Root, Value?>, value: Value) -> QueryFinder<Root> {
    QueryFinder()[dynamicMember: path](.lessOrEqual(with: value))
}

/// Matches objects whose property is greater than the value.
public func > <Root, Value: Comparable>(path: KeyPath<Root, Value>, value: Value) -> QueryFinder<Root> {
    QueryFinder()[dynamicMember: path](.greater(than: value))
}

/// Matches objects whose property is greater than the value; `nil` never matches.
public func > <Root, Value: Comparable>(path: KeyPath<Root, Value?>, value: Value) -> QueryFinder<Root> {
    QueryFinder()[dynamicMember: path](.greater(than: value))
}

/// Matches objects whose property is at least the value.
public func >= <Root, Value: Comparable>(path: KeyPath<Root, Value>, value: Value) -> QueryFinder<Root> {
    QueryFinder()[dynamicMember: path](.greaterOrEqual(with: value))
}

/// Matches objects whose property is at least the value; `nil` never matches.
public func >= <Root, Value: Comparable>(path: KeyPath<Root, Value?>, value: Value) -> QueryFinder<Root> {
    QueryFinder()[dynamicMember: path](.greaterOrEqual(with: value))
}
