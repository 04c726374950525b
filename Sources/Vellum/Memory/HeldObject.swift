/// What the memory tier keeps of one entry. A class so that a look-up copies one reference while it holds the tier's
/// lock, whatever the object's size.
class HeldObject: @unchecked Sendable {
    /// The bytes of an object that has parts of reference type: each access makes a new object of them, so that a change
    /// that one caller makes reaches neither the archive nor another caller. `nil`: this is a ``HeldValue``.
    final let bytes: [UInt8]?

    init(bytes: [UInt8]?) { self.bytes = bytes }
}

/// An object itself. It is never changed, and nobody outside shares a part of it that could be.
final class HeldValue<Archive>: HeldObject, @unchecked Sendable {
    let value: Archive

    init(_ value: Archive) {
        self.value = value
        super.init(bytes: nil)
    }
}
