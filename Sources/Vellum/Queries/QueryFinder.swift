/// Conditions that objects have to meet, all of them: `archive.userName(.contains("premium")).age(.less(than: 30))`.
///
/// `&&`, `||` and `!` put conditions together otherwise: `archive.age(.less(than: 18)) || archive.nick(.isNil)`.
///
/// Every property of the object is a member, and takes a ``PropertyFinder``; properties of properties as well, as
/// `archive.address.city(.isEqual(with: "Jakarta"))`, where `address` may be optional.
@dynamicMemberLookup
public struct QueryFinder<Result> {
    // Nothing here is public, so that no name is taken from the properties of the objects.
    @usableFromInline var conditions: [QueryCondition<Result>] = []

    @usableFromInline init(_ conditions: [QueryCondition<Result>] = []) { self.conditions = conditions }

    /// A property to ask something of.
    @inlinable
    public subscript<Property>(
        dynamicMember path: KeyPath<Result, Property>
    ) -> FinderProperty<Result, Property, Property> {
        FinderProperty(finder: self, path: [path]) { $0[keyPath: path] }
    }

    /// An optional property to ask something of.
    @inlinable
    public subscript<Wrapped>(
        dynamicMember path: KeyPath<Result, Wrapped?>
    ) -> FinderProperty<Result, Wrapped?, Wrapped> {
        FinderProperty(finder: self, path: [path]) { $0[keyPath: path] }
    }
}
