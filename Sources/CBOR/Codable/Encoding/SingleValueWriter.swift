struct SingleValueWriter: ItemWriter {
    let encoder: ValueEncoder
    let number: Int

    @inline(__always)
    func begin() throws { try encoder.beginSingle(in: number) }
}

extension SingleValueWriter: SingleValueEncodingContainer {
    mutating func encode<Value: Encodable>(_ value: Value) throws {
        try begin()
        do {
            if try encoder.writeNative(value) { return }
            try encoder.encodeInScope(value)
        } catch {
            encoder.scope.shape = .undecided
            throw error
        }
    }

    // Not in ItemWriter: for these two, the container's protocol has implementations, too.
    mutating func encode(_ value: Int128) throws { try write { $0.write(wide: value) } }
    mutating func encode(_ value: UInt128) throws { try write { $0.write(wide: value) } }
}
