extension CBORValue {
    /// The integer of type 0 or 1 that equals `number`.
    public init(integer number: Int64) {
        self = number < 0 ? .negative(UInt64(bitPattern: ~number)) : .unsigned(UInt64(number))
    }

    /// The number if it is an integer item from -2^63 to 2^63 - 1; floats, bignums and all else give nil.
    public var asInt64: Int64? {
        switch self {
        case .unsigned(let number): Int64(exactly: number)
        case .negative(let number): Int64(exactly: number).map { ~$0 }
        default: nil
        }
    }

    /// The number if it is an integer item from 0 to 2^64 - 1.
    public var asUInt64: UInt64? {
        if case .unsigned(let number) = self { number } else { nil }
    }

    /// The number if it is a float, or an integer item that a `Double` holds exactly.
    public var asDouble: Double? {
        switch self {
        case .float(let number): number
        case .unsigned(let number): Double(exactly: number)
        // -1 - n is exact when n + 1 is; n + 1 itself overflows for the lowest of all integers, -2^64.
        case .negative(.max): -0x1p64
        case .negative(let number): Double(exactly: number + 1).map { -$0 }
        default: nil
        }
    }

    public var asString: String? {
        if case .text(let text) = self { text } else { nil }
    }

    public var asBytes: [UInt8]? {
        if case .bytes(let bytes) = self { bytes } else { nil }
    }

    public var asBool: Bool? {
        if case .boolean(let flag) = self { flag } else { nil }
    }

    public var asArray: [CBORValue]? {
        if case .array(let items) = self { items } else { nil }
    }

    public var asMap: CBORMap? {
        if case .map(let map) = self { map } else { nil }
    }

    /// Whether this is `null`; `undefined` is not.
    public var isNull: Bool { self == .null }

    /// The value of the first map entry whose key is this text; nil without one, or if this isn't a map. O(entries).
    public subscript(key: String) -> CBORValue? {
        asMap?[key: .text(key)]
    }

    /// The array's item at a position from 0; nil beyond its ends, or if this isn't an array.
    public subscript(index: Int) -> CBORValue? {
        guard case .array(let items) = self, items.indices.contains(index) else { return nil }
        return items[index]
    }
}
