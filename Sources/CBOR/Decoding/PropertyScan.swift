/// For one thread. Finds the values of some properties in one map after the other, going through each map at most once
/// and no further than to the last property that is asked for. Builds nothing.
///
/// As everywhere, of equal keys the first counts, and tags around the map are stepped over. Keys in indefinite-length
/// texts are not recognised.
package struct PropertyScan {
    private let names: [[UInt8]]
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
        self.names = names.map { Array($0.utf8) }
        lengths = names.reduce(0) { $0 | 1 << UInt64(min($1.utf8.count, 63)) }
        places = Array(repeating: Self.unknown, count: names.count)
        reader = CBORReader(UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// Goes on to another item, which must stay in memory until the next call. An item that is no map has no properties.
    package mutating func begin(_ bytes: UnsafeRawBufferPointer) throws(CBORError) {
        for index in places.indices { places[index] = Self.unknown }
        reader = CBORReader(bytes)
        left = 0
        isBeforeValue = false
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
            let name = try readKey()
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
    private mutating func readKey() throws(CBORError) -> Int {
        let bytes = reader.bytes
        let start = reader.offset
        guard start < bytes.count, bytes[start] & 0xe0 == 0x60, bytes[start] < 0x78 else {
            return try readLongKey()
        }
        let count = Int(bytes[start] & 0x1f)
        guard bytes.count - start > count else {
            throw CBORError(offset: start, reason: .lengthExceedsInput(claimed: UInt64(count)))
        }
        reader.offset = start + 1 + count
        guard lengths & 1 << UInt64(count) != 0 else { return -1 }
        return index(of: UnsafeRawBufferPointer(rebasing: bytes[start + 1..<start + 1 + count]))
    }

    @inline(never)
    private mutating func readLongKey() throws(CBORError) -> Int {
        let start = reader.offset
        if case .text(let count?) = try reader.readHead() {
            return index(of: try reader.readContent(count: count))
        }
        reader.offset = start
        try reader.skipItem()
        return -1
    }

    @inline(__always)
    private func index(of key: UnsafeRawBufferPointer) -> Int {
        for index in names.indices {
            let isEqual = names[index].withUnsafeBytes { $0.hasSameBytes(as: key) }
            if isEqual { return index }
        }
        return -1
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
            guard information < AdditionalInformation.eightBytes + 1 else { return try skipItem() }
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
