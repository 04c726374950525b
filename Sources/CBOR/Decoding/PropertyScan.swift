/// Finds the values of some properties in one map after the other, scanning each at most once. The first of equal keys counts,
/// and tags around the map are skipped. Indefinite-length keys are not recognized. Not thread-safe.
package struct PropertyScan {
    /// A name, with its first bytes as words, so that one comparison excludes most keys, and two identify most names.
    private struct Name {
        let bytes: [UInt8]
        let count: Int
        let words: (UInt64, UInt64)

        init(_ name: String) {
            func word(_ bytes: some BidirectionalCollection<UInt8>) -> UInt64 {
                bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
            }
            bytes = Array(name.utf8)
            count = bytes.count
            words = (word(bytes.prefix(8)), word(bytes.dropFirst(8).prefix(8)))
        }
    }

    private let names: [Name]
    private let sizes = PropertyScan.sizes
    /// Bit `n` is set if a name has `n` bytes, the last for longer ones. Rules out most keys without a comparison.
    private let lengths: UInt64
    /// The offset of a name's value in a map, with the number of this map.
    private struct Place {
        var map: Int
        var offset: Int
    }

    /// A place for each name. Its offset is unknown if its map number isn't ``map``.
    private var places: [Place]
    private let wholeIndex: Int?
    /// The number of the current map. A new number invalidates all places at once.
    private var map = 0
    private var reader: CBORReader
    /// Entries not yet scanned; for an indefinite-length map more than there can be.
    private var left = 0
    private var isIndefinite = false
    /// Whether the reader is before the value of a property that was found.
    private var isBeforeValue = false

    /// The size of an item by its initial byte, where that byte alone determines it; otherwise 0.
    private static let sizes: [UInt8] = (0...255).map { (initial: UInt8) in
        let information = initial & 0x1f
        switch MajorType(of: initial) {
        case .unsigned, .negative:
            if information < AdditionalInformation.oneByte { return 1 }
            return information <= AdditionalInformation.eightBytes ? 1 + 1 << (information - 24) : 0
        case .bytes, .text: return information < AdditionalInformation.oneByte ? 1 + information : 0
        case .simple:
            switch initial {
            case SimpleByte.false...SimpleByte.undefined: return 1
            case SimpleByte.half...SimpleByte.double: return 1 + 1 << (information - 24)
            default: return 0
            }
        case .array, .map: return information == 0 ? 1 : 0
        case .tag: return 0
        }
    }

    /// The name of an item that isn't a map.
    private static let wholeName = "value"

    package init(names: [String]) {
        wholeIndex = names.firstIndex(of: Self.wholeName)
        self.names = names.map { Name($0) }
        lengths = names.reduce(0) { $0 | 1 << UInt64(min($1.utf8.count, 63)) }
        places = Array(repeating: Place(map: 0, offset: 0), count: names.count)
        reader = CBORReader(UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// Starts on another item, which must stay in memory. An item that isn't a map has one property, itself, named `value`.
    package mutating func begin(_ bytes: UnsafeRawBufferPointer) throws(CBORError) {
        map += 1
        reader = CBORReader(bytes)
        isBeforeValue = false
        // Fast path for an untagged map of fewer than 24 entries, as most are.
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
            default:
                if let wholeIndex { places[wholeIndex] = Place(map: map, offset: 0) }
            }
            return
        }
    }

    /// The offset of the value for the name with that index, in bytes from the start of the item; nil without one.
    package mutating func place(of index: Int) throws(CBORError) -> Int? {
        if places[index].map == map { return places[index].offset }
        while left > 0 {
            if isBeforeValue {
                isBeforeValue = false
                left -= 1
                try skipValue()
                continue
            }
            if isIndefinite, reader.readBreak() {
                left = 0
                return nil
            }
            let name = try goToNextMatch()
            guard left > 0 else { return nil }
            if name >= 0, places[name].map != map {
                places[name] = Place(map: map, offset: reader.offset)
                if name == index {
                    isBeforeValue = true
                    return reader.offset
                }
            }
            left -= 1
            try skipValue()
        }
        return nil
    }

    private mutating func skipValue() throws(CBORError) {
        if reader.offset < reader.bytes.count {
            let size = sizes[Int(reader.bytes[reader.offset])]
            if size > 0, reader.remaining >= size {
                reader.offset += Int(size)
                return
            }
        }
        try reader.skipItem()
    }

    /// Skips short keys and values up to the value of a name (returns its index), of another key (returns -1), or up to the end.
    @inline(__always)
    private mutating func goToNextMatch() throws(CBORError) -> Int {
        let bytes = reader.bytes
        var offset = reader.offset
        while !isIndefinite {
            guard offset < bytes.count, bytes[offset] & 0xe0 == 0x60, bytes[offset] < 0x78 else { break }
            let count = Int(bytes[offset] & 0x1f)
            let value = offset + 1 + count
            guard value < bytes.count else { break }
            if lengths & 1 << UInt64(count) != 0 {
                let name = Self.index(names, of: bytes, offset + 1, count)
                if name >= 0 {
                    reader.offset = value
                    return name
                }
            }
            let size = Int(sizes[Int(bytes[value])])
            guard size > 0, bytes.count - value >= size else { break }
            offset = value + size
            left -= 1
            if left == 0 {
                reader.offset = offset
                return -1
            }
        }
        reader.offset = offset
        let name = try readLongKey()
        if isIndefinite { try reader.expectValueAfterKey() }
        return name
    }

    /// The index of the name with these bytes, or -1. Static, because a mutating structure would be copied for a call.
    @inline(__always)
    private static func index(
        _ names: [Name], of bytes: UnsafeRawBufferPointer, _ start: Int, _ count: Int
    ) -> Int {
        guard bytes.count - start >= 8 else {
            return index(names, of: UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]))
        }
        var word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self))
        if count < 8 { word &= (1 << UInt64(8 * count)) - 1 }
        for index in 0..<names.count where names[index].words.0 == word && names[index].count == count {
            if count <= 8 { return index }
            if count <= 16, bytes.count - start >= 16 {
                let rest = UInt64(
                    littleEndian: bytes.loadUnaligned(fromByteOffset: start + 8, as: UInt64.self))
                if (rest ^ names[index].words.1) << UInt64(8 * (16 - count)) == 0 { return index }
                continue
            }
            let key = UnsafeRawBufferPointer(rebasing: bytes[start..<start + count])
            if names[index].bytes.withUnsafeBytes({ $0.hasSameBytes(as: key) }) { return index }
        }
        return -1
    }

    @inline(never)
    private mutating func readLongKey() throws(CBORError) -> Int {
        let start = reader.offset
        if case .text(let count?) = try reader.readHead() {
            return Self.index(names, of: try reader.readContent(count: count))
        }
        reader.offset = start
        try reader.skipItem()
        return -1
    }

    @inline(never)
    private static func index(_ names: [Name], of key: UnsafeRawBufferPointer) -> Int {
        names.firstIndex { name in name.bytes.withUnsafeBytes { $0.hasSameBytes(as: key) } } ?? -1
    }
}

extension UnsafeRawBufferPointer {
    /// The integer at `offset`, if it is one that an `Int64` can hold; nil also for truncated input.
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
}

/// A text of at most eight bytes, packed into a word.
package struct ShortText: Sendable {
    @usableFromInline let word: UInt64
    @usableFromInline let count: UInt8

    /// Nil for a text that is longer or isn't ASCII.
    package init?(ascii text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= 8, bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
        word = bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
        count = UInt8(bytes.count)
    }

    /// The text at `offset`. Nil for a longer text, for every other item, and near the end of the input.
    @inlinable
    package init?(ofItemIn bytes: UnsafeRawBufferPointer, at offset: Int) {
        guard offset >= 0, bytes.count - offset > 8 else { return nil }
        let initial = bytes[offset]
        guard initial >= 0x60, initial <= 0x68 else { return nil }
        let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 1, as: UInt64.self))
        count = initial & 0x1f
        self.word = count == 8 ? word : word & (1 << (8 * UInt64(count)) - 1)
    }

    @inlinable package static func == (left: ShortText, right: ShortText) -> Bool {
        left.word == right.word && left.count == right.count
    }

    @inlinable package var isASCII: Bool { word & 0x8080_8080_8080_8080 == 0 }
}
