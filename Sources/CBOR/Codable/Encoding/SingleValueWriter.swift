struct SingleValueWriter {
    let encoder: ValueEncoder
    let number: Int
}

extension SingleValueWriter: ScalarWriter, SingleValueEncodingContainer {
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

    mutating func encode(_ value: Int128) throws { try write { $0.write(wide: value) } }
    mutating func encode(_ value: UInt128) throws { try write { $0.write(wide: value) } }

    @inline(__always)
    func write(_ body: (inout CBORWriter) -> Void) throws {
        try encoder.beginSingle(in: number)
        body(&encoder.writer)
    }
}
