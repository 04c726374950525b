/// For one thread at a time (copies are independent). Reads CBOR items one after the other from memory that the caller
/// keeps alive and unchanged.
///
/// Every access is bounds-checked against the input, and a length is held against what is left of it before anything
/// is allocated. Definite and indefinite lengths and heads longer than necessary are all read. Items can be built
/// (``readValue()``), stepped over (``skipItem(checkingText:)``) or taken apart (``readHead()`` and what follows).
/// A sequence (RFC 8742) is read by repeating any of these until ``isAtEnd``. After an error the position is unspecified.
public struct CBORReader {
    /// How many arrays, maps and tags may stand within each other unless told otherwise. To follow so many takes less
    /// than 256 KB of stack in optimised builds, up to 2 MB in others: a thread with less needs a lower limit.
    public static let defaultMaximumDepth = 512

    public let bytes: UnsafeRawBufferPointer
    /// Bytes from the start of the input to the next item.
    public internal(set) var offset = 0
    /// The nesting that ``readValue()`` and ``skipItem(checkingText:)`` follow before they refuse the input.
    public let maximumDepth: Int

    public init(_ bytes: UnsafeRawBufferPointer, maximumDepth: Int = defaultMaximumDepth) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
    }

    /// Reads from `offset` on, which may be anywhere in the input.
    package init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        self.init(bytes)
        self.offset = min(max(0, offset), bytes.count)
    }

    public var isAtEnd: Bool { offset >= bytes.count }

    /// Bytes from the next item to the end of the input.
    public var remaining: Int { bytes.count - offset }

    /// Throws unless all of the input has been read.
    public func expectEnd() throws(CBORError) {
        guard isAtEnd else { throw CBORError(offset: offset, reason: .trailingBytes(count: remaining)) }
    }
}
