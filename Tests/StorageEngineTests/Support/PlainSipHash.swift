/// SipHash-1-3 as in its paper: the padded message in words of eight bytes, one after the other.
enum PlainSipHash {
    static func hash(_ bytes: [UInt8], _ k0: UInt64, _ k1: UInt64) -> UInt64 {
        let padding = repeated(0, 7 - bytes.count % 8)
        let message = bytes + padding + [UInt8(truncatingIfNeeded: bytes.count)]
        var state = [
            k0 ^ 0x736f_6d65_7073_6575, k1 ^ 0x646f_7261_6e64_6f6d, k0 ^ 0x6c79_6765_6e65_7261,
            k1 ^ 0x7465_6462_7974_6573,
        ]
        for start in stride(from: 0, to: message.count, by: 8) {
            let word = message[start..<start + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            state[3] ^= word
            round(&state)
            state[0] ^= word
        }
        state[2] ^= 0xff
        for _ in 0..<3 { round(&state) }
        return state.reduce(0, ^)
    }

    private static func round(_ v: inout [UInt64]) {
        func rotated(_ word: UInt64, _ bits: UInt64) -> UInt64 { word << bits | word >> (64 - bits) }
        v[0] &+= v[1]
        v[1] = rotated(v[1], 13) ^ v[0]
        v[0] = rotated(v[0], 32)
        v[2] &+= v[3]
        v[3] = rotated(v[3], 16) ^ v[2]
        v[0] &+= v[3]
        v[3] = rotated(v[3], 21) ^ v[0]
        v[2] &+= v[1]
        v[1] = rotated(v[1], 17) ^ v[2]
        v[2] = rotated(v[2], 32)
    }
}
