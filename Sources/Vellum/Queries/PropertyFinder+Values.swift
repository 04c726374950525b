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

/// Each in two spellings: `.isNil` and `.isNil()`.
extension PropertyFinder where Property == Wrapped? {
    /// Matches if the property is `nil`.
    @inlinable public static var isNil: PropertyFinder { PropertyFinder(.isNil) { $0 == nil } }
    /// Matches if the property is `nil`.
    @inlinable public static func isNil(_: Void = ()) -> PropertyFinder { isNil }

    /// Matches if the property is not `nil`.
    @inlinable public static var isNotNil: PropertyFinder { PropertyFinder(.isNotNil) { $0 != nil } }
    /// Matches if the property is not `nil`.
    @inlinable public static func isNotNil(_: Void = ()) -> PropertyFinder { isNotNil }
}

/// Each in two spellings: `.isNilOrEmpty` and `.isNilOrEmpty()`.
extension PropertyFinder where Property == Wrapped?, Wrapped: Collection {
    /// Matches if the property is `nil`, or has no elements or characters.
    @inlinable public static var isNilOrEmpty: PropertyFinder {
        PropertyFinder(.isNilOrEmpty) { $0?.isEmpty ?? true }
    }
    /// Matches if the property is `nil`, or has no elements or characters.
    @inlinable public static func isNilOrEmpty(_: Void = ()) -> PropertyFinder { isNilOrEmpty }
}

// A test for nil on a property that is never nil is surely a mistake.
extension PropertyFinder where Property == Wrapped {
    @available(*, unavailable, message: "this property is not optional, so it is never nil")
    public static var isNil: PropertyFinder { PropertyFinder(.isNil) { $0 == nil } }
    @available(*, unavailable, message: "this property is not optional, so it is never nil")
    public static func isNil(_: Void = ()) -> PropertyFinder { isNil }

    @available(*, unavailable, message: "this property is not optional, so it is never nil")
    public static var isNotNil: PropertyFinder { PropertyFinder(.isNotNil) { $0 != nil } }
    @available(*, unavailable, message: "this property is not optional, so it is never nil")
    public static func isNotNil(_: Void = ()) -> PropertyFinder { isNotNil }

    @available(*, unavailable, message: "this property is not optional, so it is never nil; use isEmpty")
    public static var isNilOrEmpty: PropertyFinder { PropertyFinder(.isNil) { $0 == nil } }
    @available(*, unavailable, message: "this property is not optional, so it is never nil; use isEmpty")
    public static func isNilOrEmpty(_: Void = ()) -> PropertyFinder { isNilOrEmpty }
}
