/// The checksum of any range of bytes, derived from the registers at its two ends, at a constant cost.
///
/// The register of CRC32C is linear: over the bytes *A* and then *B* it is the register over *A*, advanced by as many zeros as
/// *B* has bytes, xor the register over *B* from 0. Advancing by *n* zero bytes multiplies by x^(8n) modulo the polynomial.
extension Checksum {
    /// The register after `count` zero bytes, below 2³². Costs at most four multiplications of polynomials.
    static func moved(_ register: UInt32, overZeros count: Int) -> UInt32 {
        var register = register
        for place in 0..<4 {
            let digit = count >> (8 * place) & 0xff
            if digit != 0 { register = product(register, powers[place << 8 | digit]) }
        }
        return register
    }

    /// Whether a change of one bit among `count` bytes that `behind` bytes follow changes the register by `difference`. O(`count`).
    static func isBitChange(_ difference: UInt32, in count: Int, before behind: Int) -> Bool {
        var change = moved(times(1), overZeros: behind)
        for _ in 0..<8 * count {
            if change == difference { return true }
            change = times(change)
        }
        return false
    }

    /// The product of two polynomials, whose coefficient of x⁰ is the highest bit, modulo that of CRC32C.
    private static func product(_ left: UInt32, _ right: UInt32) -> UInt32 {
        var sum: UInt32 = 0
        var factor = right
        var bits = left
        while bits != 0 {
            if bits & 0x8000_0000 != 0 { sum ^= factor }
            bits <<= 1
            factor = times(factor)
        }
        return sum
    }

    private static func times(_ factor: UInt32) -> UInt32 {
        factor >> 1 ^ (factor & 1 == 0 ? 0 : 0x82F6_3B78)
    }

    /// x^(8 · d · 256ᵏ) at index 256 k + d.
    private static let powers: [UInt32] = {
        var powers = [UInt32](repeating: 0x8000_0000, count: 1024)
        var byte: UInt32 = 0x8000_0000
        for _ in 0..<8 { byte = times(byte) }
        for place in 0..<4 {
            for digit in 1..<256 {
                powers[place << 8 | digit] = product(powers[place << 8 | digit - 1], byte)
            }
            byte = product(powers[place << 8 | 255], byte)
        }
        return powers
    }()
}
