/// The scalars of containers without keys.
protocol ScalarWriter {
    /// Begins a value and writes it.
    func write(_ body: (inout CBORWriter) -> Void) throws
}

extension ScalarWriter {
    // 128-bit integers have default implementations in the standard library, so each container has its own.
    func encode(_ value: Bool) throws { try write { $0.write(value) } }
    func encode(_ value: String) throws { try write { $0.write(value) } }
    func encode(_ value: Double) throws { try write { $0.write(value) } }
    func encode(_ value: Float) throws { try write { $0.write(single: value) } }
    func encode(_ value: Int) throws { try write { $0.write(integer: Int64(value)) } }
    func encode(_ value: Int8) throws { try write { $0.write(integer: Int64(value)) } }
    func encode(_ value: Int16) throws { try write { $0.write(integer: Int64(value)) } }
    func encode(_ value: Int32) throws { try write { $0.write(integer: Int64(value)) } }
    func encode(_ value: Int64) throws { try write { $0.write(integer: value) } }
    func encode(_ value: UInt) throws { try write { $0.write(unsigned: UInt64(value)) } }
    func encode(_ value: UInt8) throws { try write { $0.write(unsigned: UInt64(value)) } }
    func encode(_ value: UInt16) throws { try write { $0.write(unsigned: UInt64(value)) } }
    func encode(_ value: UInt32) throws { try write { $0.write(unsigned: UInt64(value)) } }
    func encode(_ value: UInt64) throws { try write { $0.write(unsigned: value) } }
}
