/// Eight bytes of text, tested in one step. A mask marks matching bytes, reliably up to the lowest mark (``firstIndex(in:)``).
struct ByteWord {
    private static let highBits: UInt64 = 0x8080_8080_8080_8080
    private static let ones: UInt64 = 0x0101_0101_0101_0101

    private let word: UInt64

    /// The eight bytes from `place` on, which must all exist.
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer, at place: Int) {
        word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
    }

    @inline(__always)
    var nonASCII: UInt64 { word & Self.highBits }

    /// The bytes below 0x20.
    @inline(__always)
    var controls: UInt64 { (word &- Self.ones &* 0x20) & ~word & Self.highBits }

    @inline(__always)
    func matches(_ byte: UInt8) -> UInt64 {
        let difference = word ^ Self.ones &* UInt64(byte)
        return (difference &- Self.ones) & ~difference & Self.highBits
    }

    /// The place within the word, 0...7, of the first byte that a mask other than 0 marks.
    @inline(__always)
    static func firstIndex(in mask: UInt64) -> Int { mask.trailingZeroBitCount >> 3 }
}
