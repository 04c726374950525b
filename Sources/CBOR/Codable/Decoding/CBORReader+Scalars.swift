extension CBORReader {
    @inline(__always)
    mutating func decodeBool() throws(ReadFault) -> Bool {
        try skipTags()
        switch initialByte {
        case SimpleByte.true:
            offset += 1
            return true
        case SimpleByte.false:
            offset += 1
            return false
        default: throw try mismatch(Bool.self)
        }
    }

    @inline(__always)
    mutating func decodeText() throws(ReadFault) -> String {
        if let initialByte, MajorType(of: initialByte) == .text {
            return try checked { reader throws(CBORError) in
                let start = reader.offset
                reader.offset += 1
                return try reader.readText(count: try reader.readCount(initialByte & 0x1f, of: start))
            }
        }
        return try decodeTaggedText()
    }

    private mutating func decodeTaggedText() throws(ReadFault) -> String {
        try skipTags()
        guard try nextType() == .text else { throw try mismatch(String.self) }
        return try decodeText()
    }

    mutating func decodeByteString(_ type: any Any.Type) throws(ReadFault) -> [UInt8] {
        try skipTags()
        guard try nextType() == .bytes else { throw try mismatch(type) }
        return try checked { reader throws(CBORError) in
            guard case .bytes(let count) = try reader.readHead() else { return [] }
            return try reader.readBytes(count: count)
        }
    }

    // MARK: Integers

    /// Reads an integer, a bignum, or a float or decimal fraction with an integral value.
    @inline(__always)
    mutating func decodeInteger<Number: FixedWidthInteger>(_ type: Number.Type) throws(ReadFault) -> Number {
        if let initialByte, initialByte < MajorType.bytes.rawValue {
            let argument = try checked { reader throws(CBORError) in
                let start = reader.offset
                reader.offset += 1
                return try reader.readArgument(initialByte & 0x1f, of: start)
            }
            if initialByte < MajorType.negative.rawValue {
                if let number = Number(exactly: argument) { return number }
            } else if let complement = Int64(exactly: argument) {
                if let number = Number(exactly: ~complement) { return number }
            } else if let number = Number(exactly: ~Int128(argument)) {
                return number
            }
            let magnitude = UInt128(argument) + (initialByte < MajorType.negative.rawValue ? 0 : 1)
            throw .unfit(type, (initialByte < MajorType.negative.rawValue ? "" : "-") + "\(magnitude)")
        }
        if let number = try decodeIntegerIfThere(type) { return number }
        let number = try decodeFloat(Double.self, for: type)
        guard let integer = Number(exactly: number) else { throw .unfit(type, "\(number)") }
        return integer
    }

    /// Reads an integer, bignum or integral decimal fraction. Returns nil, with nothing read, for anything else.
    mutating func decodeIntegerIfThere<Number: FixedWidthInteger>(
        _ type: Number.Type
    ) throws(ReadFault) -> Number? {
        let start = offset
        while true {
            let next = offset
            switch try nextTag() {
            case nil:
                guard let initialByte, initialByte < MajorType.bytes.rawValue else {
                    offset = start
                    return nil
                }
                return try decodeInteger(type)
            case TagNumber.unsignedBignum: return try decodeBignum(type, isNegative: false)
            case TagNumber.negativeBignum: return try decodeBignum(type, isNegative: true)
            case TagNumber.decimalFraction:
                offset = next
                guard let number = Number(try decodeDecimal().description) else {
                    throw .unfit(type, "a decimal fraction")
                }
                return number
            default: continue
            }
        }
    }

    private mutating func decodeBignum<Number: FixedWidthInteger>(
        _ type: Number.Type, isNegative: Bool
    ) throws(ReadFault) -> Number {
        let content = try decodeByteString(type).drop { $0 == 0 }
        guard content.count <= 16 else { throw .unfit(type, "a bignum of \(content.count) bytes") }
        let argument = content.reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        // A negative bignum holds -1 - n.
        let number =
            isNegative
            ? Int128(exactly: argument).flatMap { Number(exactly: ~$0) } : Number(exactly: argument)
        guard let number else { throw .unfit(type, (isNegative ? "-1 - " : "") + "\(argument)") }
        return number
    }

    // MARK: Floats

    /// Reads any number as the nearest float. A finite number that overflows `Number` is a fault.
    @inline(__always)
    mutating func decodeFloat<Number: BinaryFloatingPoint>(
        _ type: Number.Type, for expected: any Any.Type = Number.self
    ) throws(ReadFault) -> Number {
        guard initialByte == SimpleByte.double, remaining >= 9 else {
            return try decodeOtherFloat(type, for: expected)
        }
        let bits = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset + 1, as: UInt64.self))
        offset += 9
        return try Self.narrow(Double(bitPattern: bits), type)
    }

    @inline(__always)
    private static func narrow<Number: BinaryFloatingPoint>(
        _ number: Double, _ type: Number.Type
    ) throws(ReadFault) -> Number {
        let result = Number(number)
        if result.isInfinite, number.isFinite { throw .unfit(type, "\(number)") }
        return result
    }

    @inline(never)
    private mutating func decodeOtherFloat<Number: BinaryFloatingPoint>(
        _ type: Number.Type, for expected: any Any.Type
    ) throws(ReadFault) -> Number {
        let start = offset
        while let tag = try nextTag() {
            switch tag {
            case TagNumber.unsignedBignum: return Number(try decodeBignum(UInt128.self, isNegative: false))
            case TagNumber.negativeBignum: return Number(try decodeBignum(Int128.self, isNegative: true))
            case TagNumber.decimalFraction:
                let fraction = try checked { reader throws(CBORError) in try reader.readDecimalFraction() }
                guard let number = fraction?.nearestDouble else {
                    throw .unfit(expected, "a decimal fraction")
                }
                return try Self.narrow(number, type)
            default: continue
            }
        }
        let item = offset
        switch try checked({ reader throws(CBORError) in try reader.readHead() }) {
        case .float(let number): return try Self.narrow(number, type)
        case .unsigned(let number): return Number(number)
        // Computes -1 - n as an integer first: as a float, n would be rounded before the subtraction.
        case .negative(let number): return Number(~Int128(number))
        default:
            offset = item
            let fault = try mismatch(expected)
            offset = start
            throw fault
        }
    }
}
