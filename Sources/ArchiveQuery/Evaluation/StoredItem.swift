import CBOR
import Foundation

/// A property as queries see it, read from its encoding. Pointers are valid as long as the row.
enum StoredItem {
    case absent
    case boolean(Bool)
    case number(NumberValue)
    case text(UnsafeRawBufferPointer)
    case string(String)
    /// A key or an owner, compared by bytes.
    case key(KeyText)
    /// A byte string, with a reader at its head.
    case bytes(CBORReader, count: Int)
    /// Seconds since 2001, like Swift's dates.
    case date(Double)
    /// An array, with a reader at its first element and the number of elements; nil for an indefinite length.
    case array(CBORReader, count: Int?)
    /// A map, with a reader at its first key and the number of entries; nil for an indefinite length.
    case map(CBORReader, count: Int?)
    /// A kind without order and literals; with a reader at its start.
    case other(CBORReader)
    /// A failed calculation or conversion. Absent, but conditions on it are unknown.
    case failed

    @inline(__always)
    static func read(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(CBORError) -> StoredItem {
        var reader = CBORReader(bytes, at: offset)
        return try read(&reader)
    }

    /// Reads the reader's next item. The reader ends after the item, or inside an array or map.
    static func read(_ reader: inout CBORReader) throws(CBORError) -> StoredItem {
        let start = reader
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
            case .bytes(let count?): return .bytes(start, count: try reader.readContent(count: count).count)
            case .bytes(nil): return .bytes(start, count: try reader.readBytes(count: nil).count)
            case .array(let count): return .array(reader, count: count)
            case .map(let count): return .map(reader, count: count)
            case .simple: return .other(start)
            case .tag(let tag):
                if let item = try tagged(tag, &before) {
                    reader = before
                    return item
                }
            }
        }
    }

    /// Reads an item whose tag has a meaning; nil to skip the tag.
    private static func tagged(_ tag: UInt64, _ reader: inout CBORReader) throws(CBORError) -> StoredItem? {
        let other = StoredItem.other(reader)
        switch tag {
        case 0:
            _ = try reader.readHead()
            let start = reader
            guard case .text(let count?) = try reader.readHead() else {
                reader = start
                try reader.skipItem()
                return other
            }
            return DateText.date(try reader.readContent(count: count)).map(StoredItem.date) ?? other
        case 1, 1001:
            guard let date = try reader.readDate() else { return other }
            return .date(date.timeIntervalSinceReferenceDate)
        case 2, 3, 4:
            if let number = try reader.readLargeNumber() {
                return .number(NumberValue(number, isInteger: tag != 4))
            }
            try reader.skipItem()
            return other
        default: return nil
        }
    }

    /// Elements, entries, characters or bytes; nil for other kinds.
    func count() throws(CBORError) -> Int? {
        switch self {
        case .text, .string, .key: return withText { UTF8Text.characters($0) }
        case .bytes(_, let count): return count
        case .array(_, let count?), .map(_, let count?): return count
        case .array(let reader, nil): return try Self.count(reader, itemsEach: 1)
        case .map(let reader, nil): return try Self.count(reader, itemsEach: 2)
        case .absent, .boolean, .number, .date, .other, .failed: return nil
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

    /// Calls `body` with each element of an array until it returns false; not for other kinds.
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
