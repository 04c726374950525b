/// A digest of a value's `DUMP`, equal for equal values. The order of a dumped hash table may change without a change of the value, so
/// its elements are hashed independently of their order.
struct ValueDigest: Sendable, Hashable, Codable {
    let hash: UInt64
    let length: Int

    init(dump: [UInt8]) {
        length = dump.count
        // The value is followed by the format's version and a checksum of its bytes in order.
        let value = dump.dropLast(10)
        hash = ValueDigest.sum(of: value) ?? ValueDigest.hash(value)
    }

    /// FNV-1a with the finalizer of SplitMix64.
    private static func hash(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        hash = (hash ^ hash >> 30) &* 0xbf58_476d_1ce4_e5b9
        hash = (hash ^ hash >> 27) &* 0x94d0_49bb_1331_11eb
        return hash ^ hash >> 31
    }

    /// The sum over the elements of a set or hash in the RDB format; nil: the bytes have another form.
    private static func sum(of value: ArraySlice<UInt8>) -> UInt64? {
        var rest = value
        guard let kind = rest.popFirst(), kind == 2 || kind == 4, let elements = length(&rest),
            elements <= value.count
        else { return nil }
        var sum: UInt64 = 0
        for _ in 0..<elements {
            let start = rest.startIndex
            // The elements of a hash have two strings.
            for _ in 0..<kind / 2 {
                guard skipString(&rest) else { return nil }
            }
            sum &+= hash(value[start..<rest.startIndex])
        }
        return rest.isEmpty ? sum : nil
    }

    private static func skipString(_ rest: inout ArraySlice<UInt8>) -> Bool {
        guard let kind = rest.first else { return false }
        var bytes: Int?
        switch kind {
        case 0xc0, 0xc1, 0xc2: (bytes, rest) = (1 << Int(kind & 3), rest.dropFirst())
        case 0xc3:
            rest = rest.dropFirst()
            bytes = length(&rest)
            guard length(&rest) != nil else { return false }
        default: bytes = length(&rest)
        }
        guard let bytes, bytes <= rest.count else { return false }
        rest = rest.dropFirst(bytes)
        return true
    }

    private static func length(_ rest: inout ArraySlice<UInt8>) -> Int? {
        guard let first = rest.popFirst() else { return nil }
        let more =
            switch first {
            case ..<0x40: 0
            case ..<0x80: 1
            case 0x80: 4
            case 0x81: 8
            default: Int.max
            }
        guard more <= rest.count else { return nil }
        let high = UInt64(first < 0x80 ? first & 0x3f : 0)
        defer { rest = rest.dropFirst(more) }
        return Int(exactly: rest.prefix(more).reduce(high) { $0 << 8 | UInt64($1) })
    }
}
