extension CBORReader {
    /// Decodes `bytes` as exactly one item; trailing bytes are an error. For a sequence, or a prefix of other data, use a
    /// reader and ``readValue()``. O(size).
    public static func decode(
        _ bytes: UnsafeRawBufferPointer, maximumDepth: Int = defaultMaximumDepth
    ) throws(CBORError) -> CBORValue {
        var reader = CBORReader(bytes, maximumDepth: maximumDepth)
        let value = try reader.readValue()
        try reader.expectEnd()
        return value
    }

    /// Decodes `bytes` as exactly one item; trailing bytes are an error. O(size).
    public static func decode(
        _ bytes: [UInt8], maximumDepth: Int = defaultMaximumDepth
    ) throws(CBORError) -> CBORValue {
        try bytes.withRawBytes { content throws(CBORError) in
            try decode(content, maximumDepth: maximumDepth)
        }
    }

    /// Whether `decode(_:maximumDepth:)` would accept `bytes`: exactly one well-formed item, with valid UTF-8 in its texts,
    /// nested no deeper than the limit. Builds nothing and stops at the first fault.
    public static func isWellFormed(
        _ bytes: UnsafeRawBufferPointer, maximumDepth: Int = defaultMaximumDepth
    ) -> Bool {
        var reader = CBORReader(bytes, maximumDepth: maximumDepth)
        do throws(CBORError) {
            try reader.skipItem(checkingText: true)
            return reader.isAtEnd
        } catch {
            return false
        }
    }

    /// Whether `decode(_:maximumDepth:)` would accept `bytes`. Builds nothing.
    public static func isWellFormed(_ bytes: [UInt8], maximumDepth: Int = defaultMaximumDepth) -> Bool {
        bytes.withUnsafeBytes { isWellFormed($0, maximumDepth: maximumDepth) }
    }
}

extension CBORValue {
    /// Decodes `bytes` as exactly one item, like `CBORReader.decode(_:maximumDepth:)`.
    public init(cbor bytes: [UInt8]) throws(CBORError) { self = try CBORReader.decode(bytes) }
}

extension Array where Element == UInt8 {
    /// `withUnsafeBytes` with a typed error, which the standard library's declaration lacks.
    @inline(__always)
    func withRawBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeBufferPointer { (buffer) throws(Failure) in try body(UnsafeRawBufferPointer(buffer)) }
    }
}
