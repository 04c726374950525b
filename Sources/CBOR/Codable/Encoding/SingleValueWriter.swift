struct SingleValueWriter {
    let encoder: ValueEncoder
    let number: Int
}

extension SingleValueWriter: SingleValueEncodingContainer {
    var codingPath: [any CodingKey] { encoder.codingPath }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        try encoder.beginSingle(in: number)
        do {
            if try encoder.writeNative(value) { return }
            try encoder.encodeInScope(value)
        } catch {
            encoder.scope.shape = .undecided
            throw error
        }
    }

    mutating func encodeNil() throws {
        try encoder.beginSingle(in: number)
        encoder.writer.writeNull()
    }

    // MARK: Scalars

    mutating func encode(_ value: Bool) throws { try write { $0.write(value) } }
    mutating func encode(_ value: String) throws { try write { $0.write(value) } }
    mutating func encode(_ value: Double) throws { try write { $0.write(value) } }
    mutating func encode(_ value: Float) throws { try write { $0.write(single: value) } }

    mutating func encode(_ value: Int128) throws { try write { $0.write(wide: value) } }
    mutating func encode(_ value: UInt128) throws { try write { $0.write(wide: value) } }

    @inline(__always)
    mutating func encode<Number: FixedWidthInteger & Encodable>(_ value: Number) throws {
        try write { $0.write(number: value) }
    }

    @inline(__always)
    private func write(_ body: (inout CBORWriter) -> Void) throws {
        try encoder.beginSingle(in: number)
        body(&encoder.writer)
    }
}
