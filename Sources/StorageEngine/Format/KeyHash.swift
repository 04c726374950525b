/// SipHash-1-3 (J.-P. Aumasson, D. J. Bernstein: "SipHash: a fast short-input PRF") of a key with the archive's 128-bit
/// secret, so that only readers of the store can choose keys that collide.
package struct KeyHash: Sendable {
    package let k0: UInt64
    package let k1: UInt64

    package init(k0: UInt64, k1: UInt64) {
        self.k0 = k0
        self.k1 = k1
    }

    /// All copies of a store have the same secret, but each index has a random salt, so crafted keys don't collide after a rebuild.
    package init(secret: (UInt64, UInt64), salt: UInt64) {
        let plain = KeyHash(k0: secret.0, k1: secret.1)
        func half(_ number: UInt64) -> UInt64 {
            withUnsafeBytes(of: (salt.littleEndian, number.littleEndian)) { plain($0) }
        }
        self.init(k0: half(0), k1: half(1))
        #if DEBUG
        mask = KeyHash.maskInTests
        #endif
    }

    #if DEBUG
    /// Bits of the hash that are kept, for tests that need colliding keys.
    @TaskLocal package static var maskInTests: UInt64 = .max
    private var mask: UInt64 = .max
    #endif

    /// The low half of a key's hash.
    @inline(__always)
    func tag(_ key: UnsafeRawBufferPointer) -> UInt32 { UInt32(truncatingIfNeeded: self(key)) }

    @inline(__always) package func callAsFunction(_ key: UnsafeRawBufferPointer) -> UInt64 {
        var v0 = k0 ^ 0x736f_6d65_7073_6575
        var v1 = k1 ^ 0x646f_7261_6e64_6f6d
        var v2 = k0 ^ 0x6c79_6765_6e65_7261
        var v3 = k1 ^ 0x7465_6462_7974_6573

        @inline(__always) func round() {
            v0 = v0 &+ v1
            v1 = (v1 << 13 | v1 >> 51) ^ v0
            v0 = v0 << 32 | v0 >> 32
            v2 = v2 &+ v3
            v3 = (v3 << 16 | v3 >> 48) ^ v2
            v0 = v0 &+ v3
            v3 = (v3 << 21 | v3 >> 43) ^ v0
            v2 = v2 &+ v1
            v1 = (v1 << 17 | v1 >> 47) ^ v2
            v2 = v2 << 32 | v2 >> 32
        }

        let whole = key.count & ~7
        var offset = 0
        while offset < whole {
            let word = UInt64(littleEndian: key.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            v3 ^= word
            round()
            v0 ^= word
            offset += 8
        }
        let last = UInt64(truncatingIfNeeded: key.count) << 56 | key.lastPartialWord
        v3 ^= last
        round()
        v0 ^= last
        v2 ^= 0xff
        round()
        round()
        round()
        #if DEBUG
        return (v0 ^ v1 ^ v2 ^ v3) & mask
        #else
        return v0 ^ v1 ^ v2 ^ v3
        #endif
    }
}

extension UnsafeRawBufferPointer {
    @inline(__always) func word(_ place: Int) -> UInt64 {
        let offset = 8 * place
        if offset + 8 <= count {
            return UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        return offset < count ? lastPartialWord : 0
    }

    /// The last `count % 8` bytes as a little-endian number; uses overlapping loads instead of a loop.
    @inline(__always) fileprivate var lastPartialWord: UInt64 {
        @inline(__always) func half(_ offset: Int) -> UInt64 {
            UInt64(UInt32(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        }
        let bits = UInt64(count & 7) * 8
        if bits == 0 { return 0 }
        if count >= 8 {
            return UInt64(littleEndian: loadUnaligned(fromByteOffset: count - 8, as: UInt64.self))
                >> (64 - bits)
        }
        if count >= 4 { return half(0) | half(count - 4) << (bits - 32) }
        let middle = count >> 1
        return UInt64(self[0]) | UInt64(self[middle]) << UInt64(middle * 8) | UInt64(self[count - 1])
            << (bits - 8)
    }
}

/// The keys whose hash begins with certain bits. Initially all keys.
struct TagRange {
    private var depth: UInt32 = 0
    private var prefix: UInt32 = 0

    @inline(__always) func contains(_ tag: UInt32) -> Bool { tag >> (32 - depth) == prefix }

    mutating func halve() -> TagRange? {
        guard depth < 32 else { return nil }
        (depth, prefix) = (depth + 1, prefix << 1)
        return TagRange(depth: depth, prefix: prefix | 1)
    }
}
