/// Reads CBOR items one after the other from memory that the caller keeps alive and unchanged.
///
/// Every access is bounds-checked, and every length is checked against the remaining input before anything is allocated.
/// Indefinite lengths and heads longer than necessary are accepted. Items can be built (``readValue()``), skipped
/// (``skipItem(checkingText:)``) or read head by head (``readHead()``). To read a sequence (RFC 8742), repeat any of these
/// until ``isAtEnd``. After an error the position is unspecified.
public struct CBORReader {
    /// The default limit for nested arrays, maps and tags. It needs less than 256 KB of stack in optimized builds and up to 2
    /// MB in others: use a lower limit on threads with a smaller stack.
    public static let defaultMaximumDepth = 512

    /// The whole input, which the reader doesn't own.
    public let bytes: UnsafeRawBufferPointer
    /// Bytes from the start of the input to the next item.
    public internal(set) var offset = 0
    /// How deep items may be nested before ``readValue()`` and ``skipItem(checkingText:)`` refuse the input.
    public let maximumDepth: Int

    /// Creates a reader at the start of `bytes`, which must stay valid and unchanged as long as it is used.
    public init(_ bytes: UnsafeRawBufferPointer, maximumDepth: Int = defaultMaximumDepth) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
    }

    /// Creates a reader at `offset`, which may be any place in the input.
    package init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        self.init(bytes)
        self.offset = min(max(0, offset), bytes.count)
    }

    /// Whether the whole input has been read.
    public var isAtEnd: Bool { offset >= bytes.count }

    /// Bytes from the next item to the end of the input.
    public var remaining: Int { bytes.count - offset }

    /// Throws ``CBORError/Reason/trailingBytes(count:)`` unless the whole input has been read.
    public func expectEnd() throws(CBORError) {
        guard isAtEnd else { throw CBORError(offset: offset, reason: .trailingBytes(count: remaining)) }
    }
}
