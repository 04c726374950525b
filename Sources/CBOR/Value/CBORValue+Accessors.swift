extension CBORValue {
    /// Creates the integer item (major type 0 or 1) for `number`.
    public init(integer number: Int64) {
        self = number < 0 ? .negative(UInt64(bitPattern: ~number)) : .unsigned(UInt64(number))
    }

    /// The number if this is an integer item that an `Int64` can hold; nil for anything else, floats and bignums included.
    public var asInt64: Int64? {
        switch self {
        case .unsigned(let number): Int64(exactly: number)
        case .negative(let number): Int64(exactly: number).map { ~$0 }
        default: nil
        }
    }

    /// The number if this is an integer item from 0 to 2^64 - 1; nil for anything else.
    public var asUInt64: UInt64? {
        if case .unsigned(let number) = self { number } else { nil }
    }

    /// The number if this is a float, or an integer item that a `Double` can hold exactly; nil for anything else.
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

    /// The text; nil if this isn't one.
    public var asString: String? {
        if case .text(let text) = self { text } else { nil }
    }

    /// The bytes of a byte string; nil if this isn't one.
    public var asBytes: [UInt8]? {
        if case .bytes(let bytes) = self { bytes } else { nil }
    }

    /// The flag; nil if this is neither `false` nor `true`.
    public var asBool: Bool? {
        if case .boolean(let flag) = self { flag } else { nil }
    }

    /// The items of an array; nil if this isn't one.
    public var asArray: [CBORValue]? {
        if case .array(let items) = self { items } else { nil }
    }

    /// The map; nil if this isn't one.
    public var asMap: CBORMap? {
        if case .map(let map) = self { map } else { nil }
    }

    /// Whether this is `null`; `undefined` is not.
    public var isNull: Bool { self == .null }

    /// The value of the first map entry with this text key; nil without one. O(entries).
    public subscript(key: String) -> CBORValue? { asMap?[key: .text(key)] }

    /// The array's item at a position from 0; nil if the position is out of range or this isn't an array.
    public subscript(index: Int) -> CBORValue? {
        guard case .array(let items) = self, items.indices.contains(index) else { return nil }
        return items[index]
    }
}
