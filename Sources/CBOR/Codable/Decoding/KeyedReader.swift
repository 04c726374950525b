/// Reads a map's values by key. The map's decoder remembers the position. Not thread-safe.
struct KeyedReader<Key: CodingKey> {
    let decoder: ValueDecoder

    @inline(__always)
    private func find(_ key: Key) throws -> Int? {
        var name = key.stringValue
        let reader = decoder.reader(at: 0)
        if let place = name.withUTF8({ decoder.map?.next(UnsafeRawBufferPointer($0), reader) }) {
            return place
        }
        return try decoder.search(&name, key)
    }

    @inline(__always)
    private func findExisting(_ key: Key) throws -> Int {
        if let place = try find(key) { return place }
        throw notFound(key)
    }

    private func notFound(_ key: Key) -> DecodingError {
        .keyNotFound(
            key,
            .init(codingPath: codingPath, debugDescription: "The map has no key \"\(key.stringValue)\"."))
    }

    @inline(__always)
    private func scalar<Value>(
        _ key: Key, _ read: (inout CBORReader) throws(ReadFault) -> Value
    ) throws -> Value {
        try scalar(key, at: try findExisting(key), read)
    }

    @inline(__always)
    private func scalar<Value>(
        _ key: Key, at place: Int, _ read: (inout CBORReader) throws(ReadFault) -> Value
    ) throws -> Value {
        var reader = decoder.reader(at: place)
        do throws(ReadFault) {
            let value = try read(&reader)
            decoder.map?.advance(to: reader.offset)
            return value
        } catch {
            throw decoder.error(error, .key(key))
        }
    }

    @inline(__always)
    private func scalarIfPresent<Value>(
        _ key: Key, _ read: (inout CBORReader) throws(ReadFault) -> Value
    ) throws -> Value? {
        guard let place = try find(key) else { return nil }
        return try scalar(key, at: place) { reader throws(ReadFault) in
            try reader.readNull() ? nil : try read(&reader)
        }
    }

    /// A decoder for the value of `key`, which may read it at any time during the call.
    private func openChild(_ key: Key) throws -> ValueDecoder {
        let child = try decoder.child(at: try findExisting(key), .key(key))
        decoder.map?.wait(for: child)
        return child
    }
}

extension KeyedReader: KeyedDecodingContainerProtocol {
    var codingPath: [any CodingKey] { decoder.codingPath }

    /// Each key once, in the map's order. Empty if the map is malformed; the decoding methods then throw.
    var allKeys: [Key] {
        let keys = try? decoder.map?.keys(decoder.reader(at: 0))
        return (keys ?? []).compactMap { key in
            switch key {
            case .text(let bytes): Key(stringValue: String(decoding: bytes, as: UTF8.self))
            case .assembled(let bytes): Key(stringValue: String(decoding: bytes, as: UTF8.self))
            case .integer(let number): Key(intValue: number)
            case .other: nil
            }
        }
    }

    /// Whether the map has the key. False for a malformed map, for which the decoding methods throw.
    func contains(_ key: Key) -> Bool { (try? find(key)) != nil }

    func decodeNil(forKey key: Key) throws -> Bool {
        var reader = decoder.reader(at: try findExisting(key))
        do throws(ReadFault) { return try reader.readNull() } catch { throw decoder.error(error, .key(key)) }
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try decode(type, at: try findExisting(key), key)
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard let place = try find(key) else { return nil }
        var reader = decoder.reader(at: place)
        do throws(ReadFault) {
            if try reader.readNull() {
                decoder.map?.advance(to: reader.offset)
                return nil
            }
        } catch {
            throw decoder.error(error, .key(key))
        }
        return try decode(type, at: place, key)
    }

    private func decode<Value: Decodable>(_ type: Value.Type, at place: Int, _ key: Key) throws -> Value {
        var end = place
        let value = try decoder.decode(type, at: &end, .key(key))
        decoder.map?.advance(to: end)
        return value
    }

    // MARK: Containers within

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try openChild(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try openChild(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        try KeyedReader<SuperKey>(decoder: decoder).openChild(SuperKey())
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try openChild(key) }

    // MARK: Scalars

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try scalar(key) { reader throws(ReadFault) in try reader.decodeBool() }
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try scalar(key) { reader throws(ReadFault) in try reader.decodeText() }
    }

    @inline(__always)
    func decode<Number: BinaryFloatingPoint & Decodable>(_ type: Number.Type, forKey key: Key) throws
        -> Number
    {
        try scalar(key) { reader throws(ReadFault) in try reader.decodeFloat(type) }
    }

    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try integer(type, key) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try integer(type, key) }

    func decode<Number: FixedWidthInteger & Decodable>(_ type: Number.Type, forKey key: Key) throws -> Number
    {
        try integer(type, key)
    }

    @inline(__always)
    private func integer<Number: FixedWidthInteger>(_ type: Number.Type, _ key: Key) throws -> Number {
        try scalar(key) { reader throws(ReadFault) in try reader.decodeInteger(type) }
    }

    // MARK: Scalars that may be missing or null

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try scalarIfPresent(key) { reader throws(ReadFault) in try reader.decodeBool() }
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try scalarIfPresent(key) { reader throws(ReadFault) in try reader.decodeText() }
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try optional(type, key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try optional(type, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try optional(type, key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try optional(type, key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try optional(type, key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try optional(type, key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try optional(type, key) }
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? { try optional(type, key) }

    @inline(__always)
    private func optional<Number: BinaryFloatingPoint>(_ type: Number.Type, _ key: Key) throws -> Number? {
        try scalarIfPresent(key) { reader throws(ReadFault) in try reader.decodeFloat(type) }
    }

    @inline(__always)
    private func optional<Number: FixedWidthInteger>(_ type: Number.Type, _ key: Key) throws -> Number? {
        try scalarIfPresent(key) { reader throws(ReadFault) in try reader.decodeInteger(type) }
    }
}
