#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CBORReader {
    /// Reads a value of a type that CBOR has a form of its own for. Nil, with nothing read, for all other types.
    ///
    /// The scalars are here too because containers are asked for them by their generic function as well: an array does
    /// so for each element.
    @inline(never)
    mutating func decodeNative<Value: Decodable>(_ type: Value.Type) throws(ReadFault) -> Value? {
        if type == String.self { return exactly(try decodeText(), type) }
        if type == Int.self { return exactly(try decodeInteger(Int.self), type) }
        if type == Double.self { return exactly(try decodeFloat(Double.self), type) }
        if type == Bool.self { return exactly(try decodeBool(), type) }
        if type == [String].self {
            return exactly(try decodeArray { reader throws(ReadFault) in try reader.decodeText() }, type)
        }
        if type == [Int].self {
            return exactly(try decodeArray { reader throws(ReadFault) in try reader.decodeInteger(Int.self) }, type)
        }
        if type == [Double].self {
            return exactly(try decodeArray { reader throws(ReadFault) in try reader.decodeFloat(Double.self) }, type)
        }
        if type == [UInt8].self { return exactly(try decodeByteArray([UInt8].self), type) }
        if let value = try decodeFoundation(type) { return value }
        return try decodeNumber(type)
    }

    private mutating func decodeFoundation<Value: Decodable>(_ type: Value.Type) throws(ReadFault) -> Value? {
        if type == Date.self { return exactly(try decodeDate(), type) }
        if type == Data.self { return exactly(Data(try decodeByteArray(Data.self)), type) }
        if type == UUID.self { return exactly(try decodeUUID(), type) }
        if type == URL.self {
            // A relative URL is a map, which the type itself reads.
            let start = offset
            try skipTags()
            let isMap = try nextType(URL.self) == .map
            offset = start
            return isMap ? nil : exactly(try decodeURL(), type)
        }
        if type == Decimal.self { return exactly(try decodeDecimal(), type) }
        return nil
    }

    private mutating func decodeNumber<Value: Decodable>(_ type: Value.Type) throws(ReadFault) -> Value? {
        if type == Float.self { return exactly(try decodeFloat(Float.self), type) }
        if type == UInt8.self { return exactly(try decodeInteger(UInt8.self), type) }
        if type == UInt16.self { return exactly(try decodeInteger(UInt16.self), type) }
        if type == UInt32.self { return exactly(try decodeInteger(UInt32.self), type) }
        if type == UInt64.self { return exactly(try decodeInteger(UInt64.self), type) }
        if type == UInt.self { return exactly(try decodeInteger(UInt.self), type) }
        if type == Int8.self { return exactly(try decodeInteger(Int8.self), type) }
        if type == Int16.self { return exactly(try decodeInteger(Int16.self), type) }
        if type == Int32.self { return exactly(try decodeInteger(Int32.self), type) }
        if type == Int64.self { return exactly(try decodeInteger(Int64.self), type) }
        if type == Int128.self { return exactly(try decodeInteger(Int128.self), type) }
        if type == UInt128.self { return exactly(try decodeInteger(UInt128.self), type) }
        return nil
    }

    /// Reads an array of scalars.
    @inline(__always)
    private mutating func decodeArray<Element>(
        _ read: (inout CBORReader) throws(ReadFault) -> Element
    ) throws(ReadFault) -> [Element] {
        guard let count = try openArray() else { throw try mismatch([Element].self) }
        var items: [Element] = []
        // The count may be a claim only; up to here it costs little.
        items.reserveCapacity(min(count ?? 0, 256))
        do throws(ReadFault) {
            while !readEnd(count: count, read: items.count) { items.append(try read(&self)) }
        } catch {
            throw .item(items.count, error)
        }
        return items
    }

    /// Reads a byte string, or an array of numbers from 0 to 255.
    private mutating func decodeByteArray(_ type: any Any.Type) throws(ReadFault) -> [UInt8] {
        try skipTags()
        guard try nextType(type) == .array else { return try decodeByteString(type) }
        return try decodeArray { reader throws(ReadFault) in try reader.decodeInteger(UInt8.self) }
    }
}
