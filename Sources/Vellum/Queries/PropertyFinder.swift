/// A test of a property of type `Property` (`Wrapped` without its optional). The finders of a type also work for its
/// optional: `nil` matches only ``isEqual(with:)`` with `nil`, ``isNotEqual(with:)`` with a value, ``isNil`` and
/// ``isNilOrEmpty``.
public struct PropertyFinder<Property, Wrapped> {
    @usableFromInline let test: PropertyTest
    @usableFromInline let matches: (Wrapped?) -> Bool

    @usableFromInline init(_ test: PropertyTest, matches: @escaping (Wrapped?) -> Bool) {
        self.test = test
        self.matches = matches
    }

    @inlinable static func ofValue(
        _ test: PropertyTest, _ matches: @escaping (Wrapped) -> Bool
    ) -> PropertyFinder {
        PropertyFinder(test) { value in
            guard let value else { return false }
            return matches(value)
        }
    }
}

/// A finder's test as data, for evaluating it on encoded values. Operands have the type of the property, or of its elements.
@usableFromInline package enum PropertyTest {
    @usableFromInline package enum Relation: Sendable, Hashable {
        case equal, notEqual, greater, less, greaterOrEqual, lessOrEqual
    }

    case contains(text: String, caseSensitive: Bool)
    case matches(pattern: String)
    case containsAny([Any])
    case containsAll([Any])
    case count(Relation, Int)
    /// Only `equal` and `notEqual` may have `nil`.
    case value(Relation, Any?)
    case isNil
    case isNotNil
    case isEmpty
    case isNotEmpty
    case isNilOrEmpty
    case isValid
}

extension PropertyFinder where Property == Wrapped {
    /// Matches if the closure returns true.
    @inlinable public static func isValid(_ validator: @escaping (Property) -> Bool) -> PropertyFinder {
        ofValue(.isValid, validator)
    }
}

extension PropertyFinder where Property == Wrapped? {
    /// Matches if the closure returns true. It is called for `nil` too.
    @inlinable public static func isValid(_ validator: @escaping (Property) -> Bool) -> PropertyFinder {
        PropertyFinder(.isValid, matches: validator)
    }
}
