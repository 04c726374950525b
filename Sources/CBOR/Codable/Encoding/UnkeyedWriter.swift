struct UnkeyedWriter {
    let encoder: ValueEncoder
    let number: Int
}

extension UnkeyedWriter: UnkeyedEncodingContainer {
    var codingPath: [any CodingKey] { encoder.codingPath }

    /// 0 once the array's scope has ended.
    var count: Int { number == encoder.scope.number ? encoder.scope.count : 0 }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        let place = encoder.writer.bytes.count
        try encoder.beginItem(in: number)
        do {
            try encoder.encode(value, under: IndexKey(count - 1))
        } catch {
            encoder.cancel(from: place)
            throw error
        }
    }

    mutating func encodeNil() throws {
        try encoder.beginItem(in: number)
        encoder.writer.writeNull()
    }

    // MARK: Containers within

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        openPart().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { openPart().unkeyedContainer() }

    mutating func superEncoder() -> any Encoder { openPart() }

    private func openPart() -> ValueEncoder {
        // The encoder keeps an error and throws it once the value is complete.
        try? encoder.beginItem(in: number)
        return encoder.openPart(IndexKey(count - 1))
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
        try encoder.beginItem(in: number)
        body(&encoder.writer)
    }
}
