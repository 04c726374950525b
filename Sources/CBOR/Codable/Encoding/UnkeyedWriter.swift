struct UnkeyedWriter: ItemWriter {
    let encoder: ValueEncoder
    let number: Int

    @inline(__always)
    func begin() throws { try encoder.beginItem(in: number) }
}

extension UnkeyedWriter: UnkeyedEncodingContainer {
    /// Number of items; 0 once the array's scope has ended.
    var count: Int { number == encoder.scope.number ? encoder.scope.count : 0 }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        let place = encoder.writer.bytes.count
        try begin()
        do {
            try encoder.encode(value, under: IndexKey(count - 1))
        } catch {
            encoder.cancel(from: place)
            throw error
        }
    }

    // Not in ItemWriter: for these two, the container's protocol has implementations, too.
    mutating func encode(_ value: Int128) throws { try write { $0.write(wide: value) } }
    mutating func encode(_ value: UInt128) throws { try write { $0.write(wide: value) } }

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
        try? begin()
        return encoder.openPart(IndexKey(count - 1))
    }
}
