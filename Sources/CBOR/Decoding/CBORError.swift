/// Why bytes are not CBOR, and where.
public struct CBORError: Error, Sendable, Hashable {
    /// A fault of the bytes.
    public enum Reason: Sendable, Hashable {
        /// The input ends within an item.
        case truncated
        /// A string, array or map claims more content than the remaining input. Nothing was allocated for it.
        case lengthExceedsInput(claimed: UInt64)
        /// Additional information 28...30, or 31 where nothing can be indefinite (RFC 8949, section 3).
        case reservedAdditionalInformation(UInt8)
        /// A two-byte simple value below 32 (RFC 8949, section 3.3).
        case invalidSimpleValue(UInt8)
        /// A text, or a chunk of one, that isn't valid UTF-8.
        case invalidUTF8
        /// A break outside an indefinite-length item, or in place of a tag's content, or inside a definite-length container.
        case unexpectedBreak
        /// A break after the key of a map's entry.
        case keyWithoutValue
        /// A chunk of an indefinite-length string that isn't a definite-length string of the same type.
        case invalidChunk
        /// Arrays, maps and tags are nested more deeply than the reader's limit.
        case nestingTooDeep(limit: Int)
        /// Bytes follow the requested item.
        case trailingBytes(count: Int)
    }

    /// Bytes from the start of the input to the item at fault. For truncated input this is its end, for trailing bytes the
    /// first of them, and for invalid UTF-8 the first byte of the bad sequence.
    public let offset: Int
    /// The fault at the offset.
    public let reason: Reason

    /// Creates an error for the byte `offset` bytes from the start of the input.
    public init(offset: Int, reason: Reason) {
        self.offset = offset
        self.reason = reason
    }
}

extension CBORError: CustomStringConvertible {
    public var description: String { "byte \(offset): \(reason)" }
}

extension CBORError.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .truncated: "the input ends within an item"
        case .lengthExceedsInput(let claimed): "a length of \(claimed) exceeds the input"
        case .reservedAdditionalInformation(let value): "additional information \(value) has no meaning here"
        case .invalidSimpleValue(let value): "simple value \(value) must not be written in two bytes"
        case .invalidUTF8: "text is not valid UTF-8"
        case .unexpectedBreak: "found a break, expected an item"
        case .keyWithoutValue: "a map ends after a key without its value"
        case .invalidChunk: "an indefinite string has a chunk of another type"
        case .nestingTooDeep(let limit): "more than \(limit) levels of nesting"
        case .trailingBytes(let count): "\(count) bytes follow the item"
        }
    }
}
