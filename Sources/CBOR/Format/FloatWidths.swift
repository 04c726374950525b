/// Converts between `Double` and narrower floats bit by bit, which keeps a NaN's payload and signaling bit, without `Float16`.
enum FloatWidths {
    /// Exponent bias and bits of the fraction: 1023 and 52 for doubles, 127 and 23 for singles, 15 and 10 for halves.
    private static let singleFractionDrop = 52 - 23
    private static let halfFractionDrop = 52 - 10

    /// The half precision number as a double. Exact for all of the 65,536 patterns.
    static func double(fromHalf bits: UInt16) -> Double {
        let sign = UInt64(bits & 0x8000) << 48
        let exponent = UInt64(bits >> 10) & 0x1f
        let fraction = UInt64(bits & 0x3ff)
        switch exponent {
        case 0:
            // Subnormal: fraction * 2^-24, which is a normal double.
            let magnitude = Double(fraction) * 0x1p-24
            return Double(bitPattern: sign | magnitude.bitPattern)
        case 0x1f:
            return Double(bitPattern: sign | 0x7ff << 52 | fraction << UInt64(halfFractionDrop))
        default:
            return Double(
                bitPattern: sign | (exponent + 1023 - 15) << 52 | fraction << UInt64(halfFractionDrop))
        }
    }

    /// The single precision number as a double. Exact for all patterns.
    static func double(fromSingle bits: UInt32) -> Double {
        let single = Float(bitPattern: bits)
        guard single.isNaN else { return Double(single) }
        let sign = UInt64(bits >> 31) << 63
        return Double(bitPattern: sign | 0x7ff << 52 | UInt64(bits & 0x7f_ffff) << UInt64(singleFractionDrop))
    }

    /// The bit pattern of the single precision number that equals `number`, NaN payload included; nil if none does.
    @inline(__always)
    static func single(exactly number: Double) -> UInt32? {
        guard number.isNaN else {
            let single = Float(number)
            return Double(single) == number ? single.bitPattern : nil
        }
        let bits = number.bitPattern
        guard bits & (1 << UInt64(singleFractionDrop) - 1) == 0 else { return nil }
        let fraction = UInt32(truncatingIfNeeded: bits >> UInt64(singleFractionDrop)) & 0x7f_ffff
        return UInt32(truncatingIfNeeded: bits >> 63) << 31 | 0x7f80_0000 | fraction
    }

    /// The bit pattern of the half precision number that equals `single`; nil if none does.
    static func half(exactly single: UInt32) -> UInt16? {
        let sign = UInt16(truncatingIfNeeded: single >> 16) & 0x8000
        let exponent = Int(single >> 23) & 0xff
        let fraction = single & 0x7f_ffff
        switch exponent {
        case 0xff where fraction & 0x1fff == 0:
            return sign | 0x7c00 | UInt16(truncatingIfNeeded: fraction >> 13)
        case 0 where fraction == 0:
            return sign
        case 113...142 where fraction & 0x1fff == 0:
            return sign | UInt16(exponent - 112) << 10 | UInt16(truncatingIfNeeded: fraction >> 13)
        case 103...112:
            // A subnormal half counts units of 2^-24: shifting must not drop a set bit.
            let significand = fraction | 0x80_0000
            let shift = UInt32(126 - exponent)
            guard significand & (1 << shift - 1) == 0 else { return nil }
            return sign | UInt16(truncatingIfNeeded: significand >> shift)
        default:
            return nil
        }
    }
}
