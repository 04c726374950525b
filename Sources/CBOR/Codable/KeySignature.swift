/// One of 128 bits, chosen by the key, so that most checks for repeated keys need no comparison.
enum KeySignature {
    @inline(__always)
    static func bit(of key: UnsafeRawBufferPointer) -> UInt128 {
        let count = key.count
        guard count > 0 else { return 1 }
        let sum = count &* 37 &+ Int(key[0]) &* 11 &+ Int(key[count - 1]) &* 59 &+ Int(key[count >> 1]) &* 23
        return 1 << UInt128(truncatingIfNeeded: sum & 127)
    }
}
