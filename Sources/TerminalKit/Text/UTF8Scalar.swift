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
        guard let first = bytes.first, let length = length(startingWith: first), bytes.count >= length
        else { return nil }
        if length == 1 { return (Unicode.Scalar(first), 1) }
        var value = UInt32(first) & (0xff >> UInt32(length + 1))
        for byte in bytes.dropFirst().prefix(length - 1) {
            guard byte & 0xc0 == 0x80 else { return nil }
            value = value << 6 | UInt32(byte & 0x3f)
        }
        // Overlong forms: the smallest value that needs this many bytes.
        guard value >= [0, 0, 0x80, 0x800, 0x1_0000][length], let scalar = Unicode.Scalar(value) else {
            return nil
        }
        return (scalar, length)
    }
}
