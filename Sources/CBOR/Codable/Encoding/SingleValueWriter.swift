/// Not thread-safe. Writes a value that consists of a single other value.
struct SingleValueWriter {
    let encoder: ValueEncoder
    /// Number of the value's scope.
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

    mutating func encode(_ value: Bool) throws {
        try encoder.beginSingle(in: number)
        encoder.writer.write(value)
    }

    mutating func encode(_ value: String) throws {
        try encoder.beginSingle(in: number)
        encoder.writer.write(value)
    }

    mutating func encode(_ value: Double) throws {
        try encoder.beginSingle(in: number)
        encoder.writer.write(value)
    }

    mutating func encode(_ value: Float) throws {
        try encoder.beginSingle(in: number)
        encoder.writer.write(single: value)
    }

    mutating func encode(_ value: Int) throws {
        try encoder.beginSingle(in: number)
        encoder.writer.write(integer: Int64(value))
    }

    mutating func encode(_ value: Int8) throws {
        try encoder.beginSingle(in: number)
        encoder.writer.write(integer: Int64(value))
    }

    mutating func encode(_ value: Int16) throws {
        try encoder.beginSingle(in: number)
        encoder.writer.write(integer: Int64(value))
    }

    mutating func encode(_ value: Int32) throws {
        try encoder.beginSingle(in: number)
        encoder.writer.write(integer: Int64(value))
    }

    mutating func encode(_ value: Int64) throws {
        try encoder.beginSingle(in: number)
        encoder.writer.write(integer: Int64(value))
    }

    mutating func encode(_ value: UInt) throws {
        try encoder.beginSingle(in: number)
        encoder.writer.write(unsigned: UInt64(value))
    }

    mutating func encode(_ value: UInt8) throws {
        try encoder.beginSingle(in: number)
        encoder.writer.write(unsigned: UInt64(value))
    }

    mutating func encode(_ value: UInt16) throws {
        try encoder.beginSingle(in: number)
        encoder.writer.write(unsigned: UInt64(value))
    }

    mutating func encode(_ value: UInt32) throws {
        try encoder.beginSingle(in: number)
        encoder.writer.write(unsigned: UInt64(value))
    }

    mutating func encode(_ value: UInt64) throws {
        try encoder.beginSingle(in: number)
        encoder.writer.write(unsigned: UInt64(value))
    }

    mutating func encode(_ value: Int128) throws {
        try encoder.beginSingle(in: number)
        encoder.writer.write(wide: value)
    }

    mutating func encode(_ value: UInt128) throws {
        try encoder.beginSingle(in: number)
        encoder.writer.write(wide: value)
    }
}
