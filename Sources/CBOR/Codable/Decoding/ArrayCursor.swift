struct ArrayCursor {
    /// Items; nil for an indefinite length.
    let count: Int?
    /// Offset of the next item.
    private(set) var offset: Int
    private(set) var index = 0

    /// `reader` is any reader of the input.
    @inline(__always)
    func isAtEnd(_ reader: CBORReader) -> Bool {
        if let count { return index >= count }
        return offset < 0 || offset >= reader.bytes.count || reader.bytes[offset] == SimpleByte.break
    }

    @inline(__always)
    mutating func advance(to next: Int) {
        offset = next
        index += 1
    }

    func end(of start: CBORReader) throws(ReadFault) -> Int {
        var reader = start
        reader.offset = offset
        var place = index
        while !reader.readEnd(count: count, read: place) {
            try reader.checked { reader throws(CBORError) in try reader.skipItem() }
            place += 1
        }
        return reader.offset
    }
}
