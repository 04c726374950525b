/// A property in a find, of type `Property` (`Wrapped` without its optional). Call it with a ``PropertyFinder``.
@dynamicMemberLookup
public struct FinderProperty<Result, Property, Wrapped> {
    @usableFromInline let finder: QueryFinder<Result>
    @usableFromInline let path: [AnyKeyPath]
    @usableFromInline let read: (Result) -> Wrapped?

    @usableFromInline init(
        finder: QueryFinder<Result>, path: [AnyKeyPath], read: @escaping (Result) -> Wrapped?
    ) {
        self.finder = finder
        self.path = path
        self.read = read
    }

    // Don't overload this call: with an overload, compilers up to 6.3 fail to explain why a finder doesn't fit a property.
    /// Adds this condition to the existing ones.
    @inlinable public func callAsFunction(_ asked: PropertyFinder<Property, Wrapped>) -> QueryFinder<Result> {
        var finder = finder
        let read = read
        let matches = asked.matches
        finder.conditions.append(
            .property(PropertyCondition(path: path, test: asked.test) { matches(read($0)) }))
        return finder
    }
}

// Declared in both extensions, because overloads that are each more general in one respect are ambiguous to the compiler.
extension FinderProperty where Property == Wrapped {
    /// A property of this property.
    @inlinable
    public subscript<Inner>(
        dynamicMember member: KeyPath<Wrapped, Inner>
    ) -> FinderProperty<Result, Inner, Inner> {
        let read = read
        return .init(finder: finder, path: path + [member]) { read($0)?[keyPath: member] }
    }

    /// An optional property of this property.
    @inlinable
    public subscript<Inner>(
        dynamicMember member: KeyPath<Wrapped, Inner?>
    ) -> FinderProperty<Result, Inner?, Inner> {
        let read = read
        return .init(finder: finder, path: path + [member]) { read($0)?[keyPath: member] }
    }
}

extension FinderProperty where Property == Wrapped? {
    /// A property of this property, `nil` if this one is.
    @inlinable
    public subscript<Inner>(
        dynamicMember member: KeyPath<Wrapped, Inner>
    ) -> FinderProperty<Result, Inner?, Inner> {
        let read = read
        return .init(finder: finder, path: path + [member]) { read($0)?[keyPath: member] }
    }

    /// An optional property of this property.
    @inlinable
    public subscript<Inner>(
        dynamicMember member: KeyPath<Wrapped, Inner?>
    ) -> FinderProperty<Result, Inner?, Inner> {
        let read = read
        return .init(finder: finder, path: path + [member]) { read($0)?[keyPath: member] }
    }
}
