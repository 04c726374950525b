/// A container of values without keys: an array, or a single value.
protocol ItemWriter {
    var encoder: ValueEncoder { get }
    /// Begins the next item; throws if the container's scope has ended or takes no more.
    func begin() throws
}

extension ItemWriter {
    var codingPath: [any CodingKey] { encoder.codingPath }

    mutating func encodeNil() throws { try write { $0.writeNull() } }
    mutating func encode(_ value: Bool) throws { try write { $0.write(value) } }
    mutating func encode(_ value: String) throws { try write { $0.write(value) } }
    mutating func encode(_ value: Double) throws { try write { $0.write(value) } }
    mutating func encode(_ value: Float) throws { try write { $0.write(single: value) } }
    @inline(__always)
    mutating func encode<Number: FixedWidthInteger & Encodable>(_ value: Number) throws {
        try write { $0.write(number: value) }
    }

    @inline(__always)
    func write(_ body: (inout CBORWriter) -> Void) throws {
        try begin()
        body(&encoder.writer)
    }
}
