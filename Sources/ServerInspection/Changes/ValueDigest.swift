/// A digest of a value's `DUMP`, equal for equal values. The order of a dumped hash table may change without a change of the value, so
/// its elements are hashed independently of their order.
struct ValueDigest: Sendable, Hashable, Codable {
    let hash: UInt64
    let length: Int

    init(dump: [UInt8]) {
        length = dump.count
        hash = dump.withUnsafeBytes { bytes in
            // The format's version and a checksum of the bytes in their order follow the value.
            let value = UnsafeRawBufferPointer(rebasing: bytes.dropLast(10))
            let unordered: UInt64? =
                switch value.first {
                case 2: ValueDigest.sum(of: value, strings: 1)
                case 4: ValueDigest.sum(of: value, strings: 2)
                default: nil
                }
            return unordered ?? ValueDigest.hash(value[...])
        }
    }

    /// FNV-1a with the finalizer of SplitMix64.
    private static func hash(_ bytes: Slice<UnsafeRawBufferPointer>) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        hash = (hash ^ hash >> 30) &* 0xbf58_476d_1ce4_e5b9
        hash = (hash ^ hash >> 27) &* 0x94d0_49bb_1331_11eb
        return hash ^ hash >> 31
    }

    /// The sum over the elements, each of `count` strings in the RDB format; nil: the bytes have another form.
    private static func sum(of value: UnsafeRawBufferPointer, strings count: Int) -> UInt64? {
        var place = 1
        guard let elements = length(in: value, at: &place), elements <= value.count else { return nil }
        var sum: UInt64 = 0
        for _ in 0..<elements {
            let start = place
            for _ in 0..<count {
                guard skipString(in: value, at: &place) else { return nil }
            }
            sum &+= hash(value[start..<place])
        }
        return place == value.count ? sum : nil
    }

    private static func skipString(in value: UnsafeRawBufferPointer, at place: inout Int) -> Bool {
        guard place < value.count else { return false }
        let kind = value[place]
        var bytes: Int?
        switch kind {
        case 0xc0, 0xc1, 0xc2: (bytes, place) = (1 << Int(kind & 3), place + 1)
        case 0xc3:
            place += 1
            bytes = length(in: value, at: &place)
            guard length(in: value, at: &place) != nil else { return false }
        default: bytes = length(in: value, at: &place)
        }
        guard let bytes, bytes <= value.count - place else { return false }
        place += bytes
        return true
    }

    private static func length(in value: UnsafeRawBufferPointer, at place: inout Int) -> Int? {
        guard place < value.count else { return nil }
        let first = value[place]
        let more =
            switch first {
            case ..<0x40: 0
            case ..<0x80: 1
            case 0x80: 4
            case 0x81: 8
            default: value.count
            }
        guard place + more < value.count else { return nil }
        var length = UInt64(first < 0x80 ? first & 0x3f : 0)
        for byte in value[place + 1..<place + 1 + more] { length = length << 8 | UInt64(byte) }
        place += 1 + more
        return Int(exactly: length)
    }
}
