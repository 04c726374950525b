/// Reads an array's items in order, with the position in the array's decoder. Not thread-safe.
struct UnkeyedReader {
    let decoder: ValueDecoder
    fileprivate(set) var cursor: ArrayCursor

    @inline(__always)
    private mutating func advance(to next: Int) {
        cursor.advance(to: next)
        if let noted = decoder.array, noted.index < cursor.index { decoder.array = cursor }
    }

    @inline(__always)
    private func expectItem(_ type: any Any.Type) throws {
        if isAtEnd { throw atEnd(type) }
    }

    private func atEnd(_ type: any Any.Type) -> DecodingError {
        .valueNotFound(
            type,
            .init(
                codingPath: decoder.path(.index(currentIndex)),
                debugDescription: "The array has no more than \(currentIndex) items."))
    }

    @inline(__always)
    private mutating func scalar<Value>(
        _ type: Value.Type, _ read: (inout CBORReader) throws(ReadFault) -> Value
    ) throws -> Value {
        try expectItem(type)
        var reader = decoder.reader(at: cursor.offset)
        do throws(ReadFault) {
            let value = try read(&reader)
            advance(to: reader.offset)
            return value
        } catch {
            throw decoder.error(error, .index(currentIndex))
        }
    }

    /// A decoder for the next item. The cursor skips the item at once, because it may be read later or never.
    private mutating func openChild(_ type: any Any.Type) throws -> ValueDecoder {
        try expectItem(type)
        let child = try decoder.child(at: cursor.offset, .index(currentIndex))
        advance(to: try child.end())
        return child
    }
}

extension UnkeyedReader: UnkeyedDecodingContainer {
    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { cursor.count }
    var currentIndex: Int { cursor.index }
    var isAtEnd: Bool { cursor.isAtEnd(decoder.reader(at: 0)) }

    mutating func decodeNil() throws -> Bool {
        try expectItem(Never.self)
        var reader = decoder.reader(at: cursor.offset)
        do throws(ReadFault) {
            guard try reader.readNull() else { return false }
            advance(to: reader.offset)
            return true
        } catch {
            throw decoder.error(error, .index(currentIndex))
        }
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try expectItem(type)
        var end = cursor.offset
        let value = try decoder.decode(type, at: &end, .index(currentIndex))
        advance(to: end)
        return value
    }

    // MARK: Containers within

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        var copy = self
        let container = try copy.openChild(KeyedDecodingContainer<Nested>.self).container(keyedBy: type)
        self = copy
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        var copy = self
        let container = try copy.openChild((any UnkeyedDecodingContainer).self).unkeyedContainer()
        self = copy
        return container
    }

    mutating func superDecoder() throws -> any Decoder { try openChild((any Decoder).self) }

    // MARK: Scalars

    mutating func decode(_ type: Bool.Type) throws -> Bool {
        try scalar(type) { reader throws(ReadFault) in try reader.decodeBool() }
    }

    mutating func decode(_ type: String.Type) throws -> String {
        try scalar(type) { reader throws(ReadFault) in try reader.decodeText() }
    }

    mutating func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }

    @inline(__always)
    mutating func decode<Number: BinaryFloatingPoint & Decodable>(_ type: Number.Type) throws -> Number {
        try scalar(type) { reader throws(ReadFault) in try reader.decodeFloat(type) }
    }

    mutating func decode<Number: FixedWidthInteger & Decodable>(_ type: Number.Type) throws -> Number {
        try integer(type)
    }

    @inline(__always)
    private mutating func integer<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
        try scalar(type) { reader throws(ReadFault) in try reader.decodeInteger(type) }
    }
}
