enum UTF8Scalar {
    /// The length of a sequence that begins with this byte, 1 to 4; nil if none does.
    static func length(startingWith byte: UInt8) -> Int? {
        switch byte {
        case 0x00...0x7f: 1
        case 0xc2...0xdf: 2
        case 0xe0...0xef: 3
        case 0xf0...0xf4: 4
        default: nil
        }
    }

    /// The first scalar and its length; nil unless it is complete and valid.
    static func decode(_ bytes: ArraySlice<UInt8>) -> (scalar: Unicode.Scalar, length: Int)? {
        var decoder = UTF8()
        var bytes = bytes.prefix(4).makeIterator()
        guard case .scalarValue(let scalar) = decoder.decode(&bytes) else { return nil }
        return (scalar, UTF8.width(scalar))
    }
}
