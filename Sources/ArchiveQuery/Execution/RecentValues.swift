/// A hash table of short values by their bytes, to recognize rows fast; the latest value of each slot. 128 KiB. For one thread.
struct RecentValues {
    static let places = 2048
    /// Bytes of a slot: the value's length, and the value.
    private static let size = 64

    private var table: [UInt8] = []
    private var wanted = [UInt8](repeating: 0, count: size)
    /// Length of the current value; at least `size` if it can't be stored.
    private var length = 0

    mutating func begin() { length = 0 }

    mutating func add(_ item: StoredItem) {
        switch item {
        case .absent, .failed: append(0, UnsafeRawBufferPointer(start: nil, count: 0))
        case .text(let text): append(1, text)
        case .key(let key): key.withBytes { append(6, $0) }
        case .boolean(let flag): withUnsafeBytes(of: flag) { append(2, $0) }
        case .date(let date): withUnsafeBytes(of: date) { append(3, $0) }
        case .number(.integer(let number)): withUnsafeBytes(of: number) { append(4, $0) }
        case .number(.float(let number)): withUnsafeBytes(of: number) { append(5, $0) }
        case .number(.decimal), .number(.bignum), .string, .bytes, .array, .map, .other: length = Self.size
        }
    }

    private mutating func append(_ kind: UInt8, _ bytes: UnsafeRawBufferPointer) {
        let start = length + 2
        guard start + bytes.count < Self.size else {
            length = Self.size
            return
        }
        wanted[length] = kind
        wanted[length + 1] = UInt8(bytes.count)
        wanted.withUnsafeMutableBytes { $0[start...].copyBytes(from: bytes) }
        length = start + bytes.count
    }

    /// The slot, below 2,048, of the current value; nil if it isn't stored, which doesn't mean that it is new.
    func number() -> Int? {
        guard !table.isEmpty, length < Self.size else { return nil }
        let place = self.place
        return table.withUnsafeBytes { table in
            wanted.withUnsafeBytes { wanted in
                let stored = UnsafeRawBufferPointer(rebasing: table[(place * Self.size)...].prefix(Self.size))
                return stored[0] == length
                    && UTF8Text.isSame(
                        UnsafeRawBufferPointer(rebasing: stored[1...].prefix(length)),
                        UnsafeRawBufferPointer(rebasing: wanted.prefix(length)))
                    ? place : nil
            }
        }
    }

    /// Stores the value, unless it is too long or rare. Returns its slot, which may have had another value.
    @discardableResult
    mutating func note() -> Int? {
        guard length < Self.size else { return nil }
        if table.isEmpty { table = [UInt8](repeating: 0, count: Self.places * Self.size) }
        let place = self.place
        // No value is empty: 0 is an empty slot.
        table[place * Self.size] = UInt8(length)
        for byte in 0..<length { table[place * Self.size + 1 + byte] = wanted[byte] }
        return place
    }

    mutating func forget() { table = [] }

    /// Crafted values that share a slot only make the table useless.
    private var place: Int {
        wanted.withUnsafeBytes { bytes in
            var hash = UInt64(truncatingIfNeeded: length)
            var place = 0
            while place + 8 <= length {
                hash =
                    (hash ^ bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
                    &* 0x9e37_79b9_7f4a_7c15
                hash ^= hash >> 32
                place += 8
            }
            while place < length {
                hash = (hash ^ UInt64(bytes[place])) &* 0x9e37_79b9_7f4a_7c15
                place += 1
            }
            return Int(hash >> 53)
        }
    }
}
