extension CBORReader {
    /// Reads the head of the next item. A break is an error: where an indefinite-length container may end, call ``readBreak()``
    /// first. A returned count never exceeds the remaining input.
    public mutating func readHead() throws(CBORError) -> CBORHead {
        let start = offset
        let initial = try readInitialByte()
        let information = initial & 0x1f
        switch MajorType(of: initial) {
        case .unsigned: return .unsigned(try readArgument(information, of: start))
        case .negative: return .negative(try readArgument(information, of: start))
        case .bytes: return .bytes(count: try readCount(information, of: start))
        case .text: return .text(count: try readCount(information, of: start))
        case .array: return .array(count: try readCount(information, of: start))
        case .map: return .map(count: try readCount(information, of: start, unit: 2))
        case .tag: return .tag(try readArgument(information, of: start))
        case .simple: return try readSimple(initial, of: start)
        }
    }

    /// Skips a break if it is next, and returns whether it was.
    @inline(__always)
    public mutating func readBreak() -> Bool {
        guard offset < bytes.count, bytes[offset] == SimpleByte.break else { return false }
        offset += 1
        return true
    }

    /// Whether a container ends after `read` units: all were read or, if `count` is nil, a break is next and is skipped.
    @inline(__always)
    mutating func readEnd(count: Int?, read: Int) -> Bool {
        if let count { read == count } else { readBreak() }
    }

    @inline(__always)
    mutating func readInitialByte() throws(CBORError) -> UInt8 {
        guard offset < bytes.count else { throw CBORError(offset: bytes.count, reason: .truncated) }
        let initial = bytes[offset]
        offset += 1
        return initial
    }

    /// The argument of the head that began at `start` (RFC 8949, section 3).
    @inline(__always)
    mutating func readArgument(_ information: UInt8, of start: Int) throws(CBORError) -> UInt64 {
        if information < AdditionalInformation.oneByte { return UInt64(information) }
        switch information {
        case AdditionalInformation.oneByte: return UInt64(try readNumber(UInt8.self))
        case AdditionalInformation.twoBytes: return UInt64(try readNumber(UInt16.self))
        case AdditionalInformation.fourBytes: return UInt64(try readNumber(UInt32.self))
        case AdditionalInformation.eightBytes: return try readNumber(UInt64.self)
        default: throw CBORError(offset: start, reason: .reservedAdditionalInformation(information))
        }
    }

    /// The length of a string or container; nil if indefinite. Each counted unit takes at least `unit` bytes.
    @inline(__always)
    mutating func readCount(_ information: UInt8, of start: Int, unit: Int = 1) throws(CBORError) -> Int? {
        if information == AdditionalInformation.indefinite { return nil }
        let claimed = try readArgument(information, of: start)
        guard claimed <= UInt64(remaining / unit) else {
            throw CBORError(offset: start, reason: .lengthExceedsInput(claimed: claimed))
        }
        return Int(claimed)
    }

    private mutating func readSimple(_ initial: UInt8, of start: Int) throws(CBORError) -> CBORHead {
        switch initial {
        case SimpleByte.false: return .boolean(false)
        case SimpleByte.true: return .boolean(true)
        case SimpleByte.null: return .null
        case SimpleByte.undefined: return .undefined
        case SimpleByte.half: return .float(FloatWidths.double(fromHalf: try readNumber(UInt16.self)))
        case SimpleByte.single: return .float(FloatWidths.double(fromSingle: try readNumber(UInt32.self)))
        case SimpleByte.double: return .float(Double(bitPattern: try readNumber(UInt64.self)))
        case SimpleByte.break: throw CBORError(offset: start, reason: .unexpectedBreak)
        default: break
        }
        let value = UInt8(truncatingIfNeeded: try readArgument(initial & 0x1f, of: start))
        let takesTwoBytes = initial & 0x1f == AdditionalInformation.oneByte
        guard let simple = CBORSimpleValue(rawValue: value), takesTwoBytes == (value >= 32) else {
            throw CBORError(offset: start, reason: .invalidSimpleValue(value))
        }
        return .simple(simple)
    }

    /// A number in network byte order.
    @inline(__always)
    private mutating func readNumber<Number: FixedWidthInteger & BitwiseCopyable>(
        _ type: Number.Type
    ) throws(CBORError) -> Number {
        let size = MemoryLayout<Number>.size
        guard remaining >= size else { throw CBORError(offset: bytes.count, reason: .truncated) }
        let number = bytes.loadUnaligned(fromByteOffset: offset, as: Number.self)
        offset += size
        return Number(bigEndian: number)
    }
}
