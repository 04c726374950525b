struct KeyedWriter<Key: CodingKey> {
    let encoder: ValueEncoder
    let number: Int
}

extension KeyedWriter: KeyedEncodingContainerProtocol {
    var codingPath: [any CodingKey] { encoder.codingPath }

    mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        let place = encoder.writer.bytes.count
        try encoder.beginEntry(key.stringValue, in: number)
        do {
            try encoder.encode(value, under: key)
        } catch {
            encoder.cancel(from: place)
            throw error
        }
    }

    mutating func encodeNil(forKey key: Key) throws {
        try encoder.beginEntry(key.stringValue, in: number)
        encoder.writer.writeNull()
    }

    // MARK: Containers within

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        openPart(key).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        openPart(key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { openPart(SuperKey()) }

    mutating func superEncoder(forKey key: Key) -> any Encoder { openPart(key) }

    private func openPart(_ key: some CodingKey) -> ValueEncoder {
        // The encoder keeps an error and throws it once the value is complete.
        try? encoder.beginEntry(key.stringValue, in: number)
        return encoder.openPart(key)
    }

    // MARK: Scalars

    mutating func encode(_ value: Bool, forKey key: Key) throws { try write(key) { $0.write(value) } }
    mutating func encode(_ value: String, forKey key: Key) throws { try write(key) { $0.write(value) } }
    mutating func encode(_ value: Double, forKey key: Key) throws { try write(key) { $0.write(value) } }
    mutating func encode(_ value: Float, forKey key: Key) throws {
        try write(key) { $0.write(single: value) }
    }

    mutating func encode(_ value: Int128, forKey key: Key) throws { try write(key) { $0.write(wide: value) } }
    mutating func encode(_ value: UInt128, forKey key: Key) throws {
        try write(key) { $0.write(wide: value) }
    }

    @inline(__always)
    mutating func encode<Number: FixedWidthInteger & Encodable>(_ value: Number, forKey key: Key) throws {
        try write(key) { $0.write(number: value) }
    }

    @inline(__always)
    private func write(_ key: Key, _ body: (inout CBORWriter) -> Void) throws {
        try encoder.beginEntry(key.stringValue, in: number)
        body(&encoder.writer)
    }
}
