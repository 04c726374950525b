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
