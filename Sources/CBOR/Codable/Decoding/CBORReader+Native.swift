#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CBORReader {
    /// Reads a value of a type that has its own CBOR form, also a scalar, which types request through the generic `decode`.
    /// Throws ``ReadFault/notNative``, with nothing read, for every other type: an optional would need a run-time type look-up.
    @inline(never)
    mutating func decodeNative<Value: Decodable>(_ type: Value.Type) throws(ReadFault) -> Value {
        if type == String.self { return same(try decodeText()) }
        if type == Int.self { return same(try decodeInteger(Int.self)) }
        if type == Double.self { return same(try decodeFloat(Double.self)) }
        if type == Bool.self { return same(try decodeBool()) }
        if type == [String].self {
            return same(try decodeArray { reader throws(ReadFault) in try reader.decodeText() })
        }
        if type == [Int].self {
            return same(try decodeArray { reader throws(ReadFault) in try reader.decodeInteger(Int.self) })
        }
        if type == [Double].self {
            return same(try decodeArray { reader throws(ReadFault) in try reader.decodeFloat(Double.self) })
        }
        if type == [UInt8].self { return same(try decodeByteArray([UInt8].self)) }
        return try decodeFoundation(type)
    }

    private mutating func decodeFoundation<Value: Decodable>(_ type: Value.Type) throws(ReadFault) -> Value {
        if type == Date.self { return same(try decodeDate()) }
        if type == Data.self { return same(try decodeData()) }
        if type == UUID.self { return same(try decodeUUID()) }
        if type == URL.self {
            // A relative URL is a map that `URL` decodes itself.
            let start = offset
            try skipTags()
            let isMap = try nextType() == .map
            offset = start
            if isMap { throw .notNative }
            return same(try decodeURL())
        }
        if type == Decimal.self { return same(try decodeDecimal()) }
        return try decodeNumber(type)
    }

    private mutating func decodeNumber<Value: Decodable>(_ type: Value.Type) throws(ReadFault) -> Value {
        if type == Float.self { return same(try decodeFloat(Float.self)) }
        if type == UInt8.self { return same(try decodeInteger(UInt8.self)) }
        if type == UInt16.self { return same(try decodeInteger(UInt16.self)) }
        if type == UInt32.self { return same(try decodeInteger(UInt32.self)) }
        if type == UInt64.self { return same(try decodeInteger(UInt64.self)) }
        if type == UInt.self { return same(try decodeInteger(UInt.self)) }
        if type == Int8.self { return same(try decodeInteger(Int8.self)) }
        if type == Int16.self { return same(try decodeInteger(Int16.self)) }
        if type == Int32.self { return same(try decodeInteger(Int32.self)) }
        if type == Int64.self { return same(try decodeInteger(Int64.self)) }
        if type == Int128.self { return same(try decodeInteger(Int128.self)) }
        if type == UInt128.self { return same(try decodeInteger(UInt128.self)) }
        throw .notNative
    }

    @inline(__always)
    private mutating func decodeArray<Item>(
        _ read: (inout CBORReader) throws(ReadFault) -> Item
    ) throws(ReadFault) -> [Item] {
        guard let count = try open(.array) else { throw try mismatch([Any].self) }
        var items: [Item] = []
        // The count may be a false claim, so reserve only a little.
        items.reserveCapacity(min(count ?? 0, 256))
        do throws(ReadFault) {
            while !readEnd(count: count, read: items.count) { items.append(try read(&self)) }
        } catch {
            throw .item(items.count, error)
        }
        return items
    }

    /// Reads a `Data`. Copies a byte string only once, because it may be large.
    private mutating func decodeData() throws(ReadFault) -> Data {
        try skipTags()
        guard try nextType() == .bytes else { return Data(try decodeByteArray(Data.self)) }
        return try checked { reader throws(CBORError) in
            guard case .bytes(let count) = try reader.readHead() else { return Data() }
            guard let count else { return Data(try reader.readBytes(count: nil)) }
            return Data(try reader.readContent(count: count))
        }
    }

    /// Reads a byte string, or an array of numbers from 0 to 255.
    private mutating func decodeByteArray(_ type: any Any.Type) throws(ReadFault) -> [UInt8] {
        try skipTags()
        guard try nextType() == .array else { return try decodeByteString(type) }
        return try decodeArray { reader throws(ReadFault) in try reader.decodeInteger(UInt8.self) }
    }
}
