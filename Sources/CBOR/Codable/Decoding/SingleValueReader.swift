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

    func decode(_ type: Double.Type) throws -> Double { try float(type) }
    func decode(_ type: Float.Type) throws -> Float { try float(type) }
    func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
    func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }

    @inline(__always)
    private func float<Number: BinaryFloatingPoint>(_ type: Number.Type) throws -> Number {
        try decoder.scalar { reader throws(ReadFault) in try reader.decodeFloat(type) }
    }

    @inline(__always)
    private func integer<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
        try decoder.scalar { reader throws(ReadFault) in try reader.decodeInteger(type) }
    }
}
