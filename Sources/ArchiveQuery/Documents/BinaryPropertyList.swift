import CBOR

/// Converts a binary property list (Apple's CFBinaryPList.c, "bplist00") into a CBOR item. Not thread-safe. Shared references
/// could expand without bound, so the output exceeds the file by at most ``sharedFactor`` times its size and 64 KiB, and at
/// most ``sharedBytes``. Without shared containers a list has no more objects than bytes.
struct BinaryPropertyList {
    enum Fault: Error, Equatable {
        case damaged
        /// The expansion exceeds the limit.
        case tooLarge
    }

    static let magic = Array("bplist00".utf8)
    /// Maximum nesting depth, above that of real property lists.
    private static let deepest = 200
    private static let sharedFactor = 16
    private static let sharedBytes = 8 << 20
    /// Seconds from 1970 to 2001-01-01, the origin of its dates.
    private static let epoch = 978_307_200.0

    private let bytes: UnsafeRawBufferPointer
    private let offsetBytes: Int
    private let referenceBytes: Int
    private var objects: Int
    private var table: Int
    private let mostBytes: Int
    private var objectsLeft: Int
    private var writer: CBORWriter

    static func cbor(from bytes: UnsafeRawBufferPointer) throws(Fault) -> CBORWriter {
        var list = try BinaryPropertyList(bytes)
        let top = try list.number(at: bytes.count - 16, bytes: 8)
        try list.write(top, depth: 0)
        return list.writer
    }

    private init(_ bytes: UnsafeRawBufferPointer) throws(Fault) {
        guard bytes.count >= BinaryPropertyList.magic.count + 32, bytes.starts(with: BinaryPropertyList.magic)
        else { throw .damaged }
        self.bytes = bytes
        offsetBytes = Int(bytes[bytes.count - 26])
        referenceBytes = Int(bytes[bytes.count - 25])
        mostBytes =
            bytes.count
            + min(bytes.count * BinaryPropertyList.sharedFactor + 65_536, BinaryPropertyList.sharedBytes)
        objectsLeft = bytes.count
        writer = CBORWriter(capacity: bytes.count)
        objects = 0
        table = 0
        guard (1...8).contains(offsetBytes), (1...8).contains(referenceBytes) else { throw .damaged }
        let objects = try number(at: bytes.count - 24, bytes: 8)
        let table = try number(at: bytes.count - 8, bytes: 8)
        let (end, overflows) = objects.multipliedReportingOverflow(by: offsetBytes)
        guard !overflows, table <= bytes.count - 32, end <= bytes.count - 32 - table else { throw .damaged }
        self.objects = objects
        self.table = table
    }

    private func number(at offset: Int, bytes count: Int) throws(Fault) -> Int {
        guard offset >= 0, offset <= bytes.count, count <= bytes.count - offset else { throw .damaged }
        guard let number = Int(exactly: Self.word(bytes[offset..<offset + count])) else { throw .damaged }
        return number
    }

