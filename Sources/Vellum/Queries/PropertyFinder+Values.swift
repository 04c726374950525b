extension PropertyFinder where Wrapped: Equatable {
    /// Matches if the property is equal to the value; `nil` is equal to `nil` only.
    @inlinable public static func isEqual(with value: Wrapped?) -> PropertyFinder {
        PropertyFinder(.value(.equal, value)) { $0 == value }
    }

    /// Matches if the property is equal to the value; `nil` is equal to `nil` only.
    @inlinable public static func isEqual(_ value: Wrapped?) -> PropertyFinder { isEqual(with: value) }

    /// Matches if the property is not equal to the value; a property that is `nil` is not equal to any value.
    @inlinable public static func isNotEqual(with value: Wrapped?) -> PropertyFinder {
        PropertyFinder(.value(.notEqual, value)) { $0 != value }
    }

    /// Matches if the property is not equal to the value; a property that is `nil` is not equal to any value.
    @inlinable public static func isNotEqual(_ value: Wrapped?) -> PropertyFinder { isNotEqual(with: value) }
}

extension PropertyFinder where Wrapped: Comparable {
    /// Matches if the property is greater than the value.
    @inlinable public static func greater(than value: Wrapped) -> PropertyFinder {
        ofValue(.value(.greater, value)) { $0 > value }
    }

    /// Matches if the property is less than the value.
    @inlinable public static func less(than value: Wrapped) -> PropertyFinder {
        ofValue(.value(.less, value)) { $0 < value }
    }

    /// Matches if the property is the value or greater.
    @inlinable public static func greaterOrEqual(with value: Wrapped) -> PropertyFinder {
        ofValue(.value(.greaterOrEqual, value)) { $0 >= value }
    }

    /// Matches if the property is the value or less.
    @inlinable public static func lessOrEqual(with value: Wrapped) -> PropertyFinder {
        ofValue(.value(.lessOrEqual, value)) { $0 <= value }
    }
}
