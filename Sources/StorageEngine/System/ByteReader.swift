struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ more: [UInt8]) { bytes.append(contentsOf: more) }

    mutating func append<Integer: FixedWidthInteger>(_ value: Integer) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func pad(to count: Int) {
        if bytes.count < count { bytes.append(contentsOf: [UInt8](repeating: 0, count: count - bytes.count)) }
    }
}

/// Reads little-endian fields. After the end everything is zero, so callers check lengths first.
struct ByteReader {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func take(_ count: Int) -> [UInt8] {
        let end = min(bytes.count, offset + count)
        defer { offset = end }
        return Array(bytes[offset..<end])
    }

    mutating func uint16() -> UInt16 { integer() }
    mutating func uint32() -> UInt32 { integer() }
    mutating func uint64() -> UInt64 { integer() }

    private mutating func integer<Integer: FixedWidthInteger>() -> Integer {
        take(Integer.bitWidth / 8).reversed().reduce(0) { $0 << 8 | Integer($1) }
    }
}

extension FixedWidthInteger where Self: UnsignedInteger {
    package var hexadecimal: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: Self.bitWidth / 4 - digits.count) + digits
    }
}
