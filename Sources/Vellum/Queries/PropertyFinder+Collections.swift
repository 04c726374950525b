/// Strings are collections of characters here.
extension PropertyFinder where Wrapped: Collection {
    /// Matches if the property has this many elements. Costs as much as `count`: linear for strings.
    @inlinable public static func countEqual(with count: Int) -> PropertyFinder {
        ofValue(.count(.equal, count)) { $0.count == count }
    }

    /// Matches if the property has more elements than this.
    @inlinable public static func countGreater(than count: Int) -> PropertyFinder {
        ofValue(.count(.greater, count)) { $0.count > count }
    }

    /// Matches if the property has fewer elements than this.
    @inlinable public static func countLess(than count: Int) -> PropertyFinder {
        ofValue(.count(.less, count)) { $0.count < count }
    }

    /// Matches if the property has this many elements or more.
    @inlinable public static func countGreaterOrEqual(with count: Int) -> PropertyFinder {
        ofValue(.count(.greaterOrEqual, count)) { $0.count >= count }
    }

    /// Matches if the property has this many elements or fewer.
    @inlinable public static func countLessOrEqual(with count: Int) -> PropertyFinder {
        ofValue(.count(.lessOrEqual, count)) { $0.count <= count }
    }

    /// Matches if the property has no elements or characters. Both spellings do: `.isEmpty` and `.isEmpty()`.
    @inlinable public static var isEmpty: PropertyFinder { ofValue(.isEmpty) { $0.isEmpty } }
    /// Matches if the property has no elements or characters.
    @inlinable public static func isEmpty(_: Void = ()) -> PropertyFinder { isEmpty }

    /// Matches if the property has an element or a character. Both spellings do: `.isNotEmpty` and `.isNotEmpty()`.
    @inlinable public static var isNotEmpty: PropertyFinder { ofValue(.isNotEmpty) { !$0.isEmpty } }
    /// Matches if the property has an element or a character.
    @inlinable public static func isNotEmpty(_: Void = ()) -> PropertyFinder { isNotEmpty }
}

/// A look-up takes constant time in a set, and linear time in other collections.
extension PropertyFinder where Wrapped: Collection, Wrapped.Element: Equatable {
    /// Matches if the property contains the element.
    @inlinable public static func contains(with member: Wrapped.Element) -> PropertyFinder {
        contains(all: CollectionOfOne(member))
    }

    /// Matches if the property contains at least one of the elements. Never matches without elements.
    @inlinable public static func contains(
        atLeastOne members: some Sequence<Wrapped.Element>
    ) -> PropertyFinder {
        let members = Array(members)
        return ofValue(.containsAny(members)) { value in members.contains { value.contains($0) } }
    }

    /// Matches if the property contains all of the elements. Always matches without elements.
    @inlinable public static func contains(all members: some Sequence<Wrapped.Element>) -> PropertyFinder {
        let members = Array(members)
        return ofValue(.containsAll(members)) { value in members.allSatisfy { value.contains($0) } }
    }

    /// Matches if the property contains all of the elements.
    @inlinable public static func contains(_ members: Wrapped.Element...) -> PropertyFinder {
        contains(all: members)
    }
}
