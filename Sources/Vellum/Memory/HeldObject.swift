/// The memory tier's content for an entry. A class, so that a look-up copies only a reference under the lock.
@usableFromInline package class HeldObject: @unchecked Sendable {
    /// Bytes of an object with reference parts, decoded at each access, so callers share nothing. `nil`: a ``HeldValue``.
    @usableFromInline final let bytes: [UInt8]?

    init(bytes: [UInt8]?) { self.bytes = bytes }
}

/// An object itself. It never changes, and no mutable part of it is shared with callers.
@usableFromInline final class HeldValue<Object>: HeldObject, @unchecked Sendable {
    @usableFromInline let value: Object

    init(_ value: Object) {
        self.value = value
        super.init(bytes: nil)
    }
}
