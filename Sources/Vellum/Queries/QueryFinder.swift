/// Conditions that objects have to meet, all of them: `archive.userName(.contains("premium")).age(.less(than: 30))`.
///
/// `&&`, `||` and `!` combine conditions in other ways: `archive.age(.less(than: 18)) || archive.nick(.isNil)`.
///
/// Every property of the object is a member, and takes a ``PropertyFinder``; properties of properties as well, as
/// `archive.address.city(.isEqual(with: "Jakarta"))`, where `address` may be optional.
@dynamicMemberLookup
public struct QueryFinder<Result> {
    // Nothing else here is public, so that no name hides a property of the objects.
    @usableFromInline var conditions: [QueryCondition<Result>] = []

    @usableFromInline init(_ conditions: [QueryCondition<Result>] = []) { self.conditions = conditions }

    /// A property to test.
    @inlinable
    public subscript<Property>(
        dynamicMember path: KeyPath<Result, Property>
    ) -> FinderProperty<Result, Property, Property> {
        FinderProperty(finder: self, path: [path]) { $0[keyPath: path] }
    }

    /// An optional property to test.
    @inlinable
    public subscript<Wrapped>(
        dynamicMember path: KeyPath<Result, Wrapped?>
    ) -> FinderProperty<Result, Wrapped?, Wrapped> {
        FinderProperty(finder: self, path: [path]) { $0[keyPath: path] }
    }
}
