extension CBORReader {
    /// The content of a string of `count` bytes whose head was just read; not checked. Valid as long as the input's memory.
    @inline(__always)
    public mutating func readContent(count: Int) throws(CBORError) -> UnsafeRawBufferPointer {
        guard count >= 0, count <= remaining else { throw CBORError(offset: bytes.count, reason: .truncated) }
        let content = UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
        offset += count
        return content
    }

    /// The content of a byte string whose head has just been read, with its `count`. O(length).
    public mutating func readBytes(count: Int?) throws(CBORError) -> [UInt8] {
        if let count { return Array(try readContent(count: count)) }
        var content: [UInt8] = []
        while let chunk = try readChunk(of: .bytes) { content.append(contentsOf: chunk) }
        return content
    }

    /// The content of a text whose head was just read, with its `count`. Each chunk of a text must be valid UTF-8. O(length).
    public mutating func readText(count: Int?) throws(CBORError) -> String {
        if let count { return try readDefiniteText(count: count) }
        var text = ""
        while let chunk = try readChunk(of: .text) { text += String(decoding: chunk, as: UTF8.self) }
        return text
    }

    private mutating func readDefiniteText(count: Int) throws(CBORError) -> String {
        let start = offset
        let content = try readContent(count: count)
        // Decoding repairs invalid UTF-8. Comparing the result with the input is the quickest way to validate it.
        var text = String(decoding: content, as: UTF8.self)
        if text.withUTF8({ UnsafeRawBufferPointer($0).hasSameBytes(as: content) }) { return text }
        throw CBORError(offset: start + UTF8Scan.validLength(of: content), reason: .invalidUTF8)
    }

    /// The next `count` bytes; throws if they are not valid UTF-8.
    @inline(__always)
    mutating func readUTF8(count: Int) throws(CBORError) -> UnsafeRawBufferPointer {
        let start = offset
        let content = try readContent(count: count)
        let valid = UTF8Scan.validLength(of: content)
        guard valid == count else { throw CBORError(offset: start + valid, reason: .invalidUTF8) }
        return content
    }

    /// The next chunk of an indefinite-length string; nil at its end. Unless `checkingText` is false, a text's chunk is valid UTF-8.
    mutating func readChunk(
        of type: MajorType, checkingText: Bool = true
    ) throws(CBORError) -> UnsafeRawBufferPointer? {
        if readBreak() { return nil }
        let start = offset
        let initial = try readInitialByte()
        guard MajorType(of: initial) == type,
            let count = try readCount(initial & 0x1f, of: start)
        else {
            throw CBORError(offset: start, reason: .invalidChunk)
        }
        return type == .text && checkingText ? try readUTF8(count: count) : try readContent(count: count)
    }
}
