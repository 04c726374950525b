/// For one thread. Finds the values of some properties in one map after the other, going through each map at most once
/// and no further than to the last property that is asked for. Builds nothing.
///
/// As everywhere, of equal keys the first counts, and tags around the map are stepped over. Keys in indefinite-length
/// texts are not recognised.
package struct PropertyScan {
    /// One of the names; its first bytes as a word, so that most keys are told from it in one comparison.
    private struct Name {
        var bytes: [UInt8]
        var word: UInt64
    }

    private let names: [Name]
    /// Bit `n` is set if a name has `n` bytes, the last bit for those that are longer: most keys need no comparison.
    private let lengths: UInt64
    /// Where the value of each name begins, as far as the map has been seen.
    private var places: [Int]
    private var reader: CBORReader
    /// Entries that have not been seen; of an indefinite map more than there can be.
    private var left = 0
    private var isIndefinite = false
    /// Whether the reader stands before the value of a property that was found.
    private var isBeforeValue = false

    private static let unknown = -1

    package init(names: [String]) {
        self.names = names.map { name in
            let bytes = Array(name.utf8)
            return Name(bytes: bytes, word: bytes.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) })
        }
        lengths = names.reduce(0) { $0 | 1 << UInt64(min($1.utf8.count, 63)) }
        places = Array(repeating: Self.unknown, count: names.count)
        reader = CBORReader(UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// Goes on to another item, which must stay in memory until the next call. An item that is no map has no properties.
    package mutating func begin(_ bytes: UnsafeRawBufferPointer) throws(CBORError) {
        for index in places.indices { places[index] = Self.unknown }
        reader = CBORReader(bytes)
        isBeforeValue = false
        // A map of less than 24 entries without a tag, as most are.
        if let first = bytes.first, first & 0xe0 == 0xa0, first < 0xb8 {
            left = Int(first & 0x1f)
            isIndefinite = false
            reader.offset = 1
            return
        }
        left = 0
        while true {
            switch try reader.readHead() {
            case .tag: continue
            case .map(let count):
                isIndefinite = count == nil
                left = count ?? .max
            default: break
            }
            return
        }
    }

    /// Where the value of the name with that index begins, in bytes from the start of the item; nil if there is none.
    package mutating func place(of index: Int) throws(CBORError) -> Int? {
        if places[index] != Self.unknown { return places[index] }
        // Local, so that it can stay in registers.
        var reader = reader
        defer { self.reader = reader }
        while left > 0 {
            if isBeforeValue {
                isBeforeValue = false
                left -= 1
                try reader.skipQuickly()
                continue
            }
            if isIndefinite, reader.readBreak() {
                left = 0
                return nil
            }
            let name = try readKey(&reader)
            if isIndefinite { try reader.expectValueAfterKey() }
            if name >= 0, places[name] == Self.unknown {
                places[name] = reader.offset
                if name == index {
                    isBeforeValue = true
                    return reader.offset
                }
            }
            left -= 1
            try reader.skipQuickly()
        }
        return nil
    }

    /// Steps over a key; the index of the name that it is, or -1.
    @inline(__always)
    private func readKey(_ reader: inout CBORReader) throws(CBORError) -> Int {
        let bytes = reader.bytes
        let start = reader.offset
        guard start < bytes.count, bytes[start] & 0xe0 == 0x60, bytes[start] < 0x78 else {
            return try readLongKey(&reader)
        }
        let count = Int(bytes[start] & 0x1f)
        guard bytes.count - start > count else {
            throw CBORError(offset: start, reason: .lengthExceedsInput(claimed: UInt64(count)))
        }
        reader.offset = start + 1 + count
        if lengths & 1 << UInt64(count) == 0 { return -1 }
        guard bytes.count - start > 8 else {
            return index(of: UnsafeRawBufferPointer(rebasing: bytes[start + 1..<start + 1 + count]))
        }
        var word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: start + 1, as: UInt64.self))
        if count < 8 { word &= (1 << UInt64(8 * count)) - 1 }
        for index in 0..<names.count where names[index].word == word && names[index].bytes.count == count {
            if count <= 8 { return index }
            let key = UnsafeRawBufferPointer(rebasing: bytes[start + 1..<start + 1 + count])
            if names[index].bytes.withUnsafeBytes({ $0.hasSameBytes(as: key) }) { return index }
        }
        return -1
    }

    @inline(never)
    private func readLongKey(_ reader: inout CBORReader) throws(CBORError) -> Int {
        let start = reader.offset
        if case .text(let count?) = try reader.readHead() {
            return index(of: try reader.readContent(count: count))
        }
        reader.offset = start
        try reader.skipItem()
        return -1
    }

    @inline(never)
    private func index(of key: UnsafeRawBufferPointer) -> Int {
        names.firstIndex { name in name.bytes.withUnsafeBytes { $0.hasSameBytes(as: key) } } ?? -1
    }
}

extension CBORReader {
    /// As ``skipItem(checkingText:)``, without a call for items that hold no others.
    @inline(__always)
    fileprivate mutating func skipQuickly() throws(CBORError) {
        guard offset < bytes.count else { throw CBORError(offset: bytes.count, reason: .truncated) }
        let initial = bytes[offset]
        let information = initial & 0x1f
        var size = 1
        switch initial >> 5 {
        case 0, 1:
            guard information <= AdditionalInformation.eightBytes else { return try skipItem() }
            if information >= AdditionalInformation.oneByte { size += 1 << Int(information - 24) }
        case 2, 3:
            if information < AdditionalInformation.oneByte {
                size += Int(information)
            } else if information == AdditionalInformation.oneByte, offset + 1 < bytes.count {
                size += 1 + Int(bytes[offset + 1])
            } else {
                return try skipItem()
            }
        case 7 where initial >= SimpleByte.half && initial <= SimpleByte.double:
            size += 1 << Int(information - 24)
        case 7 where initial >= SimpleByte.false && initial <= SimpleByte.undefined: break
        default: return try skipItem()
        }
        guard bytes.count - offset >= size else { return try skipItem() }
        offset += size
    }
}

extension UnsafeRawBufferPointer {
    /// The integer that the item at `offset` is, if it is one that an `Int64` holds; nil for every other item, and where
    /// the input ends within it.
    @inline(__always)
    package func smallInteger(at offset: Int) -> Int64? {
        guard offset >= 0, offset < count else { return nil }
        let initial = self[offset]
        guard initial < 0x40 else { return nil }
        let information = initial & 0x1f
        var argument = UInt64(information)
        if information >= AdditionalInformation.oneByte {
            guard information <= AdditionalInformation.eightBytes else { return nil }
            let size = 1 << Int(information - 24)
            guard count - offset > size else { return nil }
            argument = 0
            for byte in 0..<size { argument = argument << 8 | UInt64(self[offset + 1 + byte]) }
        }
        guard let number = Int64(exactly: argument) else { return nil }
        return initial < 0x20 ? number : ~number
    }

    /// The content of the text that the item at `offset` is, if it has less than 24 bytes; nil for every other item, and
    /// where the input ends within it.
    @inline(__always)
    package func shortText(at offset: Int) -> UnsafeRawBufferPointer? {
        guard offset >= 0, offset < count else { return nil }
        let initial = self[offset]
        guard initial >= 0x60, initial < 0x78 else { return nil }
        let length = Int(initial & 0x1f)
        guard count - offset > length else { return nil }
        return UnsafeRawBufferPointer(rebasing: self[offset + 1..<offset + 1 + length])
    }
}
