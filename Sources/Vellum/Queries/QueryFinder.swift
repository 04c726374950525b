/// Conditions that objects have to meet, all of them: `archive.userName(.contains("premium")).age(.less(than: 30))`.
///
/// Every property of the object is a member, and takes a ``PropertyFinder``; properties of properties as well, as
/// `archive.address.city(.isEqual(with: "Jakarta"))`, where `address` may be optional.
@dynamicMemberLookup
public struct QueryFinder<Result> {
    // Nothing here is public, so that no name is taken from the properties of the objects.
    @usableFromInline var conditions: [QueryCondition<Result>] = []

    @usableFromInline init() {}

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

/// One condition of a find. `path` and `test` say what it asks, for an evaluator that has no objects; `isMet`
/// asks an object.
@usableFromInline package struct QueryCondition<Result> {
    /// The way from the object to the property: `\User.address`, `\Address.city`. Optionals on the way are not a
    /// part of it.
    package let path: [AnyKeyPath]
    package let test: PropertyTest
    package let isMet: (Result) -> Bool

    @usableFromInline init(path: [AnyKeyPath], test: PropertyTest, isMet: @escaping (Result) -> Bool) {
        self.path = path
        self.test = test
        self.isMet = isMet
    }
}
