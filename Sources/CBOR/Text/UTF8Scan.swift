/// Checks UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
enum UTF8Scan {
    /// The length of the valid UTF-8 at the start. O(length), eight bytes per step for ASCII.
    static func validLength(of bytes: UnsafeRawBufferPointer) -> Int {
        let end = bytes.count
        var place = 0
        while place < end {
            if place + 8 <= end, ByteWord(bytes, at: place).nonASCII == 0 {
                place += 8
                continue
            }
            let length = sequenceLength(in: bytes, at: place)
            if length == 0 { return place }
            place += length
        }
        return end
    }

    /// The length of the character at `place`, 0 if it isn't well-formed (Unicode 15, table 3-7).
    @inline(__always)
    private static func sequenceLength(in bytes: UnsafeRawBufferPointer, at place: Int) -> Int {
        let lead = bytes[place]
        if lead < 0x80 { return 1 }
        let left = bytes.count - place
        switch lead {
        case 0xc2...0xdf:
            return left >= 2 && isContinuation(bytes[place + 1]) ? 2 : 0
        case 0xe0...0xef:
            guard left >= 3, isContinuation(bytes[place + 1]), isContinuation(bytes[place + 2]) else {
                return 0
            }
            let second = bytes[place + 1]
            if lead == 0xe0 && second < 0xa0 || lead == 0xed && second >= 0xa0 { return 0 }
            return 3
        case 0xf0...0xf4:
            guard left >= 4, isContinuation(bytes[place + 1]), isContinuation(bytes[place + 2]),
                isContinuation(bytes[place + 3])
            else { return 0 }
            let second = bytes[place + 1]
            if lead == 0xf0 && second < 0x90 || lead == 0xf4 && second >= 0x90 { return 0 }
            return 4
        default:
            return 0
        }
    }

    @inline(__always)
    private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xc0 == 0x80 }
}
