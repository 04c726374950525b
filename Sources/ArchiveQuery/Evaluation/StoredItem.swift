import CBOR

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a property is, as far as queries tell: read from its encoding without building anything. What points to memory is
/// valid as long as the row is.
enum StoredItem {
    /// There is none, or it is null.
    case absent
    case boolean(Bool)
    case number(NumberValue)
    case text(UnsafeRawBufferPointer)
    /// A text that doesn't lie in one piece.
    case string(String)
    case bytes(count: Int)
    /// Seconds since 2001, which is how Swift compares dates.
    case date(Double)
    /// With a reader at its first element, and how many there are if the array says so.
    case array(CBORReader, count: Int?)
    /// Likewise; entries.
    case map(CBORReader, count: Int?)
    /// Something that no comparison is about.
    case other

    /// Reads the item that begins at `offset`.
    @inline(__always)
    static func read(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(CBORError) -> StoredItem {
        var reader = CBORReader(bytes, at: offset)
        return try read(&reader)
    }

    /// The same, with the reader at the item; it is behind the item afterwards, or within an array or map.
    static func read(_ reader: inout CBORReader) throws(CBORError) -> StoredItem {
        while true {
            var before = reader
            switch try reader.readHead() {
            case .unsigned(let number): return .number(.integer(Int128(number)))
            case .negative(let number): return .number(.integer(-1 - Int128(number)))
            case .float(let number): return .number(.float(number))
            case .boolean(let flag): return .boolean(flag)
            case .null, .undefined: return .absent
            case .text(let count?): return .text(try reader.readContent(count: count))
            case .text(nil): return .string(try reader.readText(count: nil))
            case .bytes(let count?): return .bytes(count: try reader.readContent(count: count).count)
            case .bytes(nil): return .bytes(count: try reader.readBytes(count: nil).count)
            case .array(let count): return .array(reader, count: count)
            case .map(let count): return .map(reader, count: count)
            case .simple: return .other
            case .tag(let tag):
                if let item = try tagged(tag, &before) {
                    reader = before
                    return item
                }
            }
        }
    }

    /// An item whose tag has a meaning here; nil for one whose tag is stepped over.
    private static func tagged(_ tag: UInt64, _ reader: inout CBORReader) throws(CBORError) -> StoredItem? {
        switch tag {
        case 0:
            _ = try reader.readHead()
            let start = reader
            guard case .text(let count?) = try reader.readHead() else {
                reader = start
                try reader.skipItem()
                return .other
            }
            let moment = DateText.microseconds(try reader.readContent(count: count))
            return moment.map { .date(date(microseconds: $0)) } ?? .other
        case 1, 1001:
            guard let date = try reader.readDate() else { return .other }
            return .date(date.timeIntervalSinceReferenceDate)
        case 2, 3, 4:
            if let number = try reader.readLargeNumber() { return .number(NumberValue(number)) }
            try reader.skipItem()
            return .other
        default: return nil
        }
    }

    /// A moment in microseconds since 1970, in the seconds of ``date(_:)``.
    static func date(microseconds: Int64) -> Double {
        Date(timeIntervalSince1970: Double(microseconds) / 1_000_000).timeIntervalSinceReferenceDate
    }

    /// How many elements, entries, characters or bytes it has; nil for what has none.
    func count() throws(CBORError) -> Int? {
        switch self {
        case .text(let text): return UTF8Text.characters(text)
        case .string(let text): return text.count
        case .bytes(let count): return count
        case .array(_, let count?), .map(_, let count?): return count
        case .array(let reader, nil): return try Self.count(reader, itemsEach: 1)
        case .map(let reader, nil): return try Self.count(reader, itemsEach: 2)
        case .absent, .boolean, .number, .date, .other: return nil
        }
    }

    private static func count(_ reader: CBORReader, itemsEach: Int) throws(CBORError) -> Int {
        var reader = reader
        var count = 0
        while !reader.readBreak() {
            for _ in 0..<itemsEach { try reader.skipItem() }
            count += 1
        }
        return count
    }

    /// Calls `body` with each element of an array until it returns false; of anything else with none.
    func forEachElement(_ body: (StoredItem) throws(CBORError) -> Bool) throws(CBORError) {
        guard case .array(var reader, let count) = self else { return }
        var read = 0
        while count.map({ read < $0 }) ?? !reader.readBreak() {
            let start = reader.offset
            try reader.skipItem()
            guard try body(StoredItem.read(reader.bytes, at: start)) else { return }
            read += 1
        }
    }
}
