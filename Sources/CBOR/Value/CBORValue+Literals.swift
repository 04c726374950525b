extension CBORValue: ExpressibleByIntegerLiteral {
    /// Creates an integer item.
    public init(integerLiteral value: Int64) { self.init(integer: value) }
}

extension CBORValue: ExpressibleByFloatLiteral {
    /// Creates a float.
    public init(floatLiteral value: Double) { self = .float(value) }
}

extension CBORValue: ExpressibleByStringLiteral {
    /// Creates a text.
    public init(stringLiteral value: String) { self = .text(value) }
}

extension CBORValue: ExpressibleByBooleanLiteral {
    /// Creates `false` or `true`.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
}

extension CBORValue: ExpressibleByNilLiteral {
    /// `nil` is CBOR's `null`.
    public init(nilLiteral: ()) { self = .null }
}

extension CBORValue: ExpressibleByArrayLiteral {
    /// Creates an array.
    public init(arrayLiteral elements: CBORValue...) { self = .array(elements) }
}

extension CBORValue: ExpressibleByDictionaryLiteral {
    /// Keeps the order of the literal, duplicates included.
    public init(dictionaryLiteral elements: (CBORValue, CBORValue)...) {
        self = .map(CBORMap(elements.map { CBORMap.Entry(key: $0.0, value: $0.1) }))
    }
}
