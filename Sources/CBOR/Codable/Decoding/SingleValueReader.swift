struct SingleValueReader {
    let decoder: ValueDecoder
}

extension SingleValueReader: SingleValueDecodingContainer {
    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.isNull() }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.decode(type) }

    // MARK: Scalars

    func decode(_ type: Bool.Type) throws -> Bool {
        try decoder.scalar { reader throws(ReadFault) in try reader.decodeBool() }
    }

    func decode(_ type: String.Type) throws -> String {
        try decoder.scalar { reader throws(ReadFault) in try reader.decodeText() }
    }

    func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }

    @inline(__always)
    func decode<Number: BinaryFloatingPoint & Decodable>(_ type: Number.Type) throws -> Number {
        try decoder.scalar { reader throws(ReadFault) in try reader.decodeFloat(type) }
    }

    func decode<Number: FixedWidthInteger & Decodable>(_ type: Number.Type) throws -> Number {
        try integer(type)
    }

    @inline(__always)
    private func integer<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
        try decoder.scalar { reader throws(ReadFault) in try reader.decodeInteger(type) }
    }
}
