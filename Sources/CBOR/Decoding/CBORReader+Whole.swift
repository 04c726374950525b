extension CBORReader {
    /// The one item that `bytes` are. Anything after it is an error; to read a sequence, or a prefix of something else,
    /// make a reader and call ``readValue()``.
    public static func decode(
        _ bytes: UnsafeRawBufferPointer, maximumDepth: Int = defaultMaximumDepth
    ) throws(CBORError) -> CBORValue {
        var reader = CBORReader(bytes, maximumDepth: maximumDepth)
        let value = try reader.readValue()
        try reader.expectEnd()
        return value
    }

    /// The one item that `bytes` are; see the other `decode`.
    public static func decode(
        _ bytes: [UInt8], maximumDepth: Int = defaultMaximumDepth
    ) throws(CBORError) -> CBORValue {
        try bytes.withRawBytes { content throws(CBORError) in
            try decode(content, maximumDepth: maximumDepth)
        }
    }

    /// Whether `bytes` are exactly one item that ``decode(_:maximumDepth:)`` would read: well-formed, its texts valid
    /// UTF-8, nested no deeper than the limit. Builds nothing; stops at the first fault.
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

    /// Whether `bytes` are exactly one item; see the other `isWellFormed`.
    public static func isWellFormed(_ bytes: [UInt8], maximumDepth: Int = defaultMaximumDepth) -> Bool {
        bytes.withUnsafeBytes { isWellFormed($0, maximumDepth: maximumDepth) }
    }
}

extension CBORValue {
    /// The one item that `bytes` are.
    public init(cbor bytes: [UInt8]) throws(CBORError) {
        self = try CBORReader.decode(bytes)
    }
}

extension Array where Element == UInt8 {
    /// `withUnsafeBytes`, whose own declaration loses the type of the error.
    @inline(__always)
    func withRawBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeBufferPointer { (buffer) throws(Failure) in try body(UnsafeRawBufferPointer(buffer)) }
    }
}