    /// The last eight bytes, most significant first.
    private static func word(_ bytes: some BidirectionalCollection<UInt8>) -> UInt64 {
        bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func content(at offset: Int, bytes count: Int) throws(Fault) -> UnsafeRawBufferPointer {
        guard offset <= table, count <= table - offset else { throw .damaged }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }

    private func content(at offset: Int, _ count: Int, of size: Int) throws(Fault) -> UnsafeRawBufferPointer {
        let (length, overflows) = count.multipliedReportingOverflow(by: size)
        guard !overflows else { throw .damaged }
        return try content(at: offset, bytes: length)
    }

    private mutating func write(_ reference: Int, depth: Int) throws(Fault) {
        guard depth < BinaryPropertyList.deepest, objectsLeft > 0 else { throw .tooLarge }
        objectsLeft -= 1
        guard reference < objects else { throw .damaged }
        let offset = try number(at: table + reference * offsetBytes, bytes: offsetBytes)
        let head = try content(at: offset, bytes: 1)[0]
        let kind = head >> 4
        let low = Int(head & 15)
        switch kind {
        case 0x0: try writeSimple(head)
        case 0x1: try writeInteger(content(at: offset + 1, bytes: 1 << min(low, 5)))
        case 0x2: try writer.write(real(content(at: offset + 1, bytes: 1 << min(low, 4))))
        case 0x3:
            let seconds = try real(content(at: offset + 1, bytes: 8))
            writer.write(tag: 1)
            writer.write(seconds + BinaryPropertyList.epoch)
        case 0x8: try writer.write(unsigned: UInt64(number(at: offset + 1, bytes: min(low + 1, 8))))
        case 0x4, 0x5, 0x6, 0xA, 0xB, 0xC, 0xD:
            let (count, start) = try count(low, at: offset)
            switch kind {
            case 0x4: try writer.write(bytes: limited(content(at: start, bytes: count)))
            case 0x5: try writeASCII(limited(content(at: start, bytes: count)))
            case 0x6: try writeUTF16(limited(content(at: start, count, of: 2)))
            case 0xD: try writeDictionary(count, at: start, depth)
            default: try writeArray(count, at: start, depth)
            }
        default: throw .damaged
        }
        guard writer.bytes.count <= mostBytes else { throw .tooLarge }
    }

    /// Checks the output limit before anything is copied.
    private func limited(_ content: UnsafeRawBufferPointer) throws(Fault) -> UnsafeRawBufferPointer {
        guard content.count <= mostBytes - min(mostBytes, writer.bytes.count) else { throw .tooLarge }
        return content
    }

    /// The number of elements, units or bytes, and the offset of the first.
    private func count(_ low: Int, at offset: Int) throws(Fault) -> (Int, start: Int) {
        guard low == 15 else { return (low, offset + 1) }
        let head = try content(at: offset + 1, bytes: 1)[0]
        guard head >> 4 == 1, head & 15 <= 3 else { throw .damaged }
        let width = 1 << Int(head & 15)
        return (try number(at: offset + 2, bytes: width), offset + 2 + width)
    }

    private mutating func writeSimple(_ head: UInt8) throws(Fault) {
        switch head {
        case 0x00: writer.writeNull()
        case 0x08, 0x09: writer.write(head == 0x09)
        default: throw .damaged
        }
    }

    /// Eight bytes are signed, fewer are unsigned, and of sixteen only the low 64 bits are used.
    private mutating func writeInteger(_ content: UnsafeRawBufferPointer) throws(Fault) {
        let value = Self.word(content)
        switch content.count {
        case 8 where value >> 63 == 1: writer.write(integer: Int64(bitPattern: value))
        case 1, 2, 4, 8: writer.write(unsigned: value)
        case 16 where content.prefix(8).allSatisfy({ $0 == 0 }): writer.write(unsigned: value)
        case 16 where content.prefix(8).allSatisfy({ $0 == 0xff }) && value >> 63 == 1:
            writer.write(integer: Int64(bitPattern: value))
        default: throw .damaged
        }
    }

    private func real(_ content: UnsafeRawBufferPointer) throws(Fault) -> Double {
        switch content.count {
        case 4: return Double(Float(bitPattern: UInt32(truncatingIfNeeded: Self.word(content))))
        case 8: return Double(bitPattern: Self.word(content))
        default: throw .damaged
        }
    }

    private mutating func writeASCII(_ content: UnsafeRawBufferPointer) throws(Fault) {
        guard content.allSatisfy({ $0 < 0x80 }) else { throw .damaged }
        writer.write(utf8: content)
    }

    private mutating func writeUTF16(_ content: UnsafeRawBufferPointer) throws(Fault) {
        let units = stride(from: 0, to: content.count - 1, by: 2).map {
            UInt16(content[$0]) << 8 | UInt16(content[$0 + 1])
        }
        writer.write(String(decoding: units, as: UTF16.self))
    }

    private mutating func writeArray(_ count: Int, at start: Int, _ depth: Int) throws(Fault) {
        _ = try content(at: start, count, of: referenceBytes)
        writer.beginArray(count: count)
        for place in 0..<count { try writeReferred(start, place, depth) }
    }

    /// A dictionary stores all its keys, and then all its values.
    private mutating func writeDictionary(_ count: Int, at start: Int, _ depth: Int) throws(Fault) {
        _ = try content(at: start, count, of: 2 * referenceBytes)
        writer.beginMap(count: count)
        for place in 0..<count {
            try writeReferred(start, place, depth)
            try writeReferred(start, count + place, depth)
        }
    }

    private mutating func writeReferred(_ start: Int, _ place: Int, _ depth: Int) throws(Fault) {
        try write(number(at: start + place * referenceBytes, bytes: referenceBytes), depth: depth + 1)
    }
}
