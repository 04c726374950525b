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

    mutating func uint32() -> UInt32 {
        take(4).enumerated().reduce(0) { $0 | UInt32($1.element) << (8 * UInt32($1.offset)) }
    }

    mutating func uint64() -> UInt64 {
        take(8).enumerated().reduce(0) { $0 | UInt64($1.element) << (8 * UInt64($1.offset)) }
    }

    mutating func uint16() -> UInt16 {
        take(2).enumerated().reduce(0) { $0 | UInt16($1.element) << (8 * UInt16($1.offset)) }
    }
}

extension FixedWidthInteger where Self: UnsignedInteger {
    package var hexadecimal: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: Self.bitWidth / 4 - digits.count) + digits
    }
}
